//! One experiment against its own ruler, and the requests that the ruler kept.

use crate::support::{Output, Ruler, Scratch, Tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// An experiment: its text, files, and flags.
///
/// In the text, `TARGET` is replaced with the ruler's URL, and `PORT` with its port. A text without `target` or `load`
/// gets the ruler, and one iteration of one user.
pub struct Trial {
    text: String,
    files: Vec<(&'static str, String)>,
    ruler: Vec<&'static str>,
    args: Vec<String>,
    env: Vec<(&'static str, &'static str)>,
}

/// One request as the ruler kept it.
#[derive(Debug, Clone)]
pub struct SentRequest {
    pub method: String,
    pub target: String,
    pub version: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Ordinal of the connection.
    pub connection: u64,
    /// The client's address without its port.
    pub peer: String,
    pub arrive_ns: u64,
}

/// The results of a trial.
pub struct Seen {
    /// In the order of arrival.
    pub asked: Vec<SentRequest>,
    pub counters: Value,
    pub output: Output,
    /// The tool's JSON; null when it printed none.
    pub said: Value,
    pub elapsed: Duration,
    pub scratch: Scratch,
    /// Still running, for tests that run the file again.
    pub ruler: Ruler,
}

/// Steps of one scenario as a whole file.
pub fn steps(steps: &str) -> String {
    let mut text = String::from("scenarios:\n  one:\n");
    for line in steps.lines() {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// A trial of a whole file.
pub fn trial(text: impl Into<String>) -> Trial {
    Trial { text: text.into(), files: Vec::new(), ruler: Vec::new(), args: Vec::new(), env: Vec::new() }
}

impl Trial {
    /// Adds a file next to the experiment.
    pub fn file(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    /// Flags of the ruler.
    pub fn ruler(mut self, flags: &[&'static str]) -> Self {
        self.ruler.extend(flags);
        self
    }

    /// Adds flags after the file.
    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    pub fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    /// Runs it to its end, and accepts any exit code.
    pub fn run(self) -> Seen {
        let ruler = Ruler::start(&[&["--keep-requests", "first:100000"], self.ruler.as_slice()].concat());
        let scratch = Scratch::new();
        for (name, text) in &self.files {
            scratch.file(name, text);
        }
        let file = scratch.file("experiment.yaml", &self.whole(&ruler));
        let out = scratch.path("run.plim");
        let mut args = vec!["run", &file, "--json", "--out", &out];
        args.extend(self.args.iter().map(String::as_str));
        let mut tool = Tool::new(&args);
        for (name, value) in &self.env {
            tool = tool.env(name, value);
        }
        let begin = Instant::now();
        let output = tool.start().wait();
        let elapsed = begin.elapsed();
        let kept = ruler.json("/_test-server/requests");
        assert_eq!(kept["discarded"], 0, "the ruler kept everything");
        let asked = kept["requests"].as_array().expect("a list").iter().map(SentRequest::of).collect();
        let said = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
        Seen { asked, counters: ruler.counters(), output, said, elapsed, scratch, ruler }
    }

    fn whole(&self, ruler: &Ruler) -> String {
        let has = |key: &str| self.text.lines().any(|line| line.starts_with(key));
        let mut text = String::new();
        if !has("target:") {
            text.push_str("target: TARGET\n");
        }
        text.push_str(&self.text);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if !has("load:") && !self.text.contains(" load:") {
            text.push_str("load: { users: 1, iterations: 1 }\n");
        }
        text.replace("TARGET", &ruler.url("")).replace("PORT", &ruler.port().to_string())
    }
}

impl SentRequest {
    /// From a row of `/_test-server/requests`.
    pub fn of(kept: &Value) -> Self {
        let text = |name: &str| kept[name].as_str().unwrap_or_default().to_owned();
        let headers = kept["headers"].as_array().expect("a list of headers").iter();
        let pair = |at: &Value, i: usize| at[i].as_str().unwrap_or_default().to_owned();
        let peer = text("peer");
        Self {
            method: text("method"),
            target: text("target"),
            version: text("http_version"),
            headers: headers.map(|header| (pair(header, 0), pair(header, 1))).collect(),
            body: text("body"),
            connection: kept["connection"].as_u64().expect("an ordinal"),
            peer: peer.rsplit_once(':').map_or(peer.clone(), |(address, _)| address.to_owned()),
            arrive_ns: kept["arrive_ns"].as_u64().expect("an instant"),
        }
    }

    /// The only value of a header; None when it is not there.
    #[track_caller]
    pub fn header(&self, name: &str) -> Option<&str> {
        let all = self.headers(name);
        assert!(all.len() < 2, "`{name}` was sent {} times: {self:?}", all.len());
        all.first().copied()
    }

    /// All values of a header.
    pub fn headers(&self, name: &str) -> Vec<&str> {
        let same = self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
        same.map(|(_, value)| value.as_str()).collect()
    }

    /// `GET /echo?x=1`
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A value of the query, as it was sent.
    pub fn query(&self, name: &str) -> Option<&str> {
        let pairs = self.target.split_once('?')?.1.split('&');
        pairs.filter_map(|pair| pair.split_once('=')).find(|(n, _)| *n == name).map(|(_, value)| value)
    }
}

impl Seen {
    /// All first lines in the order of arrival.
    pub fn lines(&self) -> Vec<String> {
        self.asked.iter().map(SentRequest::line).collect()
    }

    /// The first lines are these.
    #[track_caller]
    pub fn came(&self, lines: &[&str]) {
        assert_eq!(self.lines(), lines, "\n{}{}", self.output.stderr, self.brief());
    }

    /// The only request.
    #[track_caller]
    pub fn only(&self) -> &SentRequest {
        assert_eq!(self.asked.len(), 1, "{:?}\n{}", self.lines(), self.output.stderr);
        &self.asked[0]
    }

    /// Returns the number of requests to a path.
    pub fn count(&self, path: &str) -> usize {
        self.asked.iter().filter(|asked| asked.path() == path).count()
    }

    /// Requests of a path.
    pub fn of(&self, path: &str) -> Vec<&SentRequest> {
        self.asked.iter().filter(|asked| asked.path() == path).collect()
    }

    /// Connections that carried requests, and how many each.
    pub fn connections(&self) -> BTreeMap<u64, u64> {
        let mut all = BTreeMap::new();
        for asked in &self.asked {
            *all.entry(asked.connection).or_default() += 1;
        }
        all
    }

    /// Between each two arrivals, ms.
    pub fn gaps_ms(&self) -> Vec<f64> {
        self.asked.windows(2).map(|two| (two[1].arrive_ns - two[0].arrive_ns) as f64 / 1e6).collect()
    }

    /// Time of an arrival since the first one, ms.
    pub fn at_ms(&self, index: usize) -> f64 {
        (self.asked[index].arrive_ns - self.asked[0].arrive_ns) as f64 / 1e6
    }

    /// A value of the tool's JSON.
    #[track_caller]
    pub fn value_at(&self, place: &str) -> &Value {
        let found = self.said.pointer(place);
        found.unwrap_or_else(|| panic!("no `{place}` in what the tool said:\n{}", self.brief()))
    }

    #[track_caller]
    pub fn told_count(&self, place: &str) -> u64 {
        self.value_at(place)
            .as_u64()
            .unwrap_or_else(|| panic!("no count at `{place}`: {}", self.value_at(place)))
    }

    /// A row of a list in the JSON, by its `name`.
    #[track_caller]
    pub fn row(&self, list: &str, name: &str) -> &Value {
        let rows = self.said[list].as_array().map_or(&[][..], Vec::as_slice);
        let found = rows.iter().find(|row| row["name"] == name);
        found.unwrap_or_else(|| panic!("no `{name}` in `{list}`: {}", self.said[list]))
    }

    /// Checks that the run ended without errors, and that plimsoll counted the requests that the ruler kept; `apart` of
    /// them belong to setup, teardown, or warm-up. On a noisy machine, the run may be inconclusive, which is accepted.
    #[track_caller]
    pub fn expect_run(&self, apart: u64) {
        self.ended(&[0, 3], apart);
        assert_eq!(self.told_count("/totals/errors"), 0, "{}", self.brief());
    }

    /// Checks that `due` arrivals were due, and that each was sent to `path` or is counted as not started: if the
    /// machine stalls for a moment just before the end, it does not send the last ones.
    #[track_caller]
    pub fn arrived(&self, path: &str, due: u64) {
        let (came, never) = (self.count(path) as u64, self.told_count("/totals/arrivals_not_started"));
        assert_eq!((self.told_count("/offered/arrivals"), came + never), (due, due), "{}", self.brief());
        assert!(never <= due / 2, "{never} of {due} arrivals were not sent");
    }

    /// The same for a run that misses something.
    #[track_caller]
    pub fn ended(&self, codes: &[i32], apart: u64) {
        let code = self.output.code;
        assert!(codes.contains(&code), "code {code}\n{}\n{}", self.output.stderr, self.brief());
        let sent = self.told_count("/totals/requests_sent");
        assert_eq!(
            sent + apart,
            self.asked.len() as u64,
            "sent by the tool, at the ruler {:?}",
            self.lines()
        );
        assert_eq!(self.value_at("/is_complete"), true);
    }

    /// Refused before anything was sent, with these words.
    #[track_caller]
    pub fn refused(&self, says: &[&str]) {
        let stderr = &self.output.stderr;
        assert_eq!(self.output.code, 2, "\n{stderr}\n{}", self.brief());
        assert!(self.asked.is_empty(), "sent all the same: {:?}\n{stderr}", self.lines());
        assert_eq!(self.output.stdout, "", "results of what did not happen");
        for word in says {
            assert!(stderr.contains(word), "`{word}` is not in:\n{stderr}");
        }
    }

    /// A file that the run wrote or left.
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.scratch.folder().join(name)).unwrap_or_default()
    }

    /// The tool's JSON as far as a failing test needs it.
    pub fn brief(&self) -> String {
        if self.said.is_null() {
            return format!("(no JSON on stdout: `{}`)", self.output.stdout);
        }
        let of = |name: &str| format!("{name}: {}\n", self.said[name]);
        ["verdict", "totals", "errors", "checks", "failure_examples"].map(of).concat()
    }
}

/// Runs all of them, a few at once, and fails with everything that is wrong.
pub fn all_at_once<T: Sync>(items: &[T], name: impl Fn(&T) -> String + Sync, body: impl Fn(&T) + Sync) {
    /// Most of a short run is waiting.
    const AT_ONCE: usize = 4;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(item))) {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
                wrong.push(format!("--- {}\n{said}", name(item)));
            }
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("its panics are caught")).collect()
    });
    assert!(wrong.is_empty(), "{} of {} failed\n{}", wrong.len(), items.len(), wrong.join("\n"));
}
