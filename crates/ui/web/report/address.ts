// Deep links: `#t=120-180` is a time range of all charts, `#chart=spectrum&x=0.9-0.999` a range of a single chart,
// and `#chart=timeline` just its position. Anchors of sections work as usual.

import type { Range } from "../shared/scale";

export interface Place {
  /** Range of the group "time". */
  time: Range | null;
  /** Id of a chart. */
  chart: string | null;
  /** Range of that chart, unless it belongs to a group. */
  range: Range | null;
}

/** Two numbers, optionally with sign and exponent. */
const RANGE = /^(-?[\d.]+(?:e[+-]?\d+)?)-(-?[\d.]+(?:e[+-]?\d+)?)$/i;

function rangeOf(text: string | null): Range | null {
  const found = RANGE.exec(text ?? "");
  const [from, to] = [Number(found?.[1]), Number(found?.[2])];
  return to > from ? [from, to] : null;
}

export function parse(hash: string): Place {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  return { time: rangeOf(words.get("t")), chart: words.get("chart"), range: rangeOf(words.get("x")) };
}

/** Returns whether the hash is the anchor of a section (`#errors`). */
export function isAnchor(hash: string): boolean {
  return hash.length > 1 && !hash.includes("=");
}

/** Six digits are finer than a pixel. */
function write([from, to]: Range): string {
  const short = (x: number) => String(Number(x.toPrecision(6)));
  return `${short(from)}-${short(to)}`;
}

export function format(place: Place): string {
  const words = [
    place.time && `t=${write(place.time)}`,
    place.chart && `chart=${encodeURIComponent(place.chart)}`,
    place.range && `x=${write(place.range)}`,
  ];
  return words.filter((word) => word).join("&");
}

/** Zooming by ten turns of the wheel is one step back, not ten. */
const TOGETHER_MS = 700;

export class Address {
  #last = Number.NEGATIVE_INFINITY;

  get place(): Place {
    return parse(location.hash);
  }

  /** Writes a place to the address bar. */
  set(place: Place, now_ms: number): void {
    const text = format(place);
    const isSame = now_ms - this.#last < TOGETHER_MS;
    this.#last = now_ms;
    // On a page without an origin, such as a file, only the part after # may change.
    const url = text === "" ? location.pathname + location.search : `#${text}`;
    try {
      if (isSame) history.replaceState(null, "", url);
      else history.pushState(null, "", url);
    } catch {
      location.hash = text;
    }
  }

  /** Returns the full address of a place, for sharing. */
  link(place: Place): string {
    return `${location.href.split("#")[0]}#${format(place)}`;
  }

  /** Called on back and forward, and when the user edits the address. */
  onChange(listener: (place: Place) => void): void {
    const tell = () => {
      // Going to a section keeps the ranges of the charts.
      if (!isAnchor(location.hash)) listener(this.place);
    };
    addEventListener("popstate", tell);
    addEventListener("hashchange", tell);
  }
}
