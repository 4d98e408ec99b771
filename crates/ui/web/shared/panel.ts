// One panel of a live chart: uPlot handles scales, axes, cursor, and range selection; the painters do the rest.

import uPlot from "uplot";
import type { Chart, Panel } from "./chart";
import type { Colors } from "./colors";
import { columns, needed } from "./columns";
import { paintGround, paintOver } from "./ground";
import { placed, type Placement } from "./marks";
import { paintSeries, type Way } from "./paint";
import { legible, marks, places, wrapped, type Marks, type Places, type Range } from "./scale";

/** What a panel needs of its chart. */
export interface Host {
  chart: Chart;
  hidden: ReadonlySet<string>;
  colors: Colors;
  /** The visible range of x. */
  shown: Range;
  /** The pointer is at this x and y of this panel; `null` when it has left. */
  pointed(at: { x: number; y: number | null } | null, panel: PanelPlot): void;
  chosen(range: Range): void;
  showAll(): void;
}

/** As in the static pictures, with slightly more room on the right, because the last tick cannot be moved inward. */
const LEFT = 66;
const RIGHT = 18;
const FOOT = 22;
/** Line height and approximate letter width of labels below an axis, px. */
const NAME_LINES = 3;
const NAME_LINE = 16;
const LETTER = 6.4;

export class PanelPlot {
  readonly #host: Host;
  readonly #isFirst: boolean;
  readonly #isLast: boolean;
  readonly #wayX: Places;
  readonly #wayY: Places;
  readonly #plot: uPlot;
  #xPlaces: [number, number] = [0, 1];
  #yPlaces: [number, number] = [0, 1];
  #y: Range = [0, 1];
  #width: number;

  constructor(
    host: Host,
    readonly index: number,
    into: HTMLElement,
    width: number,
    height: number,
  ) {
    this.#host = host;
    this.#width = width;
    this.#isFirst = index === 0;
    this.#isLast = index + 1 === host.chart.panels.length;
    this.#wayX = places(host.chart.x.scale);
    this.#wayY = places(this.panel.y.scale);
    this.#plot = new uPlot(this.#options(width, height), [[]], into);
    this.refresh();
  }

  /** The chart may have been replaced by one with the same panels. */
  get panel(): Panel {
    // proof: a chart with other panels gets other plots
    return this.#host.chart.panels[this.index] as Panel;
  }

