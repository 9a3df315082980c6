/** The token: asked for when it is needed, kept as long as the tab is open. */

import { useEffect, useRef, useState } from "preact/hooks";
import { token, whenTokenIsNeeded } from "./server";

export function TokenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const answer = useRef<(given: string | null) => void>(() => {});
  const [why, say] = useState("");
  const [isKnown, know] = useState(token.get() !== null);

  const ask = (reason: string): Promise<string | null> => {
    say(reason);
    dialog.current?.showModal();
    return new Promise((resolve) => {
      answer.current = (given) => {
        if (given) token.set(given);
        know(token.get() !== null);
        resolve(given);
      };
    });
  };
  useEffect(() => whenTokenIsNeeded(ask), []);

  const forget = (): void => {
    token.set(null);
    know(false);
  };
  const closed = (): void => {
    const given = dialog.current?.returnValue === "use" ? (field.current?.value.trim() ?? "") : "";
    if (field.current) field.current.value = "";
    if (dialog.current) dialog.current.returnValue = "";
    answer.current(given || null);
  };

  return (
    <>
      <button type="button" class="plain" onClick={() => (isKnown ? forget() : void ask(""))}>
        {isKnown ? "Forget the token" : "Give a token"}
      </button>
      <dialog ref={dialog} onClose={closed} aria-labelledby="token-title">
        <form method="dialog">
          <h2 id="token-title">Give a token</h2>
          {why && <p>{why}</p>}
          <p class="quiet">The server printed it at its first start. This tab keeps it until it is closed.</p>
          <label>
            Token
            <input ref={field} type="password" autocomplete="off" spellcheck={false} />
          </label>
          <p class="buttons">
            <button value="use" class="main">
              Use it
            </button>
            <button value="cancel" formNoValidate>
              Cancel
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}
