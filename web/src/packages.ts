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

/** Rules as a graph; those of a package are in one box. */
export function graphOfRules(rules: readonly Linked[]): Graph {
  const packages = packagesOf(rules);
  const inside = new Map(packages.flatMap((ids, place) => ids.map((id) => [id, `package ${place + 1}`] as const)));
  return {
    nodes: [
      ...packages.map((ids, place) => ({ id: `package ${place + 1}`, text: `${ids.length} rules that feed each other`, kind: "box" as const })),
      ...rules.map(({ id, constraint }) => ({ id: `rule ${id}`, text: id, kind: constraint ? ("test" as const) : ("derived" as const), inside: inside.get(id) })),
    ],
    edges: rules.flatMap(({ id, feeds = [] }) => feeds.map((to) => ({ from: `rule ${id}`, to: `rule ${to}` }))),
  };
}
