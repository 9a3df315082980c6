/** What happens while it happens: events of the server, taken up again where they broke off. */

import { Problem, request } from "./server";

export interface Following {
  stop(): void;
}
export type State = "live" | "waiting";
export interface LiveEvent {
  kind: string;
  id: string | null;
  data: string;
}

const PAUSES = [250, 500, 1000, 2000, 4000];
/** Answers after which asking again is of no use. */
const FINAL = [400, 404, 410];

/**
 * Follow a path of Server-Sent Events; a connection that breaks is made again, behind the last event. They are read
 * out of an answer, and not by an EventSource, which cannot send a token.
 */
export function follow(
  path: string,
  kinds: readonly string[],
  take: (kind: string, data: unknown) => void,
  become: (state: State) => void = () => {},
): Following {
  const abort = new AbortController();
  let last: string | null = null;
  let failures = 0;

  const once = async (): Promise<void> => {
    const headers = { Accept: "text/event-stream", ...(last !== null && { "Last-Event-ID": last }) };
    const answer = await request(path, { headers, signal: abort.signal }, { isQuiet: true });
    const texts = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = eventReader((event) => {
      last = event.id ?? last;
      if (kinds.includes(event.kind)) take(event.kind, JSON.parse(event.data));
    });
    failures = 0;
    become("live");
    for (let part = await texts?.read(); part && !part.done; part = await texts?.read()) read(part.value);
  };
  const run = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      const problem = await once().catch((error: unknown) => error);
      if (abort.signal.aborted) return;
      become("waiting");
      if (problem instanceof Problem && FINAL.includes(problem.status)) return;
      await new Promise((go) => window.setTimeout(go, PAUSES[Math.min(failures++, PAUSES.length - 1)]));
    }
  };
  void run();
  return { stop: () => abort.abort() };
}

/** Reads events out of pieces of text, wherever these are cut. */
export function eventReader(tell: (event: LiveEvent) => void): (piece: string) => void {
  let rest = "";
  return (piece) => {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const found: LiveEvent = { kind: "message", id: null, data: "" };
      for (const line of block.split("\n")) {
        const [name, value] = [line.split(":", 1)[0], line.slice(line.indexOf(":") + 1).replace(/^ /, "")];
        if (name === "event") found.kind = value;
        else if (name === "id") found.id = value;
        else if (name === "data") found.data += (found.data && "\n") + value;
      }
      if (found.data) tell(found);
    }
  };
}

/** Call again and again, with a pause after each call; not while the page is out of sight. */
export function repeat(pause: number, call: () => Promise<void>): Following {
  let timer = 0;
  let isStopped = false;
  const turn = async (): Promise<void> => {
    if (document.visibilityState === "visible") await call();
    if (!isStopped) timer = window.setTimeout(turn, pause);
  };
  void turn();
  return {
    stop() {
      isStopped = true;
      window.clearTimeout(timer);
    },
  };
}

/** Calls that do not overtake each other: of those that are wanted during one, a single one follows it. */
export function inTurn(call: () => Promise<void>, fail: (error: unknown) => void): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    do {
      isWanted = false;
      await call().catch(fail);
    } while (isWanted);
    isRunning = false;
  };
  return () => {
    isWanted = true;
    if (!isRunning) void run();
  };
}
