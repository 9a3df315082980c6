import { render } from "preact";
import { App } from "./app";
import { learnPaths } from "./server";
import "./style.css";

await learnPaths().catch(() => {});
render(<App />, document.getElementById("page") as HTMLElement);
