// Optional figures of the list and the tiles, formatted by the common rules.
import * as format from "../../shared/format";

type Maybe = number | null | undefined;
const known = (x: Maybe): x is number => x !== null && x !== undefined && Number.isFinite(x);

/** `8.14 ms`, `2m 05s`; ns. */
export const duration = (ns: Maybe) => format.figure(ns, "nanoseconds");

/** `15 s`; s. */
export const length = (seconds: Maybe) => format.figure(seconds, "seconds");

/** `4,812/s`. */
export const rate = (perSecond: Maybe) => format.figure(perSecond, "per_second");

/** `72,180`. */
export const count = (n: Maybe) => format.figure(n, "count");

/** `0.1%`. */
export const ratio = (share: Maybe) => format.figure(share, "ratio");

/** A number that the user chose: counts in full, others with four digits. */
export const chosen = (x: Maybe) => (known(x) && Number.isInteger(x) ? format.count(x) : format.figure(x, "plain"));
