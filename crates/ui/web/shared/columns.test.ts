// Drawn values equal measured values: gaps stay gaps, sums are sums, and hidden series take no space.

import { expect, test } from "vitest";
import type { Chart, Panel, Series } from "./chart";
import { columns, domain, edges, needed, reach, sides } from "./columns";

const series = (id: string, y: Series["y"], more: Partial<Series> = {}): Series => ({
  id,
  name: id,
  color: 0,
  form: "line",
  y,
  ...more,
});

const panel = (all: Series[], more: Partial<Panel> = {}): Panel => ({
  id: "p",
  y: { label: "y", unit: "count", scale: "linear", from: null, to: null },
  series: all,
  stacked: false,
  ...more,
});

const chart = (xs: number[], panels: Panel[]): Chart => ({
  id: "c",
  title: "",
  subtitle: "",
  help: "",
  x: { label: "x", unit: "seconds", scale: "linear", from: null, to: null },
  xs,
  panels,
});

const none = new Set<string>();

test("series with an x of their own meet the others on one x, and gaps stay gaps", () => {
  const one = panel([series("a", [1, null, 3]), series("b", [7], { x: [1.5] })]);
  expect(columns(chart([0, 1, 2], [one]), one, none)).toEqual({
    x: [0, 1, 1.5, 2],
    y: [[1, null, undefined, 3], [undefined, undefined, 7, undefined]],
  });
});

test("seconds that all series share come out the same, sorted or not", () => {
  const one = panel([series("a", [1, null, 3]), series("b", [4, 5, 6])], { stacked: true });
  const rising = columns(chart([0, 1, 2], [one]), one, none);
  expect(rising).toEqual({ x: [0, 1, 2], y: [[1, null, 3], [5, 5, 9]] });
  const turned = panel([series("a", [3, null, 1]), series("b", [6, 5, 4])], { stacked: true });
  expect(columns(chart([2, 1, 0], [turned]), turned, none)).toEqual(rising);
  // A second that occurs twice; the last value counts.
  const twice = panel([series("a", [1, 2])]);
  expect(columns(chart([7, 7], [twice]), twice, none)).toEqual({ x: [7], y: [[2]] });
});

test("stacked series rest on those before them, and hidden ones leave no hole", () => {
  const one = panel([series("a", [1, null]), series("b", [2, 5]), series("c", [4, 4])], { stacked: true });
  const tops = (hidden: Set<string>) => edges(one, hidden).map((all) => all.map((edge) => edge.top));
  expect(tops(none)).toEqual([[1, null], [3, 5], [7, 9]]);
  expect(tops(new Set(["b"]))).toEqual([[1, null], [null, null], [5, 4]]);
});

test("a value without an end is a gap", () => {
  const one = panel([series("a", [1, Number.POSITIVE_INFINITY, Number.NaN])]);
  expect(columns(chart([0, 1, 2], [one]), one, none).y).toEqual([[1, null, null]]);
});

test("y holds what is shown: intervals too, hidden series and other stretches not", () => {
  const one = panel([series("a", [10, 90], { low: [9, 80], high: [14, 95] }), series("b", [500, 1])]);
  const all = chart([0, 10], [one]);
  expect(needed(all, one, new Set(["b"]), [0, 10], 4)[1]).toBe(100);
  expect(needed(all, one, new Set(["b"]), [0, 5], 4)[1]).toBe(15);
  expect(needed(all, one, none, [0, 10], 4)[1]).toBe(600);
});

test("a threshold near the values is shown, one far above does not press them flat", () => {
  const near = panel([series("a", [10])], { limits: [{ value: 20, word: "", met: true }] });
  const far = panel([series("a", [10])], { limits: [{ value: 2000, word: "", met: true }] });
  expect(needed(chart([0], [near]), near, none, [0, 1], 4)[1]).toBe(20);
  expect(needed(chart([0], [far]), far, none, [0, 1], 4)[1]).toBeLessThanOrEqual(15);
});

test("columns reach half way to their neighbours and not across a gap", () => {
  expect(sides([0, 1, 2, 9], false)).toEqual([[-0.5, 0.5], [0.5, 1.5], [1.5, 2.75], [8.25, 9.5]]);
  expect(sides([4], false)).toEqual([[3.5, 4.5]]);
});

test("a chart that goes on for longer than planned shows all of it", () => {
  const one = panel([series("a", [1, 1])]);
  const planned = chart([0, 70], [one]);
  planned.x = { ...planned.x, from: 0, to: 60 };
  expect(domain(planned)).toEqual([0, 70]);
  expect(domain({ ...planned, xs: [0, 71] })).toEqual([0, 80]);
  expect(domain(chart([], [panel([series("a", [])])]))).toEqual([0, 1]);
});

test("a heat-map shows the rows in which anything was counted, with one around them", () => {
  const edgesOf = [1, 2, 4, 8, 16, 32];
  expect(reach({ edges: edgesOf, counts: [[0, 0, 3], [0, 0, 0]], what: "" })).toEqual([2, 16]);
  expect(reach({ edges: edgesOf, counts: [[]], what: "" })).toEqual([1, 32]);
});
