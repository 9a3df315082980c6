/** A problem, as people read it: what, where, and what to do. */

import { Problem } from "./server";

export function Trouble({ error }: { error: unknown }) {
  if (!error) return null;
  const said = error instanceof Error ? error.message : String(error);
  const where = error instanceof Problem ? error.where : null;
  const hint = error instanceof Problem ? error.hint : "";
  return (
    <div class="trouble" role="alert">
      <p class="what">{said}</p>
      {where?.text && (
        <pre>
          {where.text}
          {"\n"}
          {" ".repeat(Math.max(0, where.column - 1))}^
        </pre>
      )}
      {where && where.line > 0 && (
        <p class="quiet">
          line {where.line}, column {where.column}
        </p>
      )}
      {hint && <p>{hint}</p>}
    </div>
  );
}
