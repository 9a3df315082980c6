/** A timeline: arrivals as dots, and the windows of reports over them. */

import { instant } from "./figures";

export interface Report {
  query: string;
  time: number;
  window: [number, number][];
  rows?: unknown[];
  error?: string;
}

/** Facts that happened at one time point of a stream. */
export interface Arrival {
  seq: number;
  at: number;
  stream?: string;
}

const WIDTH = 1000;
const LANES = 8;
const LANE = 16;

export function Timeline({ reports, arrivals }: { reports: Report[]; arrivals: Arrival[] }) {
  const drawn = reports.slice(-LANES);
  const times = [
    ...drawn.flatMap((report) => [report.time, ...report.window.flat()]),
    ...arrivals.map((arrival) => arrival.at),
  ];
  const floor = drawn.length * LANE + 12;
  if (times.length === 0) return <p class="quiet">Nothing has arrived yet.</p>;
  const first = Math.min(...times);
  const last = Math.max(...times, first + 1);
  const at = (time: number): number => 20 + ((time - first) / (last - first)) * (WIDTH - 40);
  const says = `From ${instant(first)} to ${instant(last)}: ${arrivals.length} arrivals and the windows of ${drawn.length} reports`;
  return (
    <svg class="timeline" viewBox={`0 0 ${WIDTH} ${floor + 60}`} role="img" aria-label={says}>
      {drawn.map((report, lane) =>
        report.window.map(([from, to], place) => (
          <rect
            key={`${report.time} ${place}`}
            x={at(from)}
            y={lane * LANE + 4}
            width={Math.max(3, at(to) - at(from))}
            height={LANE - 5}
            rx="3"
            fill="var(--accent)"
            fill-opacity={report.rows?.length ? 0.75 : 0.25}
          />
        )),
      )}
      <line x1="20" x2={WIDTH - 20} y1={floor + 14} y2={floor + 14} stroke="var(--line)" stroke-width="2" />
      {arrivals.map((arrival) => (
        <circle key={arrival.seq} cx={at(arrival.at)} cy={floor + 14} r="6" fill="var(--text)" fill-opacity="0.6">
          <title>{`${arrival.stream ?? ""} ${instant(arrival.at)}`}</title>
        </circle>
      ))}
      <text x="20" y={floor + 50} fill="var(--quiet)" font-size="18">
        {instant(first)}
      </text>
      <text x={WIDTH - 20} y={floor + 50} fill="var(--quiet)" font-size="18" text-anchor="end">
        {instant(last)}
      </text>
    </svg>
  );
}
