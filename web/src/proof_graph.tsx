/** A proof as a picture; its library is loaded with it. */

import { useEffect, useRef } from "preact/hooks";
import { graphOf, type Explanation } from "./proofs";
import { readable } from "./rdf";

export function ProofGraph({ explanation }: { explanation: Explanation }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let end = (): void => {};
    let isWanted = true;
    const draw = async (): Promise<void> => {
      const { default: cytoscape } = await import("cytoscape");
      if (!isWanted || !box.current) return;
      end();
      const style = getComputedStyle(document.documentElement);
      const colour = (name: string): string => style.getPropertyValue(name).trim();
      const { nodes, edges } = graphOf(explanation);
      const drawn = cytoscape({
        container: box.current,
        elements: [
          ...nodes.map(({ id, text, kind }) => ({ data: { id, label: readable(text), kind } })),
          ...edges.map(({ from, to, rule }, place) => ({ data: { id: `edge ${place}`, source: from, target: to, label: rule } })),
        ],
        layout: { name: "breadthfirst", directed: true, roots: [explanation.fact], spacingFactor: 1.1, padding: 24 },
        minZoom: 0.2,
        maxZoom: 1.2,
        wheelSensitivity: 0.3,
        style: [
          {
            selector: "node",
            style: {
              label: "data(label)",
              shape: "round-rectangle",
              width: 190,
              height: 48,
              "text-wrap": "wrap",
              "text-max-width": "175px",
              "text-valign": "center",
              "font-family": "system-ui, sans-serif",
              "font-size": 13,
              color: colour("--text"),
              "background-color": colour("--raised"),
              "border-width": 1.5,
              "border-color": colour("--accent"),
            },
          },
          { selector: 'node[kind = "goal"]', style: { "background-color": colour("--accent"), color: colour("--on-accent") } },
          { selector: 'node[kind = "asserted"]', style: { "border-color": colour("--quiet") } },
          { selector: 'node[kind = "test"]', style: { "border-style": "dashed", "border-color": colour("--quiet") } },
          {
            selector: "edge",
            style: {
              width: 1.5,
              "line-color": colour("--quiet"),
              "target-arrow-color": colour("--quiet"),
              "target-arrow-shape": "triangle",
              "curve-style": "bezier",
            },
          },
        ],
      });
      box.current.dataset.nodes = String(nodes.length);
      end = () => drawn.destroy();
    };
    void draw();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = (): void => void draw();
    dark.addEventListener("change", redraw);
    return () => {
      isWanted = false;
      dark.removeEventListener("change", redraw);
      end();
    };
  }, [explanation]);
  return <div class="graph" ref={box} role="img" aria-label="The proof as a graph; the tree has the same" />;
}
