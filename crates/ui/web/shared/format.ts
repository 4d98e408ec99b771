// Numbers as text, by the same rules and to the same digit as crates/plan/src/phrase.rs, so that a tooltip agrees
// with the tables and the terminal. formats.json, written by a Rust test, verifies both.

import type { Unit } from "./chart";

/** Text for a missing figure. */
export const NONE = "-";

/** Formats with this many decimals, ties to even as in Rust; `toFixed` alone rounds ties up. */
export function fixed(x: number, decimals: number): string {
  const size = Math.abs(x);
  if (size >= 1e21) {
    // From here on, `toFixed` writes exponents; such a number is whole.
    return (x < 0 ? "-" : "") + BigInt(size).toString() + (decimals > 0 ? "." + "0".repeat(decimals) : "");
  }
  // `toFixed` is exact, so a tie is visible: a 5 followed only by zeros.
  const exact = size.toFixed(Math.min(100, decimals + 40));
  const cut = exact.indexOf(".") + 1 + decimals;
  const down = exact.slice(0, decimals === 0 ? cut - 1 : cut);
  const isTie = /^50*$/.test(exact.slice(cut));
  const lastIsEven = "02468".includes(down.at(-1) ?? "0");
  const text = isTie && lastIsEven ? down : size.toFixed(decimals);
  return (x < 0 || Object.is(x, -0) ? "-" : "") + text;
}

/** Returns the power of ten of `x` after rounding to three digits, so that 999.6 counts as 1.00e3. */
export function exponent(x: number): number {
  // A tie here is 9.995, which both ways round up.
  return x === 0 ? 0 : Number(x.toExponential(2).split("e")[1]);
}

/** Inserts commas between thousands. */
function grouped(text: string): string {
  const [whole = "", decimals] = text.split(".");
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return decimals === undefined ? parted : `${parted}.${decimals}`;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Formats three significant digits, or all digits before the point if there are more. */
function three(x: number): string {
  return x === 0 ? "0" : grouped(fixed(x, Math.max(0, 2 - exponent(x))));
}

function clock(ns: number): string {
  // Rust rounds halves away from zero, as this does for nonnegative numbers.
  const total = Math.round(ns / 1e9);
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}h ${two(m)}m ${two(s)}s` : `${m}m ${two(s)}s`;
}

/** Returns the unit of a time and its length in ns. */
export function timeUnit(ns: number): [number, string] {
  const power = exponent(ns);
  if (power < 3) return [1, "ns"];
  if (power < 6) return [1e3, "µs"];
  return power < 9 ? [1e6, "ms"] : [1e9, "s"];
}

/** Formats a mean or a deviation in ns. */
export function durationF64Ns(ns: number): string {
  if (!Number.isFinite(ns)) return NONE;
  if (ns === 0) return "0 ns";
  // From 100 s on, a second is within half a percent.
  if (exponent(ns) >= 11) return clock(ns);
  const [scale, unit] = timeUnit(ns);
  return `${three(ns / scale)} ${unit}`;
}

/** Formats a measured time in whole ns: `812 µs`, `8.14 ms`, `1.32 s`, `2m 05s`; below 1 µs exact. */
export function durationNs(ns: number): string {
  return ns < 1000 ? `${ns} ns` : durationF64Ns(ns);
}

/** Formats a chosen duration: the same without trailing zeros. */
export function chosenNs(ns: number): string {
  const text = durationNs(ns);
  if (ns < 1000 || exponent(ns) >= 11) return text;
  const [number = "", unit = ""] = text.split(" ");
  return `${trimmed(number)} ${unit}`;
}

/** Formats a point in time in seconds likewise. */
export function chosenS(seconds: number): string {
  return chosenNs(Math.round(Math.max(0, seconds) * 1e9));
}

/** Formats four significant digits without trailing zeros: `277.8`, `3,333`, `12`. */
export function trimmedValue(x: number): string {
  if (!Number.isFinite(x)) return NONE;
  const text = fixed(x, Math.min(9, Math.max(0, 3 - exponent(x))));
  return grouped(trimmed(text));
}

/** Formats a number that is not a count, such as a mean of connections: `98.7`, `1,234`. */
export function quantity(x: number): string {
  return Number.isFinite(x) ? three(x) : NONE;
}

/** `4,812/s`, `81.4/s`, `0.125/s`. */
export function ratePerS(rate: number): string {
  return Number.isFinite(rate) ? `${quantity(rate)}/s` : NONE;
}

/** `72,180`: exact. */
export function count(n: number): string {
  return grouped(String(n));
}

/** Returns the decimals that show this many digits of the distance to 100. */
function decimalsBelow100(percent: number, digits: number): number {
  return Math.min(10, Math.max(0, digits - 1 - exponent(100 - percent)));
}

function percentWith(percent: number, decimals: number): string {
  const shown = fixed(percent, decimals);
  const text = percent < 100 && shown.startsWith("100") ? "99.9999999999" : shown;
  return `${grouped(trimmed(text))}%`;
}

/** `0.3%`, `48%`, `99.97%`: one decimal below 10%, none above; rounding never reaches 0% or 100%. */
export function ratio(ratio: number): string {
  if (!Number.isFinite(ratio)) return NONE;
  const percent = ratio * 100;
  const size = Math.abs(percent);
  if (size > 0 && size < 0.05) return "<0.1%";
  if (size < 9.95) return percentWith(percent, 1);
  return percentWith(percent, size > 99 && size < 100 ? decimalsBelow100(size, 1) : 0);
}

const BYTES = ["B", "kB", "MB", "GB", "TB", "PB"];

/** `683 kB`, `1.21 GB`: decimal units, as for networks. */
export function bytesF64(n: number): string {
  if (!Number.isFinite(n)) return NONE;
  if (n === 0) return "0 B";
  const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(exponent(n) / 3)));
  return `${three(n / 10 ** (3 * step))} ${BYTES[step]}`;
}

/** Formats whole bytes; exact below 1 kB. */
export function bytes(n: number): string {
  return n < 1000 ? `${n} B` : bytesF64(n);
}

/** `1.21 GB/s`. */
export function bytesPerS(n: number): string {
  return Number.isFinite(n) ? `${bytesF64(n)}/s` : NONE;
}

/** `1.87 cores`. */
export function cores(n: number): string {
  if (n === 1) return "1 core";
  return `${Number.isInteger(n) ? trimmedValue(n) : quantity(n)} cores`;
}

/** `p50`, `p99.9`. */
export function quantileName(q: number): string {
  return `p${trimmed(fixed(q * 100, 6))}`;
}

/** Formats a value in its unit, as tooltips and tables show it. */
export function figure(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  switch (unit) {
    case "seconds":
      return chosenS(value);
    case "nanoseconds":
      return Number.isInteger(value) && value >= 0 ? durationNs(value) : durationF64Ns(value);
    case "per_second":
      return ratePerS(value);
    case "bytes":
      return Number.isInteger(value) && value >= 0 ? bytes(value) : bytesF64(value);
    case "bytes_per_second":
      return bytesPerS(value);
    case "ratio":
      return ratio(value);
    case "count":
      return Number.isInteger(value) ? count(value) : quantity(value);
    case "cores":
      return cores(value);
    case "quantile":
      return value >= 1 ? "max" : quantileName(value);
    case "plain":
      return trimmedValue(value);
  }
}
