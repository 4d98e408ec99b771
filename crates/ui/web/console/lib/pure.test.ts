// Pure functions of the console: input, server messages, and times.
import { describe, expect, test } from "vitest";
import type { Chart, Mark } from "../../shared/chart";
import { refusal } from "./api";
import type { AgentRow, Entry, Job, Row } from "./contract";
import { argumentsOf, doubt, EMPTY, request, shellLine, spread, wrong, type Form } from "./form";
import { choose, goingOn, outcome, readTags, shown, sides, tagsOf } from "./list";
import { hold_ms, late, level, notes, silent, stale_s, START, step, type Live } from "./live";
import { shape } from "./shape";
import { bar } from "./stages";
import { ago, clock, date, machine, moment } from "./when";

const entry = (id: string, more: Partial<Entry> = {}): Entry => ({
  id,
  kind: "run",
  path: `runs/${id}.plim`,
  name: `run ${id}`,
  target: "http://127.0.0.1:8080",
  started_unix_ns: 1e18,
  duration_s: 10,
  verdict: "PASS",
  sentence: "",
  rate_per_s: 1,
  p99_ns: 1,
  p99_is_lower_bound: false,
  errors: 0,
  requests: 1,
  is_running: false,
  tags: [],
  annotations_version: "0",
  note: "",
  ...more,
});

const job = (more: Partial<Job> = {}): Job => ({
  id: "j",
  name: "",
  state: "running",
  run: null,
  command: [],
  exit_code: null,
  pending_action: null,
  rejection: null,
  output: "",
  elapsed_s: 0,
  planned_s: null,
  stages: [],
  run_number: null,
  run_count: null,
  ...more,
});

describe("when", () => {
  const NOW = 1_800_000_000_000;
  const past = (s: number) => ago((NOW / 1000 - s) * 1e9, NOW);

  test("a moment is told in the largest unit that is not a lie", () => {
    const said = [0, 12, 59, 60, 3599, 3600, 86_399, 86_400, 14 * 86_400].map(past);
    expect(said).toEqual([
      "just now",
      "12 s ago",
      "59 s ago",
      "1 min ago",
      "59 min ago",
      "1 h ago",
      "23 h ago",
      "1 day ago",
      "14 days ago",
    ]);
    expect(past(15 * 86_400)).toBe(`${date((NOW / 1000 - 15 * 86_400) * 1e9)} UTC`);
    expect(moment(1_800_000_000e9)).toBe("2027-01-15 08:00:00 UTC");
  });

  test("a clock that is ahead of ours is now, not the future", () => expect(past(-30)).toBe("just now"));

  test("a date that is none breaks nothing", () => expect(machine(Number.NaN)).toBe(""));

  test("courses are read from a clock", () => {
    expect([0, 7.9, 725, 3723].map(clock)).toEqual(["0:00", "0:07", "12:05", "1:02:03"]);
  });
});

