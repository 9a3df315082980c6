/** Why: the proof of a fact as a tree and as a graph, or what it lacks. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { changesAfter } from "../changes";
import { FactText } from "../facts";
import { instant } from "../figures";
import { GraphView } from "../graph_view";
import { linkTo, type ViewProps } from "../links";
import { graphOf, rootOf, type Attempt, type Explanation, type Premise, type Step } from "../proofs";
import { readable } from "../rdf";
import { can, json, Problem } from "../server";
import { Trouble } from "../trouble";

const LOOKED_AT = 20;
const OFFERED = 8;
const EACH = 2;

export default function Why({ given }: ViewProps) {
  const asked = given.get("fact") ?? "";
  const [text, write] = useState(asked);
  const [explanation, take] = useState<Explanation | null>(null);
  const [error, fail] = useState<unknown>(null);
  const [isGraph, draw] = useState(false);

  useEffect(() => {
    write(asked);
    take(null);
    fail(null);
    if (!asked) return;
    const abort = new AbortController();
    json<Explanation>(`explain?${new URLSearchParams({ fact: asked })}`, { signal: abort.signal })
      .then(take)
      .catch((problem: unknown) => abort.signal.aborted || fail(problem));
    return () => abort.abort();
  }, [asked]);

  const submit = (event: Event): void => {
    event.preventDefault();
    location.hash = linkTo("why", { fact: text.trim() });
  };

  return (
    <>
      <h1>Why</h1>
      <form onSubmit={submit}>
        <label>
          Fact
          <input
            value={text}
            onInput={(event) => write(event.currentTarget.value)}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={error instanceof Problem}
            class="code"
          />
        </label>
        <p class="quiet">A triple such as &lt;x:tom&gt; a &lt;x:Person&gt;, or a fact of rules such as isIn(cup, kitchen).</p>
        <p class="buttons">
          <button class="main">Explain</button>
          {explanation?.steps && explanation.steps.length > 0 && (
            <button type="button" aria-pressed={isGraph} onClick={() => draw(!isGraph)}>
              {isGraph ? "As a tree" : "As a graph"}
            </button>
          )}
        </p>
      </form>
      <Trouble error={error} />
      {!asked && can("/changes") && <Conclusions />}
      <div role="status">{explanation && <Verdict explanation={explanation} />}</div>
      {explanation?.holds && (isGraph ? <ProofGraph explanation={explanation} /> : <Proof explanation={explanation} />)}
      {explanation && !explanation.holds && <Missing explanation={explanation} />}
    </>
  );
}

/** No more than a few of each kind: a property, a class, or a predicate. */
function mixed(facts: string[]): string[] {
  const seen = new Map<string, number>();
  return [...new Set(facts)].filter((fact) => {
    const [subject = "", property = "", value = ""] = fact.split(" ");
    const kind = subject.includes("(") ? subject.split("(")[0]! : property.includes("#type>") ? value : property;
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    return seen.get(kind)! <= EACH;
  });
}

