/** The frame of the page: its head, the views and how one gets from one to another. */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { linkTo, type ViewProps } from "./links";
import { can } from "./server";
import { TokenDialog } from "./token_dialog";
import Now from "./views/now";

type View = ComponentType<ViewProps>;
type Loaded = { default: View };

/** The views, in the order in which they stand, each with the path that it needs. */
const ALL: { name: string; title: string; needs: string; load: () => Promise<Loaded> }[] = [
  { name: "now", title: "Now", needs: "/stats", load: async () => ({ default: Now }) },
  { name: "ask", title: "Ask", needs: "/sparql", load: () => import("./views/ask") },
  { name: "why", title: "Why", needs: "/explain", load: () => import("./views/why") },
  { name: "what-if", title: "What if", needs: "/preview", load: () => import("./views/what_if") },
  { name: "rules", title: "Rules", needs: "/rules", load: () => import("./views/rules") },
  { name: "streams", title: "Streams", needs: "/log", load: () => import("./views/streams") },
  { name: "history", title: "History", needs: "/changes", load: () => import("./views/history") },
];
const views = () => ALL.filter((view) => view.name === "now" || can(view.needs));

function place(): { name: string; given: URLSearchParams } {
  const [, name, given] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash) ?? [];
  return { name: views().find((view) => view.name === name)?.name ?? "now", given: new URLSearchParams(given) };
}

function usePlace(): ReturnType<typeof place> {
  const [here, go] = useState(place);
  useEffect(() => {
    const changed = (): void => go(place());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return here;
}

export function App() {
  const { name, given } = usePlace();
  const [shown, show] = useState<{ name: string; View: View } | null>({ name: "now", View: Now });
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const view = views().find((each) => each.name === name) ?? ALL[0]!;

  useEffect(() => {
    let isWanted = true;
    document.title = `${view.title} · livefacts`;
    void view.load().then((loaded) => isWanted && show({ name, View: loaded.default }));
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    return () => {
      isWanted = false;
    };
  }, [name]);

  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header class="head">
        <a class="mark" href="#/now">
          livefacts
        </a>
        <nav aria-label="Views">
          <ul>
            {views().map((each) => (
              <li key={each.name}>
                <a href={linkTo(each.name)} aria-current={each.name === name ? "page" : undefined}>
                  {each.title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <TokenDialog />
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-busy={shown?.name !== name}>
        {shown?.name === name ? <shown.View key={name} given={given} /> : <p class="quiet">loading…</p>}
      </main>
    </>
  );
}
