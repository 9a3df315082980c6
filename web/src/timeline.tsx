/** A timeline: arrivals as dots, and the windows of reports over them. */

import { useEffect, useRef, useState } from "preact/hooks";
import { instant } from "./figures";
import type { Row } from "./rdf";

export interface Report {
  query: string;
  time: number;
  window: [number, number][];
  rows?: Row[];
  error?: string;
}

/** Facts that happened at one time point of a stream. */
export interface Arrival {
  seq: number;
  at: number;
  stream?: string;
}

const WIDEST = 1000;
const LANES = 8;
const LANE = 16;

/** The width that there is, as long as it is drawn. */
function useWidth(): [number, { current: HTMLDivElement | null }] {
  const box = useRef<HTMLDivElement>(null);
  const [width, become] = useState(WIDEST);
  useEffect(() => {
    const size = new ResizeObserver(() => become(Math.max(240, box.current?.clientWidth ?? WIDEST)));
    if (box.current) size.observe(box.current);
    return () => size.disconnect();
  }, []);
  return [width, box];
}

export function Timeline({ reports, arrivals }: { reports: Report[]; arrivals: Arrival[] }) {
  const [width, box] = useWidth();
  return (
    <div ref={box}>
      <Drawn reports={reports} arrivals={arrivals} width={width} />
    </div>
  );
}

function Drawn({ reports, arrivals, width }: { reports: Report[]; arrivals: Arrival[]; width: number }) {
  const drawn = reports.slice(-LANES);
  const times = [
    ...drawn.flatMap((report) => [report.time, ...report.window.flat()]),
    ...arrivals.map((arrival) => arrival.at),
  ];
  const floor = drawn.length * LANE + 12;
  if (times.length === 0) return <p class="quiet">Nothing has arrived yet.</p>;
  const first = Math.min(...times);
  const last = Math.max(...times, first + 1);
  const at = (time: number): number => 20 + ((time - first) / (last - first)) * (width - 40);
  const says = `From ${instant(first)} to ${instant(last)}: ${arrivals.length} arrivals and the windows of ${drawn.length} reports`;
  return (
    <svg class="timeline" width={width} viewBox={`0 0 ${width} ${floor + 60}`} role="img" aria-label={says}>
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
      <line x1="20" x2={width - 20} y1={floor + 14} y2={floor + 14} stroke="var(--line)" stroke-width="2" />
      {arrivals.map((arrival) => (
        <circle key={arrival.seq} cx={at(arrival.at)} cy={floor + 14} r={width < 500 ? 3 : 5} fill="var(--text)" fill-opacity="0.6">
          <title>{`${arrival.stream ?? ""} ${instant(arrival.at)}`}</title>
        </circle>
      ))}
      <text x="20" y={floor + 50} fill="var(--quiet)" font-size="14">
        {instant(first)}
      </text>
      <text x={width - 20} y={floor + 50} fill="var(--quiet)" font-size="14" text-anchor="end">
        {instant(last)}
      </text>
    </svg>
  );
}
