// State of all pages: the list, the jobs, the clock, and the last error.
import * as api from "./api";
import type { Refused } from "./api";
import type { Entry, Job, State, Unreadable } from "./contract";

/** Polling interval, ms. */
const EVERY = 2000;

const DISMISSED = "plimsoll-dismissed";

function kept(): string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(DISMISSED) ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    // Storage is unavailable or contains something else; all are shown again.
    return [];
  }
}

class Store {
  state = $state<State | null>(null);
  entries = $state.raw<Entry[]>([]);
  unreadable = $state.raw<Unreadable[]>([]);
  /** Number of files that the server has not read yet. */
  unread = $state(0);
  jobs = $state.raw<Job[]>([]);
  /** Whether the list was received at least once. */
  loaded = $state(false);
  trouble = $state.raw<Refused | null>(null);
  /** Current time in ms, updated every second for relative times. */
  now = $state(Date.now());
  /** The run in the live view, with its elapsed time in s. */
  clock = $state.raw<{ id: string; elapsed_s: number } | null>(null);
  /** Dismissed failed starts. */
  dismissed = $state.raw<string[]>(kept());
  #asking = false;
  #texts = { list: "", jobs: "" };

  /** Starts polling; the returned function stops it. */
  begin(): () => void {
    const tick = setInterval(() => (this.now = Date.now()), 1000);
    const again = setInterval(() => {
      // A hidden page does not poll; it catches up when it becomes visible.
      if (document.visibilityState === "visible") void this.refresh();
    }, EVERY);
    const seen = () => document.visibilityState === "visible" && void this.refresh();
    document.addEventListener("visibilitychange", seen);
    void this.refresh();
    return () => {
      clearInterval(tick);
      clearInterval(again);
      document.removeEventListener("visibilitychange", seen);
    };
  }

  async refresh(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      this.state ??= await api.state();
      const [list, jobs] = await Promise.all([api.runs(), api.jobs()]);
      // An unchanged response must not redraw, or an open editor or a focused row would lose its state.
      const texts = { list: JSON.stringify(list), jobs: JSON.stringify(jobs) };
      if (texts.list !== this.#texts.list) [this.entries, this.unreadable] = [list.entries, list.unreadable];
      this.unread = list.unread_count ?? 0;
      if (texts.jobs !== this.#texts.jobs) this.jobs = jobs;
      this.#texts = texts;
      this.loaded = true;
      this.trouble = null;
    } catch (mistake) {
      this.trouble = api.asRefused(mistake);
    } finally {
      this.#asking = false;
    }
  }

  /** Dismisses by command, which names a unique file; job numbers restart with the server. */
  dismiss(job: Job): void {
    this.dismissed = [...this.dismissed, job.command.join(" ")].slice(-100);
    sessionStorage.setItem(DISMISSED, JSON.stringify(this.dismissed));
  }

  isDismissed(job: Job): boolean {
    return this.dismissed.includes(job.command.join(" "));
  }

  /** Replaces an entry with the server's new version. */
  put(entry: Entry): void {
    this.entries = this.entries.map((other) => (other.id === entry.id ? entry : other));
  }
}

export const store = new Store();
