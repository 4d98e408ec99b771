// A chart as data, with the same names as in crates/chart/src/lib.rs, which writes it. Values are in base units (ns,
// bytes, per second, ratios); the drawing chooses the unit of an axis.

export type Unit =
  | "seconds"
  | "nanoseconds"
  | "per_second"
  | "bytes"
  | "bytes_per_second"
  | "ratio"
  | "count"
  | "cores"
  | "quantile"
  | "plain";

export type Scale = "linear" | "log" | "nines";

export type Form =
  | "line"
  | "dashed"
  | "step"
  | "area"
  | "range"
  | "marked"
  | "dots"
  | "crosses"
  | "rings"
  | "bars";

/** `null` is a gap, which no line crosses. */
export type Value = number | null;

export interface Axis {
  label: string;
  unit: Unit;
  scale: Scale;
  from: Value;
  to: Value;
  /** Positions of the ticks; round numbers if absent. */
  ticks?: number[];
  /** Labels of these ticks instead of numbers. */
  names?: string[];
}

export interface Series {
  id: string;
  name: string;
  /** Index in the palette, 0 to 7. */
  color: number;
  form: Form;
  /** Defaults to the chart's `xs`. */
  x?: number[] | null;
  y: Value[];
  low?: Value[];
  high?: Value[];
}

export interface Band {
  low: number;
  high: number;
  word: string;
}

export interface Limit {
  value: number;
  word: string;
  met: boolean | null;
}

export interface Heat {
  /** Increasing, one more than there are rows. */
  edges: number[];
  /** By column, then by row from the lowest; columns may end early. */
  counts: number[][];
  what: string;
}

export interface Panel {
  id: string;
  y: Axis;
  series: Series[];
  bands?: Band[];
  limits?: Limit[];
  heat?: Heat | null;
  stacked: boolean;
}

export interface Stretch {
  from: number;
  to: number;
  word: string;
  kind: "warmup" | "stage" | "gap" | "spike";
}

export interface Mark {
  at: number;
  word: string;
  kind: "stage" | "note" | "control" | "change" | "answer";
}

export interface Chart {
  id: string;
  title: string;
  subtitle: string;
  help: string;
  x: Axis;
  xs: number[];
  panels: Panel[];
  stretches?: Stretch[];
  marks?: Mark[];
  group?: string;
}

/** Data of a page besides its static pictures. */
export interface PageData {
  version: number;
  kind: string;
  charts: Chart[];
  document: unknown;
}
