// Numbers in the script equal those in the terminal, digit for digit.

import { expect, test } from "vitest";
import * as format from "./format";
import table from "./formats.json";

for (const [name, rows] of Object.entries(table)) {
  test(`${name} writes as Rust does`, () => {
    const write = format[name as keyof typeof table] as (value: number) => string;
    const found = rows.map(([value]) => [value, write(value as number)]);
    expect(found).toEqual(rows);
    expect(rows.length).toBeGreaterThan(8);
  });
}

test("what is no number is a dash", () => {
  expect(format.figure(null, "nanoseconds")).toBe("-");
  expect(format.figure(Number.NaN, "ratio")).toBe("-");
  expect(format.figure(Number.POSITIVE_INFINITY, "bytes")).toBe("-");
});

test("a value is written in the unit of its axis", () => {
  expect(format.figure(8_140_000, "nanoseconds")).toBe("8.14 ms");
  expect(format.figure(0.01, "ratio")).toBe("1%");
  expect(format.figure(0.99, "quantile")).toBe("p99");
  expect(format.figure(120, "seconds")).toBe("2m 00s");
});
