import { render } from "preact";
import { App } from "./app";
import { learnPrefixes } from "./rdf";
import { known, learnPaths } from "./server";
import "./style.css";

/** So long the first view waits for the names of the folder, in milliseconds. */
const PATIENCE = 1000;

await learnPaths().catch(() => {});
const names = known<{ prefixes?: Record<string, string> }>("rules").then((rules) => learnPrefixes(rules?.prefixes ?? {}));
await Promise.race([names, new Promise((go) => window.setTimeout(go, PATIENCE))]);
render(<App />, document.getElementById("page") as HTMLElement);
