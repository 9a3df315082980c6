/** What happens while it happens: events of the server, taken up again where they broke off. */

export interface Following {
  stop(): void;
}
export type State = "live" | "waiting";

const PAUSES = [250, 500, 1000, 2000, 4000];

/**
 * Follow a path of Server-Sent Events. A connection that breaks is made again by the browser, which sends the id
 * of the last event; one that was refused is made again here, from the event after the last one.
 */
export function follow(
  path: (last: string | null) => string,
  kinds: readonly string[],
  take: (kind: string, data: unknown) => void,
  become: (state: State) => void = () => {},
): Following {
  let source: EventSource | null = null;
  let last: string | null = null;
  let failures = 0;
  let timer = 0;

  const open = (): void => {
    source = new EventSource(path(last));
    source.onopen = () => {
      failures = 0;
      become("live");
    };
    source.onerror = () => {
      become("waiting");
      if (source?.readyState !== EventSource.CLOSED) return;
      timer = window.setTimeout(open, PAUSES[Math.min(failures++, PAUSES.length - 1)]);
    };
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        const message = event as MessageEvent<string>;
        if (message.lastEventId) last = message.lastEventId;
        take(kind, JSON.parse(message.data));
      });
    }
  };
  open();
  return {
    stop() {
      window.clearTimeout(timer);
      source?.close();
    },
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
