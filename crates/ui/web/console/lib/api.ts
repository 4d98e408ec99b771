// All requests to the server. Errors become one sentence with a fix.
import type { Agent, Checked, Entry, Job, List, Start, State } from "./contract";
import { headersWith, key } from "./key";

/** An error response, or no response. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly help: string,
    /** HTTP status; 0 without a response. */
    readonly status: number,
    /** Version of the current state, if the change was based on another. */
    readonly version: string | null = null,
  ) {
    super(message);
  }
}

const SILENT = new Refused("the console's server does not respond", "is `plimsoll serve` still running?", 0);
const LOCKED = new Refused(
  "this browser is not signed in",
  "open the address that `plimsoll serve` printed, including its token",
  401,
);

/** Returns the error of a response; without a body, the status has to do. */
export function refusal(status: number, body: string): Refused {
  if (status === 401) return LOCKED;
  try {
    const said: unknown = JSON.parse(body);
    if (typeof said === "object" && said !== null && "error" in said) {
      const help = "help" in said && typeof said.help === "string" ? said.help : "";
      const version = "version" in said && typeof said.version === "string" ? said.version : null;
      return new Refused(String(said.error), help, status, version);
    }
  } catch {
    // Not JSON (a proxy or an older server); the status has to do.
  }
  return new Refused(`the server responded with HTTP ${status}`, "", status);
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init: RequestInit = { method, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined || method !== "GET") {
    init.headers = headersWith(await key());
    init.body = JSON.stringify(body ?? {});
  }
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(path, init);
    text = await answer.text();
  } catch {
    throw SILENT;
  }
  if (!answer.ok) throw refusal(answer.status, text);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refused("the server's response is unreadable", "reload this page", answer.status);
  }
}

/** Converts any error, so that pages handle only one kind. */
export function asRefused(mistake: unknown): Refused {
  return mistake instanceof Refused ? mistake : new Refused(String(mistake), "", 0);
}

const id = encodeURIComponent;

export const state = () => ask<State>("GET", "/api/state");
export const runs = () => ask<List>("GET", "/api/runs");
export const agents = async () => (await ask<{ agents: Agent[] }>("GET", "/api/agents")).agents;
export const jobs = async () => (await ask<{ jobs: Job[] }>("GET", "/api/jobs")).jobs;
/** `version` is that of the annotations shown when the user began to edit. */
export const annotateRun = (run: string, tags: string[], note: string, version: string) =>
  ask<Entry>("PUT", `/api/runs/${id(run)}/annotations`, { tags, note, version });
export const check = (what: { file: string } | { text: string }) => ask<Checked>("POST", "/api/check", what);
export const start = async (what: Start) => (await ask<{ job: string }>("POST", "/api/start", what)).job;
export const steer = (job: string, verb: "stop" | "pause" | "resume") =>
  ask<Job>("POST", `/api/jobs/${id(job)}/${verb}`);
export const annotate = (job: string, text: string) => ask<Job>("POST", `/api/jobs/${id(job)}/annotate`, { text });
export const level = (job: string, factor: number) => ask<Job>("POST", `/api/jobs/${id(job)}/level`, { factor });

export const reportOf = (run: string) => `/runs/${id(run)}`;
export const fileOf = (run: string) => `/runs/${id(run)}/file`;
export const comparisonOf = (a: string, b: string) => `/compare?a=${id(a)}&b=${id(b)}`;
export const liveOf = (run: string) => `/api/live/${id(run)}`;
