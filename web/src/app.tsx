/** The frame of the page: its head, the views and how one gets from one to another. */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { TokenDialog } from "./token_dialog";
import Now from "./views/now";

export interface ViewProps {
  /** What stands after the question mark of the address. */
  given: URLSearchParams;
}
type View = ComponentType<ViewProps>;
type Loaded = { default: View };

const VIEWS: { name: string; title: string; load: () => Promise<Loaded> }[] = [
  { name: "now", title: "Now", load: async () => ({ default: Now }) },
  { name: "ask", title: "Ask", load: () => import("./views/ask") },
];

export const linkTo = (view: string, given: Record<string, string> = {}): string => {
  const said = new URLSearchParams(given).toString();
  return `#/${view}${said && `?${said}`}`;
};

function place(): { name: string; given: URLSearchParams } {
  const [, name, given] = /^#?\/?([^?]*)\??(.*)$/s.exec(location.hash) ?? [];
  return { name: VIEWS.find((view) => view.name === name)?.name ?? "now", given: new URLSearchParams(given) };
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
  const view = VIEWS.find((each) => each.name === name) ?? VIEWS[0]!;

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
            {VIEWS.map((each) => (
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
