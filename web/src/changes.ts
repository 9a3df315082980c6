/** The changes of the folder, as the server tells them. */

import { follow, type Following, type State } from "./live";
import { json } from "./server";

export interface Change {
  seq: number;
  now: number | null;
  time: string;
  kind: string;
  added: string[];
  removed: string[];
  /** There are so many facts that they are not told one by one. */
  large?: boolean;
}

/** The changes after a number that are kept, newest first. */
export async function changesAfter(seq: number): Promise<Change[]> {
  const said = await json<{ events: Change[] }>(`changes?${new URLSearchParams({ since: String(Math.max(0, seq)), format: "json" })}`);
  return said.events.reverse();
}

/** Every change from now on, or after a number. */
export function followChanges(since: number | null, take: (change: Change) => void, become: (state: State) => void): Following {
  return follow(
    `changes?${new URLSearchParams(since === null ? {} : { since: String(since) })}`,
    ["message"],
    (_, data) => take(data as Change),
    become,
  );
}
