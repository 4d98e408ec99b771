// Keyboard and wheel: arrow keys move the cursor, plus and minus zoom, Escape shows all.

import { nearest } from "./hover";
import type { Scale } from "./chart";
import { places, type Range } from "./scale";

/** Actions of the keys. */
export interface Reader {
  readonly shown: Range;
  readonly scaleX: Scale;
  readonly cursor: number | null;
  /** All x positions of the cursor, increasing. */
  readonly steps: number[];
  moveTo(x: number | null): void;
  leave(): void;
  chosen(range: Range): void;
  showAll(): void;
  xAt(clientX: number): number;
}

/** Returns a range `factor` times as long on its axis, around `x`, which stays in place. */
export function zoomed(range: Range, x: number, factor: number, scale: Scale): Range {
  const way = places(scale);
  const [from, to] = [way.to(range[0]) ?? 0, way.to(range[1]) ?? 1];
  const at = Math.min(to, Math.max(from, way.to(x) ?? from));
  return [way.from(at - (at - from) * factor), way.from(at + (to - at) * factor)];
}

export function listen(element: HTMLElement, reader: Reader): void {
  element.addEventListener("keydown", (event) => {
    // Keys of the legend are buttons of their own.
    if (event.target !== element || event.ctrlKey || event.altKey || event.metaKey) return;
    if (handle(event, reader)) event.preventDefault();
  });
  element.addEventListener("blur", () => reader.leave());
  element.addEventListener(
    "wheel",
    (event) => {
      // Without ctrl, the wheel scrolls the page.
      if (!event.ctrlKey) return;
      event.preventDefault();
      const factor = event.deltaY < 0 ? 0.7 : 1 / 0.7;
      reader.chosen(zoomed(reader.shown, reader.xAt(event.clientX), factor, reader.scaleX));
    },
    { passive: false },
  );
}

function handle(event: KeyboardEvent, reader: Reader): boolean {
  const { steps, cursor, shown } = reader;
  const here = cursor ?? (shown[0] + shown[1]) / 2;
  const go = (at: number) => {
    const x = steps[Math.min(steps.length - 1, Math.max(0, at))];
    if (x !== undefined) reader.moveTo(x);
  };
  const stride = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case "ArrowRight":
      go(cursor === null ? 0 : nearest(steps, here) + stride);
      return true;
    case "ArrowLeft":
      go(cursor === null ? steps.length - 1 : nearest(steps, here) - stride);
      return true;
    case "Home":
      go(0);
      return true;
    case "End":
      go(steps.length - 1);
      return true;
    case "+":
    case "=":
      reader.chosen(zoomed(shown, here, 0.5, reader.scaleX));
      return true;
    case "-":
      reader.chosen(zoomed(shown, here, 2, reader.scaleX));
      return true;
    case "Escape":
      reader.leave();
      reader.showAll();
      return true;
    default:
      return false;
  }
}
