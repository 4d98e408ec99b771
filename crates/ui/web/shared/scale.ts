// Axes: mapping between values and positions, round ticks, and the unit that fits the highest value. As in
// crates/chart/src/scale.rs for static pictures, for any range of an axis.

import type { Axis, Scale, Unit, Value } from "./chart";
import { bytesF64, chosenNs, quantileName, trimmedValue } from "./format";

/** A range of an axis, in values. */
export type Range = readonly [from: number, to: number];

/** Positions that the plot calculates with: values, their logarithms, or their nines. */
export interface Places {
  /** `null` if the axis has no such position (0 on a logarithmic one). */
  to(value: number): number | null;
  from(place: number): number;
}

/** End of an axis of nines, where the maximum is, beyond everything estimated. */
const MOST_NINES = 7;

export function places(scale: Scale): Places {
  switch (scale) {
    case "linear":
      return { to: (v) => (Number.isFinite(v) ? v : null), from: (p) => p };
    case "log":
      return { to: (v) => (v > 0 && Number.isFinite(v) ? Math.log10(v) : null), from: (p) => 10 ** p };
    case "nines":
      // Rounding keeps 1 - 0.999 from becoming 2.9999999.
      return {
        to: (q) => (q >= 0 && q <= 1 ? Math.min(MOST_NINES, -Math.log10(Math.max(1e-9, 1 - q))) : null),
        from: (p) => Number((1 - 10 ** -p).toPrecision(12)),
      };
  }
}

/** Returns 1, 2, or 5 times a power of ten, at least `step`. */
export function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1e-300)));
  return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= step * (1 - 1e-9)) ?? step;
}

/** Returns the multiples of `step` within a range of an axis. */
export function multiples(step: number, from: number, to: number): number[] {
  const marks: number[] = [];
  const first = Math.ceil(from / step - 1e-9);
  for (let k = first; k <= to / step + 1e-9 && marks.length < 200; k++) {
    // Rounding up from just below 0 yields -0, which would be printed as such.
    marks.push(k === 0 ? 0 : k * step);
  }
  return marks;
}

/** Returns the divisor of values at the ticks, and the remaining unit for the label. */
export function shown(unit: Unit, most: number): { by: number; unit: string } {
  const size = Math.abs(most);
  const pick = (units: string[]) => {
    const at = size >= 2e9 ? 3 : size >= 2e6 ? 2 : size >= 2e3 ? 1 : 0;
    return { by: 1000 ** at, unit: units[at] ?? "" };
  };
  switch (unit) {
    case "nanoseconds":
      return pick(["ns", "µs", "ms", "s"]);
    case "bytes":
      return pick(["B", "kB", "MB", "GB"]);
    case "bytes_per_second":
      return pick(["B/s", "kB/s", "MB/s", "GB/s"]);
    case "ratio":
      // The ticks already contain "%".
      return { by: 0.01, unit: "" };
    case "seconds":
      if (size > 7200) return { by: 3600, unit: "h" };
      return size > 600 ? { by: 60, unit: "min" } : { by: 1, unit: "s" };
    case "per_second":
      return { by: 1, unit: "per second" };
    case "cores":
      return { by: 1, unit: "cores" };
    case "count":
    case "quantile":
    case "plain":
      return { by: 1, unit: "" };
  }
}

/** Ticks of an axis as positions with labels, and the suffix of the axis label. */
export interface Marks {
  at: number[];
  texts: string[];
  unit: string;
}

/** A third step of 0.1 adds up to 0.30000000000000004. */
function plain(value: number): string {
  return trimmedValue(Math.round(value * 1e9) / 1e9);
}

/**
 * Returns the ticks for a range of an axis.
 *
 * @param room number of ticks that fit
 */
export function marks(axis: Axis, [from, to]: Range, room: number): Marks {
  const way = places(axis.scale);
  const isLinear = axis.scale === "linear";
  const { by, unit } = shown(axis.unit, isLinear ? Math.max(Math.abs(from), Math.abs(to)) : 0);
  const round = () => {
    if (axis.scale === "nines") return nines(to);
    if (!isLinear) return decades(from, to, room);
    return multiples(stepOf(axis.unit, from, to, room, by), from, to);
  };
  const ticks = axis.ticks ?? [];
  const values = ticks.length > 0 ? ticks : round();
  const [low, high] = [way.to(from) ?? 0, way.to(to) ?? 1];
  const out: Marks = { at: [], texts: [], unit: isLinear || !ownUnit(axis.unit) ? unit : "" };
  // Omits ticks that would overlap; chosen ticks stay, and only their labels are omitted.
  const apart = ticks.length > 0 ? 0 : (high - low) / Math.max(1, room * 2);
  values.forEach((value, index) => {
    const at = way.to(value);
    if (at === null || at < low - 1e-9 || at > high + 1e-9) return;
    if (out.at.length > 0 && at - (out.at.at(-1) ?? 0) < apart) return;
    out.at.push(at);
    out.texts.push((ticks.length > 0 ? axis.names?.[index] : undefined) ?? text(value, axis, by));
  });
  return out;
}

