// Buttons of a chart: save as a picture or as numbers, link to the visible range, show all.

import type { Drawn } from "../shared/draw";
import { addTool } from "./button";
import { copyText } from "./copy";
import { csvOf } from "./numbers";
import { pngOf, save, svgOf } from "./save";

export function tools(figure: HTMLElement, drawn: Drawn, link: () => string): void {
  const { id, title } = drawn.chart;
  const bar = document.createElement("div");
  bar.className = "tools";
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", `${title}: save and link`);
  const button = (word: string, says: string, work: () => void | Promise<void>) => addTool(bar, word, says, work);
  const still = figure.querySelector<SVGSVGElement>(".plot > svg");
  if (still) {
    button("SVG", "Save the whole chart as SVG", () => {
      save(`${id}.svg`, new Blob([svgOf(still, drawn.chart)], { type: "image/svg+xml" }));
    });
    button("PNG", "Save the whole chart as PNG", async () => {
      save(`${id}.png`, await pngOf(still, drawn.chart));
    });
  }
  button("CSV", "Save the values of the visible range", () => {
    save(`${id}.csv`, new Blob([csvOf(drawn.chart, drawn.shown)], { type: "text/csv" }));
  });
  button("Link", "Copy a link to the visible range", () => copyText(link(), "the link"));
  button("All", "Show the whole chart (Escape or double-click)", () => drawn.setRange(null));
  const plot = figure.querySelector(".plot");
  if (plot) plot.after(bar);
  else figure.append(bar);
}
