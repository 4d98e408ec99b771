// The stage bar as numbers: the position of each stage between 0 and 1, and the current position.
import type { Job, Stage } from "./contract";

export interface Part extends Stage {
  /** Shares of the bar. */
  from: number;
  to: number;
  /** Past, current, or future. */
  when: "past" | "now" | "ahead";
}

export interface Bar {
  parts: Part[];
  /** Share of the bar; 1 at the end, and when a run exceeds its plan. */
  now: number;
  /** Remaining time, s; `null` if the plan has no duration. */
  left_s: number | null;
}

/** Returns the bar; a plan without stages is a single stage. */
export function bar(job: Job, elapsed_s: number): Bar {
  const last = job.stages.reduce((end, stage) => Math.max(end, stage.to_s), 0);
  const total = job.planned_s ?? last;
  if (!(total > 0)) return { parts: [], now: 0, left_s: null };
  const stages = job.stages.length > 0 ? job.stages : [{ from_s: 0, to_s: total, label: "" }];
  const share = (s: number) => Math.min(1, Math.max(0, s / total));
  const parts = stages.map((stage) => ({
    ...stage,
    from: share(stage.from_s),
    to: share(stage.to_s),
    when:
      elapsed_s >= stage.to_s
        ? ("past" as const)
        : elapsed_s >= stage.from_s
          ? ("now" as const)
          : ("ahead" as const),
  }));
  return { parts, now: share(elapsed_s), left_s: Math.max(0, total - elapsed_s) };
}
