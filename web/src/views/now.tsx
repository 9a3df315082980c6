/** Now: what there is and what happens, readable from three metres. */

import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, count, histogramOf, instant, quantile, seconds, Series, type Histogram } from "../figures";
import { followChanges, type Change } from "../changes";
import { repeat } from "../live";
import { DeltaView } from "../facts";
import { Plot } from "../plot";
import { can, json, request } from "../server";
import { Trouble } from "../trouble";

interface Stats {
  facts: number;
  asserted: number;
  derived: number;
  rules: number;
  seq: number;
  now: number | null;
  uptime: number;
  subscribers?: number;
  resident_bytes: number;
  arrivals: number;
  set_aside: Record<string, number>;
  late?: number;
  streams?: Record<string, Stream>;
  waiting: { read: number; write: number };
  sources?: Source[];
}

interface Stream {
  arrivals: number;
  latest: number | null;
  watermark: number | null;
  lag: number | null;
  late: number;
}

interface Source {
  source: string;
  state: "following" | "waiting" | "ended";
  trouble: string;
  messages: number;
  last: string | null;
  dead_letters: number;
  last_dead_letters: { place: string; reason: string; text: string }[];
}

const PAUSE = 1000;
const QUIET = { isQuiet: true };
const WINDOW = 60;
/** So many seconds between two sentences for those who listen. */
const SPOKEN = 20;

class Watcher {
  readonly facts = new Series();
  readonly derived = new Series();
  readonly changes = new Series();
  readonly latency = new Series();
  readonly memory = new Series();
  readonly followers = new Series();
  private before: { time: number; stats: Stats } | null = null;
  private readonly histograms: { time: number; of: Histogram }[] = [];

  take(time: number, stats: Stats, metrics: string): void {
    const past = this.before;
    const isSame = past !== null && stats.uptime >= past.stats.uptime;
    const rate = isSame ? (stats.seq - past.stats.seq) / Math.max(0.001, stats.uptime - past.stats.uptime) : 0;
    if (!isSame) this.histograms.length = 0;
    this.before = { time, stats };
    const histogram = histogramOf(metrics, "livefacts_request_seconds", "/sparql");
    this.histograms.push({ time, of: histogram });
    while (this.histograms.length > 2 && (this.histograms[0]?.time ?? 0) < time - WINDOW) this.histograms.shift();
    this.facts.push(time, stats.facts);
    this.derived.push(time, stats.derived);
    this.followers.push(time, stats.subscribers ?? 0);
    this.changes.push(time, rate);
    this.latency.push(time, quantile(0.95, this.histograms[0]?.of ?? new Map(), histogram));
    this.memory.push(time, stats.resident_bytes);
  }
}

export default function Now() {
  const [stats, take] = useState<Stats | null>(null);
  const [error, fail] = useState<unknown>(null);
  const [spoken, speak] = useState("");
  const watcher = useRef(new Watcher());

  useEffect(() => {
    let heard = 0;
    const following = repeat(PAUSE, async () => {
      try {
        const [found, metrics] = await Promise.all([json<Stats>("stats", {}, QUIET), request("metrics", {}, QUIET).then((each) => each.text())]);
        const time = Date.now() / 1000;
        watcher.current.take(time, found, metrics);
        take(found);
        fail(null);
        if (time - heard < SPOKEN) return;
        heard = time;
        speak(`${count(found.facts)} facts, ${count(found.derived)} of them derived, after change ${found.seq}`);
      } catch (problem) {
        fail(problem);
      }
    });
    return () => following.stop();
  }, []);

  const { facts, derived, changes, latency, memory, followers } = watcher.current;
  const version = facts.times.at(-1) ?? 0;
  return (
    <>
      <h1 class="unseen">Now</h1>
      <p class="unseen" role="status">
        {spoken}
      </p>
      <Trouble error={error} />
      <div class={`figures${error ? " stale" : ""}`}>
        <Figure name="facts" value={stats && count(stats.facts)} says={stats ? `as of change ${count(stats.seq)}` : ""} series={facts} version={version} format={short} />
        <Figure
          name="derived"
          value={stats && count(stats.derived)}
          says={stats ? `by ${count(stats.rules)} rules; ${count(stats.asserted)} asserted` : ""}
          series={derived}
          version={version}
          format={short}
        />
        <Figure name="changes a second" value={stats && count(changes.last ?? 0)} says={stats ? `${count(stats.seq)} so far` : ""} series={changes} version={version} format={short} />
        <Figure
          name="latency"
          value={stats && (latency.last === null ? "–" : seconds(latency.last))}
          says="95 % of the requests of the last minute"
          series={latency}
          version={version}
          format={seconds}
        />
        <Figure name="memory" value={stats && bytes(stats.resident_bytes)} says="of the process" series={memory} version={version} format={bytes} />
        <Figure
          name="live readers"
          value={stats && count(stats.subscribers ?? 0)}
          says={stats ? `running for ${seconds(stats.uptime)}; ${waiting(stats)}` : ""}
          series={followers}
          version={version}
          format={short}
        />
      </div>
      {stats && stats.now !== null && <StreamFigures stats={stats} now={stats.now} />}
      {stats?.sources && stats.sources.length > 0 && <Sources sources={stats.sources} />}
      {can("/changes") && <Latest />}
    </>
  );
}

