/** The server: requests to it, its problems as errors, and the token for writing. */

export interface Place {
  file: string;
  line: number;
  column: number;
  text: string;
}

/** What the server says went wrong, with the place of a mistake and a hint. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    what: string,
    readonly where: Place | null = null,
    readonly hint = "",
  ) {
    super(what);
  }
}

const TOKEN = "livefacts-token";
let askForToken: (why: string) => Promise<string | null> = async () => null;

/** Who asks the person for a token when a request needs one. */
export function whenTokenIsNeeded(ask: (why: string) => Promise<string | null>): void {
  askForToken = ask;
}

/** The token of this tab; it goes when the tab is closed. */
export const token = {
  get: (): string | null => sessionStorage.getItem(TOKEN),
  set: (value: string | null): void =>
    value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN),
};

/** Who makes a request: a quiet one, of the page itself, asks for a token no more when none was given. */
interface Manner {
  isQuiet: boolean;
}
let asking: Promise<string | null> | null = null;
let isRefused = false;

/** A request; a refusal for want of a token asks for one, and tries again. */
export async function request(path: string, init: RequestInit = {}, { isQuiet }: Manner = { isQuiet: false }): Promise<Response> {
  const before = token.get();
  const answer = await fetched(path, init);
  if (answer.status !== 401 && answer.status !== 403) return checked(answer);
  const problem = await problemOf(answer);
  // Another request may have got one meanwhile.
  if (token.get() === before) {
    if (isQuiet && isRefused) throw problem;
    asking ??= askForToken(problem.message).finally(() => (asking = null));
    const given = await asking;
    isRefused = given === null;
    if (given === null) throw problem;
    token.set(given);
  }
  return checked(await fetched(path, init));
}

async function fetched(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const known = token.get();
  if (known) headers.set("Authorization", `Bearer ${known}`);
  try {
    return await fetch(path, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, "the server does not answer", null, "it is asked again as soon as it does");
  }
}

async function checked(answer: Response): Promise<Response> {
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer: Response): Promise<Problem> {
  const said = (await answer.json().catch(() => null)) as {
    what?: string;
    where?: Place | null;
    hint?: string;
  } | null;
  return new Problem(answer.status, said?.what ?? `the server answers ${answer.status}`, said?.where ?? null, said?.hint ?? "");
}

export async function json<T>(path: string, init: RequestInit = {}, manner?: Manner): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set("Accept", "application/json");
  return (await request(path, { ...init, headers }, manner)).json() as Promise<T>;
}

/** What the server tells without being pressed: nothing, where a token is wanted or something is wrong. */
export async function known<T>(path: string): Promise<T | null> {
  const answer = await fetched(path, { headers: { Accept: "application/json" } }).catch(() => null);
  return answer?.ok ? ((await answer.json()) as T) : null;
}

/** A POST of values; those that are missing are left out. */
export function form(values: Record<string, string | undefined>): RequestInit {
  const given = Object.entries(values).filter((each): each is [string, string] => each[1] !== undefined);
  return { method: "POST", body: new URLSearchParams(given) };
}

/** A POST of a text. */
export const sent = (body: string, type: string): RequestInit => ({ method: "POST", body, headers: { "Content-Type": type } });

let paths: Record<string, string[]> = {};

/** Learn which paths the server has; one that is older than the page may lack some. */
export async function learnPaths(): Promise<void> {
  paths = (await json<{ paths: Record<string, string[]> }>("?format=json")).paths;
}

export const can = (path: string): boolean => path in paths;
