// The values of a panel, made ready for drawing: on one common x, added up where they are stacked, and the part of y
// that they need.

import type { Chart, Heat, Panel, Series, Value } from "./chart";
import { extent, places, type Range } from "./scale";

/** `undefined`: this series has no value at that x, and is drawn across it; `null` is a gap. */
export type Cell = number | null | undefined;

export interface Columns {
  /** Rising, in places of the x axis. */
  x: number[];
  /** One for each series, in places of the y axis; of stacked ones the upper edges. */
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

/** Edges of all values of a panel, in values; those of hidden series are all `null`. */
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
 * The places of x where all series have the same ones, rising, as in all charts over time: nothing is left to sort or
 * to look up, for what may be 32,000 seconds. `null`: not so.
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
  // A heat-map has no series, and its columns are what the cursor steps over.
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

/** All of x that a chart has something for; as wide as its static picture. */
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
  // A live chart may go on for longer than was planned: on to the next mark, or the axis would move with each row.
  return most === null || most <= to ? [from, to] : extent({ ...chart.x, to: null }, least, most, 9);
}

/** The usual step between neighbours; of a single one 1. */
export function width(xs: readonly number[]): number {
  const steps = xs.slice(1).map((x, at) => x - (xs[at] ?? 0));
  return steps.length > 0 ? (steps.sort((a, b) => a - b)[steps.length >> 1] ?? 1) : 1;
}

/** Where each column of bars begins and ends: half way to its neighbours. */
export function sides(xs: readonly number[], isLog: boolean): Range[] {
  const way = places(isLog ? "log" : "linear");
  const at = xs.map((x) => way.to(x) ?? 0);
  const step = width(at);
  return at.map((x, index) => {
    const before = index > 0 ? x - (at[index - 1] ?? x) : step;
    const after = index + 1 < at.length ? (at[index + 1] ?? x) - x : step;
    // A gap between columns does not make its neighbours wide.
    return [way.from(x - Math.min(before, step * 1.5) / 2), way.from(x + Math.min(after, step * 1.5) / 2)];
  });
}

/** The part of y that is needed for what is visible between two values of x. */
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
    // A limit far above everything would press the course to the ground; its word says it all the same.
    if (top === null || limit.value <= top * (panel.y.scale === "log" ? 10 : 2.5)) see(limit.value);
  }
  for (const band of panel.bands ?? []) {
    see(band.low);
    see(band.high);
  }
  return extent(panel.y, least, most, room);
}

/** Edges of the rows of a heat-map in which anything was counted, with one empty row around them. */
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
