// Head of a panel: its label, and a key for each series that hides and shows it.

import type { Panel, Series } from "./chart";
import type { Colors } from "./colors";

const SVG = "http://www.w3.org/2000/svg";

/** A small drawing of a series' form in its color. */
export function swatch(series: Series, colors: Colors): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "pl-swatch");
  svg.setAttribute("width", "18");
  svg.setAttribute("height", "10");
  svg.setAttribute("aria-hidden", "true");
  const color = colors.series[series.color % colors.series.length] ?? colors.ink;
  const add = (tag: string, attributes: Record<string, string>) => {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    svg.append(shape);
  };
  const { form } = series;
  if (form === "bars") add("rect", { x: "4", y: "1", width: "10", height: "8", fill: color });
  if (form === "area" || form === "range") {
    add("rect", { x: "0", y: "1", width: "18", height: "8", fill: color, "fill-opacity": "0.25" });
  }
  if (["line", "dashed", "step", "marked", "area", "range"].includes(form)) {
    const dash: Record<string, string> = form === "dashed" ? { "stroke-dasharray": "5 3" } : {};
    add("line", { x1: "0", y1: "5", x2: "18", y2: "5", stroke: color, "stroke-width": "1.8", ...dash });
  }
  const kind = form === "marked" ? series.color % 3 : 0;
  if (form === "crosses") add("path", { d: "M6 2l6 6M6 8l6-6", stroke: color, "stroke-width": "1.5" });
  else if (form === "rings") add("circle", { cx: "9", cy: "5", r: "3", fill: "none", stroke: color });
  else if (form === "dots" || (form === "marked" && kind === 0)) {
    add("circle", { cx: "9", cy: "5", r: "3", fill: color });
  } else if (form === "marked" && kind === 1) add("rect", { x: "6", y: "2", width: "6", height: "6", fill: color });
  else if (form === "marked") add("path", { d: "M9 1l4 7h-8z", fill: color });
  return svg;
}

/** Adds a key per series; a panel with one series, named by its label, needs none. */
export function keys(
  panel: Panel,
  colors: Colors,
  hidden: ReadonlySet<string>,
  toggle: (id: string, alone: boolean) => void,
): HTMLElement[] {
  const named = panel.series.filter((series) => series.name !== "");
  const [only] = named;
  if (named.length === 1 && only && only.name === panel.y.label && only.form !== "bars") return [];
  return named.map((series) => {
    const key = document.createElement("button");
    key.type = "button";
    key.className = "pl-key";
    key.dataset["series"] = series.id;
    key.setAttribute("aria-pressed", String(!hidden.has(series.id)));
    key.title = "Hide or show; with Shift, show only this one";
    const name = document.createElement("span");
    name.textContent = series.name;
    key.append(swatch(series, colors), name);
    key.addEventListener("click", (event) => toggle(series.id, event.shiftKey));
    return key;
  });
}

/** Explains the shades of a heatmap. */
export function shades(panel: Panel, colors: Colors): HTMLElement[] {
  if (!panel.heat) return [];
  const most = panel.heat.counts.reduce((top, column) => column.reduce((a, b) => Math.max(a, b), top), 0);
  const box = document.createElement("span");
  box.className = "pl-shades";
  const text = (words: string) => {
    const made = document.createElement("b");
    made.textContent = words;
    return made;
  };
  const cells = colors.heat.map((color) => {
    const cell = document.createElement("i");
    cell.style.background = color;
    return cell;
  });
  box.append(text(`${panel.heat.what} per cell: 1`), ...cells, text(most.toLocaleString("en-US")));
  return [box];
}
