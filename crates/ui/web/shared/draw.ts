// Draws an interactive chart into an element: panels below each other on one x axis, one cursor, legend keys that
// hide series. The report shows finished runs with it, the console running ones.

import uplotCss from "uplot/dist/uPlot.min.css?inline";
import type { Chart, Panel, Scale, Value } from "./chart";
import { colorsOf, type Colors } from "./colors";
import { domain, xsOf } from "./columns";
import { Group, type Member } from "./group";
import { fill, nearest, said, sentence } from "./hover";
import { listen, type Reader } from "./keys";
import { keys, shades } from "./legend";
import { list, unlisted } from "./marks";
import { PanelPlot, type Host } from "./panel";
import css from "./plot.css?inline";
import type { Range } from "./scale";
import { adopt } from "./sheet";

export interface DrawOptions {
  /** Charts of one group share cursor and range; without a group, the chart moves alone. */
  group?: Group;
  /** Called when the reader selects another range; `null` means all. */
  onRange?: (range: Range | null) => void;
  /** Factor on the heights of the panels, which are those of the static picture. */
  scale?: number;
}

export interface Drawn {
  /** The chart as currently drawn, with all pushed rows. */
  readonly chart: Chart;
  /** The visible range. */
  readonly shown: Range;
  /** Adds a row: values by series id; unnamed series have none. Rows come with increasing x. */
  push(x: number, values: Readonly<Record<string, Value>>): void;
  /** Draws another chart in its place; keeps the range and the hidden series. */
  replace(chart: Chart): void;
  /** Sets the visible range; `null` shows all. */
  setRange(range: Range | null): void;
  destroy(): void;
}

/** Returns the height of a panel in px, as in the static picture. */
export function heightOf(chart: Chart, panel: Panel): number {
  if (panel.heat) return 240;
  if (chart.panels.some((other) => other.heat)) return 64;
  if (chart.panels.length === 1) return 260;
  const at = chart.panels.indexOf(panel);
  if (chart.panels.length === 2) return at === 0 ? 190 : 110;
  if (chart.panels.length === 3) return 150;
  return at < 2 ? 150 : 66;
}

export function drawChart(element: HTMLElement, chart: Chart, options: DrawOptions = {}): Drawn {
  adopt(uplotCss);
  adopt(css);
  return new Plot(element, chart, options);
}

function div(name: string): HTMLDivElement {
  const made = document.createElement("div");
  made.className = name;
  return made;
}

class Plot implements Drawn, Host, Member, Reader {
  chart: Chart;
  colors: Colors;
  hidden = new Set<string>();
  shown: Range;
  readonly #group: Group;
  readonly #options: DrawOptions;
  readonly #root = div("pl-chart");
  readonly #axis = div("pl-x");
  readonly #marks = document.createElement("ol");
  readonly #tip = div("pl-tip");
  readonly #said = div("pl-said");
  readonly #watch: ResizeObserver;
  readonly #theme: MutationObserver;
  readonly #scheme = matchMedia("(prefers-color-scheme: dark)");
  #heads: HTMLElement[] = [];
  #panels: PanelPlot[] = [];
  #cursor: number | null = null;
  #steps: number[] | null = null;
  #width = 0;
  #frame = 0;

