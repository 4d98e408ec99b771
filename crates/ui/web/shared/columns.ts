// Values of a panel prepared for drawing: on a common x, stacked where needed, with the required range of y.

import type { Chart, Heat, Panel, Series, Value } from "./chart";
import { extent, places, type Range } from "./scale";

/** `undefined`: the series has no value at this x and is drawn across it; `null` is a gap. */
export type Cell = number | null | undefined;

export interface Columns {
  /** Increasing positions on the x axis. */
  x: number[];
  /** Positions on the y axis by series; upper edges if stacked. */
  y: Cell[][];
}

export function xsOf(chart: Chart, series: Series): number[] {
  return series.x ?? chart.xs;
}

/** Lower and upper edge of a value. Stacked series rest on those before them. */
export interface Edges {
  base: Value;
  top: Value;
}

/** Returns the edges of all values of a panel; those of hidden series are `null`. */
export function edges(panel: Panel, hidden: ReadonlySet<string>): Edges[][] {
  const sums: number[] = [];
  return panel.series.map((series) => {
    if (hidden.has(series.id)) return series.y.map(() => ({ base: null, top: null }));
    return series.y.map((value, at) => {
      const top = value !== null && Number.isFinite(value) ? value : null;
      if (!panel.stacked) return { base: 0, top };
      const base = sums[at] ?? 0;
      if (top !== null) sums[at] = base + top;
      return { base, top: top === null ? null : base + top };
    });
  });
}

const seen = (value: Value, to: (value: number) => Value): Cell => (value === null ? null : to(value));

/**
 * Returns the x positions if all series share the same increasing ones, as in all charts over time, so that up to
 * 32,000 seconds need no sorting or lookup; otherwise `null`.
 */
function shared(chart: Chart, panel: Panel): number[] | null {
  const isOwn = (series: Series) => series.x !== undefined && series.x !== null;
  if (panel.series.some((series) => isOwn(series) || series.y.length !== chart.xs.length)) return null;
  const way = places(chart.x.scale);
  const found: number[] = [];
  for (const x of chart.xs) {
    const place = way.to(x);
    if (place === null || place <= (found.at(-1) ?? Number.NEGATIVE_INFINITY)) return null;
    found.push(place);
  }
  return found;
}

export function columns(chart: Chart, panel: Panel, hidden: ReadonlySet<string>): Columns {
  const wayX = places(chart.x.scale);
  const wayY = places(panel.y.scale);
  const common = shared(chart, panel);
  if (common) {
    const y = edges(panel, hidden).map((all) => common.map((_, row) => seen(all[row]?.top ?? null, wayY.to)));
    return { x: common, y };
  }
  const all = new Set<number>();
  const own = panel.series.map((series) => xsOf(chart, series).map((x) => wayX.to(x)));
  for (const xs of own) for (const x of xs) if (x !== null) all.add(x);
  // A heatmap has no series; the cursor steps over its columns.
  if (panel.heat) for (const x of chart.xs) all.add(wayX.to(x) ?? 0);
  const x = [...all].sort((a, b) => a - b);
  const at = new Map(x.map((value, index) => [value, index]));
  const tops = edges(panel, hidden);
  const y = panel.series.map((_, index) => {
    const cells: Cell[] = new Array<Cell>(x.length).fill(undefined);
    own[index]?.forEach((place, row) => {
      const top = tops[index]?.[row]?.top ?? null;
      const column = place === null ? undefined : at.get(place);
      if (column !== undefined) cells[column] = seen(top, wayY.to);
    });
    return cells;
  });
  return { x, y };
}

/** Returns the range of x for which the chart has data, as wide as its static picture. */
export function domain(chart: Chart): Range {
  let [least, most]: [Value, Value] = [null, null];
  const way = places(chart.x.scale);
  const see = (x: number) => {
    if (way.to(x) === null) return;
    least = least === null ? x : Math.min(least, x);
    most = most === null ? x : Math.max(most, x);
  };
  chart.xs.forEach(see);
  for (const panel of chart.panels) for (const series of panel.series) series.x?.forEach(see);
  const [from, to] = extent(chart.x, least, most, 9);
  // A live chart may exceed its plan; extends to the next tick, or the axis would move with each row.
  return most === null || most <= to ? [from, to] : extent({ ...chart.x, to: null }, least, most, 9);
}

/** Returns the typical step between neighbors, or 1 for a single value. */
export function width(xs: readonly number[]): number {
  const steps = xs.slice(1).map((x, at) => x - (xs[at] ?? 0));
  return steps.length > 0 ? (steps.sort((a, b) => a - b)[steps.length >> 1] ?? 1) : 1;
}

/** Returns the sides of each column: halfway to its neighbors. */
export function sides(xs: readonly number[], isLog: boolean): Range[] {
  const way = places(isLog ? "log" : "linear");
  const at = xs.map((x) => way.to(x) ?? 0);
  const step = width(at);
  return at.map((x, index) => {
    const before = index > 0 ? x - (at[index - 1] ?? x) : step;
    const after = index + 1 < at.length ? (at[index + 1] ?? x) - x : step;
    // A gap between columns does not widen its neighbors.
    return [way.from(x - Math.min(before, step * 1.5) / 2), way.from(x + Math.min(after, step * 1.5) / 2)];
  });
}

/** Returns the range of y needed for the visible range of x. */
export function needed(
  chart: Chart,
  panel: Panel,
  hidden: ReadonlySet<string>,
  [from, to]: Range,
  room: number,
): Range {
  if (panel.heat) {
    const [low, high] = reach(panel.heat);
    return [panel.y.from ?? low, panel.y.to ?? high];
  }
  let [least, most]: [Value, Value] = [null, null];
  const see = (value: number | null | undefined) => {
    if (value === null || value === undefined || !Number.isFinite(value)) return;
    if (panel.y.scale === "log" && value <= 0) return;
    least = least === null ? value : Math.min(least, value);
    most = most === null ? value : Math.max(most, value);
  };
  const tops = edges(panel, hidden);
  panel.series.forEach((series, index) => {
    if (hidden.has(series.id)) return;
    const xs = xsOf(chart, series);
    xs.forEach((x, row) => {
      if (x < from || x > to) return;
      see(tops[index]?.[row]?.top);
      see(series.low?.[row]);
      see(series.high?.[row]);
    });
  });
  const top: Value = most;
  for (const limit of panel.limits ?? []) {
    // A limit far above everything would flatten the curve; its label mentions it anyway.
    if (top === null || limit.value <= top * (panel.y.scale === "log" ? 10 : 2.5)) see(limit.value);
  }
  for (const band of panel.bands ?? []) {
    see(band.low);
    see(band.high);
  }
  return extent(panel.y, least, most, room);
}

/** Returns the edges of the nonempty rows of a heatmap, with one empty row around them. */
export function reach(heat: Heat): Range {
  const rows = heat.edges.length - 1;
  let [first, last] = [rows, -1];
  for (const column of heat.counts) {
    column.forEach((n, row) => {
      if (n > 0) [first, last] = [Math.min(first, row), Math.max(last, row)];
    });
  }
  if (last < 0) [first, last] = [0, rows - 1];
  return [heat.edges[Math.max(0, first - 1)] ?? 1, heat.edges[Math.min(rows, last + 2)] ?? 10];
}
