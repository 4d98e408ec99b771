// Makes a static page come alive: charts that move, tables that sort. Each part is on its own: whatever fails leaves
// that part of the page as it was, which says everything without a script as well.

import { Address } from "./address";
import { Charts } from "./charts";
import { contents } from "./contents";
import { copyFigures } from "./copy";
import { pageData } from "./data";
import css from "./report.css?inline";
import { adopt } from "../shared/sheet";
import { tables } from "./table";
import { themeButton } from "./theme";

function part(what: string, work: () => void): void {
  try {
    work();
  } catch (problem) {
    console.error(`this part of the page stays as it is: ${what}`, problem);
  }
}

async function start(): Promise<void> {
  part("style", () => adopt(css));
  part("theme", themeButton);
  part("tables", tables);
  part("figures", copyFigures);
  part("contents", contents);
  const data = await pageData();
  if (data) {
    const address = new Address();
    await new Charts(data.charts, address, part).draw();
  }
  // Says to whoever waits for it (tests, printers) that nothing will change by itself any more.
  document.documentElement.dataset["script"] = "ready";
}

start().catch((problem: unknown) => console.error("the charts of this page stay as they are", problem));
