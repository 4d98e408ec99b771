// Deep links: `#t=120-180` is a stretch of all charts of the run's time, `#chart=spectrum&x=0.9-0.999` one of a single
// chart, `#chart=timeline` just the place. Anchors of sections stay what they are.

import type { Range } from "../shared/scale";

export interface Place {
  /** Of the group "time". */
  time: Range | null;
  /** The id of a chart. */
  chart: string | null;
  /** Of that chart, if it is not of a group. */
  range: Range | null;
}

/** Two numbers that may have a sign and a power of ten. */
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

/** `#errors`: the place of a section, which says nothing about charts. */
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

/** Zooming in ten turns of a wheel is one step back, not ten. */
const TOGETHER_MS = 700;

export class Address {
  #last = Number.NEGATIVE_INFINITY;

  get place(): Place {
    return parse(location.hash);
  }

  /** Puts a place into the address bar. */
  set(place: Place, now_ms: number): void {
    const text = format(place);
    const isSame = now_ms - this.#last < TOGETHER_MS;
    this.#last = now_ms;
    // Of a page without an origin, such as a file, only the part behind # may change.
    const url = text === "" ? location.pathname + location.search : `#${text}`;
    try {
      if (isSame) history.replaceState(null, "", url);
      else history.pushState(null, "", url);
    } catch {
      location.hash = text;
    }
  }

  /** The whole address of a place, to give to others. */
  link(place: Place): string {
    return `${location.href.split("#")[0]}#${format(place)}`;
  }

  /** Told on back and forward, and when somebody edits the address. */
  onChange(listener: (place: Place) => void): void {
    const tell = () => {
      // Whoever goes to a section keeps what the charts show.
      if (!isAnchor(location.hash)) listener(this.place);
    };
    addEventListener("popstate", tell);
    addEventListener("hashchange", tell);
  }
}
