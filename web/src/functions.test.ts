import { expect, test } from "vitest";
import { bytes, histogramOf, instant, quantile, seconds, span } from "./figures";
import { eventReader, type LiveEvent } from "./live";
import { graphOf, rootOf, type Explanation } from "./proofs";
import { graphOfRules, packagesOf } from "./packages";
import { applied, chartOf, readable, toCsv, written, type Row } from "./rdf";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const iri = (value: string) => ({ type: "uri" as const, value });
const number = (value: number) => ({ type: "literal" as const, value: String(value), datatype: `${XSD}integer` });
const rows = (...pairs: [string, number][]): Row[] => pairs.map(([s, v]) => ({ s: iri(s), v: number(v) }));

test("rows that go are taken once each, and rows that come stand first", () => {
  const before = rows(["x:a", 1], ["x:a", 1], ["x:b", 2]);
  expect(applied(["s", "v"], before, rows(["x:c", 3]), rows(["x:a", 1]))).toEqual(rows(["x:c", 3], ["x:a", 1], ["x:b", 2]));
});

test("names with numbers are bars, numbers with numbers are a line, and names alone are neither", () => {
  const named = chartOf({ vars: ["s", "v"], rows: rows(["x:a", 1], ["x:b", 2]) });
  expect(named).toMatchObject({ kind: "bars", label: "s", value: "v" });
  const line = chartOf({ vars: ["t", "v"], rows: [{ t: number(2), v: number(5) }, { t: number(1), v: number(4) }] });
  expect(line).toMatchObject({ kind: "line", x: [1, 2], y: [4, 5], isTime: false });
  expect(chartOf({ vars: ["s", "o"], rows: [{ s: iri("x:a"), o: iri("x:b") }, { s: iri("x:a"), o: iri("x:c") }] })).toBeNull();
});

test("CSV quotes what needs it", () => {
  expect(toCsv({ vars: ["a"], rows: [{ a: { type: "literal", value: 'say "hi",\nnow' } }, {}] })).toBe('a\r\n"say ""hi"",\nnow"\r\n\r\n');
});

test("terms are written as the server reads them", () => {
  expect(written({ type: "literal", value: 'a"b', "xml:lang": "en" })).toBe('"a\\"b"@en');
  expect(written(number(3))).toBe(`"3"^^<${XSD}integer>`);
});

test("facts are readable", () => {
  expect(readable(`<x:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#Thing> .`)).toBe("x:a a owl:Thing");
  expect(readable(`<x:a> <x:b> "3"^^<${XSD}integer> .`)).toBe("x:a x:b 3");
});

test("a quantile lies inside of its bucket, and there is none without requests", () => {
  const text = ['m_bucket{le="0.01",path="/p"} 9.0', 'm_bucket{le="0.1",path="/p"} 10.0', 'm_bucket{le="+Inf",path="/p"} 10.0', 'm_bucket{le="0.01",path="/q"} 1.0'].join("\n");
  const after = histogramOf(text, "m", "/p");
  expect(quantile(0.5, new Map(), after)).toBeCloseTo(0.01 * (5 / 9));
  expect(quantile(0.95, new Map(), after)).toBeCloseTo(0.055);
  expect(quantile(0.95, after, after)).toBeNull();
});

test("figures have units that leave few digits", () => {
  expect([bytes(255_300_000), seconds(0.00975), seconds(300), instant(17), instant(1_700_000_000)]).toEqual(["255 MB", "9.75 ms", "5 min", "17", "2023-11-14 22:13:20"]);
});

test("a proof as a graph has each fact once", () => {
  const step = (number: number, fact: string, height: number, premises: Explanation["steps"] extends (infer S)[] | undefined ? (S extends { premises: infer P } ? P : never) : never) => ({ step: number, fact, height, rule: "r", text: "", bindings: {}, premises });
  const proof: Explanation = {
    fact: "c",
    holds: true,
    height: 2,
    steps: [step(1, "b", 1, [{ fact: "a", asserted: true }]), step(2, "c", 2, [{ fact: "b", step: 1 }, { fact: "a", asserted: true }])],
  };
  expect(rootOf(proof)?.step).toBe(2);
  expect(graphOf(proof).nodes.map(({ text, kind }) => [text, kind])).toEqual([["c", "goal"], ["b", "derived"], ["a", "asserted"]]);
  expect(graphOf(proof).edges).toHaveLength(3);
});

test("events are the same wherever their text is cut", () => {
  const text = "retry: 1000\n\nid: 7\nevent: answers\ndata: {\"a\": 1}\n\n: ping\n\nid: 8\ndata: {}\n\n";
  const whole: LiveEvent[] = [
    { kind: "answers", id: "7", data: '{"a": 1}' },
    { kind: "message", id: "8", data: "{}" },
  ];
  for (let cut = 0; cut <= text.length; cut++) {
    const found: LiveEvent[] = [];
    const read = eventReader((event) => found.push(event));
    read(text.slice(0, cut));
    read(text.slice(cut));
    expect(found).toEqual(whole);
  }
});

test("rules that can reach each other are a package, and others are none", () => {
  const rules = [
    { id: "a", feeds: ["b", "a"] },
    { id: "b", feeds: ["c"] },
    { id: "c", feeds: ["a", "d"] },
    { id: "d", feeds: ["d", "e"] },
    { id: "e", constraint: true },
  ];
  expect(packagesOf(rules)).toEqual([["a", "b", "c"]]);
  const graph = graphOfRules(rules);
  expect(graph.nodes.filter((node) => node.inside === "package 1").map((node) => node.text)).toEqual(["a", "b", "c"]);
  expect(graph.edges).toHaveLength(5);
  const [first, , , fed, last] = graph.nodes.filter((node) => node.kind !== "box").map((node) => node.at?.y ?? NaN);
  expect(first! < fed! && fed! < last!).toBe(true);
  expect(new Set(graph.nodes.map((node) => `${node.at?.x} ${node.at?.y}`)).size).toBe(6);
});

test("a span says a day once", () => {
  expect(span(1_700_000_000, 1_700_000_060)).toBe("2023-11-14 22:13:20 – 22:14:20");
  expect([span(3, 17), span(1_700_000_000, 1_700_090_000)]).toEqual(["3 – 17", "2023-11-14 22:13:20 – 2023-11-15 23:13:20"]);
});
