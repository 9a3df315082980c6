/** Terms and rows of SPARQL results: how they are shown, compared, drawn and exported. */

export interface Term {
  type: "uri" | "literal" | "bnode" | "triple";
  value: string;
  "xml:lang"?: string;
  datatype?: string;
}
export type Row = Record<string, Term | undefined>;
export interface Rows {
  vars: string[];
  rows: Row[];
}

export const PREFIXES: Record<string, string> = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  owl: "http://www.w3.org/2002/07/owl#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  skos: "http://www.w3.org/2004/02/skos/core#",
  sosa: "http://www.w3.org/ns/sosa/",
  ssn: "http://www.w3.org/ns/ssn/",
  prov: "http://www.w3.org/ns/prov#",
  time: "http://www.w3.org/2006/time#",
  dcterms: "http://purl.org/dc/terms/",
  foaf: "http://xmlns.com/foaf/0.1/",
  schema: "https://schema.org/",
};
const RDF = PREFIXES.rdf as string;
const XSD = PREFIXES.xsd as string;

/** The prefixes of the folder, which queries may use without declaring them, go before those that everybody knows. */
export function learnPrefixes(known: Record<string, string>): void {
  const others = Object.entries(PREFIXES).filter(([name]) => !(name in known));
  for (const name of Object.keys(PREFIXES)) delete PREFIXES[name];
  Object.assign(PREFIXES, known, Object.fromEntries(others));
}
const NUMERIC = new Set(
  ["integer", "decimal", "double", "float", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"].map(
    (name) => XSD + name,
  ),
);
const TIMES = new Set(["dateTime", "date", "dateTimeStamp"].map((name) => XSD + name));

/** An IRI in few letters: with a prefix that is known, else whole. */
export function shortened(iri: string): string {
  for (const [prefix, space] of Object.entries(PREFIXES)) {
    const rest = iri.slice(space.length);
    if (iri.startsWith(space) && /^[\w.-]*$/.test(rest)) return `${prefix}:${rest}`;
  }
  return iri;
}

export function shown(term: Term | undefined): string {
  if (term === undefined) return "";
  if (term.type === "uri") return shortened(term.value);
  if (term.type === "bnode") return `_:${term.value}`;
  return String(term.value);
}

/** A term as N-Triples and the rule language write it. */
export function written(term: Term): string {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return `_:${term.value}`;
  const text = JSON.stringify(term.value);
  if (term["xml:lang"]) return `${text}@${term["xml:lang"]}`;
  return term.datatype ? `${text}^^<${term.datatype}>` : text;
}

/** Rows are equal when their keys are. */
export function keyOf(vars: readonly string[], row: Row): string {
  return vars.map((name) => (row[name] ? written(row[name]) : "")).join("\t");
}

/** Rows after some came and some went; rows may occur several times. */
export function applied(vars: readonly string[], rows: Row[], added: Row[], removed: Row[]): Row[] {
  const going = new Map<string, number>();
  for (const row of removed) going.set(keyOf(vars, row), (going.get(keyOf(vars, row)) ?? 0) + 1);
  const staying = rows.filter((row) => {
    const left = going.get(keyOf(vars, row)) ?? 0;
    going.set(keyOf(vars, row), left - 1);
    return left <= 0;
  });
  return [...added, ...staying];
}

export function toCsv({ vars, rows }: Rows): string {
  const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [vars, ...rows.map((row) => vars.map((name) => row[name]?.value ?? ""))];
  return lines.map((cells) => cells.map(quoted).join(",") + "\r\n").join("");
}

export type Chart =
  | { kind: "bars"; label: string; value: string; bars: { name: string; size: number }[] }
  | { kind: "line"; label: string; value: string; isTime: boolean; x: number[]; y: number[] };

const MOST_BARS = 40;

/** The chart that two columns suit: names with numbers are bars, numbers or times with numbers a line. */
export function chartOf({ vars, rows }: Rows): Chart | null {
  if (vars.length !== 2 || rows.length < 2) return null;
  const kinds = vars.map((name) => kindOf(rows, name));
  const value = kinds[1] === "number" ? 1 : kinds[0] === "number" ? 0 : -1;
  if (value < 0) return null;
  const [of, label] = [vars[value] as string, vars[1 - value] as string];
  const size = (row: Row): number => Number(row[of]?.value);
  const kind = kinds[1 - value];
  if (kind === "name") {
    if (rows.length > MOST_BARS) return null;
    return { kind: "bars", label, value: of, bars: rows.map((row) => ({ name: shown(row[label]), size: size(row) })) };
  }
  const isTime = kind === "time";
  const at = (row: Row): number => (isTime ? Date.parse(row[label]?.value ?? "") / 1000 : Number(row[label]?.value));
  const points = rows.map((row) => [at(row), size(row)] as const).sort((a, b) => a[0] - b[0]);
  return { kind: "line", label, value: of, isTime, x: points.map((p) => p[0]), y: points.map((p) => p[1]) };
}

function kindOf(rows: Row[], name: string): "number" | "time" | "name" {
  const types = new Set(rows.map((row) => row[name]?.datatype ?? ""));
  const all = (wanted: Set<string>): boolean => [...types].every((type) => wanted.has(type));
  return all(NUMERIC) ? "number" : all(TIMES) ? "time" : "name";
}

/** The text of a fact or rule with its IRIs in few letters. */
export function readable(text: string): string {
  return text
    .replace(/"((?:[^"\\]|\\.)*)"\^\^<[^>]*#(?:integer|decimal|double)>/g, "$1")
    .replaceAll(`<${RDF}type>`, "a")
    .replace(/<([^<>\s]+)>/g, (_, iri: string) => shortened(iri))
    .replace(/\s*\.$/, "");
}
