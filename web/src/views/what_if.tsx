/** What if: the delta and the violations of a change, before it is made. */

import { useState } from "preact/hooks";
import { DeltaView } from "../facts";
import { count } from "../figures";
import { PREFIXES } from "../rdf";
import { json, Problem, sent, type Place } from "../server";
import { TextField } from "../text_field";
import { Trouble } from "../trouble";

interface Outcome {
  seq?: number;
  added: string[];
  removed: string[];
  violations: unknown[];
  resolved: unknown[];
  hints?: string[];
}

const PARTS = [
  { name: "add", label: "Facts to add, one a line", says: "<x:tom> a <x:Person>\nisIn(cup, kitchen)" },
  { name: "remove", label: "Facts to remove, one a line", says: "<x:tom> <x:likes> <x:tea>" },
  { name: "add_rules", label: "Rules to add", says: "warm(?x) :- reading(?x, ?v), ?v > 20 ." },
  { name: "remove_rules", label: "A rule to remove, by its id", says: "r1" },
] as const;
type Part = (typeof PARTS)[number]["name"];
type Draft = Record<Part, string>;
const EMPTY: Draft = { add: "", remove: "", add_rules: "", remove_rules: "" };

/** The facts of a draft as RDF Patch, a line for each of their lines: the place of a mistake stays known. */
function patchOf({ add, remove }: Draft): string {
  const row = (line: string, sign: string): string =>
    line.trim() && `${sign} ${line.trim().replace(/^([^\s(]+)\s+a\s/, `$1 <${PREFIXES.rdf}type> `).replace(/\s*\.$/, "")} .`;
  const rows = (text: string, sign: string): string[] => (text ? text.split("\n").map((line) => row(line, sign)) : []);
  return [...rows(add, "A"), ...rows(remove, "D")].join("\n");
}

/** The part of a draft in which a mistake stands, and where. */
function placed(draft: Draft, where: Place): { part: Part; where: Place } {
  if (draft.add_rules.split("\n").includes(where.text)) return { part: "add_rules", where };
  const adding = draft.add ? draft.add.split("\n").length : 0;
  const column = Math.max(1, where.column - 2);
  if (where.line <= adding) return { part: "add", where: { ...where, column } };
  return { part: "remove", where: { ...where, line: where.line - adding, column } };
}

export default function WhatIf() {
  const [draft, write] = useState(EMPTY);
  const [outcome, take] = useState<Outcome | null>(null);
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");

  const change = (name: Part, text: string): void => {
    write({ ...draft, [name]: text });
    take(null);
    say("");
    fail(null);
  };
  const tried = async (call: () => Promise<void>): Promise<void> => {
    fail(null);
    try {
      await call();
    } catch (problem) {
      fail(problem);
    }
  };
  const asked = (path: "preview" | "apply"): Promise<Outcome> => {
    const all = { patch: patchOf(draft), add_rules: draft.add_rules, remove_rules: draft.remove_rules.trim() };
    const given = Object.fromEntries(Object.entries(all).filter(([, text]) => text.trim()));
    return json<Outcome>(path, sent(JSON.stringify(given), "application/json"));
  };
  const preview = (): Promise<void> =>
    tried(async () => {
      const found = await asked("preview");
      take(found);
      say(`${count(found.added.length)} facts would come, ${count(found.removed.length)} would go.`);
    });
  const commit = (): Promise<void> =>
    tried(async () => {
      const made = await asked("apply");
      say(`Made: change ${made.seq}.`);
      take(null);
      write(EMPTY);
    });

  const mistake = error instanceof Problem && error.where ? placed(draft, error.where) : null;
  return (
    <>
      <h1>What if</h1>
      <p class="quiet">What would come and go, and which constraints would be violated. Nothing changes until you commit, and all of it is one change then.</p>
      <div class="columns">
        {PARTS.map(({ name, label, says }) => (
          <TextField key={name} label={label} text={draft[name]} placeholder={says} mistake={mistake?.part === name ? mistake.where : null} change={(text) => change(name, text)} />
        ))}
      </div>
      <p class="buttons">
        <button type="button" class="main" onClick={() => void preview()}>
          Preview
        </button>
        <button type="button" disabled={!outcome} onClick={() => void commit()}>
          Commit
        </button>
      </p>
      <Trouble error={error} />
      <p role="status" class="quiet" data-said>
        {said}
      </p>
      {outcome && (
        <>
          <Violations title="Violated" all={outcome.violations} />
          <Violations title="No longer violated" all={outcome.resolved} />
          <DeltaView {...outcome} />
        </>
      )}
    </>
  );
}

function Violations({ title, all }: { title: string; all: unknown[] }) {
  if (all.length === 0) return null;
  return (
    <section class="trouble">
      <h2>{title}</h2>
      <ul>
        {all.map((each, place) => (
          <li key={place}>{worded(each)}</li>
        ))}
      </ul>
    </section>
  );
}

/** A violation as the server gives it: a text, or a constraint with its bindings. */
function worded(each: unknown): string {
  if (typeof each === "string") return each;
  const { constraint, bindings } = each as { constraint: string; bindings: Record<string, string> };
  return `${constraint}: ${Object.entries(bindings).map(([name, value]) => `?${name} = ${value}`).join(", ")}`;
}
