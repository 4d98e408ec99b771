// Order and visibility of a table's rows, separate from the page for testing.

export interface Row<T> {
  row: T;
  /** By column; `null` is missing. */
  cells: (number | string | null)[];
  /** All searchable text in lower case. */
  text: string;
  depth: number;
}

export type Direction = "ascending" | "descending";

/** Rows with their parts below them, so that sorting keeps the tree. */
interface Node<T> {
  row: Row<T>;
  parts: Node<T>[];
}

function tree<T>(rows: readonly Row<T>[]): Node<T>[] {
  const top: Node<T>[] = [];
  const open: Node<T>[] = [];
  for (const row of rows) {
    while (open.length > 0 && (open.at(-1)?.row.depth ?? 0) >= row.depth) open.pop();
    const node = { row, parts: [] };
    (open.at(-1)?.parts ?? top).push(node);
    open.push(node);
  }
  return top;
}

/** Returns sorted rows: equal rows keep their order, and missing values come last in both directions. */
export function ordered<T>(rows: readonly Row<T>[], column: number, direction: Direction): Row<T>[] {
  const sign = direction === "ascending" ? 1 : -1;
  const compare = (a: Node<T>, b: Node<T>) => {
    const [left, right] = [a.row.cells[column] ?? null, b.row.cells[column] ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  };
  const walk = (nodes: Node<T>[]): Row<T>[] =>
    [...nodes].sort(compare).flatMap((node) => [node.row, ...walk(node.parts)]);
  return walk(tree(rows));
}

/** Returns the rows that contain all words, with the rows that they are parts of. */
export function filtered<T>(rows: readonly Row<T>[], words: string): Set<Row<T>> {
  const wanted = words.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const kept = new Set<Row<T>>();
  const walk = (node: Node<T>): boolean => {
    const own = wanted.every((word) => node.row.text.includes(word));
    const below = node.parts.map(walk).some((part) => part);
    if (own || below) kept.add(node.row);
    return own || below;
  };
  tree(rows).forEach(walk);
  return kept;
}

/** Escapes Markdown and HTML: the same characters as in the tool's Markdown. */
function escaped(text: string): string {
  const marks = text.replace(/[\\|*_[\]#~]/g, "\\$&");
  return marks.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Returns a Markdown table; untrusted text can neither end a cell nor become a link, an image, or a tag. */
export function markdown(head: readonly string[], isNumber: readonly boolean[], rows: readonly string[][]): string {
  const cell = (text: string) => escaped(text.replace(/[\s\p{Cc}]+/gu, " ").trim());
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |\n`;
  return line(head) + `|${isNumber.map((one) => (one ? "---:" : "---")).join("|")}|\n` + rows.map(line).join("");
}
