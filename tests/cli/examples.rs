//! Every example runs as it stands, but for the port of its target, and does what its first line says.

use crate::support::peers::{Nginx, Options};
use crate::support::{Ruler, Scratch, Tool, run_alongside};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

// The crate root is shared; this tests the pages about the examples as well.
#[path = "guide.rs"]
mod guide;

/// What an example must have done, in addition to running without an error.
struct Idea {
    file: &'static str,
    least_requests: u64,
    shows: fn(&Seen),
}

/// One run: what the tool reports, and what the server counted.
struct Seen {
    json: Value,
    server: Value,
}

impl Seen {
    #[track_caller]
    fn number(&self, pointer: &str) -> u64 {
        let value = self.json.pointer(pointer).and_then(Value::as_u64);
        value.unwrap_or_else(|| panic!("no number at {pointer}: {:?}", self.json.pointer(pointer)))
    }

    fn rows(&self, name: &str) -> &[Value] {
        self.json[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// The row of this name.
    #[track_caller]
    fn row(&self, table: &str, name: &str) -> &Value {
        let row = self.rows(table).iter().find(|row| row["name"] == name);
        row.unwrap_or_else(|| panic!("`{table}` has no row `{name}`: {}", self.json[table]))
    }

    #[track_caller]
    fn requests_of(&self, table: &str, name: &str) -> u64 {
        self.row(table, name)["requests"].as_u64().expect("a count")
    }

    /// Requests of this path that the server received.
    fn received(&self, path: &str) -> u64 {
        self.server["by_path"][path].as_u64().unwrap_or(0)
    }

    /// The setup gives the ruler two workers of 10 ms: 200/s. Alongside other tests, a step of one second may fail far
    /// below that; the tests of `find` and of ladders check how precise a search is.
    #[track_caller]
    fn carries_no_more_than_it_can(&self) {
        let rate = self.json.pointer("/capacity/rate_per_s").and_then(Value::as_f64);
        assert!(rate.is_none_or(|rate| (50.0..205.0).contains(&rate)), "{}", self.json["capacity"]);
    }

    #[track_caller]
    fn checks_held(&self, at_least: usize) {
        let rows = self.rows("checks");
        assert!(rows.len() >= at_least, "{} kinds of check, expected {at_least}: {rows:?}", rows.len());
        for row in rows {
            assert!(row["evaluations"].as_u64() > Some(0), "never made: {row}");
            assert_eq!(row["failures"], 0, "{row}");
        }
    }
}

const fn idea(file: &'static str, least_requests: u64, shows: fn(&Seen)) -> Idea {
    Idea { file, least_requests, shows }
}

/// Requests in one answer's time of the stop may be missing from counts that are exact otherwise.
const EDGE: u64 = 20;

const IDEAS: &[Idea] = &[
    idea("arrivals-over-time.yaml", 990, |seen| assert_eq!(seen.number("/offered/arrivals"), 1000)),
    idea("checks.yaml", 300, |seen| {
        seen.checks_held(10);
        assert!(seen.number("/status_codes/404") > 50, "an expected status is not an error");
    }),
    idea("choose-and-conditions.yaml", 200, |seen| {
        let [often, seldom] = ["/items", "/search"].map(|path| seen.received(path));
        assert!(often > seldom && seldom > 0, "{often} to {seldom}");
        assert!(seen.received("/orders") > 0 && seen.received("/bye") > 0, "both branches");
        // A new user's cart needs three looks, an old one's a single one.
        assert!(seen.received("/cart") >= seen.received("/orders") + seen.received("/bye"));
        assert!(seen.received("/pixel") > seen.received("/bye"));
    }),
    idea("connections.yaml", 500, |seen| {
        let (opened, requests) = (seen.server["accepted"].as_u64().unwrap(), seen.number("/totals/requests"));
        assert!(opened >= requests / 50, "{opened} connections for {requests} requests of 50 each at most");
    }),
    idea("cookies.yaml", 200, |seen| {
        seen.checks_held(1);
        assert_eq!(seen.server["carts_opened"], 10, "a session for each user");
    }),
    idea("data-csv.yaml", 380, |seen| seen.checks_held(1)),
    idea("data-unique-once.yaml", 120, |seen| {
        assert_eq!(seen.number("/totals/requests"), 120, "one for each voucher");
        assert_eq!(seen.number("/totals/users_out_of_data"), 4);
    }),
    idea("exact-mix.yaml", 380, |seen| {
        let [read, write] = ["read", "write"].map(|name| seen.requests_of("scenarios", name));
        assert!(read.abs_diff(3 * write) <= 4, "{read} to {write}");
    }),
    idea("extract-and-reuse.yaml", 200, |seen| seen.checks_held(2)),
    idea("find.yaml", 500, |seen| {
        // Three levels at the least: one met, one missed, and one between them.
        let steps = seen.rows("steps").len();
        assert!(steps >= 3, "{steps}");
        seen.carries_no_more_than_it_can();
    }),
    idea("forms.yaml", 100, |seen| seen.checks_held(2)),
    idea("generate-data.yaml", 380, |seen| seen.checks_held(1)),
    idea("graphql.yaml", 200, |seen| seen.checks_held(3)),
    idea("groups-and-names.yaml", 300, |seen| {
        let group = seen.row("groups", "checkout");
        assert!(group["passages"].as_u64() >= Some(100), "{group}");
        assert_eq!(seen.rows("requests").len(), 3, "a thousand paths in one row");
    }),
    idea("grpc.yaml", 400, |seen| {
        seen.checks_held(4);
        assert!(seen.received("/shop.v1.Shop/PutItem") >= seen.number("/totals/requests"));
        assert_eq!(seen.json["metrics"][0]["series"][0]["labels"]["status"], "OK");
    }),
    idea("gzip-body-file.yaml", 180, |seen| seen.checks_held(4)),
    idea("http10.yaml", 190, |seen| {
        assert!(seen.server["accepted"].as_u64() >= Some(seen.number("/totals/requests")));
    }),
    idea("https.yaml", 300, |seen| {
        let (handshakes, requests) = (seen.number("/tls/handshakes"), seen.number("/totals/requests"));
        assert!(handshakes >= requests / 10, "{handshakes} handshakes for {requests} requests");
        assert_eq!(seen.number("/tls/resumptions"), 0);
    }),
    idea("ladder.yaml", 300, |seen| {
        assert_eq!(seen.json["style"], "ladder");
        seen.carries_no_more_than_it_can();
    }),
    idea("login-and-token.yaml", 200, |seen| {
        assert_eq!(seen.received("/token"), 10, "each user logs in once");
        assert!(seen.server["secure_accepted"].as_u64() > Some(100));
        assert_eq!(seen.server["secure_rejected"], 0);
        seen.checks_held(2);
    }),
    idea("logins.yaml", 250, |seen| {
        seen.checks_held(2);
        assert_eq!(seen.received("/login"), 1, "one token for all users");
        assert!(seen.received("/orders") > 50);
    }),
    idea("made-values.yaml", 200, |seen| {
        seen.checks_held(2);
        assert!(seen.received("/took") > 50, "a time of a request is a value");
    }),
    idea("many-streams.yaml", 300, |seen| {
        let row = seen.row("streams", "broadcast");
        assert!(row["events"].as_u64() >= Some(600), "{row}");
        assert_eq!(row["events_lost"], 0, "{row}");
        assert!(seen.server["streams_opened"].as_u64() >= Some(300));
    }),
    idea("monitors.yaml", 500, |seen| {
        let watches = seen.json["plan"]["monitors"].as_array().map_or(0, Vec::len);
        assert_eq!((watches, seen.json["plan"]["system_under_test"].as_array().map(Vec::len)), (3, Some(2)));
    }),
    idea("multipart-upload.yaml", 100, |seen| seen.checks_held(1)),
    idea("pages-and-schemas.yaml", 200, |seen| {
        seen.checks_held(9);
        assert!(seen.received("/items/7") > 50);
    }),
    idea("parallel.yaml", 600, |seen| {
        assert_eq!(seen.number("/totals/iterations"), 100);
        assert_eq!(seen.received("/script.js.map"), 100);
        assert_eq!(seen.row("groups", "parts")["passages"], 100);
    }),
    idea("parts.yaml", 500, |seen| {
        let parts = seen.rows("parts");
        let names: Vec<&str> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
        assert_eq!(names, ["sweep", "shared", "arrivals"]);
        assert_eq!(parts[0]["report"]["runs"], 3, "{}", parts[0]);
    }),
    idea("poisson.yaml", 1000, |seen| assert_eq!(seen.json["totals"]["warmup_s"], 1.0)),
    idea("redirects.yaml", 280, |seen| {
        assert!(seen.number("/totals/redirects") >= 90);
        assert!(seen.number("/totals/redirects").abs_diff(seen.received("/new")) <= EDGE);
        seen.checks_held(3);
    }),
    idea("replay.yaml", 280, |seen| assert_eq!(seen.number("/offered/arrivals"), 290)),
    idea("scenarios-with-own-loads.yaml", 500, |seen| {
        let visitors = seen.requests_of("scenarios", "visitors");
        assert!((440..=460).contains(&visitors), "{visitors}");
        assert!(seen.requests_of("scenarios", "batch") > 50);
    }),
    idea("schedule.yaml", 1000, |seen| assert_eq!(seen.json["workloads"][0]["peak"], 30.0)),
    idea("secrets-and-env.yaml", 190, |seen| {
        seen.checks_held(1);
        assert_eq!(seen.json["name"], "north, with a key");
        assert!(!seen.json.to_string().contains("k-4711"), "the secret is shown");
    }),
    idea("sequence.yaml", 300, |seen| assert_eq!(seen.rows("requests").len(), 3)),
    idea("setup-teardown.yaml", 380, |seen| {
        assert_eq!(seen.received("/token"), 1);
        assert!(seen.server["secure_accepted"].as_u64() >= Some(380));
        let left = seen.server["by_path"].as_object().expect("paths");
        assert_eq!(left.keys().filter(|path| path.starts_with("/sessions/")).count(), 1, "{left:?}");
    }),
    idea("spike.yaml", 580, |seen| assert_eq!(seen.number("/offered/arrivals"), 592)),
    idea("stages.yaml", 300, |seen| assert!(seen.rows("buckets").len() == 4)),
    idea("staircase.yaml", 700, |seen| assert_eq!(seen.number("/offered/arrivals"), 750)),
    idea("stream-events.yaml", 40, |seen| {
        let row = seen.row("streams", "ticker");
        assert_eq!(row["events"], 800, "{row}");
        assert_eq!((&row["events_lost"], &row["closed_by_server"]), (&0.into(), &40.into()), "{row}");
        assert!(row["age"]["count"].as_u64() > Some(0), "{row}");
    }),
    idea("sweep.yaml", 500, |seen| {
        assert_eq!(
            (seen.number("/combinations"), seen.number("/runs"), seen.number("/missing_runs")),
            (6, 6, 0)
        );
    }),
    idea("think-and-pace.yaml", 200, |seen| {
        // Five users, ten times a second, 3 s.
        let machine = seen.requests_of("scenarios", "machine");
        assert!((100..=155).contains(&machine), "{machine}");
    }),
    idea("thresholds-scoped.yaml", 1100, |seen| {
        let rows = seen.rows("thresholds");
        assert!(rows.iter().any(|row| row["window"].is_object()), "one over a window: {rows:?}");
        assert!(rows.len() >= 6, "five in the file and one default: {rows:?}");
    }),
    idea("thresholds.yaml", 1100, |seen| assert_eq!(seen.rows("thresholds").len(), 5)),
    idea("variants.yaml", 500, |seen| {
        assert_eq!((seen.number("/combinations"), seen.number("/runs")), (2, 6));
        assert_eq!((seen.rows("comparisons").len(), seen.rows("expectations").len()), (1, 2));
    }),
    idea("websocket-broadcast.yaml", 50, |seen| {
        let row = seen.row("websockets", "hall");
        assert_eq!((&row["messages_sent"], &row["age"]["count"]), (&20.into(), &1_000.into()), "{row}");
    }),
    idea("websocket-chat.yaml", 40, |seen| {
        let row = seen.row("websockets", "chat");
        assert_eq!((&row["messages_sent"], &row["round_trip"]["count"]), (&440.into(), &440.into()), "{row}");
        assert_eq!(row["messages_unanswered"], 0, "{row}");
        seen.checks_held(2);
    }),
    idea("weighted-mix.yaml", 500, |seen| {
        let [browse, buy] = ["browse", "buy"].map(|name| seen.requests_of("scenarios", name));
        assert!(browse > 5 * buy && buy > 0, "{browse} to {buy}");
    }),
    idea("whole-api.yaml", 400, |seen| {
        seen.checks_held(3);
        assert!(seen.received("/token") >= seen.received("/secure"));
    }),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The `.yaml` files of the folder, sorted.
fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the checkout is whole");
    let names = entries.map(|entry| entry.expect("a folder can be read").file_name());
    let mut all: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    all.retain(|name| name.ends_with(".yaml"));
    all.sort();
    all
}

/// Returns a copy of one example with the files that it reads, because some examples write into their folder.
fn copy(idea: &Idea, ruler: &Ruler, nginx: &Nginx) -> (Scratch, String) {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.folder().join("data")).expect("the folder for temporary files is writable");
    for entry in std::fs::read_dir(folder().join("data")).expect("the checkout is whole") {
        let path = entry.expect("a folder can be read").path();
        let name = path.file_name().expect("a file has a name");
        std::fs::copy(&path, scratch.folder().join("data").join(name)).expect("there is room");
    }
    let text = std::fs::read_to_string(folder().join(idea.file)).expect("the checkout is whole");
    let (target, ours) = match text.contains("https://127.0.0.1:8443") {
        true => ("https://127.0.0.1:8443", nginx.https_url("")),
        false => ("://127.0.0.1:8080", format!("://127.0.0.1:{}", ruler.port())),
    };
    assert!(text.contains(target), "{}: the target of every example is `{target}`", idea.file);
    let file = scratch.file(
        "example.yaml",
        &text
            .replace(target, ours.trim_end_matches('/'))
            .replace("port: 8080", &format!("port: {}", ruler.port())),
    );
    (scratch, file)
}

fn run(idea: &Idea, nginx: &Nginx) {
    let ruler = Ruler::start(&["--delay", "2ms", "--http2"]);
    let (_scratch, file) = copy(idea, &ruler, nginx);
    let tool = Tool::new(&["run", &file, "--json"]).env("API_KEY", "k-4711").env("REGION", "north");
    let output = tool.start().wait();
    // A noisy machine may make a run doubtful; what was sent and answered must be right.
    assert!([0, 3].contains(&output.code), "{}: exit {}\n{}", idea.file, output.code, output.stderr);
    let seen = Seen { json: output.json(), server: ruler.counters() };
    if seen.json["totals"].is_null() {
        // Several runs, or a search: what it shows is all there is to look at.
        assert!(ruler.requests() >= idea.least_requests, "{}: {} requests", idea.file, ruler.requests());
        return (idea.shows)(&seen);
    }
    assert_eq!(seen.json["totals"]["errors"], 0, "{}: {}", idea.file, seen.json["errors"]);
    assert_ne!(seen.json["verdict"]["result"], "FAIL", "{}", idea.file);
    let requests = seen.number("/totals/requests");
    assert!(requests >= idea.least_requests, "{}: {requests} requests", idea.file);
    (idea.shows)(&seen);
}

#[test]
fn every_example_runs_and_shows_its_idea() {
    /// Most examples wait; more at once would measure each other.
    const AT_ONCE: usize = 3;
    let _turn = run_alongside();
    let nginx = Nginx::start(Options::default());
    let next = AtomicUsize::new(0);
    let failed: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let mut failed = Vec::new();
            while let Some(idea) = IDEAS.get(next.fetch_add(1, Ordering::Relaxed)) {
                // One that is wrong must not hide the others.
                if std::panic::catch_unwind(|| run(idea, &nginx)).is_err() {
                    failed.push(idea.file.to_owned());
                }
            }
            failed
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("panics are caught inside")).collect()
    });
    assert!(failed.is_empty(), "{failed:?}, see above");
}

#[test]
fn every_example_is_run_and_listed() {
    let ideas: Vec<&str> = IDEAS.iter().map(|idea| idea.file).collect();
    assert_eq!(files(), ideas, "each file of the folder, sorted, is in the table above");
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("the checkout is whole");
    let mut listed: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split_once(']').map(|(file, _)| file))
        .collect();
    listed.sort_unstable();
    assert_eq!(listed, ideas, "the README of the folder lists each file once");
}

#[test]
fn every_example_begins_with_its_idea_and_stays_small() {
    for file in files() {
        let text = std::fs::read_to_string(folder().join(&file)).expect("the checkout is whole");
        assert!(text.starts_with("# "), "{file}: the first line says the idea");
        assert!((6..=32).contains(&text.lines().count()), "{file}: {} lines", text.lines().count());
    }
}
