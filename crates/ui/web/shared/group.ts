// Charts that move together: one range and one cursor, whichever of them changes.

import type { Range } from "./scale";

/** What a group needs of a chart. */
export interface Member {
  /** Shows this range of x; `null` means all. */
  showRange(range: Range | null): void;
  /** Moves its cursor; `null` hides it. */
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

  /** Called when the reader selects another range, after all charts show it. */
  onRange(listener: (range: Range | null) => void): void {
    this.#listeners.add(listener);
  }

  /** Listeners are not called if `quiet`, because the address of the page requested the change. */
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
