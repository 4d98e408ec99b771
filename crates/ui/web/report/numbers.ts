// Charts and tables as CSV (RFC 4180): raw values in base units, for spreadsheets and programs.

import type { Chart, Unit } from "../shared/chart";
import { xsOf } from "../shared/columns";
import { heatEnd } from "../shared/ground";
import type { Range } from "../shared/scale";

const UNITS: Readonly<Record<Unit, string>> = {
  seconds: "s",
  nanoseconds: "ns",
  per_second: "per s",
  bytes: "B",
  bytes_per_second: "B/s",
  ratio: "ratio",
  count: "",
  cores: "cores",
  quantile: "",
  plain: "",
};

export type Cell = string | number | null | undefined;

/** Prefixes untrusted text that a spreadsheet would interpret as a formula. */
export function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

function named(name: string, unit: Unit): string {
  return UNITS[unit] === "" ? name : `${name} (${UNITS[unit]})`;
}

/** Returns the values of a range: a row per x, then the cells of a heatmap, if there is one. */
export function csvOf(chart: Chart, [from, to]: Range): string {
  const rows = new Map<number, Cell[]>();
  const heads: string[] = [named(chart.x.label || "x", chart.x.unit)];
  for (const panel of chart.panels) {
    for (const series of panel.series) {
      const xs = xsOf(chart, series);
      const of = chart.panels.length > 1 ? `${panel.y.label}: ` : "";
      const column = (name: string, values: readonly Cell[]) => {
        const at = heads.push(named(`${of}${name}`, panel.y.unit)) - 1;
        xs.forEach((x, index) => {
          if (x < from || x > to) return;
          const row = rows.get(x) ?? [x];
          row[at] = values[index];
          rows.set(x, row);
        });
      };
      const name = series.name || panel.y.label;
      column(name, series.y);
      if (series.low?.length) column(`${name}, low`, series.low);
      if (series.high?.length) column(`${name}, high`, series.high);
    }
  }
  // Short rows have all their commas, too.
  const lines = [...rows.values()]
    .sort((a, b) => Number(a[0]) - Number(b[0]))
    .map((row) => Array.from({ length: heads.length }, (_, at) => row[at]));
  const body = lines.length > 0 ? csv([heads, ...lines]) : "";
  const heat = heatRows(chart, [from, to]);
  return body !== "" && heat !== "" ? `${body}\r\n${heat}` : body + heat;
}

function heatRows(chart: Chart, [from, to]: Range): string {
  const panel = chart.panels.find((one) => one.heat);
  if (!panel?.heat) return "";
  const { edges, counts, what } = panel.heat;
  const x = named(chart.x.label || "x", chart.x.unit);
  const y = named(panel.y.label, panel.y.unit);
  const rows: Cell[][] = [[`${x} from`, `${x} to`, `${y} from`, `${y} to`, what]];
  counts.forEach((column, at) => {
    const [left = 0, right = heatEnd(chart)] = chart.xs.slice(at, at + 2);
    if (right < from || left > to) return;
    column.forEach((n, row) => {
      if (n > 0) rows.push([left, right, edges[row], edges[row + 1], n]);
    });
  });
  return csv(rows);
}
