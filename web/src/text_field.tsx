/** A field for facts and rules, in which a mistake is shown where it stands. */

import { useEffect, useRef } from "preact/hooks";
import type { Place } from "./server";

export interface TextFieldProps {
  label: string;
  text: string;
  placeholder?: string;
  mistake: Place | null;
  change(text: string): void;
}

export function TextField({ label, text, placeholder = "", mistake, change }: TextFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!mistake || mistake.line < 1 || !field.current) return;
    const lines = field.current.value.split("\n");
    const start = lines.slice(0, mistake.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const from = start + Math.max(0, mistake.column - 1);
    field.current.focus();
    field.current.setSelectionRange(from, Math.max(from + 1, start + (lines[mistake.line - 1]?.length ?? 0)));
  }, [mistake]);
  return (
    <label>
      {label}
      <textarea
        ref={field}
        value={text}
        placeholder={placeholder}
        spellcheck={false}
        aria-invalid={mistake !== null}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
}
