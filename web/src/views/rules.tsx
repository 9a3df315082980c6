/** Rules: what is followed, what each has found and cost; rules come and go. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { count, seconds } from "../figures";
import { GraphView } from "../graph_view";
import { graphOfRules, type Linked } from "../packages";
import { readable } from "../rdf";
import { json, Problem, sent } from "../server";
import { TextField } from "../text_field";
import { Trouble } from "../trouble";

interface Rule extends Linked {
  text: string;
  instances?: number;
  new?: number;
  seconds?: number;
  /** So many rules are followed together, and share their counts. */
  shared_by?: number;
}

const EXAMPLE = "@id warm  [?room, a, <x:Warm>] :- [?room, <x:shows>, ?v], ?v > 20 .";

export default function Rules() {
  const [rules, take] = useState<Rule[] | null>(null);
  const [text, write] = useState("");
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");
  const [isGraph, draw] = useState(false);

  const read = async (): Promise<void> => take((await json<{ rules: Rule[] }>("rules")).rules);
  useEffect(() => void read().catch(fail), []);

  const change = async (path: string, init: RequestInit, done: string): Promise<void> => {
    fail(null);
    say("");
    try {
      const answer = await json<{ seq: number; counts: Record<string, number> }>(path, init);
      say(`${done} with change ${answer.seq}: ${count(answer.counts.added ?? 0)} facts came, ${count(answer.counts.removed ?? 0)} went.`);
      await read();
    } catch (problem) {
      fail(problem);
    }
  };
  const add = async (): Promise<void> => change("rules", sent(text, "text/plain"), "Added");
  const remove = (id: string): Promise<void> => change(`rules?${new URLSearchParams({ id })}`, { method: "DELETE" }, `Removed ${id}`);

  return (
    <>
      <h1>Rules</h1>
      {rules && rules.length > 0 && (
        <>
          <p class="buttons above">
            <button type="button" aria-pressed={isGraph} onClick={() => draw(!isGraph)}>
              {isGraph ? "As a table" : "As a graph"}
            </button>
          </p>
          {isGraph ? <RuleGraph rules={rules} /> : <RuleTable rules={rules} remove={remove} />}
        </>
      )}
      {rules?.length === 0 && <p class="quiet">There are no rules: what is asserted is all that holds.</p>}
      <TextField label="Rules to add" text={text} placeholder={EXAMPLE} mistake={error instanceof Problem ? error.where : null} change={write} />
      <p class="buttons">
        <button type="button" class="main" disabled={!text.trim()} onClick={() => void add()}>
          Add
        </button>
      </p>
      <Trouble error={error} />
      <p role="status" class="quiet" data-said>
        {said}
      </p>
    </>
  );
}

/** The text without its id, which stands beside it. */
const textOf = (rule: Rule): string => readable(rule.text).replace(/^@id \S+\s+/, "");

/** Which rule feeds which; those that feed each other are in one box. */
function RuleGraph({ rules }: { rules: Rule[] }) {
  const graph = useMemo(() => graphOfRules(rules), [rules]);
  const [chosen, choose] = useState<string | null>(null);
  const rule = rules.find((each) => `rule ${each.id}` === chosen);
  const packages = graph.nodes.filter((node) => node.kind === "box").length;
  return (
    <>
      <p class="quiet">
        An arrow leads from a rule to those that its conclusions may concern. {packages > 0 && "Rules in one box feed each other, and are followed together. "}
        Choose one to read it.
      </p>
      <GraphView graph={graph} label="The rules as a graph; the table has the same" choose={choose} />
      <div role="status">
        {rule && (
          <p>
            <strong>{rule.id}</strong> <code>{textOf(rule)}</code>
          </p>
        )}
      </div>
    </>
  );
}

const COUNTED = ["instances", "new facts", "time"];

function RuleTable({ rules, remove }: { rules: Rule[]; remove(id: string): Promise<void> }) {
  const isCounted = rules.some((rule) => rule.instances !== undefined);
  const number = (value: number | undefined): string => (value === undefined ? "–" : count(value));
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rules">
      <table>
        <caption>{count(rules.length)} rules</caption>
        <thead>
          <tr>
            <th scope="col">rule</th>
            <th scope="col">text</th>
            {isCounted && COUNTED.map((name) => <th key={name} scope="col" class="number">{name}</th>)}
            <th scope="col">do</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <tr key={rule.id}>
              <th scope="row">
                {rule.id}
                {(rule.shared_by ?? 1) > 1 && <span class="quiet"> counted with {(rule.shared_by ?? 1) - 1} others</span>}
              </th>
              <td>
                <code class="block">{textOf(rule)}</code>
              </td>
              {isCounted && (
                <>
                  <td class="number">{number(rule.instances)}</td>
                  <td class="number">{number(rule.new)}</td>
                  <td class="number">{rule.seconds === undefined ? "–" : seconds(rule.seconds)}</td>
                </>
              )}
              <td class="do">
                <button type="button" onClick={() => void remove(rule.id)}>
                  remove<span class="unseen"> the rule {rule.id}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
