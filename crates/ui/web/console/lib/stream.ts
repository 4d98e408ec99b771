// The server's stream of a live run as messages. Reconnects automatically, even where EventSource stops (a restarted
// server first responds with an error).
import type { Chart } from "../../shared/chart";
import { liveOf } from "./api";
import type { AgentRow, Job, Row } from "./contract";
import type { Message, Told } from "./live";

/** Delays between attempts, ms. */
const WAITS = [500, 1000, 2000, 4000];

export interface Listener {
  message(message: Message): void;
  /** Called when the connection opens or breaks. */
  line(open: boolean): void;
}

/** Starts to listen; the returned function stops it. */
export function listen(id: string, to: Listener): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let over = false;

  const open = () => {
    const line = new EventSource(liveOf(id));
    source = line;
    const on = <T>(event: string, read: (data: T) => Message) =>
      line.addEventListener(event, (e: MessageEvent<string>) => {
        to.message(read(JSON.parse(e.data) as T));
      });
    line.onopen = () => {
      failures = 0;
      to.line(true);
    };
    line.onerror = () => {
      to.line(false);
      if (over || line.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, WAITS[Math.min(failures, WAITS.length - 1)]);
      failures += 1;
    };
    on<{ charts: Chart[]; turn?: number | null; turns?: number | null }>("charts", (all) => ({
      kind: "charts",
      ...all,
    }));
    on<Row>("row", (row) => ({ kind: "row", row }));
    on<Told>("mark", (mark) => ({ kind: "mark", mark }));
    on<Job>("job", (job) => ({ kind: "job", job }));
    on<{ agents: AgentRow[] }>("agents", ({ agents }) => ({ kind: "agents", agents }));
    on<{ run: string | null }>("ended", ({ run }) => {
      close();
      return { kind: "ended", run };
    });
  };

  const close = () => {
    over = true;
    clearTimeout(timer);
    source?.close();
  };

  open();
  return close;
}
