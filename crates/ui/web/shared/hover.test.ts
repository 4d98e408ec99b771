// The text under the cursor is the nearest value in its unit, with its interval.

import { expect, test } from "vitest";
import type { Chart } from "./chart";
import { nearest, said, sentence } from "./hover";
import { zoomed } from "./keys";

const chart: Chart = {
  id: "c",
  title: "",
  subtitle: "",
  help: "",
  x: { label: "time", unit: "seconds", scale: "linear", from: 0, to: 10 },
  xs: [0, 5, 10],
  panels: [
    {
      id: "latency",
      y: { label: "latency", unit: "nanoseconds", scale: "linear", from: null, to: null },
      series: [
        { id: "p99", name: "p99", color: 1, form: "line", y: [1e6, 8_140_000, null], low: [null, 7.9e6, null],
          high: [null, 8.41e6, null] },
      ],
      stacked: false,
      heat: { edges: [1e6, 2e6, 4e6], counts: [[1, 2], [3, 4]], what: "requests" },
    },
  ],
  marks: [{ at: 5.05, word: "deployed", kind: "note" }],
  stretches: [{ from: 4, to: 6, word: "slow", kind: "spike" }],
};

test("the nearest is found on both sides and at both ends", () => {
  expect([-1, 2.4, 2.6, 7.5, 99].map((x) => nearest([0, 5, 10], x))).toEqual([0, 0, 1, 1, 2]);
});

test("values come with their unit and interval, moments with their words", () => {
  const all = said(chart, new Set(), 5, [0, 10]);
  expect(all.panels[0]?.lines[0]).toMatchObject({ text: "8.14 ms", between: "7.90 ms to 8.41 ms" });
  expect(all.words).toEqual(["deployed", "slow"]);
  expect(sentence(all)).toBe("5 s: p99 8.14 ms (7.90 ms to 8.41 ms). deployed. slow");
});

test("what is missing is a dash, what is hidden is not said", () => {
  expect(sentence(said(chart, new Set(), 10, [0, 10]))).toBe("10 s: p99 -");
  expect(said(chart, new Set(["p99"]), 10, [0, 10]).panels[0]?.lines).toEqual([]);
});

test("in a gap nothing is said of the values at its ends", () => {
  const [panel] = chart.panels;
  const gap: Chart = { ...chart, xs: [0, 1, 2, 20, 21], marks: [], stretches: [],
    panels: panel ? [{ ...panel, series: panel.series.map((one) => ({ ...one, y: Array(5).fill(1e6) })) }] : [] };
  const text = (x: number) => said(gap, new Set(), x, [0, 21]).panels[0]?.lines[0]?.text;
  expect([2.4, 5, 12, 19.2].map(text)).toEqual(["1.00 ms", "-", "-", "1.00 ms"]);
});

test("a cell of a heat-map says how many and of what", () => {
  const at = (x: number, y: number) => said(chart, new Set(), x, [0, 10], { panel: 0, y }).panels[0]?.cell;
  expect(at(4.9, 3e6)).toBe("2.00 ms to 4.00 ms: 2 requests");
  expect(at(5, 1.5e6)).toBe("1.00 ms to 2.00 ms: 3 requests");
  expect(at(5, 9e9)).toBe("");
});

test("zooming keeps the place under the cursor where it is, on every scale", () => {
  expect(zoomed([0, 100], 25, 0.5, "linear")).toEqual([12.5, 62.5]);
  const [from, to] = zoomed([1, 10_000], 100, 0.5, "log");
  expect(from).toBeCloseTo(10);
  expect(to).toBeCloseTo(1000);
});
