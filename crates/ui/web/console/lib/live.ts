// What a live view knows, as a function of what the server sent. Pure, so that late readers, doubled rows after a
// reconnect and rows out of order are tested without a server.
import type { Chart, Mark } from "../../shared/chart";
import type { Job, Row, Tiles } from "./contract";

export type Message =
  | { kind: "charts"; charts: Chart[]; run_number?: number | null; run_count?: number | null }
  | { kind: "row"; row: Row }
  | { kind: "mark"; mark: Told }
  | { kind: "job"; job: Job }
  | { kind: "ended"; run: string | null };

/** A note or a control; `replaces`: the word of the mark that it replaces, because what it tells of has gone on. */
export type Told = Mark & { replaces?: string };

export interface Live {
  /** Their data grows with the rows. */
  charts: Chart[];
  tiles: Tiles | null;
  job: Job | null;
  /** s; of the newest row. */
  last_x: number | null;
  /** ms of the reader's clock: when the newest row came. */
  last_at: number | null;
  /** Which run of an experiment it is, from 1, and of how many, if that is known. */
  run_number: number | null;
  run_count: number | null;
  ended: boolean;
  /** Where the report is. */
  run: string | null;
}

/** What the pictures have to do about it. */
export type Effect =
  | { kind: "none" }
  /** All anew: other series, or a reconnect. */
  | { kind: "draw" }
  /** One second more. */
  | { kind: "push"; row: Row };

export const START: Live = {
  charts: [],
  tiles: null,
  job: null,
  last_x: null,
  last_at: null,
  run_number: null,
  run_count: null,
  ended: false,
  run: null,
};

export function step(live: Live, message: Message, now: number): [Live, Effect] {
  switch (message.kind) {
    case "charts": {
      // Everything so far comes with it; rows sent while we were away are not missed.
      const xs = message.charts.flatMap((chart) => chart.xs.slice(-1));
      const last_x = xs.length > 0 ? Math.max(...xs) : null;
      const [run_number, run_count] = [message.run_number ?? null, message.run_count ?? null];
      // Without a second it is a run that begins: figures of the one before it are none of it.
      const tiles = last_x === null ? null : live.tiles;
      return [{ ...live, charts: message.charts, tiles, last_x, last_at: now, run_number, run_count }, { kind: "draw" }];
    }
    case "row": {
      // A row that the charts hold already is none; but the tiles of the newest second come with it.
      if (live.last_x !== null && message.row.x < live.last_x) return [live, { kind: "none" }];
      if (message.row.x === live.last_x) return [{ ...live, tiles: message.row.tiles }, { kind: "none" }];
      for (const chart of live.charts) append(chart, message.row);
      return [
        { ...live, tiles: message.row.tiles, last_x: message.row.x, last_at: now },
        { kind: "push", row: message.row },
      ];
    }
    case "mark": {
      const charts = live.charts.map((chart) => (onTime(chart) ? withMark(chart, message.mark) : chart));
      return [{ ...live, charts }, { kind: "draw" }];
    }
    case "job":
      return [{ ...live, job: message.job }, { kind: "none" }];
    case "ended":
      return [{ ...live, ended: true, run: message.run }, { kind: "none" }];
  }
}

const onTime = (chart: Chart) => chart.group === "time";

const same = (a: Mark, b: Mark) => a.at === b.at && a.word === b.word && a.kind === b.kind;

function withMark(chart: Chart, { replaces, ...mark }: Told): Chart {
  const marks = (chart.marks ?? []).filter((other) => !same(other, { ...mark, word: replaces ?? mark.word }));
  return { ...chart, marks: [...marks, mark] };
}

/** Charts that the row names grow in place: a run of nine hours must not be copied every second. */
function append(chart: Chart, row: Row): void {
  const values = row.values[chart.id];
  if (!values) return;
  chart.xs.push(row.x);
  for (const panel of chart.panels) {
    for (const series of panel.series) {
      const y = values[series.id] ?? null;
      if (series.x) series.x.push(row.x);
      series.y.push(y);
      // One interval for each value, or none at all.
      if (series.low?.length) series.low.push(null);
      if (series.high?.length) series.high.push(null);
    }
  }
}

/** Notes and controls of all charts, each once, by time. */
export function notes(live: Live): Mark[] {
  const found: Mark[] = [];
  for (const mark of live.charts.filter(onTime).flatMap((chart) => chart.marks ?? [])) {
    if (mark.kind !== "stage" && !found.some((other) => same(other, mark))) found.push(mark);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** As the tool writes it into the course of a run. */
const LEVEL = "load changed manually to ";

/** What the load was set to last by hand; `null`: it goes as planned. */
export function level(live: Live): string | null {
  const last = notes(live).filter((mark) => mark.kind === "control" && mark.word.startsWith(LEVEL)).at(-1);
  return last ? last.word.slice(LEVEL.length) : null;
}

/** Whole seconds without a row, once that is more than a late second can be; `null`: nothing is wrong. */
export function stale_s(live: Live, now: number): number | null {
  if (live.ended || live.last_at === null) return null;
  // A run that is held or writes its report has no rows to send.
  if (live.job && live.job.state !== "running") return null;
  const silent = Math.floor((now - live.last_at) / 1000);
  return silent >= 4 ? silent : null;
}

/** Values that are drawn in a millisecond, times ten: drawing shall take a tenth of the time, or less. */
const CELLS_PER_MS = 50;

/**
 * How long rows may wait for the next drawing, ms. A chart is drawn anew as a whole: each second for an hour of ten
 * series, but of nine hours that would be most of what the reader's machine can do.
 */
export function hold_ms(chart: Chart): number {
  const series = chart.panels.reduce((sum, panel) => sum + panel.series.length, 0);
  return (chart.xs.length * series) / CELLS_PER_MS;
}

/**
 * Whether the generator's schedule lag spoils the times: p99 above 1 ms and above a tenth of the reported p99, the rule
 * by which a run becomes inconclusive.
 */
export function late(tiles: Tiles): boolean {
  const lag = tiles.schedule_lag_p99_ns ?? 0;
  return lag > 1e6 && lag > 0.1 * (tiles.p99_ns ?? Infinity);
}
