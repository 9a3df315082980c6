/** The editor of queries; its library is loaded with it. */

import { useEffect, useRef } from "preact/hooks";
import { PREFIXES } from "./rdf";
import { json, type Place } from "./server";

/** What is used of the library, which has no types that can be checked here. */
interface Code {
  getValue(): string;
  setValue(text: string): void;
  setSize(width: string | null, height: string | number | null): void;
  setOption(name: string, value: unknown): void;
  getInputField(): HTMLTextAreaElement;
  getWrapperElement(): HTMLElement;
  on(event: string, call: (...given: unknown[]) => void): void;
  markText(from: Position, to: Position, options: { className: string }): { clear(): void };
  setCursor(at: Position): void;
  scrollIntoView(at: Position): void;
  refresh(): void;
  destroy(): void;
}
interface Position {
  line: number;
  ch: number;
}

export interface EditorProps {
  label: string;
  text: string;
  /** Where a mistake stands. */
  mistake: Place | null;
  change(text: string): void;
  run(): void;
}

const MOST_NAMES = 1000;

/** The names that are used in the data, most frequent ones first. */
async function names(query: string): Promise<string[]> {
  const found = await json<{ results: { bindings: { n: { value: string } }[] } }>(
    `sparql?${new URLSearchParams({ query, timeout: "5", format: "json" })}`,
  ).catch(() => null);
  return found?.results.bindings.map((row) => row.n.value) ?? [];
}

const frequent = (pattern: string): string =>
  `SELECT ?n (COUNT(*) AS ?c) WHERE { ${pattern} FILTER(isIRI(?n)) } GROUP BY ?n ORDER BY DESC(?c) LIMIT ${MOST_NAMES}`;
const holding = (all: string[], part: string): string[] => all.filter((each) => each.toLowerCase().includes(part.toLowerCase()));

let completersAreMade = false;

async function library() {
  const [{ default: Yasqe }] = await Promise.all([import("@zazuko/yasqe"), import("@zazuko/yasqe/build/yasqe.min.css")]);
  if (!completersAreMade) {
    completersAreMade = true;
    const [properties, classes] = [frequent("?s ?n ?o"), frequent("?s a ?n")].map((query) => {
      let known: Promise<string[]> | null = null;
      return () => (known ??= names(query));
    });
    const prefixes = Object.entries(PREFIXES).map(([name, iri]) => `${name}: <${iri}>`);
    const of = (known: () => Promise<string[]>) => async (_: unknown, token?: { autocompletionString?: string }) =>
      holding(await known(), token?.autocompletionString ?? "");
    Yasqe.forkAutocompleter("prefixes", { name: "known-prefixes", get: () => prefixes, persistenceId: null });
    Yasqe.forkAutocompleter("property", { name: "used-properties", get: of(properties!), persistenceId: null });
    Yasqe.forkAutocompleter("class", { name: "used-classes", get: of(classes!), persistenceId: null });
  }
  return Yasqe;
}

export function Editor({ label, text, mistake, change, run }: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const code = useRef<Code | null>(null);
  const call = useRef({ change, run });
  call.current = { change, run };

  useEffect(() => {
    let isWanted = true;
    void library().then((Yasqe) => {
      if (!isWanted || !box.current) return;
      const made = new Yasqe(box.current, {
        value: text,
        persistenceId: null,
        autocompleters: ["known-prefixes", "used-properties", "used-classes", "variables"],
        prefixCcApi: null,
        showQueryButton: false,
        resizeable: false,
        createShareableLink: () => "",
        consumeShareLink: null,
        editorHeight: "auto",
        // The tab key goes on to what comes next; completion is at Ctrl-Space.
        extraKeys: {
          Tab: false,
          "Shift-Tab": false,
          "Ctrl-Space": (each: { autocomplete(): void }) => each.autocomplete(),
          "Ctrl-Enter": () => call.current.run(),
          "Cmd-Enter": () => call.current.run(),
        },
      } as never) as unknown as Code;
      made.setValue(text);
      made.getInputField().setAttribute("aria-label", label);
      made.on("change", () => call.current.change(made.getValue()));
      made.refresh();
      box.current.dataset.ready = "yes";
      code.current = made;
    });
    return () => {
      isWanted = false;
      code.current?.destroy();
      code.current = null;
    };
  }, []);

  useEffect(() => {
    if (code.current && code.current.getValue() !== text) code.current.setValue(text);
  }, [text]);

  useEffect(() => {
    if (!mistake || mistake.line < 1 || !code.current) return;
    const at = { line: mistake.line - 1, ch: Math.max(0, mistake.column - 1) };
    const mark = code.current.markText(at, { line: at.line, ch: 10_000 }, { className: "mistake" });
    code.current.setCursor(at);
    code.current.scrollIntoView(at);
    return () => mark.clear();
  }, [mistake]);

  return <div class="editor" ref={box} data-editor={label} />;
}