describe("the list", () => {
  const all = [
    entry("a", { name: "Login", tags: ["slow"], started_unix_ns: 1 }),
    entry("b", { note: "after the LOGIN index", tags: ["slow", "db"], started_unix_ns: 3 }),
    entry("c", { verdict: "FAIL", started_unix_ns: 2 }),
  ];
  const ids = (entries: Entry[]) => entries.map((one) => one.id).join("");

  test("the newest stands first, whatever came first", () => expect(ids(shown(all, "", ""))).toBe("bca"));

  test("every word has to be somewhere, in any case and any field", () => {
    expect(ids(shown(all, "login", ""))).toBe("ba");
    expect(ids(shown(all, "login slow", ""))).toBe("ba");
    expect(ids(shown(all, "login db", ""))).toBe("b");
    expect(ids(shown(all, "fail", ""))).toBe("c");
    expect(ids(shown(all, "login", "db"))).toBe("b");
    expect(ids(shown(all, "nowhere", ""))).toBe("");
  });

  test("a badge and its sentence do not say the verdict twice", () => {
    expect(outcome(entry("a", { sentence: "PASS: 12 requests/s" }))).toBe("12 requests/s");
    expect(outcome(entry("a", { sentence: "FAIL: late", verdict: "PASS" }))).toBe("FAIL: late");
    expect(outcome(entry("a", { sentence: "null: x", verdict: null }))).toBe("null: x");
  });

  test("tags are counted, the commonest first", () =>
    expect(tagsOf(all)).toEqual([
      ["slow", 2],
      ["db", 1],
    ]));

  test("tags are read once each and without their spaces", () => {
    expect(readTags(" slow, release 2 ,slow,, ")).toEqual(["slow", "release 2"]);
  });

  test("a run of ours that is in the list too goes on once", () => {
    const entries = [entry("r", { is_running: true }), entry("t", { is_running: true }), entry("old")];
    const found = goingOn(entries, [job({ id: "j1", run: "r" }), job({ id: "j2", state: "ended", run: "old" })]);
    expect(found.map((one) => one.id)).toEqual(["j1", "t"]);
    expect(found[0]?.name).toBe("run r");
  });

  test("two are compared, and the older is A", () => {
    expect(choose(["a"], "a")).toEqual([]);
    expect(choose(["a", "b"], "c")).toEqual(["b", "c"]);
    expect(sides(["b", "a"], all)?.map((one) => one.id)).toEqual(["a", "b"]);
    expect(sides(["b"], all)).toBeNull();
    expect(sides(["b", "gone"], all)).toBeNull();
  });
});

describe("the form", () => {
  const form = (more: Partial<Form> = {}): Form => ({ ...EMPTY, url: "http://127.0.0.1:8080/", ...more });
  const line = (more: Partial<Form> = {}) => shellLine(argumentsOf(form(more)));

  test("the three kinds of load are three command lines", () => {
    const plain = { p99_ms: null, clients: 300, seconds: 20 };
    expect(line({ ...plain, load: "clients_per_second" })).toBe(
      "plimsoll http://127.0.0.1:8080/ --rate=300/s --duration=20s",
    );
    expect(line({ ...plain, load: "clients_per_test" })).toBe(
      "plimsoll http://127.0.0.1:8080/ --rate=15/s --duration=20s",
    );
    expect(line({ ...plain, load: "maintained" })).toBe(
      "plimsoll http://127.0.0.1:8080/ --connections=300 --duration=20s",
    );
  });

  test("what a shell would take apart stands in quotes", () => {
    expect(line({ url: "http://127.0.0.1/?a=1&b='x'" })).toBe(
      "plimsoll 'http://127.0.0.1/?a=1&b='\\''x'\\''' --rate=100/s --duration=15s " +
        "'--threshold=response_time p99 < 500ms'",
    );
  });

  test("headers and a body are sent as they are, and the name of a file is refused", () => {
    const more = { method: "POST", p99_ms: null, headers: " Content-Type: text/plain \n\n", body: "a b" };
    expect(line(more)).toBe(
      "plimsoll http://127.0.0.1:8080/ --method=POST '--header=Content-Type: text/plain' '--body=a b' " +
        "--rate=100/s --duration=15s",
    );
    expect(request(form(more))).toMatchObject({ headers: "Content-Type: text/plain", body: "a b" });
    expect(wrong(form({ body: "@file" })).body).toContain("names a file");
    expect(wrong(form({ headers: "no colon" })).headers).toContain("colon");
  });

  test("everything that was filled in is in the line and in what is sent", () => {
    const more = { method: "POST", timeout_s: 2, allow: " api.example.com ", name: " mine ", p99_ms: 80 };
    expect(line(more)).toBe(
      "plimsoll http://127.0.0.1:8080/ --method=POST --rate=100/s --duration=15s --timeout=2s " +
        "'--threshold=response_time p99 < 80ms' --name=mine --allow=api.example.com",
    );
    expect(request(form(more))).toEqual({
      kind: "form",
      url: "http://127.0.0.1:8080/",
      method: "POST",
      load: "clients_per_second",
      clients: 100,
      duration_s: 15,
      threshold: "response_time p99 < 80ms",
      timeout_s: 2,
      allow: "api.example.com",
      name: "mine",
    });
  });

  test("a rate is short and means the same arrivals", () => {
    expect([spread(100, 6), spread(300, 20), spread(1, 30)]).toEqual([16.666, 15, 0.033333]);
    expect(line({ load: "clients_per_test", seconds: 6, p99_ms: null })).toContain(" --rate=16.666/s ");
  });

  test("a plan with too few requests for its p99 is reported", () => {
    expect(doubt(form({ load: "clients_per_test", clients: 100 }))).toContain("INCONCLUSIVE");
    expect(doubt(form({ load: "clients_per_test", clients: 1000 }))).toBeNull();
    expect(doubt(form({ load: "clients_per_second", clients: 10, seconds: 15 }))).toContain("only 150");
    expect(doubt(form({ load: "clients_per_test", clients: 100, p99_ms: null }))).toBeNull();
    expect(doubt(form({ load: "maintained", clients: 1 }))).toBeNull();
  });

  test("what was left out is not sent", () => {
    const sent = request(form({ p99_ms: null }));
    expect(Object.keys(sent).sort()).toEqual(["clients", "duration_s", "kind", "load", "url"]);
  });

  test("mistakes are found before anything is sent", () => {
    expect(wrong(form())).toEqual({});
    const bad = { url: "127.0.0.1:8080", clients: 0.5, seconds: 0, p99_ms: -1, timeout_s: 0, allow: "a b" };
    expect(Object.keys(wrong(form(bad))).sort()).toEqual(Object.keys(bad).sort());
    expect(wrong(form({ url: "file:///etc/hosts" })).url).toContain("http://");
    expect(wrong(form({ url: " " })).url).toContain("enter a URL");
    expect(wrong(form({ clients: null, seconds: null }))).toHaveProperty("clients");
  });
});