/** How far time is, and what did not get there. */
function StreamFigures({ stats, now }: { stats: Stats; now: number }) {
  const aside = Object.entries(stats.set_aside);
  const streams = Object.entries(stats.streams ?? {});
  const late = stats.late ?? streams.reduce((sum, [, each]) => sum + each.late, 0);
  const figures: [string, string][] = [
    ["time", instant(now)],
    ["arrivals kept", count(stats.arrivals)],
    ["late", count(late)],
    ["set aside", count(aside.reduce((sum, [, each]) => sum + each, 0))],
  ];
  return (
    <section>
      <h2>Streams</h2>
      <dl class="small-figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {aside.length > 0 && <p class="quiet">Set aside: {aside.map(([why, each]) => `${count(each)} ${why}`).join(", ")}</p>}
      {streams.length > 0 && <StreamTable streams={streams} />}
    </section>
  );
}

const OF_STREAMS = ["stream", "arrivals", "watermark", "behind", "late"];

/** Each stream: until when it is complete, and how far it is behind the one that is ahead. */
function StreamTable({ streams }: { streams: [string, Stream][] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Streams">
      <table>
        <thead>
          <tr>
            {OF_STREAMS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {streams.map(([name, each]) => (
            <tr key={name} data-stream={name}>
              <th scope="row">{name || "without a name"}</th>
              <td>{count(each.arrivals)}</td>
              <td>{instant(each.watermark)}</td>
              <td>{each.lag === null ? "–" : each.lag === 0 ? "up to date" : count(each.lag)}</td>
              <td>{count(each.late)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Where messages come from, how that goes, and which of them stood for nothing. */
function Sources({ sources }: { sources: Source[] }) {
  const letters = sources.flatMap((each) => each.last_dead_letters);
  return (
    <section>
      <h2>Sources</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Sources">
        <table>
          <thead>
            <tr>
              {["source", "state", "messages", "last", "dead letters"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sources.map((each) => (
              <tr key={each.source} data-source={each.source}>
                <th scope="row">{each.source}</th>
                <td>
                  {each.state}
                  {each.trouble && <span class="quiet"> {each.trouble}</span>}
                </td>
                <td>{count(each.messages)}</td>
                <td>{each.last?.replace("T", " ").replace("Z", "") ?? "–"}</td>
                <td>{count(each.dead_letters)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {letters.length > 0 && (
        <details>
          <summary>The last messages that stood for nothing</summary>
          <ul>
            {letters.map((each, place) => (
              <li key={place}>
                {each.place}: {each.reason} <code>{each.text}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const SHOWN = 5;
const FACTS_SHOWN = 3;

/** The last changes, as they are made. */
function Latest() {
  const [changes, take] = useState<Change[]>([]);
  const [isLive, live] = useState(false);
  useEffect(() => {
    const one = (change: Change): void => {
      if (change.large || change.added.length + change.removed.length > 0) take((known) => [change, ...known].slice(0, SHOWN));
    };
    const following = followChanges(null, one, (state) => live(state === "live"));
    return () => following.stop();
  }, []);
  return (
    <section class="latest">
      <h2>
        Latest changes <span class={isLive ? "dot live" : "dot"} data-live={isLive} /> <span class="quiet">{isLive ? "live" : "not connected"}</span>
      </h2>
      {changes.length === 0 && <p class="quiet">None since this view was opened: what comes and goes is shown here as it happens.</p>}
      <ol>
        {changes.map((change) => (
          <li key={change.seq} data-seq={change.seq}>
            <span class="quiet">{change.seq}</span>
            <div>
              <DeltaView added={change.added} removed={change.removed} most={FACTS_SHOWN} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

const short = (value: number): string => Intl.NumberFormat("en", { notation: "compact" }).format(value);

function waiting(stats: Stats): string {
  const { read, write } = stats.waiting;
  return read + write ? `${read} wait to read, ${write} to write` : "nobody waits";
}

interface FigureProps {
  name: string;
  value: string | null;
  says?: string;
  series?: Series;
  version?: number;
  format?: (value: number) => string;
}

function Figure({ name, value, says, series, version = 0, format = String }: FigureProps) {
  return (
    <section class="figure">
      <h2>{name}</h2>
      <p class="value" data-figure={name}>
        {value ?? "…"}
      </p>
      <p class="quiet">{says}</p>
      {series && <Plot title={`${name}, the last minutes`} x={series.times} y={series.values} version={version} format={format} height={96} />}
    </section>
  );
}
