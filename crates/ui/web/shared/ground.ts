// Background and overlay of a panel: ranges, bands, a heatmap; limits and marks with their labels.

import type { Chart, Heat, Limit, Panel } from "./chart";
import type { Colors } from "./colors";
import { xsOf } from "./columns";
import type { Placement } from "./marks";
import type { Way } from "./paint";

/** The plot on its canvas, px. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

const SHADES = 9;

/** Returns the shade (of nine) for a count, where `most` is the highest count. */
export function shade(n: number, most: number): number {
  if (most <= 1) return SHADES - 1;
  return Math.min(SHADES - 1, Math.floor((Math.log(n) / Math.log(most)) * SHADES));
}

export function paintGround(
  ctx: CanvasRenderingContext2D,
  chart: Chart,
  panel: Panel,
  colors: Colors,
  way: Way,
  box: Box,
): void {
  let stages = 0;
  for (const stretch of chart.stretches ?? []) {
    // Every second of two neighbors has a background, to distinguish them.
    if (stretch.kind === "stage" && stages++ % 2 === 0) continue;
    const opacity = { warmup: 0.16, stage: 0.09, gap: 0.38, spike: 0.1 }[stretch.kind];
    const [from, to] = [way.x(stretch.from), way.x(stretch.to)];
    if (from === null || to === null) continue;
    ctx.globalAlpha = opacity;
    ctx.fillStyle = stretch.kind === "spike" ? colors.fail : colors.faint;
    ctx.fillRect(from, box.top, Math.max(to - from, way.ratio), box.height);
  }
  for (const band of panel.bands ?? []) {
    const [low, high] = [way.y(band.low), way.y(band.high)];
    if (low === null || high === null) continue;
    ctx.globalAlpha = 0.18;
    ctx.fillStyle = colors.series[0] ?? colors.soft;
    ctx.fillRect(box.left, high, box.width, Math.max(low - high, way.ratio));
  }
  ctx.globalAlpha = 1;
  if (panel.heat) paintHeat(ctx, chart, panel.heat, colors, way, box);
}

/** Returns where the columns of a heatmap end. */
export function heatEnd(chart: Chart): number {
  const [before = 0, last = 1] = chart.xs.slice(-2);
  return chart.x.to ?? (chart.xs.length > 1 ? 2 * last - before : last);
}

function paintHeat(
  ctx: CanvasRenderingContext2D,
  chart: Chart,
  heat: Heat,
  colors: Colors,
  way: Way,
  box: Box,
): void {
  const most = heat.counts.reduce((top, column) => column.reduce((a, b) => Math.max(a, b), top), 0);
  const rows = heat.edges.map((edge) => Math.round(way.y(edge) ?? way.floor));
  const ends = [...chart.xs, heatEnd(chart)].map((x) => Math.round(way.x(x) ?? 0));
  heat.counts.forEach((column, at) => {
    const [from, to] = [ends[at] ?? 0, ends[at + 1] ?? 0];
    if (to < box.left || from > box.left + box.width) return;
    column.forEach((n, row) => {
      if (n <= 0) return;
      // Whole pixels avoid seams; a row is at least one pixel high.
      const [low, high] = [rows[row] ?? 0, rows[row + 1] ?? 0];
      ctx.fillStyle = colors.heat[shade(n, most)] ?? colors.ink;
      ctx.fillRect(from, high, Math.max(1, to - from), Math.max(1, low - high));
    });
  });
}

