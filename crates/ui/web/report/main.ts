// Makes a static page interactive: charts that zoom, tables that sort. The parts are independent; if one fails, that
// part stays static and complete.

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
    console.error(`this part of the page stays static: ${what}`, problem);
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
  // Signals to tests and printers that the page will not change by itself any more.
  document.documentElement.dataset["script"] = "ready";
}

start().catch((problem: unknown) => console.error("the charts of this page stay static", problem));
