// Axes have round numbers in the fitting unit, and never hide what they show.

import { expect, test } from "vitest";
import type { Axis } from "./chart";
import { extent, legible, marks, places, roundStep, wrapped } from "./scale";

const axis = (unit: Axis["unit"], more: Partial<Axis> = {}): Axis => ({
  label: "x",
  unit,
  scale: "linear",
  from: null,
  to: null,
  ...more,
});

test("places lead to values and back on every scale", () => {
  for (const [scale, value] of [["linear", -3], ["log", 2.5e6], ["nines", 0.999], ["nines", 0]] as const) {
    const way = places(scale);
    const back = way.from(way.to(value) ?? Number.NaN);
    expect(Math.abs(back - value)).toBeLessThanOrEqual(1e-9 * Math.abs(value));
  }
});

test("a logarithm has no place for 0, and 100% has one on an axis of nines", () => {
  expect(places("log").to(0)).toBeNull();
  expect(places("log").to(-1)).toBeNull();
  expect(places("linear").to(Number.NaN)).toBeNull();
  expect(places("nines").to(1)).toBeGreaterThan(places("nines").to(0.99999) ?? 0);
  expect(places("nines").to(1.5)).toBeNull();
});

test("steps are 1, 2 or 5 times a power of ten", () => {
  expect([0.3, 1, 1.1, 3, 7, 40].map(roundStep)).toEqual([0.5, 1, 2, 5, 10, 50]);
});

test("times are marked in the unit of the highest", () => {
  expect(marks(axis("nanoseconds"), [0, 8e6], 4)).toEqual({
    at: [0, 2e6, 4e6, 6e6, 8e6],
    texts: ["0", "2", "4", "6", "8"],
    unit: "ms",
  });
  expect(marks(axis("seconds"), [0, 36_000], 5)).toMatchObject({ texts: ["0", "2", "4", "6", "8", "10"], unit: "h" });
});

test("a third step of 0.1 is 0.3, and what is just above 0 begins at 0", () => {
  expect(marks(axis("per_second"), [0, 0.4], 4).texts).toEqual(["0", "0.1", "0.2", "0.3", "0.4"]);
  expect(marks(axis("per_second"), [1e-12, 4], 4).texts[0]).toBe("0");
});

test("marks of a logarithmic axis of times carry their own unit", () => {
  const found = marks(axis("nanoseconds", { scale: "log" }), [1e5, 1e10], 6);
  expect(found.texts).toEqual(["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
  expect(found.unit).toBe("");
});

test("an axis of nines is marked at the percentiles that people name", () => {
  expect(marks(axis("quantile", { scale: "nines" }), [0, 0.9999], 8).texts).toEqual([
    "0%", "p50", "p90", "p99", "p99.9", "p99.99",
  ]);
});

test("chosen marks keep their names and their places, and texts give way that cannot be read", () => {
  const named = axis("plain", { ticks: [0, 1, 2], names: ["low", "middle", "high"] });
  expect(marks(named, [-0.5, 2.5], 3).texts).toEqual(["low", "middle", "high"]);
  const levels = axis("count", { ticks: [1, 2, 3, 100, 200] });
  const { at, texts } = marks(levels, [0, 200], 8);
  expect(at).toEqual([1, 2, 3, 100, 200]);
  expect(legible(at, texts, 1, 201)).toEqual(["1", "", "3", "100", ""]);
  expect(legible(at, texts, 1, 202)).toEqual(["1", "", "3", "100", "200"]);
});

test("an axis of y begins at 0 and ends at a whole mark", () => {
  expect(extent(axis("per_second"), 940, 1003, 3)).toEqual([0, 1500]);
  expect(extent(axis("nanoseconds"), 1e6, 7.3e6, 4)).toEqual([0, 8e6]);
  expect(extent(axis("count"), -3, 7, 5)).toEqual([-4, 8]);
});

test("an axis of nothing has a length all the same", () => {
  for (const unit of ["nanoseconds", "ratio", "bytes", "count"] as const) {
    const [from, to] = extent(axis(unit), null, null, 4);
    expect(from).toBe(0);
    expect(to).toBeGreaterThan(0);
    const [low, high] = extent(axis(unit, { scale: "log" }), null, null, 4);
    expect(high).toBeGreaterThan(low);
    expect(low).toBeGreaterThan(0);
  }
});

test("names below an axis stay within their lines", () => {
  expect(wrapped("response p50 +19.5%", 12, 3)).toBe("response p50\n+19.5%");
  expect(wrapped("rate -0.3%", 6, 3)).toBe("rate\n-0.3%");
  expect(wrapped("response p50 +19.5%", 8, 2)).toBe("response\np50…");
  for (const line of wrapped("a_name_without_any_blank of a server", 9, 3).split("\n")) {
    expect(line.length).toBeLessThanOrEqual(9);
  }
});

test("what is counted and seconds have whole marks, unless all of it is less than one", () => {
  expect(marks(axis("seconds"), [0, 3], 12).texts).toEqual(["0", "1", "2", "3"]);
  expect(marks(axis("count"), [0, 2], 9).texts).toEqual(["0", "1", "2"]);
  expect(extent(axis("count"), 0, 1.6, 8)).toEqual([0, 2]);
  expect(extent(axis("count"), 0, 0.06, 4)[1]).toBeLessThan(0.1);
  expect(marks(axis("cores"), [0, 1], 5).texts).toContain("0.2");
});
