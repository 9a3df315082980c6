/** Plots of figures; their library is loaded with the first of them. */

import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";

export interface PlotProps {
  /** What is shown, in words: for those who do not see it. */
  title: string;
  x: number[];
  y: (number | null)[];
  isTime?: boolean;
  height?: number;
  /** How a value is written beside the axis. */
  format?: (value: number) => string;
  /** Changes whenever the values do. */
  version?: number;
}

const clock = (time: number): string => new Date(time * 1000).toTimeString().slice(0, 8);

const colours = (): { accent: string; line: string; text: string } => {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return { accent: of("--accent"), line: of("--line"), text: of("--quiet") };
};

export function Plot({ title, x, y, isTime = true, height = 120, format = String, version }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);

  useEffect(() => {
    let isWanted = true;
    const drawn = async (): Promise<void> => {
      const [{ default: Library }] = await Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]);
      const around = box.current;
      if (!isWanted || !around) return;
      const { accent, line, text } = colours();
      const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: "13px system-ui, sans-serif" };
      plot.current?.destroy();
      plot.current = new Library(
        {
          width: around.clientWidth,
          height,
          cursor: { show: false },
          legend: { show: false },
          // From zero on: what hardly changes looks so.
          scales: { x: { time: isTime }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(most ?? 0, 1e-3) * 1.1] } },
          axes: [
            { ...axis, grid: { show: false }, space: 90, size: 28, ...(isTime && { values: (_, splits) => splits.map(clock) }) },
            { ...axis, size: 64, space: 26, values: (_, splits) => splits.map((each) => format(each)) },
          ],
          series: [{}, { stroke: accent, width: 2, fill: `${accent}1f`, points: { show: x.length < 60 && !isTime } }],
        },
        [x, y],
        around,
      );
    };
    void drawn();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => void drawn();
    dark.addEventListener("change", redraw);
    const size = new ResizeObserver(() => plot.current?.setSize({ width: box.current?.clientWidth ?? 300, height }));
    if (box.current) size.observe(box.current);
    return () => {
      isWanted = false;
      dark.removeEventListener("change", redraw);
      size.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => plot.current?.setData([x, y]), [x, y, version]);

  return <div class="plot" ref={box} role="img" aria-label={title} style={{ minHeight: `${height}px` }} />;
}
