// What can be done with a chart besides looking: save it as a picture or as numbers, link to what it shows, show all.

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
  bar.setAttribute("aria-label", `${title}: save, link`);
  const button = (word: string, says: string, work: () => void | Promise<void>) => addTool(bar, word, says, work);
  const still = figure.querySelector<SVGSVGElement>(".plot > svg");
  if (still) {
    button("SVG", "save the whole chart as a picture of lines", () => {
      save(`${id}.svg`, new Blob([svgOf(still, drawn.chart)], { type: "image/svg+xml" }));
    });
    button("PNG", "save the whole chart as a picture of pixels", async () => {
      save(`${id}.png`, await pngOf(still, drawn.chart));
    });
  }
  button("CSV", "save the values of the shown stretch", () => {
    save(`${id}.csv`, new Blob([csvOf(drawn.chart, drawn.shown)], { type: "text/csv" }));
  });
  button("Link", "copy the address of what is shown", () => copyText(link(), "the link"));
  button("All", "show the whole chart again (Escape, or a double click)", () => drawn.setRange(null));
  const plot = figure.querySelector(".plot");
  if (plot) plot.after(bar);
  else figure.append(bar);
}
