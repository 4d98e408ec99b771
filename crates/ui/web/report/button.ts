// A tool of a chart or of a table: a button whose work may fail without harm to the page, and which then says why.

import { toast } from "./toast";

export function addTool(bar: HTMLElement, word: string, says: string, work: () => void | Promise<void>): void {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = word;
  made.title = says;
  made.addEventListener("click", () => {
    Promise.resolve()
      .then(work)
      .catch((problem: unknown) => toast(`cannot do that: ${problem instanceof Error ? problem.message : problem}`));
  });
  bar.append(made);
}
