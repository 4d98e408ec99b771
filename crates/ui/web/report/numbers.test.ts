// CSV and links: raw values of what is visible, and nothing that a spreadsheet would execute.

import { expect, test } from "vitest";
import type { Chart } from "../shared/chart";
import { format, isAnchor, parse } from "./address";
import { cellOf, csvOf } from "./numbers";

const chart: Chart = {
  id: "c",
  title: "",
  subtitle: "",
  help: "",
  x: { label: "time", unit: "seconds", scale: "linear", from: 0, to: 10 },
  xs: [0, 1, 2],
  panels: [
    {
      id: "latency",
      y: { label: "latency", unit: "nanoseconds", scale: "linear", from: null, to: null },
      series: [
        { id: "p50", name: "p50", color: 1, form: "line", y: [1.25, null, 3], low: [1, null, 2], high: [2, null, 4] },
        { id: "x", name: "own, x", color: 1, form: "dots", x: [1.5], y: [7] },
      ],
      stacked: false,
    },
  ],
};

test("values are raw, gaps empty, intervals columns of their own", () => {
  expect(csvOf(chart, [0, 10])).toBe(
    'time (s),p50 (ns),"p50, low (ns)","p50, high (ns)","own, x (ns)"\r\n' +
      "0,1.25,1,2,\r\n1,,,,\r\n1.5,,,,7\r\n2,3,2,4,\r\n",
  );
});

test("only the shown stretch is saved", () => {
  expect(csvOf(chart, [1.4, 1.6]).split("\r\n").slice(1)).toEqual(["1.5,,,,7", ""]);
});

test("a heat-map is saved by its cells", () => {
  const heat = { edges: [1, 2, 4], counts: [[0, 5], [3]], what: "requests" };
  const panel = { ...chart.panels[0]!, series: [], heat };
  expect(csvOf({ ...chart, xs: [0, 5], panels: [panel] }, [0, 10])).toBe(
    "time (s) from,time (s) to,latency (ns) from,latency (ns) to,requests\r\n0,5,2,4,5\r\n5,10,1,2,3\r\n",
  );
});

test("texts cannot become formulas or end their cell", () => {
  expect(["=1+1", "+a", "-a", "@a", 'a"b', "a\nb", "a"].map(cellOf)).toEqual([
    "'=1+1", "'+a", "'-a", "'@a", '"a""b"', '"a\nb"', "a",
  ]);
  expect([-3, Number.NaN, null, undefined].map(cellOf)).toEqual(["-3", "", "", ""]);
});

test("a link says what is shown, and is read as it was written", () => {
  const place = { time: [120, 180.5] as const, chart: "spectrum", range: [0.9, 0.9999] as const };
  expect(format(place)).toBe("t=120-180.5&chart=spectrum&x=0.9-0.9999");
  expect(parse(`#${format(place)}`)).toEqual(place);
  expect(parse("#t=-5-1e3").time).toEqual([-5, 1000]);
});

test("anything else is no stretch", () => {
  for (const hash of ["", "#errors", "#t=", "#t=9-3", "#t=a-b", "#t=1-NaN", "#t=1"]) {
    expect(parse(hash).time, hash).toBeNull();
  }
  expect(["#errors", "#", "", "#t=1-2", "#chart=heat"].map(isAnchor)).toEqual([true, false, false, false, false]);
});
