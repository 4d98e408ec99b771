// What all pages share: the list, the jobs, the clock, and what went wrong with asking for them.
import * as api from "./api";
import type { Refused } from "./api";
import type { Entry, Job, State, Unreadable } from "./contract";

/** ms. A list that somebody else changed is seen this late. */
const EVERY = 2000;

const DISMISSED = "plimsoll-dismissed";

function kept(): string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(DISMISSED) ?? "[]");
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    // Storage is off or holds something else: they are all shown again.
    return [];
  }
}

class Store {
  state = $state<State | null>(null);
  entries = $state.raw<Entry[]>([]);
  unreadable = $state.raw<Unreadable[]>([]);
  /** Files that the server has not read yet. */
  unread = $state(0);
  jobs = $state.raw<Job[]>([]);
  /** The list came at least once. */
  loaded = $state(false);
  trouble = $state.raw<Refused | null>(null);
  /** ms; ticks once a second, so that "12 s ago" moves. */
  now = $state(Date.now());
  /** The run that is being watched, and how far it has come, s. */
  clock = $state.raw<{ id: string; elapsed_s: number } | null>(null);
  /** Failed starts that somebody has read. */
  dismissed = $state.raw<string[]>(kept());
  #asking = false;
  #texts = { list: "", jobs: "" };

  /** Until the answer of this is called. */
  begin(): () => void {
    const tick = setInterval(() => (this.now = Date.now()), 1000);
    const again = setInterval(() => {
      // A hidden page asks nobody; it catches up when it is looked at.
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
      // The same answer again must not redraw: an open editor or a focused row would lose its place.
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

  /** Numbers of jobs begin anew with the server, their commands name a file of their own. */
  dismiss(job: Job): void {
    this.dismissed = [...this.dismissed, job.command.join(" ")].slice(-100);
    sessionStorage.setItem(DISMISSED, JSON.stringify(this.dismissed));
  }

  isDismissed(job: Job): boolean {
    return this.dismissed.includes(job.command.join(" "));
  }

  /** An entry that the server gave back. */
  put(entry: Entry): void {
    this.entries = this.entries.map((other) => (other.id === entry.id ? entry : other));
  }
}

export const store = new Store();
