// A short confirmation, visible and announced, that disappears by itself.

/** Long enough to read, short enough not to be in the way. */
const SHOWN_MS = 2500;

let box: HTMLElement | null = null;
let timer = 0;

export function toast(text: string): void {
  if (!box) {
    box = document.createElement("div");
    box.className = "toast";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(timer);
  timer = window.setTimeout(() => box?.classList.remove("shown"), SHOWN_MS);
}