describe("the shape of a load", () => {
  test("per test it climbs to all clients at the end", () => {
    expect(shape("clients_per_test", 300, 20)).toMatchObject({
      points: [
        [0, 0],
        [20, 300],
      ],
      sentence: "300 clients within 20 s: 15 per second.",
    });
  });

  test("per second it is a column each second, and no wall of them", () => {
    expect(shape("clients_per_second", 100, 15)?.points).toHaveLength(15);
    expect(shape("clients_per_second", 100, 3600)?.points).toHaveLength(60);
    expect(shape("clients_per_second", 100, 15)?.sentence).toContain("1,500 in total");
  });

  test("maintained it is level", () => {
    expect(shape("maintained", 50, 10)?.points).toEqual([
      [0, 50],
      [10, 50],
    ]);
  });

  test("without numbers there is none", () => {
    expect(shape("maintained", 0, 10)).toBeNull();
    expect(shape("maintained", 5, Number.NaN)).toBeNull();
    expect(shape("clients_per_second", 1e300, 1e300)).toBeNull();
  });
});

describe("the stage bar", () => {
  const stages = [
    { from_s: 0, to_s: 20, label: "up" },
    { from_s: 20, to_s: 50, label: "hold" },
  ];

  test("each part lies where its time is, and one of them is now", () => {
    const drawn = bar(job({ planned_s: 50, stages }), 30);
    expect(drawn.parts.map((part) => [part.from, part.to, part.when])).toEqual([
      [0, 0.4, "past"],
      [0.4, 1, "now"],
    ]);
    expect([drawn.now, drawn.left_s]).toEqual([0.6, 20]);
  });

  test("a part ends in the second in which the next begins", () => {
    expect(bar(job({ planned_s: 50, stages }), 20).parts.map((part) => part.when)).toEqual(["past", "now"]);
  });

  test("a run that takes longer does not leave the bar", () => {
    expect(bar(job({ planned_s: 50, stages }), 80)).toMatchObject({ now: 1, left_s: 0 });
  });

  test("a plan without stages is one part, one without an end is none", () => {
    expect(bar(job({ planned_s: 10 }), 5).parts).toHaveLength(1);
    expect(bar(job(), 5)).toEqual({ parts: [], now: 0, left_s: null });
  });
});

