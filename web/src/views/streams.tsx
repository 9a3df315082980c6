/** Streams: what arrives over time, the windows of a registered query over it, and its reports. */

import { useEffect, useState } from "preact/hooks";
import { followChanges } from "../changes";
import { count, instant, span } from "../figures";
import { follow, inTurn } from "../live";
import { linkTo, type ViewProps } from "../links";
import type { Row } from "../rdf";
import { form, json, Problem, request } from "../server";
import { TermView } from "../table";
import { TextField } from "../text_field";
import { Timeline, type Arrival, type Report } from "../timeline";
import { Trouble } from "../trouble";

interface Registered {
  name: string;
  query: string;
}

const KEPT = 60;
const EXAMPLE = `REGISTER QUERY Seen COMPUTE EVERY 1s AS
SELECT ?s ?v
FROM STREAM <x:readings> [RANGE 10s STEP 1s]
WHERE { ?s <x:shows> ?v }`;

export default function Streams({ given }: ViewProps) {
  const [queries, list] = useState<Registered[]>([]);
  const [reports, take] = useState<Report[]>([]);
  const [arrivals, arrive] = useState<Arrival[]>([]);
  const [text, write] = useState("");
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");
  const name = given.get("name") ?? queries[0]?.name ?? null;

  const read = async (): Promise<void> => list((await json<{ queries: Registered[] }>("register")).queries);
  useEffect(() => void read().catch(fail), []);
  useEffect(() => {
    let seen = 0;
    const look = async (): Promise<void> => {
      const { changes } = await json<{ changes: (Arrival & { kind: string })[] }>(`log${seen ? `?since=${seen}` : ""}`);
      seen = changes.at(-1)?.seq ?? seen;
      const pushed = changes.filter((change) => change.kind === "push" && Number.isFinite(change.at));
      if (pushed.length) arrive((known) => [...known, ...pushed.filter((each) => each.seq > (known.at(-1)?.seq ?? 0))].slice(-KEPT));
    };
    const turns = inTurn(look, fail);
    turns();
    const following = followChanges(null, (change) => change.kind === "push" && turns(), () => {});
    return () => following.stop();
  }, []);
  useEffect(() => {
    if (name === null) return;
    take([]);
    const following = follow(
      `register?${new URLSearchParams({ name })}`,
      ["message"],
      (_, data) => take((known) => [...known, data as Report].slice(-KEPT)),
    );
    return () => following.stop();
  }, [name]);

  const register = async (): Promise<void> => {
    fail(null);
    try {
      const answer = await request("register", form({ query: text, format: "json" }));
      await answer.text();
      await read();
      say("It is registered, and reports as time moves.");
    } catch (problem) {
      fail(problem);
    }
  };

  return (
    <>
      <h1>Streams</h1>
      {queries.length > 0 && (
        <nav class="queries" aria-label="Registered queries">
          <ul>
            {queries.map((each) => (
              <li key={each.name}>
                <a href={linkTo("streams", { name: each.name })} aria-current={each.name === name ? "true" : undefined}>
                  {each.name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      {name !== null && (
        <>
          <Timeline reports={reports} arrivals={arrivals} />
          <Reports name={name} reports={reports} />
        </>
      )}
      {queries.length === 0 && (
        <p class="quiet">
          A registered query looks at a stream through a window, and reports as time moves. Events come by <code>POST /streams/NAME</code>, or from sources that the server
          follows.
        </p>
      )}
      <details class="above" open={queries.length === 0}>
        <summary>Register a query</summary>
        <TextField label="C-SPARQL or RSP-QL" text={text} placeholder={EXAMPLE} mistake={error instanceof Problem ? error.where : null} change={write} />
        <p class="buttons">
          <button type="button" class="main" disabled={!text.trim()} onClick={() => void register()}>
            Register
          </button>
        </p>
      </details>
      <Trouble error={error} />
      <p role="status" class="quiet" data-said>
        {said}
      </p>
    </>
  );
}

function Reports({ name, reports }: { name: string; reports: Report[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Reports">
      <table>
        <caption>Reports of {name}</caption>
        <thead>
          <tr>
            <th scope="col">time</th>
            <th scope="col">window</th>
            <th scope="col">rows</th>
          </tr>
        </thead>
        <tbody>
          {[...reports].reverse().map((report, place) => (
            <tr key={report.time}>
              <th scope="row" class="when">
                {instant(report.time)}
              </th>
              <td>
                {report.window.map(([from, to]) => (
                  <span key={from} class="when">
                    {span(from, to)}
                  </span>
                ))}
              </td>
              <td>{report.error ?? <ReportRows rows={report.rows ?? []} isOpen={place === 0} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {reports.length === 0 && <p class="quiet">No report since this view was opened: they come when time moves.</p>}
    </div>
  );
}

/** What a report found; SPARQL terms as the other views have them. */
function ReportRows({ rows, isOpen }: { rows: Row[]; isOpen: boolean }) {
  if (rows.length === 0) return <span class="quiet">none</span>;
  const vars = [...new Set(rows.flatMap(Object.keys))];
  return (
    <details open={isOpen}>
      <summary>{count(rows.length)}</summary>
      <table class="inner">
        <thead>
          <tr>
            {vars.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {vars.map((name) => (
                <td key={name}>
                  <TermView term={row[name]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

