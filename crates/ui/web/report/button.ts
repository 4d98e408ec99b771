// A button of a chart or a table. If its action fails, it shows why, and the page stays usable.

import { toast } from "./toast";

export function addTool(bar: HTMLElement, word: string, says: string, work: () => void | Promise<void>): void {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = word;
  made.title = says;
  made.addEventListener("click", () => {
    Promise.resolve()
      .then(work)
      .catch((problem: unknown) => toast(`failed: ${problem instanceof Error ? problem.message : problem}`));
  });
  bar.append(made);
}
