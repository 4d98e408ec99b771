// Axes: from values to places along an axis and back, round numbers at the marks, the unit that fits the highest value.
// As crates/chart/src/scale.rs does it for static pictures, for whatever part of an axis is shown.

import type { Axis, Scale, Unit, Value } from "./chart";
import { bytesF64, chosenNs, quantileName, trimmedValue } from "./format";

/** A part of an axis, in values. */
export type Range = readonly [from: number, to: number];

/** Places are what the plot calculates with: values, their logarithms, or their nines. */
export interface Places {
  /** `null`: the axis has no such place (0 on a logarithmic one). */
  to(value: number): number | null;
  from(place: number): number;
}

/** The tail of an axis of nines: where the maximum stands, beyond all that was estimated. */
const MOST_NINES = 7;

export function places(scale: Scale): Places {
  switch (scale) {
    case "linear":
      return { to: (v) => (Number.isFinite(v) ? v : null), from: (p) => p };
    case "log":
      return { to: (v) => (v > 0 && Number.isFinite(v) ? Math.log10(v) : null), from: (p) => 10 ** p };
    case "nines":
      // Rounding off keeps 1 - 0.999 from becoming 2.9999999.
      return {
        to: (q) => (q >= 0 && q <= 1 ? Math.min(MOST_NINES, -Math.log10(Math.max(1e-9, 1 - q))) : null),
        from: (p) => Number((1 - 10 ** -p).toPrecision(12)),
      };
  }
}

/** 1, 2 or 5 times a power of ten, at least `step`. */
export function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(step, 1e-300)));
  return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= step * (1 - 1e-9)) ?? step;
}

/** Multiples of `step` within a part of an axis. */
export function multiples(step: number, from: number, to: number): number[] {
  const marks: number[] = [];
  const first = Math.ceil(from / step - 1e-9);
  for (let k = first; k <= to / step + 1e-9 && marks.length < 200; k++) {
    // Rounding up from just below 0 gives -0, which would be written as such.
    marks.push(k === 0 ? 0 : k * step);
  }
  return marks;
}

/** What values are divided by at the marks, and the unit that is left for the label. */
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
      // Its marks say "%" themselves.
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

/** Marks of an axis as places with their texts, and what the label gets behind it. */
export interface Marks {
  at: number[];
  texts: string[];
  unit: string;
}

/** 0.30000000000000004 is how a third step of 0.1 adds up. */
function plain(value: number): string {
  return trimmedValue(Math.round(value * 1e9) / 1e9);
}

/**
 * Marks for a part of an axis.
 *
 * @param room how many marks there is room for
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
  // Marks that would run into each other are left out; those that were chosen stay, and only texts give way.
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

/** What is counted, and seconds that are told one by one, has no marks between two whole ones. */
function stepOf(unit: Unit, from: number, to: number, room: number, by: number): number {
  const step = roundStep((to - from) / by / Math.max(1, room)) * by;
  const isWhole = (unit === "count" || unit === "seconds") && to - from >= 1;
  return isWhole ? Math.max(1, step) : step;
}

/**
 * Texts around places, as many as can be read: one that would touch the one before, or reach beyond `end`, is empty.
 *
 * @param letter about the width of a letter, in the unit of the places
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

/** A name in lines of so many letters; what is longer than all its lines ends with a sign. */
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
  if (axis.unit === "ratio") return `${plain(value * 100)} %`;
  if (axis.scale === "linear") return plain(value / by);
  if (axis.unit === "nanoseconds") return value < 1 ? `${plain(value)} ns` : chosenNs(Math.round(value));
  if (axis.unit === "bytes") return bytesF64(value).replace(/\.0+ /, " ");
  return plain(value);
}

/** On logarithmic axes each mark of these has its own unit: one unit for five of them would be a row of zeros. */
function ownUnit(unit: Unit): boolean {
  return unit === "nanoseconds" || unit === "bytes" || unit === "ratio";
}

function nines(to: number): number[] {
  const end = places("nines").to(to) ?? 1;
  const values = [0, 0.5];
  for (let k = 1; k <= Math.min(6, end + 1e-9); k++) values.push(Number((1 - 10 ** -k).toFixed(k)));
  return values;
}

/** Powers of ten; where these are few also parts of them, where they are many only each second or third. */
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

/** The end of an axis on which everything is 0. */
function fallback(unit: Unit): number {
  if (unit === "nanoseconds") return 1e6;
  if (unit === "ratio") return 0.01;
  return unit === "bytes" || unit === "bytes_per_second" ? 1e3 : 1;
}

/** The part of a y axis that holds all values; where nobody set an end it goes on to the next of its marks. */
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
