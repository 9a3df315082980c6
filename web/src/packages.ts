/** Packages of rules: which rule feeds which, and the circles among them. */

import type { Graph } from "./graph_view";

export interface Linked {
  id: string;
  constraint?: boolean;
  /** The rules to which the conclusions of this one can matter. */
  feeds?: string[];
}

/** The rules that can reach each other, if there are several: they are followed in circles. */
export function packagesOf(rules: readonly Linked[]): string[][] {
  const feeds = new Map(rules.map((rule) => [rule.id, rule.feeds ?? []]));
  const reached = new Map(rules.map((rule) => [rule.id, reach(rule.id, feeds)]));
  const left = new Set(rules.map((rule) => rule.id));
  const found: string[][] = [];
  for (const { id } of rules) {
    if (!left.has(id)) continue;
    const together = [...left].filter((other) => other === id || (reached.get(id)?.has(other) && reached.get(other)?.has(id)));
    together.forEach((each) => left.delete(each));
    if (together.length > 1) found.push(together);
  }
  return found;
}

function reach(from: string, feeds: Map<string, string[]>): Set<string> {
  const found = new Set<string>();
  const waiting = [from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
    for (const next of feeds.get(id) ?? [])
      if (!found.has(next)) {
        found.add(next);
        waiting.push(next);
      }
  return found;
}

/** So wide and high is what stands for one rule, with the space around it. */
const CELL = { width: 190, height: 90 };
const MOST_IN_ROW = 6;

/** Rules in rows, each below those that feed it; those of a package are on an ellipse, in one box. */
export function graphOfRules(rules: readonly Linked[]): Graph {
  const packages = packagesOf(rules);
  const together = new Set(packages.flat());
  const groups = [...packages, ...rules.filter((rule) => !together.has(rule.id)).map((rule) => [rule.id])];
  const places = placed(groups, levels(groups, rules));
  const inside = (id: string): string | undefined => {
    const place = packages.findIndex((ids) => ids.includes(id));
    return place < 0 ? undefined : `package ${place + 1}`;
  };
  return {
    nodes: [
      ...packages.map((ids, place) => ({ id: `package ${place + 1}`, text: `${ids.length} rules that feed each other`, kind: "box" as const })),
      ...rules.map(({ id, constraint }) => ({ id: `rule ${id}`, text: id, kind: constraint ? ("test" as const) : ("derived" as const), inside: inside(id), at: places.get(id) })),
    ],
    edges: rules.flatMap(({ id, feeds = [] }) => feeds.filter((to) => to !== id).map((to) => ({ from: `rule ${id}`, to: `rule ${to}` }))),
  };
}

/** How many groups there are on the longest way to each one. */
function levels(groups: string[][], rules: readonly Linked[]): number[] {
  const group = new Map(groups.flatMap((ids, place) => ids.map((id) => [id, place] as const)));
  const found = groups.map(() => 0);
  // No way passes a group twice: as often as there are groups is enough.
  for (let again = true, times = 0; again && times <= groups.length; times++) {
    again = false;
    for (const { id, feeds = [] } of rules)
      for (const to of feeds) {
        const [from, next] = [group.get(id)!, group.get(to)!];
        if (from !== next && found[next]! <= found[from]!) {
          found[next] = found[from]! + 1;
          again = true;
        }
      }
  }
  return found;
}

type Place = { x: number; y: number };

function placed(groups: string[][], level: number[]): Map<string, Place> {
  const places = new Map<string, Place>();
  let top = 0;
  for (let row = 0; row <= Math.max(0, ...level); row++) {
    const all = groups.filter((_, place) => level[place] === row);
    for (let start = 0; start < all.length; start += MOST_IN_ROW) {
      const line = all.slice(start, start + MOST_IN_ROW).map((ids) => ({ ids, ...sizeOf(ids.length) }));
      const height = Math.max(...line.map((each) => each.height));
      let left = -line.reduce((sum, each) => sum + each.width, 0) / 2;
      for (const { ids, width } of line) {
        const centre = { x: left + width / 2, y: top + height / 2 };
        ids.forEach((id, place) => places.set(id, ids.length === 1 ? centre : onEllipse(centre, place, ids.length)));
        left += width;
      }
      top += height;
    }
  }
  return places;
}

const radii = (count: number): Place => ({ x: Math.max(CELL.width / 2, 34 * count), y: Math.max(CELL.height / 2, 17 * count) });

function sizeOf(count: number): { width: number; height: number } {
  if (count === 1) return CELL;
  const { x, y } = radii(count);
  return { width: 2 * x + CELL.width + 60, height: 2 * y + CELL.height + 60 };
}

function onEllipse(centre: Place, place: number, count: number): Place {
  const angle = (2 * Math.PI * place) / count;
  const { x, y } = radii(count);
  return { x: centre.x + x * Math.cos(angle), y: centre.y + y * Math.sin(angle) };
}