/** Counts and single seconds have no ticks between two whole numbers. */
function stepOf(unit: Unit, from: number, to: number, room: number, by: number): number {
  const step = roundStep((to - from) / by / Math.max(1, room)) * by;
  const isWhole = (unit === "count" || unit === "seconds") && to - from >= 1;
  return isWhole ? Math.max(1, step) : step;
}

/**
 * Returns readable labels: one that would touch the previous one, or exceed `end`, is empty.
 *
 * @param letter approximate width of a letter, in the unit of the positions
 */
export function legible(middles: readonly number[], texts: readonly string[], letter: number, end: number): string[] {
  let free = Number.NEGATIVE_INFINITY;
  return texts.map((text, index) => {
    const [middle, half] = [middles[index] ?? 0, (text.length * letter) / 2];
    if (middle - half < free || middle + half > end) return "";
    free = middle + half + letter / 2;
    return text;
  });
}

/** Wraps a name into lines of this many letters; what exceeds all lines ends with an ellipsis. */
export function wrapped(name: string, letters: number, lines: number): string {
  const most = Math.max(3, letters);
  const out: string[] = [];
  for (const word of name.split(" ")) {
    const last = out.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) out[out.length - 1] = `${last} ${word}`;
    else out.push(word);
  }
  const cut = out.slice(0, lines).map((line) => (line.length > most ? `${line.slice(0, most - 1)}…` : line));
  if (out.length > lines) cut[lines - 1] = `${(cut[lines - 1] ?? "").slice(0, most - 1)}…`;
  return cut.join("\n");
}

function text(value: number, axis: Axis, by: number): string {
  if (axis.unit === "quantile" || axis.scale === "nines") return value === 0 ? "0%" : quantileName(value);
  if (axis.unit === "ratio") return `${plain(value * 100)}%`;
  if (axis.scale === "linear") return plain(value / by);
  if (axis.unit === "nanoseconds") return value < 1 ? `${plain(value)} ns` : chosenNs(Math.round(value));
  if (axis.unit === "bytes") return bytesF64(value).replace(/\.0+ /, " ");
  return plain(value);
}

/** On logarithmic axes, each tick of these has its own unit, because one for five of them would be a row of zeros. */
function ownUnit(unit: Unit): boolean {
  return unit === "nanoseconds" || unit === "bytes" || unit === "ratio";
}

function nines(to: number): number[] {
  const end = places("nines").to(to) ?? 1;
  const values = [0, 0.5];
  for (let k = 1; k <= Math.min(6, end + 1e-9); k++) values.push(Number((1 - 10 ** -k).toFixed(k)));
  return values;
}

/** Returns powers of ten; between them if they are few, and every second or third if they are many. */
function decades(from: number, to: number, room: number): number[] {
  const [low, high] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(to))];
  const spans = Math.log10(to / from);
  const factors = spans <= 1.2 ? [1, 2, 3, 5, 7] : spans <= (room >= 4 ? 3.2 : 2) ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(spans / (1.5 * Math.max(2, room))));
  const values: number[] = [];
  for (let power = low; power <= high; power += every) {
    for (const factor of factors) values.push(Number((factor * 10 ** power).toPrecision(3)));
  }
  return values;
}

/** End of an axis on which everything is 0. */
function fallback(unit: Unit): number {
  if (unit === "nanoseconds") return 1e6;
  if (unit === "ratio") return 0.01;
  return unit === "bytes" || unit === "bytes_per_second" ? 1e3 : 1;
}

/** Returns the range of y for all values; without a fixed end, it extends to the next tick. */
export function extent(axis: Axis, least: Value, most: Value, room: number): Range {
  if (axis.scale === "nines") return [axis.from ?? 0, axis.to ?? most ?? 0.99];
  if (axis.scale === "log") {
    const high = Math.max(axis.to ?? most ?? 10, 1e-300);
    const low = Math.min(axis.from ?? least ?? high / 10, high);
    const margin = Math.max(high / low, 1.5) ** 0.04;
    const [from, to] = [axis.from ?? low / margin, axis.to ?? high * margin];
    return to > from * 1.000001 ? [from, to] : [from / 2, to * 2];
  }
  const low = axis.from ?? Math.min(0, least ?? 0);
  const wanted = axis.to ?? most ?? low;
  const high = wanted > low ? wanted : low + fallback(axis.unit);
  const by = shown(axis.unit, Math.max(Math.abs(high), Math.abs(low))).by;
  const step = stepOf(axis.unit, low, high, room, by);
  return [axis.from ?? Math.floor(low / step + 1e-9) * step, axis.to ?? Math.ceil(high / step - 1e-9) * step];
}
