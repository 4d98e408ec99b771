// The small form as a value: what is missing in it, what is sent, and the command line that says the same. The server
// builds the arguments itself; the line here is for reading, and for those who go on in a terminal.
import type { FormStart, Load } from "./contract";
import { count } from "./figures";

export interface Form {
  url: string;
  method: string;
  load: Load;
  clients: number | null;
  seconds: number | null;
  /** ms; `null`: no threshold on times. */
  p99_ms: number | null;
  /** s; `null`: the tool's own. */
  timeout_s: number | null;
  allow: string;
  name: string;
  /** One `Name: value` a line. */
  headers: string;
  body: string;
}

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** As much as most services bear, short enough to try again at once. */
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
};

/** By field: what is wrong with it and how to mend it. */
export type Wrong = Partial<Record<keyof Form, string>>;

export function wrong(form: Form): Wrong {
  const found: Wrong = {};
  const url = URL.canParse(form.url.trim()) ? new URL(form.url.trim()) : null;
  if (form.url.trim() === "") found.url = "an address is missing, such as http://127.0.0.1:8080/";
  else if (!url) found.url = "this is no address; it needs the scheme too, such as http://127.0.0.1:8080/";
  else if (url.protocol !== "http:" && url.protocol !== "https:")
    found.url = "only http:// and https:// can be loaded";
  if (!whole(form.clients)) found.clients = "a whole number of clients, 1 or more";
  if (!(Number(form.seconds) > 0)) found.seconds = "a length above 0 s";
  if (form.p99_ms !== null && !(form.p99_ms > 0)) found.p99_ms = "a time above 0 ms, or nothing";
  if (form.timeout_s !== null && !(form.timeout_s > 0)) found.timeout_s = "a time above 0 s, or nothing";
  const odd = headerLines(form).find((line) => !/^[^\s:]+:/.test(line));
  if (odd !== undefined) found.headers = `\`${odd}\` needs a name and a colon, such as Accept: text/html`;
  if (form.body.startsWith("@")) found.body = "a body that begins with @ names a file: use an experiment file";
  if (/\s/.test(form.allow.trim())) found.allow = "one host name, such as api.example.com";
  return found;
}

const headerLines = (form: Form) =>
  form.headers
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const whole = (n: number | null) => n !== null && Number.isInteger(n) && n >= 1;

/** `response_time p99 < 500ms`; absent without a limit. */
export function threshold(form: Form): string | undefined {
  return form.p99_ms === null ? undefined : `response_time p99 < ${form.p99_ms}ms`;
}

/** What is sent; only for a form without mistakes. */
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
  return out;
}

/** The shortest rate at which exactly `n` arrive within `seconds`, in the same rhythm to 0.01 %: as the server's. */
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

/** p99. */
const LIMITED = 0.99;
/** A percentile q is told from 10 / (1 - q) samples on: fewer leave a run without a verdict. */
export const SAMPLES_LEAST = Math.round(10 / (1 - LIMITED));

/** What the plan itself makes sure to end in doubt; `null`: nothing. How much a maintained load sends nobody knows. */
export function doubt(form: Form): string | null {
  const [n, seconds] = [form.clients ?? 0, form.seconds ?? 0];
  const sent = form.load === "clients_per_test" ? n : n * seconds;
  if (form.p99_ms === null || form.load === "maintained" || !(sent > 0) || sent >= SAMPLES_LEAST) return null;
  const least = count(SAMPLES_LEAST);
  const all = count(Math.floor(sent));
  return `${all} answers are too few for a p99, which takes ${least}: the run will end INCONCLUSIVE.`;
}

/** The arguments of the same run in a terminal, in the server's order. */
export function argumentsOf(form: Form): string[] {
  const [n, seconds] = [form.clients ?? 0, form.seconds ?? 0];
  const out = ["plimsoll", form.url.trim() || "URL"];
  if (form.method !== "GET") out.push(`--method=${form.method}`);
  for (const line of headerLines(form)) out.push(`--header=${line}`);
  if (form.body) out.push(`--body=${form.body}`);
  if (form.load === "maintained") out.push(`--connections=${n}`);
  // Per test: the same number spread over the time, so a rate.
  else out.push(`--rate=${form.load === "clients_per_second" || seconds === 0 ? n : spread(n, seconds)}/s`);
  out.push(`--duration=${seconds}s`);
  if (form.timeout_s !== null) out.push(`--timeout=${form.timeout_s}s`);
  const rule = threshold(form);
  if (rule !== undefined) out.push(`--threshold=${rule}`);
  if (form.name.trim()) out.push(`--name=${form.name.trim()}`);
  if (form.allow.trim()) out.push(`--allow=${form.allow.trim()}`);
  return out;
}

/** As a shell takes it: what a shell would read otherwise stands in single quotes. */
export function shellLine(words: string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
