// Requests and responses of the server, as defined in crates/console. Every text that comes from a run (names, URLs,
// sentences) is untrusted and only ever inserted as text.

export type Verdict = "PASS" | "FAIL" | "INCONCLUSIVE" | "INTERRUPTED" | "MEASURED";

/** An entry of the list: a run, an experiment, a search, or a folder of parts. */
export interface Entry {
  /** A hash of the path. */
  id: string;
  kind: "run" | "experiment" | "search" | "parts";
  path: string;
  name: string;
  target: string;
  /** Above 2^53, so exact to about 256 ns, which is enough for a list. */
  started_unix_ns: number;
  duration_s: number;
  verdict: Verdict | null;
  sentence: string;
  rate_per_s: number | null;
  /** `null` also if there are too few samples. */
  p99_ns: number | null;
  /** Whether p99 is a lower bound. */
  p99_is_lower_bound: boolean;
  errors: number | null;
  requests: number | null;
  is_running: boolean;
  tags: string[];
  note: string;
  /** Version of tags and note; the server rejects a change that is based on another version. */
  annotations_version: string;
  /** Number of runs, for an experiment. */
  runs?: number;
}

/** A file that looks like a run but cannot be read. */
export interface Unreadable {
  path: string;
  reason: string;
}

export interface List {
  entries: Entry[];
  unreadable: Unreadable[];
  /** Number of files not read yet. */
  unread_count?: number;
}

export interface State {
  version: string;
  folders: string[];
  can_start: boolean;
  /** Whether the console has a NATS server, through which it reaches agents. */
  has_agents: boolean;
}

/** A check of an agent's machine. */
export interface Check {
  name: string;
  value: string;
  state: "good" | "notice" | "bad";
  advice: string | null;
}

/** An agent that is connected to the NATS server. */
export interface Agent {
  name: string;
  host: string;
  version: string;
  labels: Record<string, string>;
  cpus: number;
  open_files: number;
  has_answered: boolean;
  clock_bound_ns: number | null;
  checks: Check[];
}

/** The last second of a load on one agent. */
export interface AgentRow {
  name: string;
  labels: Record<string, string>;
  /** Start of its load after the common start. */
  start_delay_ns: number;
  clock_bound_ns: number;
  elapsed_s?: number;
  rate_per_s?: number | null;
  p99_ns?: number | null;
  max_ns?: number | null;
  schedule_lag_p99_ns?: number | null;
  busy_ratio?: number | null;
  requests: number;
  errors: number;
  has_ended?: boolean;
}

export type JobState = "starting" | "running" | "paused" | "ending" | "ended" | "failed";

/** A stage of the planned load; s since the start. */
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
  /** Id of its entry, once its file exists. */
  run: string | null;
  command: string[];
  exit_code: number | null;
  /** A requested action that the load has not confirmed yet. */
  pending_action: "pause" | "resume" | null;
  /** Why the last action was rejected. */
  rejection: string | null;
  /** End of its output. */
  output: string;
  elapsed_s: number;
  /** Planned duration of the current run. */
  planned_s: number | null;
  stages: Stage[];
  /** Number of the current run in its experiment, from 1, and the number of runs, if known. */
  run_number: number | null;
  run_count: number | null;
}

export interface Tiles {
  rate_per_s: number | null;
  /** `null` if there are none or too few samples. */
  p50_ns: number | null;
  p99_ns: number | null;
  max_ns: number | null;
  /** Whether these values are lower bounds. */
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

/** One second of a running load: values by chart, then by series. */
export interface Row {
  x: number;
  values: Record<string, Record<string, number | null>>;
  tiles: Tiles;
}

export interface Checked {
  is_valid: boolean;
  diagnostics: string;
}

/** The three load types of Loader.io. */
export type Load = "clients_per_test" | "clients_per_second" | "maintained";

/** What every start may have. */
export interface Common {
  /** Agents that send the load: a number, names, a label, or `local:N`. */
  agents?: string;
  allow_concurrent?: boolean;
}

export type Start = ({ kind: "file"; path: string } & Common) | ({ kind: "text"; text: string } & Common) | FormStart;

export interface FormStart extends Common {
  kind: "form";
  url: string;
  /** Default: GET. */
  method?: string;
  load: Load;
  clients: number;
  duration_s: number;
  timeout_s?: number;
  threshold?: string;
  allow?: string;
  name?: string;
  /** One `Name: value` per line. */
  headers?: string;
  body?: string;
}

/** Returns true until the job has ended. */
export function active(job: Job): boolean {
  return job.state !== "ended" && job.state !== "failed";
}
