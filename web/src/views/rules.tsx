/** Rules: what is followed, what each has found and cost; rules come and go. */

import { useEffect, useState } from "preact/hooks";
import { count, seconds } from "../figures";
import { readable } from "../rdf";
import { json, Problem, sent } from "../server";
import { TextField } from "../text_field";
import { Trouble } from "../trouble";

interface Rule {
  id: string;
  text: string;
  instances?: number;
  new?: number;
  seconds?: number;
  /** So many rules are followed together, and share their counts. */
  shared_by?: number;
}

export default function Rules() {
  const [rules, take] = useState<Rule[] | null>(null);
  const [text, write] = useState("");
  const [error, fail] = useState<unknown>(null);
  const [said, say] = useState("");

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
      <TextField label="Rules to add" text={text} mistake={error instanceof Problem ? error.where : null} change={write} />
      <p class="buttons">
        <button type="button" class="main" disabled={!text.trim()} onClick={() => void add()}>
          Add
        </button>
      </p>
      <Trouble error={error} />
      <p role="status" class="quiet" data-said>
        {said}
      </p>
      {rules && <RuleTable rules={rules} remove={remove} />}
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
            {isCounted && COUNTED.map((name) => <th scope="col">{name}</th>)}
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
                <code>{readable(rule.text)}</code>
              </td>
              {isCounted && (
                <>
                  <td>{number(rule.instances)}</td>
                  <td>{number(rule.new)}</td>
                  <td>{rule.seconds === undefined ? "–" : seconds(rule.seconds)}</td>
                </>
              )}
              <td>
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