/** Draws a label over values with a halo of the background color. */
function word(ctx: CanvasRenderingContext2D, text: string, x: number, y: number, color: string, c: Colors): void {
  ctx.lineJoin = "round";
  ctx.strokeStyle = c.ground;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

export function paintOver(
  ctx: CanvasRenderingContext2D,
  chart: Chart,
  panel: Panel,
  isFirst: boolean,
  marks: Placement,
  colors: Colors,
  way: Way,
  box: Box,
): void {
  const px = way.ratio;
  ctx.font = `${11 * px}px ${colors.font}`;
  ctx.textBaseline = "alphabetic";
  paintMarks(ctx, marks, isFirst, colors, px, box);
  const taken: number[] = [];
  // All lines before all labels, so that no line crosses a label.
  for (const limit of panel.limits ?? []) paintLimit(ctx, limit, null, colors, way, box);
  for (const limit of panel.limits ?? []) paintLimit(ctx, limit, taken, colors, way, box);
  ctx.textAlign = "left";
  ctx.lineWidth = 3 * px;
  for (const band of panel.bands ?? []) {
    const high = way.y(band.high);
    if (!band.word || high === null) continue;
    const y = high + 13 * px;
    const x = beside(chart, panel, way, box, [y - 12 * px, y + 4 * px], ctx.measureText(band.word).width);
    word(ctx, band.word, x, y, colors.soft, colors);
  }
  if (!isFirst) return;
  let free = Number.NEGATIVE_INFINITY;
  for (const stretch of chart.stretches ?? []) {
    const from = Math.max(box.left, way.x(stretch.from) ?? box.left) + 4 * px;
    const to = Math.min(box.left + box.width, way.x(stretch.to) ?? 0);
    const wide = ctx.measureText(stretch.word).width;
    if (!stretch.word || to - from < wide || from < free) continue;
    word(ctx, stretch.word, from, box.top + 12 * px, colors.soft, colors);
    free = from + wide + 4 * px;
  }
}

/**
 * Draws the line of a limit or, with `taken` (the heights of labels so far), its label. A limit above all values is
 * shown at the edge instead of flattening the values.
 */
function paintLimit(
  ctx: CanvasRenderingContext2D,
  limit: Limit,
  taken: number[] | null,
  colors: Colors,
  way: Way,
  box: Box,
): void {
  const px = way.ratio;
  const place = way.y(limit.value);
  if (place === null) return;
  const color = limit.met === null ? colors.soft : limit.met ? colors.pass : colors.fail;
  const isInside = place >= box.top - 1 && place <= box.top + box.height + 1;
  if (taken === null) {
    if (!isInside) return;
    ctx.strokeStyle = color;
    ctx.lineWidth = 1.2 * px;
    ctx.setLineDash([7 * px, 3 * px]);
    ctx.beginPath();
    ctx.moveTo(box.left, place);
    ctx.lineTo(box.left + box.width, place);
    ctx.stroke();
    ctx.setLineDash([]);
    return;
  }
  let text = limit.word;
  let y = place;
  if (!isInside) {
    text = `${place < box.top ? "\u2191" : "\u2193"} ${text}`;
    y = place < box.top ? box.top + 16 * px : box.top + box.height;
  }
  // Above its line, unless the plot ends there, and never on another label.
  let at = y - box.top < 14 * px ? y + 12 * px : y - 4 * px;
  while (taken.some((other) => Math.abs(other - at) < 11.5 * px)) at += 12 * px;
  taken.push(at);
  const end = box.left + box.width - 4 * px;
  const wide = ctx.measureText(text).width;
  // Dots and lines behind it would look like letters.
  ctx.globalAlpha = 0.88;
  ctx.fillStyle = colors.ground;
  ctx.fillRect(end - wide - 2 * px, at - 10 * px, wide + 4 * px, 13 * px);
  ctx.globalAlpha = 1;
  ctx.textAlign = "right";
  ctx.lineWidth = 3 * px;
  word(ctx, text, end, at, color, colors);
}

/** Returns the position where a label covers the fewest points and intervals: left if free, else right or between. */
function beside(chart: Chart, panel: Panel, way: Way, box: Box, [top, bottom]: [number, number], wide: number): number {
  const px = way.ratio;
  const [left, right] = [box.left + 6 * px, box.left + box.width - 4 * px - wide];
  const all = panel.series.flatMap((series) =>
    xsOf(chart, series).flatMap((at, row) => {
      const ends = [series.y[row], series.low?.[row], series.high?.[row]].filter((y) => y !== null && y !== undefined);
      const places = ends.map((y) => way.y(y)).filter((y) => y !== null);
      const x = way.x(at);
      return x === null || places.length === 0 ? [] : [{ x, high: Math.min(...places), low: Math.max(...places) }];
    }),
  );
  const covered = (x: number) =>
    all.filter((one) => one.x > x - 4 * px && one.x < x + wide + 4 * px && one.high < bottom && one.low > top).length;
  const places = [0, 1, 0.5, 0.25, 0.75].map((share) => left + (right - left) * share);
  return places.reduce((best, x) => (covered(x) < covered(best) ? x : best), left);
}

/** Draws marks as lines in every panel, with labels or numbers at the top of the first one. */
function paintMarks(
  ctx: CanvasRenderingContext2D,
  { isNumbered, all }: Placement,
  isFirst: boolean,
  colors: Colors,
  px: number,
  box: Box,
): void {
  for (const { mark, x } of all) {
    const isAnswer = mark.kind === "answer";
    ctx.strokeStyle = isAnswer ? (colors.series[2] ?? colors.ink) : colors.soft;
    ctx.lineWidth = (isAnswer ? 1.4 : 1) * px;
    ctx.setLineDash(isAnswer ? [] : [2 * px, 2 * px]);
    ctx.beginPath();
    ctx.moveTo(box.left + x * px, box.top);
    ctx.lineTo(box.left + x * px, box.top + box.height);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (!isFirst) return;
  for (const { mark, number, at, row } of all) {
    if (at === null) continue;
    const x = box.left + at * px;
    if (isNumbered) {
      badge(ctx, number, x, box.top + (22 + 16 * row) * px, colors, px);
    } else {
      ctx.textAlign = "left";
      ctx.lineWidth = 3 * px;
      word(ctx, mark.word, x + 3 * px, box.top + 24 * px, colors.ink, colors);
    }
  }
}

/** Draws the number of a mark in a ring on its line. */
function badge(ctx: CanvasRenderingContext2D, n: number, x: number, y: number, colors: Colors, px: number): void {
  ctx.beginPath();
  ctx.arc(x, y, 7.5 * px, 0, 2 * Math.PI);
  ctx.fillStyle = colors.ground;
  ctx.fill();
  ctx.strokeStyle = colors.soft;
  ctx.lineWidth = px;
  ctx.stroke();
  const before = ctx.font;
  ctx.font = `${9.5 * px}px ${colors.font}`;
  ctx.textAlign = "center";
  ctx.fillStyle = colors.ink;
  ctx.fillText(String(n), x, y + 3.5 * px);
  ctx.font = before;
}
