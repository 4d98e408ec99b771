// What the server says and takes, as crates/console has it. Everything in these values that came from a run (names,
// addresses, sentences) is a stranger's text: it is only ever put into a page as text.

export type Verdict = "PASS" | "FAIL" | "INCONCLUSIVE" | "INTERRUPTED" | "MEASURED";

/** A run, an experiment, a search or what parts made, as the list shows it. */
export interface Entry {
  /** Stable: a hash of the path. */
  id: string;
  kind: "run" | "experiment" | "search" | "parts";
  path: string;
  name: string;
  target: string;
  /** Beyond 2^53, so right to about 256 ns: enough for a list. */
  started_unix_ns: number;
  duration_s: number;
  verdict: Verdict | null;
  sentence: string;
  rate_per_s: number | null;
  /** `null`, too, where there are too few samples for it. */
  p99_ns: number | null;
  /** The true p99 is this or more. */
  p99_is_lower_bound: boolean;
  errors: number | null;
  requests: number | null;
  is_running: boolean;
  tags: string[];
  note: string;
  /** Of tags and note: the server refuses to replace others than those that were seen. */
  annotations_version: string;
  /** Of an experiment. */
  runs?: number;
}

/** A file that looks like a run and cannot be read. */
export interface Unreadable {
  path: string;
  reason: string;
}

export interface List {
  entries: Entry[];
  unreadable: Unreadable[];
  /** Files that were not read yet. */
  unread_count?: number;
}

export interface State {
  version: string;
  folders: string[];
  can_start: boolean;
}

export type JobState = "starting" | "running" | "paused" | "ending" | "ended" | "failed";

/** A part of the planned load, s from the start. */
export interface Stage {
  from_s: number;
  to_s: number;
  label: string;
}

/** A run that the console started. */
export interface Job {
  id: string;
  name: string;
  state: JobState;
  /** The entry of its file, once there is one. */
  run: string | null;
  command: string[];
  exit_code: number | null;
  /** Somebody has asked for it, and the load has not said yet that it obeys. */
  pending_action: "pause" | "resume" | null;
  /** Why the last thing that was asked of it was not done. */
  rejection: string | null;
  /** The last lines of what it said. */
  output: string;
  elapsed_s: number;
  /** Of the run that goes on. */
  planned_s: number | null;
  stages: Stage[];
  /** Which run of an experiment that is, from 1, and of how many, if that is known. */
  run_number: number | null;
  run_count: number | null;
}

export interface Tiles {
  rate_per_s: number | null;
  /** `null`: none, or too few samples for it. */
  p50_ns: number | null;
  p99_ns: number | null;
  max_ns: number | null;
  /** Of these the true value is as much or more. */
  p50_is_lower_bound: boolean;
  p99_is_lower_bound: boolean;
  max_is_lower_bound: boolean;
  errors: number | null;
  in_flight: number | null;
  requests: number | null;
  elapsed_s: number | null;
  schedule_lag_p99_ns: number | null;
  busy_ratio: number | null;
}

/** One second of a run that goes on: values by chart, then by series. */
export interface Row {
  x: number;
  values: Record<string, Record<string, number | null>>;
  tiles: Tiles;
}

export interface Checked {
  is_valid: boolean;
  diagnostics: string;
}

/** Loader.io's three kinds of load. */
export type Load = "clients_per_test" | "clients_per_second" | "maintained";

export type Start =
  { kind: "file"; path: string; allow_concurrent?: boolean } | { kind: "text"; text: string; allow_concurrent?: boolean } | FormStart;

export interface FormStart {
  kind: "form";
  url: string;
  /** Absent: GET. */
  method?: string;
  load: Load;
  clients: number;
  duration_s: number;
  timeout_s?: number;
  threshold?: string;
  allow?: string;
  name?: string;
  /** One `Name: value` a line. */
  headers?: string;
  body?: string;
  allow_concurrent?: boolean;
}

/** It still has something to say. */
export function active(job: Job): boolean {
  return job.state !== "ended" && job.state !== "failed";
}
