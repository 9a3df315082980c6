/** A graph as a picture; its library is loaded with it. */

import { useEffect, useRef } from "preact/hooks";

export interface Graph {
  /** A node may be inside of a box, which is named by its own id. */
  nodes: {
    id: string;
    text: string;
    kind: "goal" | "derived" | "asserted" | "test" | "box";
    inside?: string | undefined;
    /** Where it stands, unless that is to be found. */
    at?: { x: number; y: number } | undefined;
  }[];
  edges: { from: string; to: string }[];
}

/** With more edges than these they are drawn faintly, but for those of the node that is chosen. */
const MANY = 30;
const LONG_WORD = /\S{27}/;

interface GraphViewProps {
  graph: Graph;
  /** Where the drawing begins. */
  roots?: string[];
  label: string;
  /** What is done when a node is chosen. */
  choose?: (id: string) => void;
}

export function GraphView({ graph, roots, label, choose }: GraphViewProps) {
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
      const { nodes, edges } = graph;
      const drawn = cytoscape({
        container: box.current,
        elements: [
          ...nodes.map(({ id, text, kind, inside, at }) => ({ ...(at && { position: at }), data: { id, label: text, kind, ...(inside !== undefined && { parent: inside }) } })),
          ...edges.map(({ from, to }, place) => ({ data: { id: `edge ${place}`, source: from, target: to } })),
        ],
        layout: roots
          ? { name: "breadthfirst", directed: true, roots, spacingFactor: 1.1, padding: 24 }
          : { name: "preset", padding: 24 },
        minZoom: 0.2,
        maxZoom: 1.2,
        style: [
          {
            selector: "node",
            style: {
              label: "data(label)",
              shape: "round-rectangle",
              width: roots ? 210 : 150,
              height: roots ? 56 : 36,
              "text-wrap": "wrap",
              "text-overflow-wrap": (node: { data(name: string): string }) => (LONG_WORD.test(node.data("label")) ? "anywhere" : "whitespace"),
              "text-max-width": roots ? "195px" : "140px",
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
            selector: 'node[kind = "box"]',
            style: { "background-color": colour("--back"), "border-color": colour("--line"), "border-style": "dashed", "text-valign": "top", "text-max-width": "400px", color: colour("--quiet"), padding: "18px" },
          },
          {
            selector: "edge",
            style: {
              width: 1.5,
              opacity: edges.length > MANY ? 0.3 : 0.9,
              "line-color": colour("--quiet"),
              "target-arrow-color": colour("--quiet"),
              "target-arrow-shape": "triangle",
              "curve-style": "bezier",
            },
          },
          { selector: "edge.near", style: { opacity: 1, "line-color": colour("--accent"), "target-arrow-color": colour("--accent"), width: 2 } },
        ],
      });
      drawn.on("tap", "node", (event) => {
        drawn.edges().removeClass("near");
        event.target.connectedEdges().addClass("near");
        choose?.(event.target.id());
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
  }, [graph]);
  return <div class="graph" ref={box} role="img" aria-label={label} />;
}
