// Positions of mark labels: next to their lines if all fit, or else numbers there and a list below the chart, so that
// every line is explained.

import type { Chart, Mark } from "./chart";
import { figure } from "./format";

/** A visible mark. */
export interface Placed {
  mark: Mark;
  /** Number from 1 over all marks of the chart, visible or not, so that it stays when the range changes. */
  number: number;
  /** Position of its line from the left end of the plot, px. */
  x: number;
  /** Start of its label, or center of its number; `null` if there is no room. */
  at: number | null;
  /** Row of a number: 0 or 1 from the top. */
  row: number;
}

export interface Placement {
  isNumbered: boolean;
  all: Placed[];
}

/** Approximate width of a letter at 11 px, in the widest of the usual fonts. */
const LETTER = 6.6;
const ROWS = 2;
const BADGE = 16;
/** Maximum number of entries; more are in the table of events. */
const LISTED = 24;

function sorted(chart: Chart): Mark[] {
  return [...(chart.marks ?? [])].sort((a, b) => a.at - b.at);
}

/**
 * @param x maps a value to px from the left end of the plot
 * @param wide width of the plot, px
 */
export function placed(chart: Chart, x: (value: number) => number | null, wide: number): Placement {
  const seen: Omit<Placed, "at" | "row">[] = [];
  sorted(chart).forEach((mark, index) => {
    const at = x(mark.at);
    if (at !== null && at >= -1 && at <= wide + 1) seen.push({ mark, number: index + 1, x: at });
  });
  const words = seen.map(({ mark, x: line }) => {
    const room = mark.word.length * LETTER + 6;
    const left = line + room > wide ? line - room : line;
    return { left, right: left + room };
  });
  const fits = words.every(({ left, right }, index) => {
    const isFree = left >= 0 && left >= (words[index - 1]?.right ?? 0);
    // A line through the label would change its meaning.
    return isFree && seen.every((one, other) => other === index || one.x <= left || one.x >= right);
  });
  if (fits) {
    return { isNumbered: false, all: seen.map((one, index) => ({ ...one, at: words[index]?.left ?? null, row: 0 })) };
  }
  const free = new Array<number>(ROWS).fill(Number.NEGATIVE_INFINITY);
  const all = seen.map((one) => {
    const row = free.findIndex((end) => one.x - BADGE / 2 >= end);
    if (row >= 0) free[row] = one.x + BADGE / 2;
    return { ...one, at: row < 0 ? null : one.x, row: Math.max(0, row) };
  });
  return { isNumbered: true, all };
}

/** Returns the meaning of the numbers: `5m 00s: 250 arrivals/s`. */
export function list(chart: Chart): string[] {
  const all = sorted(chart).map(({ at, word }) => {
    // An axis of seconds begins at 0 s, not at a smaller unit.
    const when = at === 0 && chart.x.unit === "seconds" ? "0 s" : figure(at, chart.x.unit);
    return `${when}: ${word}`;
  });
  return all.slice(0, LISTED);
}

/** Returns the number of marks beyond [`list`]. */
export function unlisted(chart: Chart): number {
  return Math.max(0, (chart.marks?.length ?? 0) - LISTED);
}
