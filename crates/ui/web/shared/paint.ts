// Forms of a series on a canvas: lines, areas, columns, points, and their intervals. As in the static picture
// (crates/chart/src/draw/forms.rs), so that nothing moves when the script takes over.

import type { Colors } from "./colors";
import { edges, sides, xsOf, type Edges } from "./columns";
import type { Chart, Panel, Series } from "./chart";

/** Maps values to canvas pixels; `null` if the axis has no such position. */
export interface Way {
  x(value: number): number | null;
  y(value: number): number | null;
  /** Canvas pixels per page pixel. */
  ratio: number;
  /** Baseline of columns and areas, px. */
  floor: number;
  /** Size of the plot, px. */
  ends: { top: number; bottom: number };
}

/** Number of points from which they are drawn small. */
const MANY = 60;
const DASH: readonly number[] = [5, 3];

type Point = readonly [x: number, y: number];

export function paintSeries(
  ctx: CanvasRenderingContext2D,
  chart: Chart,
  panel: Panel,
  hidden: ReadonlySet<string>,
  colors: Colors,
  way: Way,
): void {
  const all = edges(panel, hidden);
  panel.series.forEach((series, index) => {
    if (hidden.has(series.id)) return;
    const color = colors.series[series.color % colors.series.length] ?? colors.ink;
    ctx.save();
    ctx.strokeStyle = color;
    ctx.fillStyle = color;
    ctx.lineWidth = 1.5 * way.ratio;
    ctx.lineJoin = "round";
    paintOne(ctx, chart, panel, series, all[index] ?? [], way);
    ctx.restore();
  });
}

function paintOne(
  ctx: CanvasRenderingContext2D,
  chart: Chart,
  panel: Panel,
  series: Series,
  own: Edges[],
  way: Way,
): void {
  const xs = xsOf(chart, series);
  if (series.form === "bars") return columns(ctx, xs, own, chart.x.scale === "log", way);
  const low = series.low ?? [];
  const high = series.high ?? [];
  const isRange = series.form === "range";
  if (isRange) ground(ctx, runs(xs, (at) => pair(xs, low[at], high[at], at, way)), 0.22);
  if (series.form === "area" || panel.stacked) {
    ground(ctx, runs(xs, (at) => pair(xs, own[at]?.base, own[at]?.top, at, way)), panel.stacked ? 0.75 : 0.22);
    if (panel.stacked) return;
  }
  const points = (at: number): Point | null => {
    const top = own[at]?.top;
    const [x, y] = [way.x(xs[at] ?? Number.NaN), top === null || top === undefined ? null : way.y(top)];
    return x === null || y === null ? null : [x, y];
  };
  const joined = !["dots", "crosses", "rings"].includes(series.form);
  if (joined) {
    if (series.form === "dashed") ctx.setLineDash(DASH.map((n) => n * way.ratio));
    lines(ctx, runs(xs, points), series.form === "step", way.ratio);
    ctx.setLineDash([]);
  }
  if (!isRange) whiskers(ctx, xs, series, way);
  if (!joined || series.form === "marked") {
    const placed = xs.map((_, at) => points(at)).filter((point) => point !== null);
    for (const point of placed) marker(ctx, series, point, placed.length > MANY, way.ratio);
  }
}

/** Returns the ranges without a gap. */
function runs<T>(xs: readonly number[], at: (index: number) => T | null): T[][] {
  const out: T[][] = [[]];
  for (let index = 0; index < xs.length; index++) {
    const here = at(index);
    if (here === null) {
      if (out.at(-1)?.length) out.push([]);
    } else {
      out.at(-1)?.push(here);
    }
  }
  return out.filter((run) => run.length > 0);
}

type Upright = readonly [x: number, low: number, high: number];

function pair(
  xs: readonly number[],
  low: number | null | undefined,
  high: number | null | undefined,
  at: number,
  way: Way,
): Upright | null {
  if (low === null || low === undefined || high === null || high === undefined) return null;
  const x = way.x(xs[at] ?? Number.NaN);
  const top = way.y(high);
  // 0 has no position on a logarithmic axis, so the area begins at its bottom.
  return x === null || top === null ? null : [x, way.y(low) ?? way.floor, top];
}

