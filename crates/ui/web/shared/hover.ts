// Text for the values under the cursor: a small table next to it, and a sentence for screen readers.

import type { Chart, Panel, Series, Value } from "./chart";
import type { Colors } from "./colors";
import { xsOf } from "./columns";
import { figure } from "./format";
import { swatch } from "./legend";
import type { Range } from "./scale";

/** A row of the table. */
export interface Line {
  series: Series;
  value: Value;
  text: string;
  /** `7.90 ms to 8.41 ms`; empty if the interval is unknown. */
  between: string;
}

export interface Said {
  when: string;
  /** Labels of marks and ranges there. */
  words: string[];
  panels: { panel: Panel; lines: Line[]; cell: string }[];
}

/** Returns the nearest of increasing values. */
export function nearest(xs: readonly number[], x: number): number {
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) < x) low = middle + 1;
    else high = middle;
  }
  const before = xs[low - 1];
  return before !== undefined && Math.abs(before - x) <= Math.abs((xs[low] ?? 0) - x) ? low - 1 : low;
}

/** Returns the values at an x. `y` is the pointer's position in the panel of that number, for its heatmap. */
export function said(
  chart: Chart,
  hidden: ReadonlySet<string>,
  x: number,
  shown: Range,
  pointed?: { panel: number; y: number | null },
): Said {
  const near = (shown[1] - shown[0]) / 100;
  const marks = (chart.marks ?? []).filter((mark) => Math.abs(mark.at - x) <= near).map((mark) => mark.word);
  const stretches = (chart.stretches ?? []).filter((part) => part.from <= x && x <= part.to && part.word !== "");
  const name = chart.x.names?.[chart.x.ticks ? nearest(chart.x.ticks, x) : -1];
  const label = chart.x.unit === "plain" || chart.x.unit === "count" ? `${chart.x.label} ` : "";
  return {
    when: name ?? `${label}${figure(x, chart.x.unit)}`,
    words: [...marks, ...stretches.map((part) => part.word)],
    panels: chart.panels.map((panel, index) => ({
      panel,
      lines: panel.series.filter((series) => !hidden.has(series.id)).map((series) => line(chart, panel, series, x)),
      cell: cell(chart, panel, x, pointed?.panel === index ? pointed.y : null),
    })),
  };
}

/** One and a half times the typical distance of values. */
const NEAR = 1.5;
const steps = new WeakMap<readonly number[], number>();

/** Returns the typical distance between two x: the median. */
function step(xs: readonly number[]): number {
  const known = steps.get(xs);
  if (known !== undefined) return known;
  const apart = xs.slice(1).map((x, index) => x - (xs[index] ?? x)).sort((a, b) => a - b);
  const median = apart[apart.length >> 1] ?? Number.POSITIVE_INFINITY;
  steps.set(xs, median);
  return median;
}

function line(chart: Chart, panel: Panel, series: Series, x: number): Line {
  const xs = xsOf(chart, series);
  const at = nearest(xs, x);
  // On a line with even steps, nothing was measured in a gap; points of other axes are unevenly spaced.
  const isGap = chart.x.unit === "seconds" && Math.abs((xs[at] ?? x) - x) > NEAR * step(xs);
  if (isGap) return { series, value: null, text: figure(null, panel.y.unit), between: "" };
  const [value = null, low, high] = [series.y[at], series.low?.[at], series.high?.[at]];
  const unit = panel.y.unit;
  const bounds = low !== null && low !== undefined && high !== null && high !== undefined;
  const between = bounds ? `${figure(low, unit)} to ${figure(high, unit)}` : "";
  return { series, value, text: figure(value, unit), between };
}

/** `8.14 ms to 8.41 ms: 12 requests`. */
function cell(chart: Chart, panel: Panel, x: number, y: number | null): string {
  if (!panel.heat || y === null) return "";
  const { edges, counts, what } = panel.heat;
  const row = edges.findIndex((edge, index) => edge <= y && y < (edges[index + 1] ?? Number.NEGATIVE_INFINITY));
  if (row < 0) return "";
  // Columns begin at their x.
  const after = chart.xs.findIndex((left) => left > x);
  const column = (after < 0 ? chart.xs.length : after) - 1;
  const n = counts[column]?.[row] ?? 0;
  const unit = panel.y.unit;
  return `${figure(edges[row], unit)} to ${figure(edges[row + 1], unit)}: ${figure(n, "count")} ${what}`;
}

/** Returns the sentence for screen readers. */
export function sentence(all: Said): string {
  const values = all.panels.flatMap(({ panel, lines }) =>
    lines.map((one) => `${one.series.name || panel.y.label} ${one.text}${one.between ? ` (${one.between})` : ""}`),
  );
  return [`${all.when}: ${values.join(", ")}`, ...all.words].join(". ");
}

/** With more rows than this, the table would hide the chart, so it shows only the panel below the pointer. */
const MANY = 18;

export function fill(box: HTMLElement, all: Said, panel: number, colors: Colors): void {
  const count = all.panels.reduce((sum, one) => sum + one.lines.length, 0);
  const spoken = count > MANY ? all.panels.slice(panel, panel + 1) : all.panels;
  const element = (tag: string, name: string, text: string) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  };
  const table = document.createElement("table");
  for (const { panel, lines, cell } of spoken) {
    if (spoken.length > 1 && lines.length > 0) {
      const head = element("th", "", panel.y.label);
      head.setAttribute("colspan", "3");
      table.insertRow().append(head);
    }
    if (cell) {
      const row = table.insertRow().insertCell();
      row.colSpan = 3;
      row.textContent = cell;
    }
    for (const one of lines) {
      const row = table.insertRow();
      const name = row.insertCell();
      name.append(swatch(one.series, colors), one.series.name || panel.y.label);
      row.append(element("td", "pl-value", one.text), element("td", "pl-between", one.between));
    }
  }
  box.replaceChildren(element("div", "pl-when", all.when), ...all.words.map((text) => element("div", "pl-word", text)));
  box.append(table);
}
