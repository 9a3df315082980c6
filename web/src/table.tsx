/** Rows as a table; those that come and go are shown as they do. */

import { linkTo } from "./links";
import { keyOf, shortened, shown, written, type Row, type Term } from "./rdf";

export type Marked = { row: Row; mark?: "came" | "went" };

/** A term; an address leads to what is said about it. */
export function TermView({ term }: { term: Term | undefined }) {
  if (!term) return <span class="quiet">–</span>;
  if (term.type === "uri") {
    const query = `SELECT ?p ?o WHERE { <${term.value}> ?p ?o }`;
    return (
      <a href={linkTo("ask", { query })} title={term.value}>
        {shortened(term.value)}
      </a>
    );
  }
  return <span title={written(term)}>{shown(term)}</span>;
}

/** The fact that a row speaks of, if its columns are those of one. */
function factOf(row: Row): string | null {
  const { s, p, o } = row;
  return s && p && o && s.type === "uri" ? `${written(s)} ${written(p)} ${written(o)}` : null;
}

const MOST_ROWS = 1000;

export function Table({ caption, vars, rows }: { caption: string; vars: string[]; rows: Marked[] }) {
  const hasFacts = rows.length > 0 && factOf(rows[0]!.row) !== null;
  const names = new Map<string, number>();
  const unique = (key: string): string => {
    const times = names.get(key) ?? 0;
    names.set(key, times + 1);
    return `${key}\t${times}`;
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {vars.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {hasFacts && <th scope="col">why</th>}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MOST_ROWS).map(({ row, mark }) => (
            <tr key={unique(`${mark === "went" ? "went" : ""}${keyOf(vars, row)}`)} class={mark}>
              {vars.map((name) => (
                <td key={name} class={row[name]?.datatype ? "literal" : undefined}>
                  <TermView term={row[name]} />
                </td>
              ))}
              {hasFacts && (
                <td>
                  <a href={linkTo("why", { fact: factOf(row) ?? "" })}>why</a>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST_ROWS && <p class="quiet">The first {MOST_ROWS} of {rows.length} rows; the CSV has all.</p>}
    </div>
  );
}
