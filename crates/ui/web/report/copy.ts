// Copying: every figure of a page by a click, tables as Markdown.

import { toast } from "./toast";

/** Pages from a disk may not have the clipboard's own way in; the old one works there. */
async function write(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "copy-field";
    field.setAttribute("aria-hidden", "true");
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (!done) throw new Error("this browser lets nobody copy");
  }
}

/** `what` is named in the word that says it was done. */
export async function copyText(text: string, what: string): Promise<void> {
  await write(text);
  toast(`copied ${what}`);
}

export function copyFigures(): void {
  document.addEventListener("click", (event) => {
    const figure = event.target instanceof Element ? event.target.closest(".figure") : null;
    // Somebody who selects text or follows a link wants something else.
    if (!figure || event.target instanceof HTMLAnchorElement || getSelection()?.toString()) return;
    const text = figure.textContent?.trim() ?? "";
    copyText(text, text).catch((problem: unknown) => toast(String(problem)));
  });
}
