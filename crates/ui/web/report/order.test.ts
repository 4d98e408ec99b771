// Tables: sorting is stable and keeps trees together, filtering keeps parent rows.

import { expect, test } from "vitest";
import { filtered, markdown, ordered, type Row } from "./order";

const row = (name: string, value: number | null, depth = 0): Row<string> => ({
  row: name,
  cells: [name, value],
  text: name.toLowerCase(),
  depth,
});

const names = (rows: Iterable<Row<string>>) => [...rows].map((one) => one.row);

test("numbers sort as numbers, what is missing stands last in both directions", () => {
  const rows = [row("a", 9), row("b", null), row("c", 100), row("d", 10)];
  expect(names(ordered(rows, 1, "ascending"))).toEqual(["a", "d", "c", "b"]);
  expect(names(ordered(rows, 1, "descending"))).toEqual(["c", "d", "a", "b"]);
});

test("equal rows keep their order", () => {
  const rows = [row("x", 1), row("y", 1), row("z", 0), row("w", 1)];
  expect(names(ordered(rows, 1, "descending"))).toEqual(["x", "y", "w", "z"]);
});

test("parts stay below what they are a part of", () => {
  const rows = [row("shop", 1), row("cart", 5, 1), row("pay", 9, 1), row("home", 7)];
  expect(names(ordered(rows, 1, "descending"))).toEqual(["home", "shop", "pay", "cart"]);
});

test("words are found anywhere, and a part brings its whole along", () => {
  const rows = [row("shop", 1), row("cart basket", 5, 1), row("pay", 9, 1), row("home", 7)];
  expect(names(filtered(rows, "BASKET cart"))).toEqual(["cart basket", "shop"]);
  expect(names(filtered(rows, " "))).toHaveLength(4);
  expect(names(filtered(rows, "nothing"))).toEqual([]);
});

test("text cannot break out of a cell of Markdown", () => {
  expect(markdown(["name", "n"], [false, true], [["a | b\nc\\", "1"]])).toBe(
    "| name | n |\n|---|---:|\n| a \\| b c\\\\ | 1 |\n",
  );
});

test("text of others becomes no markup where a table is pasted", () => {
  const hostile = '<img src=x onerror=alert(1)> & [a](javascript:alert(1)) ![b](//x) *c* _d_ # ~~e~~ \u0000';
  const row = markdown(["name"], [false], [[hostile]]).split("\n")[2];
  const links = "\\[a\\](javascript:alert(1)) !\\[b\\](//x)";
  const marks = "\\*c\\* \\_d\\_ \\# \\~\\~e\\~\\~";
  expect(row).toBe(`| &lt;img src=x onerror=alert(1)&gt; &amp; ${links} ${marks} |`);
});