  constructor(element: HTMLElement, chart: Chart, options: DrawOptions) {
    // A copy, because rows are pushed into it.
    this.chart = structuredClone(chart);
    this.#options = options;
    this.#group = options.group ?? new Group();
    this.#root.tabIndex = 0;
    this.#root.setAttribute("role", "group");
    this.#root.setAttribute("aria-roledescription", "chart");
    this.#root.setAttribute("aria-description", "Arrow keys move the cursor, plus and minus zoom, Escape shows all.");
    this.#said.setAttribute("aria-live", "polite");
    this.#tip.hidden = true;
    this.#marks.className = "pl-marks";
    element.append(this.#root);
    this.colors = colorsOf(this.#root);
    this.shown = this.#group.range ?? domain(this.chart);
    this.#build();
    this.#group.add(this);
    if (options.onRange) this.#group.onRange(options.onRange);
    listen(this.#root, this);
    // In the next frame, because resizing during the notification would trigger another one, which browsers report as
    // an error.
    this.#watch = new ResizeObserver(() => requestAnimationFrame(() => this.#fit()));
    this.#watch.observe(this.#root);
    this.#theme = new MutationObserver(this.#recolor);
    this.#theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.#scheme.addEventListener("change", this.#recolor);
  }

  push(x: number, values: Readonly<Record<string, Value>>): void {
    this.chart.xs.push(x);
    for (const panel of this.chart.panels) {
      for (const series of panel.series) {
        series.x?.push(x);
        series.y.push(values[series.id] ?? null);
        if (series.low?.length) series.low.push(null);
        if (series.high?.length) series.high.push(null);
      }
    }
    this.#later();
  }

  replace(chart: Chart): void {
    const ids = (panel: Panel | undefined) => panel?.series.map((series) => series.id).join();
    const same = (a: Panel, b: Panel | undefined) =>
      a.id === b?.id && a.y.scale === b.y.scale && ids(a) === ids(b);
    const before = this.chart.panels;
    const fits = chart.x.scale === this.chart.x.scale && chart.panels.length === before.length;
    this.chart = structuredClone(chart);
    if (fits && chart.panels.every((panel, at) => same(panel, before[at]))) this.#later();
    else this.#build();
  }

  setRange(range: Range | null): void {
    this.#group.setRange(range);
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#group.remove(this);
    this.#watch.disconnect();
    this.#theme.disconnect();
    this.#scheme.removeEventListener("change", this.#recolor);
    for (const panel of this.#panels) panel.destroy();
    this.#root.remove();
  }

  showRange(range: Range | null): void {
    this.shown = range ?? domain(this.chart);
    this.#refresh();
  }

  showCursor(x: number | null): void {
    this.#cursor = x;
    for (const panel of this.#panels) panel.showCursor(x);
  }

  pointed(at: { x: number; y: number | null } | null, from: PanelPlot): void {
    if (at === null) return this.leave();
    this.#cursor = at.x;
    for (const panel of this.#panels) if (panel !== from) panel.showCursor(at.x);
    this.#group.setCursor(at.x, this);
    this.#say(at.x, { panel: from.index, y: at.y }, false);
  }

  chosen(range: Range): void {
    const [least, most] = domain(this.chart);
    // Rounds to whole seconds for links and sentences; a range of a few seconds stays as selected.
    const isLong = this.chart.x.unit === "seconds" && range[1] - range[0] >= 20;
    const [from, to] = isLong ? range.map(Math.round) as [number, number] : range;
    const [a, b] = [Math.max(least, from), Math.min(most, to)];
    // There is nothing between two neighbors.
    if (!(b > a) || b - a < (most - least) / 5000) return;
    this.#group.setRange(a <= least && b >= most ? null : [a, b]);
  }

  showAll(): void {
    this.#group.setRange(null);
  }

  /** Moves the cursor to a value of x, as the arrow keys do. */
  moveTo(x: number | null): void {
    if (x === null) return this.leave();
    this.showCursor(x);
    this.#group.setCursor(x, this);
    this.#say(x, { panel: 0, y: null }, true);
  }

  leave(): void {
    this.showCursor(null);
    this.#group.setCursor(null, this);
    this.#tip.hidden = true;
  }

  get cursor(): number | null {
    return this.#cursor;
  }

  get scaleX(): Scale {
    return this.chart.x.scale;
  }

  /** All x within the visible range, increasing. Used for every movement of the pointer. */
  get steps(): number[] {
    this.#steps ??= this.#gather();
    return this.#steps;
  }

  #gather(): number[] {
    const all = new Set<number>();
    const [from, to] = this.shown;
    for (const panel of this.chart.panels) {
      for (const series of panel.series) for (const x of xsOf(this.chart, series)) all.add(x);
      if (panel.heat) for (const x of this.chart.xs) all.add(x);
    }
    return [...all].filter((x) => x >= from && x <= to).sort((a, b) => a - b);
  }

  xAt(clientX: number): number {
    return this.#panels[0]?.xAt(clientX) ?? this.shown[0];
  }

  #say(x: number, pointed: { panel: number; y: number | null }, aloud: boolean): void {
    const steps = this.steps;
    const heat = this.chart.panels[pointed.panel]?.heat;
    // Nothing was measured between two seconds; in a heatmap, the column below the pointer counts.
    const exact = heat && pointed.y !== null ? x : (steps[nearest(steps, x)] ?? x);
    const all = said(this.chart, this.hidden, exact, this.shown, pointed);
    fill(this.#tip, all, pointed.panel, this.colors);
    this.#tip.hidden = false;
    const panel = this.#panels[pointed.panel];
    if (panel) this.#place(x, panel);
    if (aloud) this.#said.textContent = sentence(all);
  }

  /** Places the tooltip next to the cursor, on the side with more room, within the chart. */
  #place(x: number, panel: PanelPlot): void {
    const root = this.#root.getBoundingClientRect();
    const { left, box } = panel.placeOf(x);
    const at = box.left - root.left + left;
    const wide = this.#tip.offsetWidth;
    const right = at + 14 + wide <= root.width;
    this.#tip.style.left = `${Math.max(0, right ? at + 14 : at - 14 - wide)}px`;
    this.#tip.style.top = `${Math.max(0, box.top - root.top + 6)}px`;
  }

  readonly #recolor = () => {
    this.colors = colorsOf(this.#root);
    this.#refresh();
    this.#drawKeys();
  };

  #build(): void {
    this.#steps = null;
    for (const panel of this.#panels) panel.destroy();
    const { chart } = this;
    this.#root.setAttribute("aria-label", [chart.title, chart.subtitle].filter((part) => part).join(": "));
    if (!this.#group.range) this.shown = domain(chart);
    this.#width = this.#root.clientWidth;
    this.#heads = chart.panels.map(() => div("pl-head"));
    const boxes = chart.panels.map(() => div("pl-panel"));
    this.#root.replaceChildren(
      ...boxes.flatMap((box, at) => [this.#heads[at] ?? box, box]),
      this.#axis,
      this.#marks,
      this.#tip,
      this.#said,
    );
    this.#panels = boxes.map((box, at) => new PanelPlot(this, at, box, this.#plotWidth(), this.#height(at)));
    this.#drawKeys();
  }

  #plotWidth(): number {
    return Math.max(160, this.#width);
  }

  /** Returns panel heights, which grow a little on wide pages and never become too flat to read. */
  #height(at: number): number {
    const panel = this.chart.panels[at];
    if (!panel) return 100;
    const grown = Math.min(1.35, Math.max(0.85, this.#width / 760));
    return Math.round(heightOf(this.chart, panel) * grown * (this.#options.scale ?? 1));
  }

  #fit(): void {
    const width = this.#root.clientWidth;
    // A printed page hides the chart.
    if (width === 0 || width === this.#width) return;
    this.#width = width;
    this.#panels.forEach((panel, at) => panel.resize(this.#plotWidth(), this.#height(at)));
    this.#drawLabels();
  }

  /** Schedules one drawing for all rows of a frame. */
  #later(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.#group.range) this.shown = domain(this.chart);
      this.#refresh();
    });
  }

  #refresh(): void {
    this.#steps = null;
    for (const panel of this.#panels) panel.refresh();
    this.#drawLabels();
    this.showCursor(this.#cursor);
  }

  #drawKeys(): void {
    this.#heads.forEach((head, at) => {
      const panel = this.chart.panels[at];
      if (!panel) return;
      const label = document.createElement("span");
      label.className = "pl-label";
      head.replaceChildren(
        label,
        ...keys(panel, this.colors, this.hidden, (id, alone) => this.#toggle(panel, id, alone)),
        ...shades(panel, this.colors),
      );
    });
    this.#drawLabels();
  }

  #drawLabels(): void {
    this.#heads.forEach((head, at) => {
      const label = head.firstElementChild;
      if (label) label.textContent = this.#panels[at]?.label ?? "";
    });
    this.#axis.textContent = this.#panels.at(-1)?.labelX ?? "";
    this.#listMarks();
  }

  /** Lists the meaning of numbered marks, if their labels do not fit. */
  #listMarks(): void {
    const isNumbered = this.#panels[0]?.marks.isNumbered ?? false;
    this.#marks.hidden = !isNumbered;
    if (!isNumbered) return this.#marks.replaceChildren();
    const entry = (text: string, name = "") => {
      const made = document.createElement("li");
      made.className = name;
      made.textContent = text;
      return made;
    };
    const more = unlisted(this.chart);
    this.#marks.replaceChildren(...list(this.chart).map((text) => entry(text)));
    if (more > 0) this.#marks.append(entry(`and ${more} more`, "pl-more"));
  }

  #toggle(panel: Panel, id: string, alone: boolean): void {
    const others = panel.series.map((series) => series.id).filter((other) => other !== id);
    if (alone) {
      const isAlone = !this.hidden.has(id) && others.every((other) => this.hidden.has(other));
      this.hidden.delete(id);
      for (const other of others) if (isAlone) this.hidden.delete(other);
      else this.hidden.add(other);
    } else if (!this.hidden.delete(id)) {
      this.hidden.add(id);
    }
    for (const key of this.#root.querySelectorAll<HTMLElement>(".pl-key")) {
      key.setAttribute("aria-pressed", String(!this.hidden.has(key.dataset["series"] ?? "")));
    }
    this.#refresh();
  }
}