  /** Heading: the label with the unit of the ticks. */
  get label(): string {
    return labelled(this.panel.y.label, this.panel.y.scale === "log", this.#marksY().unit);
  }

  get labelX(): string {
    const { x } = this.#host.chart;
    return labelled(x.label, x.scale === "log", this.#marksX().unit);
  }

  /** Applies changed values, range, series, or colors. */
  refresh(): void {
    const { chart, hidden, shown } = this.#host;
    const { x, y } = columns(chart, this.panel, hidden);
    const [from, to] = [this.#wayX.to(shown[0]) ?? 0, this.#wayX.to(shown[1]) ?? 1];
    this.#xPlaces = [from, to > from ? to : from + 1];
    this.#y = needed(chart, this.panel, hidden, shown, this.#roomY());
    const [low, high] = [this.#wayY.to(this.#y[0]) ?? 0, this.#wayY.to(this.#y[1]) ?? 1];
    this.#yPlaces = [low, high > low ? high : low + 1];
    // uPlot requires at least one x.
    const data = [x.length > 0 ? x : [from], ...y.map((cells) => (cells.length > 0 ? cells : [null]))];
    this.#plot.batch(() => {
      this.#plot.setData(data as uPlot.AlignedData, false);
      this.#plot.setScale("x", { min: this.#xPlaces[0], max: this.#xPlaces[1] });
      this.#plot.setScale("y", { min: this.#yPlaces[0], max: this.#yPlaces[1] });
      this.#plot.redraw(true, true);
    });
  }

  resize(width: number, height: number): void {
    this.#width = width;
    this.#plot.setSize({ width, height: height + this.#foot() });
    this.refresh();
  }

  showCursor(x: number | null): void {
    const place = x === null ? null : this.#wayX.to(x);
    const left = place === null ? -10 : this.#plot.valToPos(place, "x");
    const inside = place !== null && left >= 0 && left <= this.#plot.over.clientWidth;
    this.#plot.setCursor(inside ? { left, top: 1 } : { left: -10, top: -10 }, false);
  }

  /** Returns the position of the plot on the page, and of a value of x in it, px. */
  placeOf(x: number): { left: number; box: DOMRect } {
    return { left: this.#plot.valToPos(this.#wayX.to(x) ?? 0, "x"), box: this.#plot.over.getBoundingClientRect() };
  }

  /** Returns the x below a position on the page, px. */
  xAt(clientX: number): number {
    return this.#wayX.from(this.#plot.posToVal(clientX - this.#plot.over.getBoundingClientRect().left, "x"));
  }

  destroy(): void {
    this.#plot.destroy();
  }

  /** Visible marks and how to label them. */
  get marks(): Placement {
    return this.#marksOf(this.#plot);
  }

  #marksOf(plot: uPlot): Placement {
    const x = (value: number) => {
      const place = this.#wayX.to(value);
      return place === null ? null : plot.valToPos(place, "x");
    };
    return placed(this.#host.chart, x, this.#width - LEFT - RIGHT);
  }

  /** Returns the space for the labels at this width. */
  #foot(): number {
    if (!this.#isLast) return 6;
    const names = this.#host.chart.x.names ?? [];
    const lines = names.map((name) => this.#wrapped(name, names.length).split("\n").length);
    return FOOT + (Math.max(1, ...lines) - 1) * NAME_LINE;
  }

  #wrapped(name: string, count: number): string {
    const each = (this.#width - LEFT - RIGHT) / Math.max(1, count);
    return wrapped(name, Math.floor(each / LETTER) - 1, NAME_LINES);
  }

  #hasNames(): boolean {
    return (this.#host.chart.x.names?.length ?? 0) > 0;
  }

  /** Removes labels that would touch the next one or be cut off at the edge. */
  #textsX(): string[] {
    const { at, texts } = this.#marksX();
    if (this.#hasNames()) return texts.map((text) => this.#wrapped(text, texts.length));
    const [from, to] = this.#xPlaces;
    const wide = this.#width - LEFT - RIGHT;
    const middles = at.map((place) => ((place - from) / (to - from)) * wide);
    return legible(middles, texts, LETTER, wide + RIGHT);
  }

  #roomY(): number {
    return Math.max(2, Math.round((this.#plot.height - this.#foot()) / 34));
  }

  #marksX(): Marks {
    const [from, to] = this.#xPlaces;
    const room = Math.max(2, Math.floor((this.#width - LEFT - RIGHT) / 74));
    return marks(this.#host.chart.x, [this.#wayX.from(from), this.#wayX.from(to)], room);
  }

  #marksY(): Marks {
    return marks(this.panel.y, this.#y, this.#roomY());
  }

  #way(plot: uPlot): Way {
    const [low, high] = this.#yPlaces;
    const ground = this.panel.y.scale === "linear" ? Math.min(Math.max(0, low), high) : low;
    return {
      x: (value) => this.#on(plot, "x", this.#wayX.to(value)),
      y: (value) => this.#on(plot, "y", this.#wayY.to(value)),
      ratio: uPlot.pxRatio,
      floor: plot.valToPos(ground, "y", true),
      ends: { top: plot.bbox.top, bottom: plot.bbox.top + plot.bbox.height },
    };
  }

  #on(plot: uPlot, scale: "x" | "y", place: number | null): number | null {
    return place === null ? null : plot.valToPos(place, scale, true);
  }

  #options(width: number, height: number): uPlot.Options {
    const host = this.#host;
    const color = () => host.colors.soft;
    const grid = { stroke: () => host.colors.line, width: 1 };
    const font = () => `11px ${host.colors.font}`;
    const seriesColor = (at: number) =>
      host.colors.series[(this.panel.series[at - 1]?.color ?? 0) % host.colors.series.length] ?? host.colors.ink;
    return {
      width,
      height: height + this.#foot(),
      padding: [5, RIGHT, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, auto: false, range: () => this.#xPlaces },
        y: { auto: false, range: () => this.#yPlaces },
      },
      axes: [
        {
          stroke: color,
          grid,
          ticks: { show: this.#isLast, stroke: () => host.colors.faint, width: 1, size: 4 },
          border: { show: true, stroke: () => host.colors.faint, width: 1 },
          font: font(),
          size: () => this.#foot(),
          gap: 2,
          splits: () => this.#marksX().at,
          values: (_, at) => (this.#isLast ? this.#textsX() : at.map(() => "")),
        },
        {
          stroke: color,
          grid,
          ticks: { show: false },
          border: { show: true, stroke: () => host.colors.faint, width: 1 },
          font: font(),
          size: LEFT,
          gap: 6,
          splits: () => this.#marksY().at,
          values: () => this.#marksY().texts,
        },
      ],
      // The painters draw; uPlot needs the series for the points at the cursor.
      series: [{}, ...this.panel.series.map(() => ({ paths: () => null, points: { show: false } }))],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false, dist: 4 },
        points: {
          size: 7,
          width: 0,
          fill: (_: uPlot, at: number) => seriesColor(at),
          stroke: (_: uPlot, at: number) => seriesColor(at),
        },
        bind: {
          dblclick: () => () => {
            host.showAll();
            return null;
          },
        },
      },
      hooks: {
        drawAxes: [(plot) => this.#paint(plot, false)],
        draw: [(plot) => this.#paint(plot, true)],
        setCursor: [(plot) => this.#pointed(plot)],
        setSelect: [(plot) => this.#selected(plot)],
      },
    };
  }

  #paint(plot: uPlot, isOver: boolean): void {
    const { chart, hidden, colors } = this.#host;
    const { ctx, bbox } = plot;
    const way = this.#way(plot);
    ctx.save();
    ctx.beginPath();
    // Lines at the edges keep their thickness.
    ctx.rect(bbox.left, bbox.top - 2 * way.ratio, bbox.width, bbox.height + 3 * way.ratio);
    ctx.clip();
    if (isOver) {
      paintSeries(ctx, chart, this.panel, hidden, colors, way);
      paintOver(ctx, chart, this.panel, this.#isFirst, this.#marksOf(plot), colors, way, bbox);
    } else {
      paintGround(ctx, chart, this.panel, colors, way, bbox);
    }
    ctx.restore();
  }

  #pointed(plot: uPlot): void {
    const { left = -10, top = -10 } = plot.cursor;
    if (left < 0) return this.#host.pointed(null, this);
    const y = top < 0 ? null : this.#wayY.from(plot.posToVal(top, "y"));
    this.#host.pointed({ x: this.#wayX.from(plot.posToVal(left, "x")), y }, this);
  }

  #selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const at = (px: number) => this.#wayX.from(plot.posToVal(px, "x"));
    const range: Range = [at(left), at(left + width)];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.#host.chosen(range);
  }
}

function labelled(label: string, isLog: boolean, unit: string): string {
  const text = unit === "" ? label : `${label}, ${unit}`;
  return isLog ? `${text} (logarithmic)` : text;
}
