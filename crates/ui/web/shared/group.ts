// Charts that move together: one stretch shown, one cursor, whoever of them was asked for it.

import type { Range } from "./scale";

/** What a group needs of a chart. */
export interface Member {
  /** Shows this stretch of x; `null`: all. */
  showRange(range: Range | null): void;
  /** Puts its cursor there; `null`: nowhere. */
  showCursor(x: number | null): void;
}

export class Group {
  #range: Range | null = null;
  readonly #members = new Set<Member>();
  readonly #listeners = new Set<(range: Range | null) => void>();

  get range(): Range | null {
    return this.#range;
  }

  add(member: Member): void {
    this.#members.add(member);
  }

  remove(member: Member): void {
    this.#members.delete(member);
  }

  /** Told when a reader has chosen another stretch, after all charts show it. */
  onRange(listener: (range: Range | null) => void): void {
    this.#listeners.add(listener);
  }

  /** Listeners are not told when `quiet`: the address of the page asked for it, and knows. */
  setRange(range: Range | null, quiet = false): void {
    if (range?.[0] === this.#range?.[0] && range?.[1] === this.#range?.[1]) return;
    this.#range = range;
    for (const member of this.#members) member.showRange(range);
    if (!quiet) for (const listener of this.#listeners) listener(range);
  }

  setCursor(x: number | null, from: Member): void {
    for (const member of this.#members) if (member !== from) member.showCursor(x);
  }
}
