// The list of runs as a function of the loaded entries and the input: no request per keystroke, and the search covers
// what is visible.
import type { Entry, Job } from "./contract";
import { active } from "./contract";

/** Returns whether the entry contains every word, ignoring case. */
export function matches(entry: Entry, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const hay = [entry.name, entry.target, entry.kind, entry.verdict ?? "", entry.sentence, entry.note, entry.path]
    .concat(entry.tags)
    .join("\n")
    .toLowerCase();
  return words.every((word) => hay.includes(word));
}

/** Returns the entries that contain all words and the selected tag, newest first. */
export function shown(entries: Entry[], search: string, tag: string): Entry[] {
  return entries
    .filter((entry) => (tag === "" || entry.tags.includes(tag)) && matches(entry, search))
    .sort((a, b) => b.started_unix_ns - a.started_unix_ns);
}

/** Returns all tags with their numbers of uses, most common first. */
export function tagsOf(entries: Entry[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const entry of entries) for (const tag of entry.tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}

/** Splits `slow, release 2 ,slow` into two tags. */
export function readTags(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
    ),
  ];
}

/** Returns the sentence without a leading verdict, which a badge already shows. */
export function outcome(entry: Entry): string {
  const start = `${entry.verdict}: `;
  const twice = entry.verdict !== null && entry.sentence.startsWith(start);
  return twice ? entry.sentence.slice(start.length) : entry.sentence;
}

/** A running load, started here or in a terminal. */
export interface GoingOn {
  /** Id in the address of its live view. */
  id: string;
  name: string;
  target: string;
  job: Job | null;
  entry: Entry | null;
}

/** Returns the running loads: jobs first, then other runs; a run that is both appears once. */
export function goingOn(entries: Entry[], jobs: Job[]): GoingOn[] {
  const ours = jobs.filter(active).map((job) => {
    const entry = entries.find((e) => e.id === job.run) ?? null;
    return { id: job.id, name: job.name || entry?.name || "A run", target: entry?.target ?? "", job, entry };
  });
  const known = new Set(jobs.map((job) => job.run));
  const others = entries
    .filter((entry) => entry.is_running && !known.has(entry.id))
    .map((entry) => ({ id: entry.id, name: entry.name, target: entry.target, job: null, entry }));
  return [...ours, ...others];
}

/** Selects for a comparison: at most two; a third replaces the first. */
export function choose(chosen: string[], id: string): string[] {
  if (chosen.includes(id)) return chosen.filter((other) => other !== id);
  return [...chosen, id].slice(-2);
}

/** The older is A: what was before is what the newer is compared with. */
export function sides(chosen: string[], entries: Entry[]): [Entry, Entry] | null {
  const found = entries
    .filter((entry) => chosen.includes(entry.id))
    .sort((a, b) => a.started_unix_ns - b.started_unix_ns);
  return found.length === 2 && found[0] && found[1] ? [found[0], found[1]] : null;
}
