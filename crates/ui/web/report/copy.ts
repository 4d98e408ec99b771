// Copying: every figure with a click, tables as Markdown.

import { toast } from "./toast";

/** Pages opened from disk may lack the clipboard API; the old method works there. */
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
    if (!done) throw new Error("this browser does not allow copying");
  }
}

/** Copies text; `what` names it in the confirmation. */
export async function copyText(text: string, what: string): Promise<void> {
  await write(text);
  toast(`Copied ${what}`);
}

export function copyFigures(): void {
  document.addEventListener("click", (event) => {
    const figure = event.target instanceof Element ? event.target.closest(".figure") : null;
    // The reader selects text or follows a link.
    if (!figure || event.target instanceof HTMLAnchorElement || getSelection()?.toString()) return;
    const text = figure.textContent?.trim() ?? "";
    copyText(text, text).catch((problem: unknown) => toast(String(problem)));
  });
}
