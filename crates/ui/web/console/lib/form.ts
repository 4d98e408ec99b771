// The form as a value: its errors, its request, and the equivalent command line. The server builds the arguments
// itself; the line here is shown to the user, who may continue in a terminal.
import type { FormStart, Load } from "./contract";
import { count } from "./figures";

export interface Form {
  url: string;
  method: string;
  load: Load;
  clients: number | null;
  seconds: number | null;
  /** ms; `null` for no threshold. */
  p99_ms: number | null;
  /** s; `null` for the default. */
  timeout_s: number | null;
  allow: string;
  name: string;
  /** One `Name: value` per line. */
  headers: string;
  body: string;
  /** Agents that send the load; empty for the console's machine. */
  agents: string;
}

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** A load that most services can handle, short enough to repeat. */
export const EMPTY: Form = {
  url: "",
  method: "GET",
  load: "clients_per_second",
  clients: 100,
  seconds: 15,
  p99_ms: 500,
  timeout_s: null,
  allow: "",
  name: "",
  headers: "",
  body: "",
  agents: "",
};

/** Error with its fix, by field. */
export type Wrong = Partial<Record<keyof Form, string>>;

export function wrong(form: Form): Wrong {
  const found: Wrong = {};
  const url = URL.canParse(form.url.trim()) ? new URL(form.url.trim()) : null;
  if (form.url.trim() === "") found.url = "enter a URL, such as http://127.0.0.1:8080/";
  else if (!url) found.url = "invalid URL: include the scheme, such as http://127.0.0.1:8080/";
  else if (url.protocol !== "http:" && url.protocol !== "https:")
    found.url = "unsupported scheme: use http:// or https://";
  if (!whole(form.clients)) found.clients = "enter a whole number of clients, 1 or more";
  if (!(Number(form.seconds) > 0)) found.seconds = "enter a duration above 0 s";
  if (form.p99_ms !== null && !(form.p99_ms > 0)) found.p99_ms = "enter a time above 0 ms, or leave it empty";
  if (form.timeout_s !== null && !(form.timeout_s > 0)) found.timeout_s = "enter a time above 0 s, or leave it empty";
  const odd = headerLines(form).find((line) => !/^[^\s:]+:/.test(line));
  if (odd !== undefined) found.headers = `invalid header \`${odd}\`: use a name and a colon, such as Accept: text/html`;
  if (form.body.startsWith("@")) found.body = "a body must not begin with @, which names a file; use an experiment file";
  if (/\s/.test(form.agents.trim())) found.agents = "enter a number, names (a,b), a label (region=eu), or local:2";
  if (/\s/.test(form.allow.trim())) found.allow = "enter one host name, such as api.example.com";
  return found;
}

const headerLines = (form: Form) =>
  form.headers
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const whole = (n: number | null) => n !== null && Number.isInteger(n) && n >= 1;

/** Returns the threshold, such as `response_time p99 < 500ms`, if there is a limit. */
export function threshold(form: Form): string | undefined {
  return form.p99_ms === null ? undefined : `response_time p99 < ${form.p99_ms}ms`;
}

/** Returns the request of a valid form. */
export function request(form: Form): FormStart {
  const out: FormStart = {
    kind: "form",
    url: form.url.trim(),
    load: form.load,
    clients: form.clients ?? 0,
    duration_s: form.seconds ?? 0,
  };
  if (form.method !== "GET") out.method = form.method;
  const rule = threshold(form);
  if (rule !== undefined) out.threshold = rule;
  if (form.timeout_s !== null) out.timeout_s = form.timeout_s;
  if (form.allow.trim()) out.allow = form.allow.trim();
  if (form.name.trim()) out.name = form.name.trim();
  if (headerLines(form).length > 0) out.headers = headerLines(form).join("\n");
  if (form.body) out.body = form.body;
  if (form.agents.trim()) out.agents = form.agents.trim();
  return out;
}

/** Returns the shortest rate with exactly `n` arrivals within `seconds`, to 0.01%, like the server's `spread`. */
export function spread(n: number, seconds: number): number {
  const exact = n / seconds;
  for (let digits = 0; digits <= 9; digits += 1) {
    const scale = 10 ** digits;
    const rate = Math.floor(exact * scale) / scale;
    const same = rate > 0 && (n - 1) / rate < seconds && n / rate >= seconds;
    if (same && exact - rate <= exact / 1e4) return rate;
  }
  return exact;
}

/** The percentile of the threshold: p99. */
const LIMITED = 0.99;
/** A percentile q requires 10 / (1 - q) samples; with fewer, the run is inconclusive. */
export const SAMPLES_LEAST = Math.round(10 / (1 - LIMITED));

/** Returns a warning if the run must be inconclusive. The number of requests of a maintained load is unknown. */
export function doubt(form: Form): string | null {
  const [n, seconds] = [form.clients ?? 0, form.seconds ?? 0];
  const sent = form.load === "clients_per_test" ? n : n * seconds;
  if (form.p99_ms === null || form.load === "maintained" || !(sent > 0) || sent >= SAMPLES_LEAST) return null;
  const least = count(SAMPLES_LEAST);
  const all = count(Math.floor(sent));
  return `The run will be INCONCLUSIVE: p99 requires ${least} requests, but this load sends only ${all}.`;
}

/** Returns the arguments of the same run in a terminal, in the server's order. */
export function argumentsOf(form: Form): string[] {
  const [n, seconds] = [form.clients ?? 0, form.seconds ?? 0];
  const out = ["plimsoll", form.url.trim() || "URL"];
  if (form.method !== "GET") out.push(`--method=${form.method}`);
  for (const line of headerLines(form)) out.push(`--header=${line}`);
  if (form.body) out.push(`--body=${form.body}`);
  if (form.load === "maintained") out.push(`--connections=${n}`);
  // Clients per test become a rate: the same number spread over the duration.
  else out.push(`--rate=${form.load === "clients_per_second" || seconds === 0 ? n : spread(n, seconds)}/s`);
  out.push(`--duration=${seconds}s`);
  if (form.timeout_s !== null) out.push(`--timeout=${form.timeout_s}s`);
  const rule = threshold(form);
  if (rule !== undefined) out.push(`--threshold=${rule}`);
  if (form.name.trim()) out.push(`--name=${form.name.trim()}`);
  if (form.allow.trim()) out.push(`--allow=${form.allow.trim()}`);
  if (form.agents.trim()) {
    out.push(`--agents=${form.agents.trim()}`);
    // The console adds the address and the credentials of its server.
    if (!form.agents.trim().startsWith("local:")) out.push("--nats=URL");
  }
  return out;
}

/** Returns the words for a shell, in single quotes where needed. */
export function shellLine(words: string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