function ground(ctx: CanvasRenderingContext2D, parts: Upright[][], opacity: number): void {
  ctx.save();
  ctx.globalAlpha = opacity;
  for (const part of parts) {
    ctx.beginPath();
    // A single value between two gaps would be invisible as a line.
    const wide = part.length === 1 ? 1 : 0;
    for (const [x, , high] of part) ctx.lineTo(x - wide, high);
    for (const [x, low, high] of [...part].reverse()) {
      if (wide > 0) ctx.lineTo(x + wide, high);
      ctx.lineTo(x + wide, low);
      if (wide > 0) ctx.lineTo(x - wide, low);
    }
    ctx.closePath();
    ctx.fill();
  }
  ctx.restore();
}

function lines(ctx: CanvasRenderingContext2D, parts: Point[][], isStep: boolean, ratio: number): void {
  for (const part of parts) {
    ctx.beginPath();
    const [first] = part;
    if (part.length === 1 && first) {
      ctx.moveTo(first[0] - ratio, first[1]);
      ctx.lineTo(first[0] + ratio, first[1]);
    }
    let before: Point | undefined;
    for (const point of part) {
      if (isStep && before) ctx.lineTo(point[0], before[1]);
      ctx.lineTo(point[0], point[1]);
      before = point;
    }
    ctx.stroke();
  }
}

function columns(
  ctx: CanvasRenderingContext2D,
  xs: readonly number[],
  own: Edges[],
  isLog: boolean,
  way: Way,
): void {
  sides(xs, isLog).forEach(([left, right], at) => {
    const { base, top } = own[at] ?? { base: null, top: null };
    if (base === null || top === null || top === base) return;
    const [from, to, high] = [way.x(left), way.x(right), way.y(top)];
    if (from === null || to === null || high === null) return;
    const low = base === 0 ? way.floor : (way.y(base) ?? way.floor);
    const wide = to - from;
    const px = way.ratio;
    // A thin gap separates columns that are wide enough for one.
    const air = wide > 40 * px ? 0.18 * wide : wide > 5 * px ? px : 0;
    ctx.fillRect(from + air / 2, Math.min(low, high), Math.max(wide - air, 0.6), Math.max(Math.abs(low - high), 0.8));
  });
}

/** Half the height of the symbol for an interval larger than the plot, px. */
const STUB = 16;

/**
 * Draws intervals. One that exceeds the plot on one side has an arrow there; one that covers the whole plot is a short
 * double arrow, because a line from top to bottom would look like a mark.
 */
function whiskers(ctx: CanvasRenderingContext2D, xs: readonly number[], series: Series, way: Way): void {
  const cap = 3 * way.ratio;
  const head = 5 * way.ratio;
  const { top, bottom } = way.ends;
  ctx.lineWidth = way.ratio;
  ctx.beginPath();
  xs.forEach((_, at) => {
    const upright = pair(xs, series.low?.[at], series.high?.[at], at, way);
    if (!upright) return;
    const [x, low, high] = upright;
    const [isBelow, isAbove] = [low > bottom + 1, high < top - 1];
    const y = series.y[at];
    const middle = y === null || y === undefined ? null : way.y(y);
    const isWhole = (isBelow || isAbove) && low > bottom - 1 && high < top + 1 && middle !== null;
    const from = isWhole ? Math.min(bottom, middle + STUB * way.ratio) : Math.min(low, bottom);
    const to = isWhole ? Math.max(top, middle - STUB * way.ratio) : Math.max(high, top);
    const end = (y: number, inwards: number) => {
      ctx.moveTo(x - cap, y + inwards);
      ctx.lineTo(x, y);
      ctx.lineTo(x + cap, y + inwards);
    };
    end(from, isBelow || isWhole ? -head : 0);
    end(to, isAbove || isWhole ? head : 0);
    ctx.moveTo(x, from);
    ctx.lineTo(x, to);
  });
  ctx.stroke();
}

/** Each color also has its own shape. */
function marker(ctx: CanvasRenderingContext2D, series: Series, [x, y]: Point, many: boolean, ratio: number): void {
  const r = (many ? 1.4 : 3.2) * ratio;
  const kind = series.form === "marked" ? series.color % 3 : 0;
  ctx.beginPath();
  if (series.form === "crosses") {
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y + r);
    ctx.moveTo(x - r, y + r);
    ctx.lineTo(x + r, y - r);
    ctx.stroke();
    return;
  }
  if (kind === 1) ctx.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (kind === 2) {
    ctx.moveTo(x, y - r * 1.2);
    ctx.lineTo(x + r * 1.2, y + r * 0.9);
    ctx.lineTo(x - r * 1.2, y + r * 0.9);
    ctx.closePath();
  } else ctx.arc(x, y, r, 0, 2 * Math.PI);
  if (series.form === "rings") ctx.stroke();
  else ctx.fill();
}