describe("a live run", () => {
  const axis = { label: "", unit: "seconds", scale: "linear", from: null, to: null } as const;
  const chart = (xs: number[] = [], marks: Mark[] = []): Chart => ({
    id: "timeline",
    title: "",
    subtitle: "",
    help: "",
    x: axis,
    xs,
    marks,
    group: "time",
    panels: [
      {
        id: "rate",
        y: axis,
        stacked: false,
        series: [
          { id: "achieved", name: "", color: 0, form: "line", y: xs.map(() => 1) },
          { id: "p99", name: "", color: 1, form: "range", y: [...xs], low: [...xs], high: [...xs] },
        ],
      },
    ],
  });
  const tiles = {
    rate_per_s: 1,
    p50_ns: 1,
    p99_ns: 1e6,
    max_ns: 1e6,
    p50_is_lower_bound: false,
    p99_is_lower_bound: false,
    max_is_lower_bound: false,
    errors: 0,
    in_flight: 0,
    requests: 1,
    elapsed_s: 1,
    schedule_lag_p99_ns: 1,
    busy_ratio: 0,
  };
  const row = (x: number): Row => ({ x, values: { timeline: { achieved: 10 * x } }, tiles });
  const note = (at: number, word: string, kind: Mark["kind"] = "note"): Mark => ({ at, word, kind });
  const begun = (xs: number[]) => step(START, { kind: "charts", charts: [chart(xs)] }, 0)[0];

  test("rows grow the series they name; the others have a gap there", () => {
    const [live, effect] = step(begun([1, 2]), { kind: "row", row: row(3) }, 5);
    expect(effect).toEqual({ kind: "push", row: row(3) });
    const [achieved, p99] = live.charts[0]?.panels[0]?.series ?? [];
    expect(live.charts[0]?.xs).toEqual([1, 2, 3]);
    expect(achieved?.y).toEqual([1, 1, 30]);
    expect([p99?.y, p99?.low, p99?.high]).toEqual([
      [1, 2, null],
      [1, 2, null],
      [1, 2, null],
    ]);
    expect([live.last_x, live.last_at]).toEqual([3, 5]);
  });

  test("one who opens it late, or again, has the whole course and no second twice", () => {
    const [again] = step(begun([1]), { kind: "charts", charts: [chart([1, 2, 3])] }, 9);
    const [live, effect] = step(again, { kind: "row", row: row(3) }, 10);
    expect(effect.kind).toBe("none");
    expect(live.charts[0]?.xs).toEqual([1, 2, 3]);
    // The last row is sent again after the charts, because it contains the tiles.
    expect(live.tiles).toEqual(tiles);
    const [, older] = step(live, { kind: "row", row: row(2) }, 11);
    expect(older.kind).toBe("none");
  });

  test("a note stands in the charts once, and among the notes", () => {
    let live = begun([1]);
    [live] = step(live, { kind: "mark", mark: note(2, "later") }, 0);
    [live] = step(live, { kind: "mark", mark: note(1, "cache emptied") }, 0);
    [live] = step(live, { kind: "mark", mark: note(1, "cache emptied") }, 0);
    [live] = step(live, { kind: "mark", mark: note(0, "to 100/s", "stage") }, 0);
    expect(live.charts[0]?.marks).toHaveLength(3);
    expect(notes(live).map((mark) => mark.word)).toEqual(["cache emptied", "later"]);
    // A growing mark is sent with its previous word.
    for (const [word, replaces] of [["held for 1 s"], ["held for 2 s", "held for 1 s"], ["held for 3 s", "held for 2 s"]])
      [live] = step(live, { kind: "mark", mark: { ...note(3, word!, "control"), ...(replaces && { replaces }) } }, 0);
    expect(notes(live).map((mark) => mark.word)).toEqual(["cache emptied", "later", "held for 3 s"]);
    expect(live.charts[0]?.marks).toHaveLength(4);
  });

  test("a run that begins has no figures of the one before it", () => {
    const [one] = step(begun([1]), { kind: "row", row: row(2) }, 0);
    const [next] = step(one, { kind: "charts", charts: [chart()], run_number: 3, run_count: 6 }, 1);
    expect([one.tiles, next.tiles, next.run_number, next.run_count]).toEqual([tiles, null, 3, 6]);
  });

  test("what the load was set to by hand is what goes on", () => {
    let live = begun([1]);
    expect(level(live)).toBeNull();
    for (const [at, to] of [[1, "110/s (110% of the plan)"], [2, "99/s (99% of the plan)"]] as const)
      [live] = step(live, { kind: "mark", mark: note(at, `load changed manually to ${to}`, "control") }, 0);
    expect(level(live)).toBe("99/s (99% of the plan)");
  });

  test("silence is said after some seconds, but not of a run that is held or over", () => {
    const live: Live = { ...begun([1]), last_at: 1000, job: job() };
    expect([2000, 4900, 8000].map((now) => stale_s(live, now))).toEqual([null, null, 7]);
    expect(stale_s({ ...live, job: job({ state: "paused" }) }, 8000)).toBeNull();
    expect(stale_s({ ...live, ended: true }, 8000)).toBeNull();
    expect(stale_s(START, 8000)).toBeNull();
  });

  test("its end says where the report is", () => {
    expect(step(begun([1]), { kind: "ended", run: "r" }, 0)[0]).toMatchObject({ ended: true, run: "r" });
  });

  test("a long course is drawn less often, a usual one each second", () => {
    const hours = (n: number) => hold_ms(chart(Array.from({ length: n * 3600 }, (_, i) => i)));
    expect(hours(1)).toBeLessThan(1000);
    expect(hours(9)).toBeGreaterThan(1000);
    expect(hold_ms(chart())).toBe(0);
  });

  test("the generator is late when that spoils the times, not before", () => {
    expect(late({ ...tiles, schedule_lag_p99_ns: 9e5 })).toBe(false);
    expect(late({ ...tiles, schedule_lag_p99_ns: 2e6 })).toBe(true);
    expect(late({ ...tiles, schedule_lag_p99_ns: 2e6, p99_ns: 1.5e7 })).toBe(true);
    expect(late({ ...tiles, schedule_lag_p99_ns: 2e6, p99_ns: 1e8 })).toBe(false);
    expect(late({ ...tiles, schedule_lag_p99_ns: null })).toBe(false);
  });
});

