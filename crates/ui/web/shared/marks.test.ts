// Every mark has a label: next to its line, or by its number.

import { expect, test } from "vitest";
import type { Chart } from "./chart";
import { list, placed, unlisted } from "./marks";

const chart = (marks: [at: number, word: string][]): Chart => ({
  id: "timeline",
  title: "",
  subtitle: "",
  help: "",
  x: { label: "time", unit: "seconds", scale: "linear", from: 0, to: 100 },
  xs: [],
  panels: [],
  marks: marks.map(([at, word]) => ({ at, word, kind: "note" })),
});
const ten = (value: number): number => value * 10;

test("words with room stand beside their lines, the last one before its line", () => {
  const { isNumbered, all } = placed(chart([[10, "cache off"], [95, "cache on"]]), ten, 1000);
  expect(isNumbered).toBe(false);
  expect(all[0]).toMatchObject({ at: 100, x: 100 });
  expect(all[1]?.at).toBeLessThan(all[1]?.x ?? 0);
});

test("a line through a word makes numbers of all, and the list says what they are", () => {
  const crowded = chart([[25, "cache switched on again"], [20, "320 arrivals/s"], [0, "start"]]);
  const { isNumbered, all } = placed(crowded, ten, 1000);
  expect(isNumbered).toBe(true);
  expect(all.map((one) => [one.number, one.at])).toEqual([[1, 0], [2, 200], [3, 250]]);
  expect(list(crowded)).toEqual(["0 s: start", "20 s: 320 arrivals/s", "25 s: cache switched on again"]);
});

test("numbers that would cover each other stand in two rows", () => {
  const close = chart([[20, "a word that needs its room"], [20.4, "another of that kind"]]);
  const { all } = placed(close, ten, 300);
  expect(all.map((one) => one.row)).toEqual([0, 1]);
});

test("what is out of sight keeps its number", () => {
  const all = chart([[10, "first"], [50, "second"]]);
  const later = placed(all, (value) => (value - 40) * 10, 600);
  expect(later.all.map((one) => one.number)).toEqual([2]);
});

test("hundreds are not listed one by one", () => {
  const many = chart(Array.from({ length: 30 }, (_, at) => [at, `stage ${at}`]));
  expect(list(many)).toHaveLength(24);
  expect(unlisted(many)).toBe(6);
});
