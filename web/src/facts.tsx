/** Facts as texts: those that came and those that went, each leading to why. */

import { linkTo } from "./links";
import { readable } from "./rdf";
import { can } from "./server";

const MOST = 200;

interface DeltaViewProps {
  added: string[];
  removed: string[];
  /** So many facts are shown; how many there are besides is said. */
  most?: number;
}

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
export function DeltaView({ added, removed, most = MOST }: DeltaViewProps) {
  if (added.length + removed.length === 0) return <p class="quiet">Nothing comes, nothing goes.</p>;
  const all = [...added.map((text) => ({ text, mark: "came" })), ...removed.map((text) => ({ text, mark: "went" }))];
  return (
    <>
      <ul class="delta">
        {all.slice(0, most).map(({ text, mark }) => (
          <li key={`${mark}${text}`} class={mark}>
            <span aria-hidden="true">{mark === "came" ? "+" : "−"}</span>
            <span class="unseen">{mark === "came" ? "comes:" : "goes:"}</span> <FactText text={text} />
          </li>
        ))}
      </ul>
      {all.length > most && <p class="quiet more">and {all.length - most} more</p>}
    </>
  );
}
