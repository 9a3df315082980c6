/** Ask: a query, its answer as table, chart and CSV, once or for as long as it changes. */

import { useEffect, useRef, useState } from "preact/hooks";
import { linkTo, type ViewProps } from "../links";
import { Editor } from "../editor";
import { count, seconds } from "../figures";
import { follow, type Following, type State } from "../live";
import { Plot } from "../plot";
import { applied, chartOf, toCsv, type Chart, type Row, type Rows } from "../rdf";
import { can, form, json, Problem, request } from "../server";
import { Table, type Marked } from "../table";
import { Trouble } from "../trouble";

interface Answer extends Rows {
  marked: Marked[];
  took: number;
  seq: string;
  text?: string;
}

const FIRST = `SELECT ?s ?p ?o
WHERE { ?s ?p ?o }
LIMIT 100`;
const KEPT = "livefacts-query";
/** So long a row that came or went is marked, in milliseconds. */
const FLASH = 2500;
const isUpdate = (text: string): boolean =>
  /^\s*(?:(?:#.*|prefix\s+\S*\s*<[^>]*>|base\s*<[^>]*>)\s*)*(insert|delete|clear|drop|create|copy|move|add|with|load)\b/i.test(text);

export default function Ask({ given }: ViewProps) {
  const [text, write] = useState(() => given.get("query") ?? sessionStorage.getItem(KEPT) ?? FIRST);
  const [answer, take] = useState<Answer | null>(null);
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");
  const [isWatching, watch] = useState(false);
  const [isBusy, wait] = useState(false);
  const following = useRef<Following | null>(null);
  const asking = useRef<AbortController | null>(null);
  const at = given.get("at");

  const stop = (): void => {
    following.current?.stop();
    following.current = null;
    asking.current?.abort();
    watch(false);
  };
  useEffect(() => stop, []);
  useEffect(() => {
    const query = given.get("query");
    if (query === null) return;
    stop();
    write(query);
    void run(query);
  }, [given.get("query"), at]);

  const change = (next: string): void => {
    write(next);
    sessionStorage.setItem(KEPT, next);
    fail(null);
  };

  const run = async (query = text): Promise<boolean> => {
    stop();
    wait(true);
    fail(null);
    const abort = (asking.current = new AbortController());
    try {
      if (isUpdate(query)) {
        const done = await json<{ seq: number; counts: Record<string, number> }>("sparql", form({ update: query }));
        say(`Change ${done.seq}: ${count(done.counts.added ?? 0)} facts came, ${count(done.counts.removed ?? 0)} went.`);
        take(null);
      } else {
        const found = await asked(query, at, abort.signal);
        take(found);
        say(found.text === undefined ? `${count(found.rows.length)} rows in ${seconds(found.took)}, at change ${found.seq}.` : "");
        return found.text === undefined;
      }
    } catch (problem) {
      if (abort.signal.aborted) return false;
      fail(problem);
      take(null);
      say("");
    } finally {
      if (asking.current === abort) wait(false);
    }
    return false;
  };

  /** Asked once before, so that a mistake is shown as such: a stream of events has no room for it. */
  const keepWatching = async (): Promise<void> => {
    if (!(await run())) return;
    watch(true);
    following.current = watched(
      text,
      (next, added, removed) => {
        take(next);
        say(`${count(next.rows.length)} rows at change ${next.seq}${added + removed ? `; ${count(added)} came, ${count(removed)} went` : ""}.`);
      },
      (state) => state === "waiting" && say("The connection is gone; it is made again."),
    );
  };

  const chart = answer && !answer.text ? chartOf(answer) : null;
  return (
    <>
      <h1>Ask{at && <span class="quiet"> as it was after change {at}</span>}</h1>
      <Editor label="Query" text={text} mistake={error instanceof Problem ? error.where : null} change={change} run={() => void run()} />
      <p class="buttons">
        <button type="button" class="main" onClick={() => void run()}>
          Run
        </button>
        {can("/watch") && (
        <button type="button" aria-pressed={isWatching} disabled={at !== null} onClick={() => (isWatching ? stop() : void keepWatching())}>
          {isWatching ? "Stop watching" : "Keep watching"}
        </button>
        )}
        {answer && !answer.text && (
          <button type="button" onClick={() => save(answer)}>
            CSV
          </button>
        )}
        <span class="quiet keys">
          <kbd>Ctrl</kbd>+<kbd>Enter</kbd> runs, <kbd>Ctrl</kbd>+<kbd>Space</kbd> completes
        </span>
      </p>
      {!answer && !error && !said && !isBusy && <Beginnings at={at} />}
      <Trouble error={error} />
      <p role="status" class="quiet" data-said>
        {isBusy ? "asking…" : said}
      </p>
      {answer?.text !== undefined && <pre class="text">{answer.text}</pre>}
      {chart && <ChartView chart={chart} />}
      {answer && answer.text === undefined && answer.rows.length === 0 && !isBusy && <p>Nothing answers this query{isWatching ? " yet: rows are shown as they come." : "."}</p>}
      {answer && answer.text === undefined && answer.vars.length > 0 && <Table caption="Answers" vars={answer.vars} rows={answer.marked} />}
    </>
  );
}

const QUESTIONS = {
  "which kinds of things there are": "SELECT ?kind (COUNT(?thing) AS ?things)\nWHERE { ?thing a ?kind }\nGROUP BY ?kind\nORDER BY DESC(?things)\nLIMIT 40",
  "how often each property is used": "SELECT ?property (COUNT(*) AS ?times)\nWHERE { ?s ?property ?o }\nGROUP BY ?property\nORDER BY DESC(?times)\nLIMIT 40",
  "some facts": FIRST,
};

/** Questions for a folder that one does not know yet. */
function Beginnings({ at }: { at: string | null }) {
  const asked = (query: string): string => linkTo("ask", at === null ? { query } : { query, at });
  return (
    <p>
      To begin with:{" "}
      {Object.entries(QUESTIONS).map(([says, query], place) => (
        <>
          {place > 0 && ", "}
          <a key={says} href={asked(query)}>
            {says}
          </a>
        </>
      ))}
    </p>
  );
}

/** Ask once. */
async function asked(query: string, at: string | null, signal: AbortSignal): Promise<Answer> {
  const started = performance.now();
  const accept = "application/sparql-results+json, text/turtle;q=0.9";
  const answer = await request("sparql", { ...form({ query, at: at ?? undefined }), headers: { Accept: accept }, signal });
  const seq = answer.headers.get("Livefacts-Seq") ?? "";
  const isRows = answer.headers.get("Content-Type")?.startsWith("application/sparql-results+json");
  const text = isRows ? "" : await answer.text();
  const took = (performance.now() - started) / 1000;
  if (!isRows) return { vars: [], rows: [], marked: [], took, seq, text };
  const said = (await answer.json()) as { head: { vars?: string[] }; results?: { bindings: Row[] }; boolean?: boolean };
  if (said.boolean !== undefined) return { vars: [], rows: [], marked: [], took, seq, text: said.boolean ? "yes" : "no" };
  const rows = said.results?.bindings ?? [];
  return { vars: said.head.vars ?? [], rows, marked: rows.map((row) => ({ row })), took, seq };
}

interface Watched {
  seq: number;
  variables?: string[];
  answers?: Row[];
  added?: Row[];
  removed?: Row[];
}

/** Follow what comes and goes. */
function watched(query: string, tell: (next: Answer, added: number, removed: number) => void, become: (state: State) => void): Following {
  let vars: string[] = [];
  let rows: Row[] = [];
  let timer = 0;
  const show = (seq: number, added: Row[], removed: Row[]): void => {
    const plain = { vars, rows, took: 0, seq: String(seq) };
    window.clearTimeout(timer);
    tell({ ...plain, marked: marks(rows, added, removed) }, added.length, removed.length);
    if (added.length + removed.length) timer = window.setTimeout(() => show(seq, [], []), FLASH);
  };
  const following = follow(
    `watch?${new URLSearchParams({ query })}`,
    ["answers", "message"],
    (kind, data) => {
      const { seq, variables, answers, added = [], removed = [] } = data as Watched;
      if (kind === "answers") {
        vars = variables ?? [];
        rows = answers ?? [];
      } else rows = applied(vars, rows, added, removed);
      show(seq, added, removed);
    },
    become,
  );
  return {
    stop() {
      following.stop();
      window.clearTimeout(timer);
    },
  };
}

function marks(rows: Row[], added: Row[], removed: Row[]): Marked[] {
  const came = new Set(added);
  const gone = removed.map((row) => ({ row, mark: "went" as const }));
  return [...gone, ...rows.map((row) => (came.has(row) ? { row, mark: "came" as const } : { row }))];
}

function ChartView({ chart }: { chart: Chart }) {
  const title = `${chart.value} by ${chart.label}`;
  if (chart.kind === "line")
    return (
      <figure>
        <figcaption>{title}</figcaption>
        <Plot key={`${title}${chart.x.length}`} title={title} x={chart.x} y={chart.y} isTime={chart.isTime} height={240} format={count} />
      </figure>
    );
  const most = Math.max(...chart.bars.map((bar) => Math.abs(bar.size)), 1e-9);
  return (
    <figure class="bars" role="img" aria-label={`${title}; the table has the same values`}>
      <figcaption>{title}</figcaption>
      {chart.bars.map((bar, place) => (
        <div class="bar" key={place}>
          <span>{bar.name}</span>
          <span class="track">
            <span style={{ width: `${(100 * Math.abs(bar.size)) / most}%` }} />
          </span>
          <span>{count(bar.size)}</span>
        </div>
      ))}
    </figure>
  );
}

function save(answer: Rows): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([toCsv(answer)], { type: "text/csv" }));
  link.download = "answers.csv";
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
