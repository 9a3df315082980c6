/** Explanations as the server gives them, and proofs as graphs. */

import type { Graph } from "./graph_view";
import { readable } from "./rdf";

export interface Premise {
  fact?: string;
  asserted?: boolean;
  step?: number;
  absent?: string;
  comparison?: string;
  aggregate?: string;
  value?: string;
  count?: number;
  rows?: { values: string[]; premises: Premise[] }[];
}
export interface Step {
  step: number;
  fact: string;
  height: number;
  rule: string;
  text: string;
  bindings: Record<string, string>;
  premises: Premise[];
}
export interface Attempt {
  rule: string;
  text: string;
  bindings: Record<string, string>;
  premises: { premise: string; state: "true" | "missing" | "false" | "open"; value?: string }[];
}
export interface Explanation {
  fact: string;
  holds: boolean;
  asserted?: boolean;
  height?: number;
  smallest?: boolean;
  since?: number;
  until?: number;
  steps?: Step[];
  attempts?: Attempt[];
  unknown?: string[];
  nearby?: string[];
  similar?: string[];
}

/** The step that concludes the fact itself: the highest one. */
export function rootOf(explanation: Explanation): Step | null {
  const steps = explanation.steps ?? [];
  return steps.find((step) => step.fact === explanation.fact && step.height === explanation.height) ?? steps[0] ?? null;
}

/** All facts that a premise stands for: its own, or those of the rows of an aggregate. */
function factsOf(premise: Premise): Premise[] {
  return premise.rows ? premise.rows.flatMap((row) => row.premises.flatMap(factsOf)) : [premise];
}

/** A proof as a graph: from each conclusion to its premises, each fact once. */
export function graphOf(explanation: Explanation): Graph {
  const nodes = new Map<string, Graph["nodes"][number]>();
  const edges: Graph["edges"] = [];
  const root = rootOf(explanation);
  const named = (text: string, kind: Graph["nodes"][number]["kind"]): string => {
    if (!nodes.has(text)) nodes.set(text, { id: text, text: readable(text), kind });
    return text;
  };
  named(explanation.fact, "goal");
  for (const step of explanation.steps ?? []) {
    const from = named(step.fact, step === root ? "goal" : "derived");
    for (const premise of step.premises.flatMap(factsOf)) {
      const text = premise.fact ?? premise.comparison ?? (premise.absent ? `no ${premise.absent}` : (premise.aggregate ?? ""));
      const kind = premise.fact === undefined ? "test" : premise.step === undefined ? "asserted" : "derived";
      edges.push({ from, to: named(text, kind) });
    }
  }
  return { nodes: [...nodes.values()], edges };
}
