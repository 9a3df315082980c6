/** Facts as texts: those that came and those that went, each leading to why. */

import { linkTo } from "./links";
import { readable } from "./rdf";
import { can } from "./server";

const MOST = 200;

export function FactText({ text }: { text: string }) {
  const fact = text.replace(/\s*\.$/, "");
  if (!can("/explain")) return <code title={fact}>{readable(fact)}</code>;
  return (
    <a class="fact" href={linkTo("why", { fact })} title={fact}>
      <code>{readable(fact)}</code>
    </a>
  );
}

/** What a change brings and ends. */
export function DeltaView({ added, removed }: { added: string[]; removed: string[] }) {
  if (added.length + removed.length === 0) return <p class="quiet">Nothing comes, nothing goes.</p>;
  const all = [...added.map((text) => ({ text, mark: "came" })), ...removed.map((text) => ({ text, mark: "went" }))];
  return (
    <>
      <ul class="delta">
        {all.slice(0, MOST).map(({ text, mark }) => (
          <li key={`${mark}${text}`} class={mark}>
            <span aria-hidden="true">{mark === "came" ? "+" : "−"}</span>
            <span class="unseen">{mark === "came" ? "comes:" : "goes:"}</span> <FactText text={text} />
          </li>
        ))}
      </ul>
      {all.length > MOST && <p class="quiet">and {all.length - MOST} more</p>}
    </>
  );
}
