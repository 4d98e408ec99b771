// Tables of a page: sort by clicking a head, filter by words, collapse parts, copy as Markdown or CSV.

import { addTool } from "./button";
import { copyText } from "./copy";
import { csv, type Cell } from "./numbers";
import { filtered, markdown, ordered, type Direction, type Row } from "./order";
import { save } from "./save";

export function tables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table.data")) {
    // Tables of chart values are small and sorted; a chart has its own buttons.
    if (table.closest("details.values")) continue;
    new Table(table);
  }
}

type TableRow = Row<HTMLTableRowElement>;

class Table {
  readonly #table: HTMLTableElement;
  readonly #heads: HTMLTableCellElement[];
  readonly #rows: TableRow[];
  readonly #body: HTMLTableSectionElement | undefined;
  readonly #isNumber: boolean[];
  #order: TableRow[];
  #sorted: { column: number; direction: Direction } | null = null;

  constructor(table: HTMLTableElement) {
    this.#table = table;
    this.#body = table.tBodies[0];
    this.#heads = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
    this.#isNumber = this.#heads.map((head) => head.dataset["kind"] === "number");
    this.#rows = [...(this.#body?.rows ?? [])].map((row) => this.#read(row));
    this.#order = this.#rows;
    if (this.#rows.length === 0 || this.#heads.length === 0) return;
    if ("sortable" in table.dataset) this.#heads.forEach((head, at) => this.#sortBy(head, at));
    this.#folds();
    this.#tools();
  }

  #read(row: HTMLTableRowElement): TableRow {
    const cells = [...row.cells].map((cell, at) => {
      const raw = cell.dataset["v"];
      if (raw !== undefined && raw !== "" && Number.isFinite(Number(raw))) return Number(raw);
      return this.#isNumber[at] ? null : textOf(cell);
    });
    return { row, cells, text: textOf(row).toLowerCase(), depth: Number(row.dataset["depth"] ?? 0) };
  }

  #sortBy(head: HTMLTableCellElement, column: number): void {
    // A column without a name would have a button without a label.
    if (textOf(head) === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const before = this.#sorted?.column === column ? this.#sorted.direction : null;
      // Numbers sort from the largest first, words from the first; a third click restores the original order.
      const both: Direction[] = ["ascending", "descending"];
      const [first, second] = this.#isNumber[column] ? both.reverse() : both;
      const next = before === null ? first : before === first ? second : null;
      this.#sorted = next ? { column, direction: next } : null;
      for (const other of this.#heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      if (next) head.setAttribute("aria-sort", next);
      this.#order = next ? ordered(this.#rows, column, next) : this.#rows;
      this.#body?.append(...this.#order.map(({ row }) => row));
    });
  }

  /** Lets a row hide its parts. */
  #folds(): void {
    this.#rows.forEach(({ row, depth }, at) => {
      const next = this.#rows[at + 1];
      const cell = row.cells[0];
      if (!next || next.depth <= depth || !cell) return;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "fold";
      button.setAttribute("aria-expanded", "true");
      button.setAttribute("aria-label", `Parts of ${textOf(cell)}`);
      cell.prepend(button);
      button.addEventListener("click", () => {
        const isOpen = button.getAttribute("aria-expanded") === "true";
        button.setAttribute("aria-expanded", String(!isOpen));
        this.#fold();
      });
    });
  }

  #fold(): void {
    let hidden = Number.POSITIVE_INFINITY;
    for (const { row, depth } of this.#order) {
      if (depth <= hidden) hidden = Number.POSITIVE_INFINITY;
      row.toggleAttribute("data-folded", depth > hidden);
      const isShut = row.querySelector(":scope > * > .fold[aria-expanded='false']") !== null;
      if (isShut) hidden = Math.min(hidden, depth);
    }
  }

  #tools(): void {
    const bar = document.createElement("div");
    bar.className = "table-tools";
    const isFilterable = "filterable" in this.#table.dataset;
    // A filter is not useful for a few rows.
    if (isFilterable && this.#rows.length > 5) bar.append(...this.#filter());
    const button = (word: string, says: string, work: () => void | Promise<void>) => addTool(bar, word, says, work);
    if (isFilterable || "sortable" in this.#table.dataset) {
      button("Copy", "Copy the visible rows as a Markdown table", () => copyText(this.#markdown(), "the table"));
      button("CSV", "Save the visible rows as CSV, with raw values", () => {
        save(`${this.#name()}.csv`, new Blob([this.#csv()], { type: "text/csv" }));
      });
    }
    if (bar.childElementCount === 0) return;
    const place = this.#table.closest(".wide") ?? this.#table;
    place.before(bar);
  }

  #name(): string {
    return (this.#table.id || "table").replace(/^table-/, "");
  }

  #filter(): HTMLElement[] {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const shown = document.createElement("output");
    const caption = textOf(this.#table.caption) || this.#name();
    input.type = "search";
    input.placeholder = "filter";
    input.setAttribute("aria-label", `Filter: ${caption}`);
    label.append(input);
    const show = () => {
      const kept = filtered(this.#rows, input.value);
      for (const row of this.#rows) row.row.toggleAttribute("data-out", !kept.has(row));
      shown.textContent = `${kept.size} of ${this.#rows.length}`;
    };
    input.addEventListener("input", show);
    show();
    return [label, shown];
  }

  #shown(): TableRow[] {
    return this.#order.filter(({ row }) => !row.hasAttribute("data-out") && !row.hasAttribute("data-folded"));
  }

  #markdown(): string {
    const rows = this.#shown().map(({ row, depth }) =>
      [...row.cells].map((cell, at) => (at === 0 ? "&nbsp;&nbsp;".repeat(depth) : "") + textOf(cell)),
    );
    return markdown(this.#heads.map(textOf), this.#isNumber, rows);
  }

  #csv(): string {
    const rows: Cell[][] = this.#shown().map(({ cells }) => cells);
    return csv([this.#heads.map(textOf), ...rows]);
  }
}

function textOf(element: Element | null): string {
  return (element?.textContent ?? "").replace(/\s+/g, " ").trim();
}