describe("a refusal", () => {
  test("is the server's sentence and mend", () => {
    const said = refusal(409, '{"error":"another run is going on","help":"wait for it"}');
    expect([said.message, said.help, said.status]).toEqual(["another run is going on", "wait for it", 409]);
  });

  test("without them is what the status says", () => {
    expect(refusal(409, '{"error":"meanwhile","help":"","version":"a1"}').version).toBe("a1");
    expect(refusal(500, "<html>").message).toBe("the server responded with HTTP 500");
    expect(refusal(500, "null").message).toBe("the server responded with HTTP 500");
    expect(refusal(401, "<html>").help).toContain("printed");
  });
});

describe("agents", () => {
  const agent = (name: string, elapsed_s: number, more: Partial<AgentRow> = {}): AgentRow => ({
    name,
    labels: {},
    start_delay_ns: 0,
    clock_bound_ns: 1,
    elapsed_s,
    requests: 1,
    errors: 0,
    ...more,
  });

  test("the newest second of each replaces the one before", () => {
    const [live, effect] = step(START, { kind: "agents", agents: [agent("a", 1), agent("b", 1)] }, 0);
    expect(effect).toEqual({ kind: "none" });
    const [later] = step(live, { kind: "agents", agents: [agent("a", 2), agent("b", 2)] }, 0);
    expect(later.agents.map((row) => row.elapsed_s)).toEqual([2, 2]);
  });

  test("one that is some seconds behind is silent, unless it has ended", () => {
    const all = [agent("a", 9), agent("b", 6), agent("c", 7), agent("d", 2, { has_ended: true })];
    expect(all.map((row) => silent(row, all))).toEqual([false, true, false, false]);
  });

  test("a form may name agents, with the server of the console", () => {
    const form = (agents: string): Form => ({ ...EMPTY, url: "http://127.0.0.1/", agents });
    expect(request(form(" a,b ")).agents).toBe("a,b");
    expect(request(form("")).agents).toBeUndefined();
    expect(argumentsOf(form("2")).slice(-2)).toEqual(["--agents=2", "--nats=URL"]);
    expect(argumentsOf(form("local:2")).at(-1)).toBe("--agents=local:2");
    expect(wrong(form("a b")).agents).toContain("enter a number");
  });
});
