// State of a live view as a function of the server's messages. Pure, so that late viewers, duplicate rows after a
// reconnect, and rows out of order are tested without a server.
import type { Chart, Mark } from "../../shared/chart";
import type { AgentRow, Job, Row, Tiles } from "./contract";

export type Message =
  | { kind: "charts"; charts: Chart[]; run_number?: number | null; run_count?: number | null }
  | { kind: "row"; row: Row }
  | { kind: "mark"; mark: Told }
  | { kind: "job"; job: Job }
  | { kind: "agents"; agents: AgentRow[] }
  | { kind: "ended"; run: string | null };

/** A note or a control; `replaces` is the previous word of a mark that has grown. */
export type Told = Mark & { replaces?: string };

export interface Live {
  /** Their data grows with the rows. */
  charts: Chart[];
  tiles: Tiles | null;
  job: Job | null;
  /** The last second of each agent; none for a load without agents. */
  agents: AgentRow[];
  /** Time of the newest row, s. */
  last_x: number | null;
  /** Local time when the newest row arrived, ms. */
  last_at: number | null;
  /** Number of the run in its experiment, from 1, and the number of runs, if known. */
  run_number: number | null;
  run_count: number | null;
  ended: boolean;
  /** Address of the report. */
  run: string | null;
}

/** What the charts must do. */
export type Effect =
  | { kind: "none" }
  /** Redraw everything, after a change of series or a reconnect. */
  | { kind: "draw" }
  /** Add one second. */
  | { kind: "push"; row: Row };

export const START: Live = {
  charts: [],
  tiles: null,
  job: null,
  agents: [],
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
      // Contains everything so far, so no row is lost during a reconnect.
      const xs = message.charts.flatMap((chart) => chart.xs.slice(-1));
      const last_x = xs.length > 0 ? Math.max(...xs) : null;
      const [run_number, run_count] = [message.run_number ?? null, message.run_count ?? null];
      // Without a second, a new run begins, to which the previous figures do not belong.
      const tiles = last_x === null ? null : live.tiles;
      return [{ ...live, charts: message.charts, tiles, last_x, last_at: now, run_number, run_count }, { kind: "draw" }];
    }
    case "row": {
      // Ignores a row that the charts contain already, but takes the tiles of the newest second from it.
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
    case "agents":
      return [{ ...live, agents: message.agents }, { kind: "none" }];
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

/** Extends the charts of the row in place, because copying nine hours every second is too slow. */
function append(chart: Chart, row: Row): void {
  const values = row.values[chart.id];
  if (!values) return;
  chart.xs.push(row.x);
  for (const panel of chart.panels) {
    for (const series of panel.series) {
      const y = values[series.id] ?? null;
      if (series.x) series.x.push(row.x);
      series.y.push(y);
      // An interval for each value, or none at all.
      if (series.low?.length) series.low.push(null);
      if (series.high?.length) series.high.push(null);
    }
  }
}

/** Returns the notes and controls of all charts in chronological order, without duplicates. */
export function notes(live: Live): Mark[] {
  const found: Mark[] = [];
  for (const mark of live.charts.filter(onTime).flatMap((chart) => chart.marks ?? [])) {
    if (mark.kind !== "stage" && !found.some((other) => same(other, mark))) found.push(mark);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** Prefix of the note that the load writes to its timeline. */
const LEVEL = "load changed manually to ";

/** Returns the last manually set load; `null` if the load is as planned. */
export function level(live: Live): string | null {
  const last = notes(live).filter((mark) => mark.kind === "control" && mark.word.startsWith(LEVEL)).at(-1);
  return last ? last.word.slice(LEVEL.length) : null;
}

/** Seconds by which an agent may be behind the others before it is marked. */
const BEHIND_S = 3;

/** Returns whether nothing has come from an agent for some seconds, while the others continued. */
export function silent(row: AgentRow, all: AgentRow[]): boolean {
  const newest = Math.max(...all.map((other) => other.elapsed_s ?? 0));
  return !row.has_ended && newest - (row.elapsed_s ?? 0) >= BEHIND_S;
}

/** Returns the whole seconds without a row once they exceed the usual delay, else `null`. */
export function stale_s(live: Live, now: number): number | null {
  if (live.ended || live.last_at === null) return null;
  // A run that is paused or writes its report sends no rows.
  if (live.job && live.job.state !== "running") return null;
  const silent = Math.floor((now - live.last_at) / 1000);
  return silent >= 4 ? silent : null;
}

/** Values drawn per millisecond, times ten, so that drawing takes at most a tenth of the time. */
const CELLS_PER_MS = 50;

/**
 * How long rows may wait for the next drawing, ms. A chart is always redrawn completely: every second for an hour of
 * ten series, but for nine hours that would use most of the viewer's CPU.
 */
export function hold_ms(chart: Chart): number {
  const series = chart.panels.reduce((sum, panel) => sum + panel.series.length, 0);
  return (chart.xs.length * series) / CELLS_PER_MS;
}

/**
 * Whether the load generator's schedule lag distorts the times: p99 above 1 ms and above a tenth of the reported p99,
 * the rule by which a run becomes inconclusive.
 */
export function late(tiles: Pick<Tiles, "schedule_lag_p99_ns" | "p99_ns">): boolean {
  const lag = tiles.schedule_lag_p99_ns ?? 0;
  return lag > 1e6 && lag > 0.1 * (tiles.p99_ns ?? Infinity);
}
