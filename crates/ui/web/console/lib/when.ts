// Relative times that are updated while the list is open.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const two = (n: number) => String(n).padStart(2, "0");

/** Returns `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 days ago`, or the date. Times in the future are `just now`. */
export function ago(startedUnixNs: number, nowMs: number): string {
  const past = Math.floor(nowMs / 1e3 - startedUnixNs / 1e9);
  if (past < 5) return "just now";
  if (past < MINUTE) return `${past} s ago`;
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  const days = Math.floor(past / DAY);
  if (days <= 14) return days === 1 ? "1 day ago" : `${days} days ago`;
  return `${date(startedUnixNs)} UTC`;
}

/** Returns `2026-11-22`, in UTC as on the pages of runs. */
export const date = (unixNs: number) => machine(unixNs).slice(0, 10);

/** Returns `2026-11-22 07:12:03 UTC`, as on the pages of runs. */
export function moment(unixNs: number): string {
  const text = machine(unixNs);
  return text === "" ? "" : `${text.slice(0, 10)} ${text.slice(11, 19)} UTC`;
}

/** Returns the `datetime` of a `time` element. */
export function machine(unixNs: number): string {
  const at = new Date(unixNs / 1e6);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** Returns a duration as `0:07`, `12:05`, or `1:02:03`. */
export function clock(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds));
  const [h, m] = [Math.floor(s / HOUR), Math.floor(s / MINUTE) % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s % 60)}` : `${m}:${two(s % 60)}`;
}
