/** Figures: how numbers are shown, and what is read out of what the server counts. */

const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const SMALL = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export const count = (value: number): string => COUNT.format(value);

/** Bytes in the unit that leaves few digits. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return `${SMALL.format(value / 1000 ** power)} ${units[power]}`;
}

/** Seconds in the unit that leaves few digits. */
export function seconds(value: number): string {
  if (value < 1) return `${SMALL.format(value * 1000)} ms`;
  if (value < 120) return `${SMALL.format(value)} s`;
  return value < 7200 ? `${COUNT.format(value / 60)} min` : `${COUNT.format(value / 3600)} h`;
}

/** A time point of streams: a number, which is shown as a date where it counts seconds or milliseconds since 1970. */
export function instant(now: number | null): string {
  if (now === null) return "–";
  const milliseconds = now > 1e12 && now < 5e12 ? now : now > 1e9 && now < 5e9 ? now * 1000 : null;
  return milliseconds === null ? count(now) : new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ");
}

/** A span of time points; a day that both have is said once. */
export function span(from: number, to: number): string {
  const [begin, end] = [instant(from), instant(to)];
  const isOneDay = begin.length > 10 && begin.slice(0, 10) === end.slice(0, 10);
  return `${begin} – ${isOneDay ? end.slice(11) : end}`;
}

/** Requests by how long they took at most: the counts of a Prometheus histogram. */
export type Histogram = Map<number, number>;

/** The histogram of one name and path in a text of Prometheus. */
export function histogramOf(text: string, name: string, path: string): Histogram {
  const found: Histogram = new Map();
  for (const line of text.split("\n")) {
    if (!line.startsWith(`${name}_bucket{`) || !line.includes(`path="${path}"`)) continue;
    const bound = /le="([^"]+)"/.exec(line)?.[1];
    if (bound) found.set(bound === "+Inf" ? Infinity : Number(bound), Number(line.slice(line.lastIndexOf(" "))));
  }
  return found;
}

/** The time that a share of the requests between two histograms did not pass; null if there were none. */
export function quantile(share: number, before: Histogram, after: Histogram): number | null {
  const bounds = [...after.keys()].sort((a, b) => a - b);
  const counted = bounds.map((bound) => (after.get(bound) ?? 0) - (before.get(bound) ?? 0));
  const all = counted.at(-1) ?? 0;
  if (all <= 0) return null;
  const wanted = share * all;
  const at = counted.findIndex((each) => each >= wanted);
  const upper = bounds[at] as number;
  const lower = at > 0 ? (bounds[at - 1] as number) : 0;
  if (!Number.isFinite(upper)) return lower;
  const below = at > 0 ? (counted[at - 1] as number) : 0;
  return lower + ((wanted - below) / Math.max(1, (counted[at] as number) - below)) * (upper - lower);
}

/** The last values of a figure, with their times: what a plot shows. */
export class Series {
  readonly times: number[] = [];
  readonly values: (number | null)[] = [];
  constructor(private readonly most = 300) {}

  push(time: number, value: number | null): void {
    this.times.push(time);
    this.values.push(value);
    if (this.times.length > this.most) {
      this.times.shift();
      this.values.shift();
    }
  }

  get last(): number | null {
    return this.values.at(-1) ?? null;
  }
}