/** What came with the last changes, to begin with; most of it was concluded. */
function Conclusions() {
  const [facts, take] = useState<string[]>([]);
  useEffect(() => {
    const look = async (): Promise<void> => {
      const { seq } = await json<{ seq: number }>("ready");
      const changes = await changesAfter(seq - LOOKED_AT);
      take(mixed(changes.flatMap((change) => [...change.added].reverse())).slice(0, OFFERED));
    };
    void look().catch(() => {});
  }, []);
  if (facts.length === 0) return <p>Rows of Ask and facts of History lead here, too.</p>;
  return (
    <>
      <h2>Among the last to come</h2>
      <ul class="plain">
        {facts.map((fact) => (
          <li key={fact}>
            <FactText text={fact} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Verdict({ explanation }: { explanation: Explanation }) {
  const { since, until } = explanation;
  const ends = until !== undefined && until < Number.MAX_SAFE_INTEGER / 2;
  return (
    <p class="verdict" data-holds={explanation.holds}>
      <strong>{readable(explanation.fact)}</strong> {explanation.holds ? (explanation.asserted ? "was asserted." : "holds.") : "does not hold."}
      {since !== undefined && since > 0 && <> Since {instant(since)}.</>}
      {ends && <> Until {instant(until)}.</>}
      {explanation.smallest === false && <span class="quiet"> A smaller proof may exist.</span>}
    </p>
  );
}

function Proof({ explanation }: { explanation: Explanation }) {
  const root = rootOf(explanation);
  if (!root) return null;
  const steps = new Map((explanation.steps ?? []).map((step) => [step.step, step]));
  return (
    <ul class="proof">
      <StepView step={root} steps={steps} seen={new Set()} />
    </ul>
  );
}

function ProofGraph({ explanation }: { explanation: Explanation }) {
  const graph = useMemo(() => graphOf(explanation), [explanation]);
  return <GraphView graph={graph} roots={[explanation.fact]} label="The proof as a graph; the tree has the same" />;
}

/** A step below those that lead to it; one that was shown is not shown again. */
function StepView({ step, steps, seen }: { step: Step; steps: Map<number, Step>; seen: Set<number> }) {
  if (seen.has(step.step))
    return (
      <li>
        <FactText text={step.fact} /> <span class="quiet">as above</span>
      </li>
    );
  seen.add(step.step);
  return (
    <li>
      <details open>
        <summary>
          <code>{readable(step.fact)}</code> <span class="quiet">by {step.rule}</span>
        </summary>
        <pre class="quiet">{readable(step.text)}</pre>
        <ul>
          {step.premises.map((premise, place) => (
            <PremiseView key={place} premise={premise} steps={steps} seen={seen} />
          ))}
        </ul>
      </details>
    </li>
  );
}

function PremiseView({ premise, steps, seen }: { premise: Premise; steps: Map<number, Step>; seen: Set<number> }) {
  const step = premise.step === undefined ? undefined : steps.get(premise.step);
  if (step) return <StepView step={step} steps={steps} seen={seen} />;
  if (premise.aggregate !== undefined)
    return (
      <li>
        <code>{readable(premise.aggregate)}</code> <span class="quiet">is {premise.value}, over {premise.count} rows</span>
        <ul>
          {premise.rows?.flatMap((row) => row.premises).map((each, place) => (
            <PremiseView key={place} premise={each} steps={steps} seen={seen} />
          ))}
        </ul>
      </li>
    );
  if (premise.absent !== undefined)
    return (
      <li>
        <span class="quiet">no fact matches</span> <code>{readable(premise.absent)}</code>
      </li>
    );
  if (premise.comparison !== undefined)
    return (
      <li>
        <code>{readable(premise.comparison)}</code>
      </li>
    );
  return (
    <li>
      <code>{readable(premise.fact ?? "")}</code> {premise.asserted && <span class="quiet">asserted</span>}
    </li>
  );
}

const STATES = { true: "✓ true", missing: "missing", false: "✗ false", open: "open" };

function Missing({ explanation }: { explanation: Explanation }) {
  const { attempts = [], unknown = [], nearby = [], similar = [] } = explanation;
  return (
    <>
      {unknown.length > 0 && <p>Nothing speaks of {unknown.map(readable).join(", ")}.</p>}
      {attempts.length === 0 && <p>No rule concludes this: it could only be asserted.</p>}
      {attempts.map((attempt, place) => (
        <AttemptView key={place} attempt={attempt} />
      ))}
      {nearby.length > 0 && (
        <>
          <h2>Facts nearby</h2>
          <ul>
            {nearby.map((fact) => (
              <li key={fact}>
                <FactText text={fact} />
              </li>
            ))}
          </ul>
        </>
      )}
      {similar.length > 0 && <p>Similar names: {similar.map(readable).join(", ")}</p>}
    </>
  );
}

function AttemptView({ attempt }: { attempt: Attempt }) {
  return (
    <section class="attempt">
      <h2>{attempt.rule}</h2>
      <pre class="quiet">{readable(attempt.text)}</pre>
      <table>
        <caption class="unseen">What the rule {attempt.rule} needs</caption>
        <thead>
          <tr>
            <th scope="col">it needs</th>
            <th scope="col">which is</th>
          </tr>
        </thead>
        <tbody>
          {attempt.premises.map((each, place) => (
            <tr key={place} data-state={each.state}>
              <td>
                <code>{readable(each.premise)}</code>
              </td>
              <td>{STATES[each.state]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
