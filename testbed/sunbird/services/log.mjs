// The log-heavy service: everything that comes and goes, formatted and written before the answer may leave. It stands
// for appenders that block their caller, which the original found in several of its services.
import { ftruncateSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A file that grew this large begins anew: a long run must not fill the disk. */
const LARGEST_BYTES = 64 << 20;

export function openLog(name) {
  const file = openSync(join(process.env.LOG_FOLDER ?? ".", name), "a");
  let written = 0;
  return {
    write(request, body, status, answer) {
      const { method, url, headers } = request;
      const entry = { at: new Date().toISOString(), level: "DEBUG", method, url, headers, status };
      entry.body = body?.toString("latin1");
      entry.answer = answer;
      written += writeSync(file, `${JSON.stringify(entry, null, 2)}\n`);
      if (written > LARGEST_BYTES) {
        ftruncateSync(file, 0);
        written = 0;
      }
    },
  };
}
