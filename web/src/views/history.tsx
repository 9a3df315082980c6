/** History: the log of changes; back to a version, and changes taken back. */

import { useEffect, useState } from "preact/hooks";
import { changesAfter, followChanges, type Change } from "../changes";
import { DeltaView } from "../facts";
import { count } from "../figures";
import type { Following } from "../live";
import { linkTo } from "../links";
import { can, json } from "../server";
import { Trouble } from "../trouble";

const SHOWN = 100;
const KINDS: Record<string, string> = { push: "events of a stream", retract: "events taken back", tick: "time moved on" };

export default function History() {
  const [changes, take] = useState<Change[]>([]);
  const [isLive, live] = useState(false);
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");
  const [asked, consider] = useState<number | null>(null);

  useEffect(() => {
    let following: Following | null = null;
    let isWanted = true;
    const begin = async (): Promise<void> => {
      try {
        const { seq } = await json<{ seq: number }>("ready");
        const before = await changesAfter(seq - SHOWN);
        if (!isWanted) return;
        take(before);
        const one = (change: Change): void => take((known) => [change, ...known].slice(0, 5 * SHOWN));
        following = followChanges(before[0]?.seq ?? seq, one, (state) => live(state === "live"));
      } catch (problem) {
        fail(problem);
      }
    };
    void begin();
    return () => {
      isWanted = false;
      following?.stop();
    };
  }, []);

  const undo = async (seq: number): Promise<void> => {
    consider(null);
    fail(null);
    try {
      const done = await json<{ seq: number }>(`undo?seq=${seq}`, { method: "POST" });
      say(`Change ${seq} was taken back by change ${done.seq}.`);
    } catch (problem) {
      fail(problem);
    }
  };

  return (
    <>
      <h1>History</h1>
      <p class="quiet" role="status" data-said>
        {said || (isLive ? "Changes are added as they are made." : "The connection is being made.")}
      </p>
      <Trouble error={error} />
      {isLive && changes.length === 0 && <p>Nothing has been changed yet. What is changed, by whom ever, stands here from then on, and can be taken back.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
        <table class="changes">
          <caption class="unseen">Changes, the last one first</caption>
          <thead>
            <tr>
              <th scope="col">number</th>
              <th scope="col">made</th>
              <th scope="col">came and went</th>
              <th scope="col">do</th>
            </tr>
          </thead>
          <tbody>
            {changes.map((change) => (
              <tr key={change.seq} data-seq={change.seq}>
                <th scope="row">{change.seq}</th>
                <td>
                  <span class="when">{change.time.replace("T", " ").replace("Z", "")}</span>
                  <br />
                  <span class="quiet">{KINDS[change.kind] ?? change.kind}</span>
                </td>
                <td>
                  {change.large ? (
                    "more facts than are told one by one"
                  ) : change.added.length + change.removed.length === 0 ? (
                    <span class="quiet">nothing yet</span>
                  ) : (
                    <details>
                      <summary>
                        +{count(change.added.length)} −{count(change.removed.length)}
                      </summary>
                      <DeltaView {...change} />
                    </details>
                  )}
                </td>
                <td class="do">
                  <a href={linkTo("ask", { at: String(change.seq) })}>
                    ask as it was<span class="unseen"> after change {change.seq}</span>
                  </a>
                  {can("/undo") && change.kind === "change" &&
                    (asked === change.seq ? (
                      <button type="button" class="main" onClick={() => void undo(change.seq)}>
                        Take change {change.seq} back
                      </button>
                    ) : (
                      <button type="button" onClick={() => consider(change.seq)}>
                        undo<span class="unseen"> change {change.seq}</span>
                      </button>
                    ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
