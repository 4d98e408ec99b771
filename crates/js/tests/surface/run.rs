//! Runs scripts without an engine: requests are answered by a function, and sleeps end in simulated time.

use super::remote::{Due, Remote};
use plimsoll_bundle::{Builtins, Bundle, Entry, Files, load};
use plimsoll_js::{
    BuiltIn, Level, Log, ScenarioSettings, SchemaSource, Script, Settings, Shared, Stage, initialize,
};
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{CheckSum, RunSum};
use plimsoll_plan::program::{
    At, Behavior, BodyUse, Count, Outbox, Payload, Phase, Phases, Program, Reply, UserSlot, Wake,
};
use plimsoll_plan::request::Target;
use plimsoll_plan::series::Family;
use plimsoll_plan::series::book::SeriesBook;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A response of the simulated server.
pub struct Answer {
    pub status: u16,
    /// Header lines, each with its line end.
    pub head: String,
    pub body: Vec<u8>,
}

/// Returns a response with a body of JSON.
pub fn json(status: u16, body: &str) -> Answer {
    Answer { status, head: "Content-Type: application/json\r\n".into(), body: body.into() }
}

/// The result of a run.
#[derive(Default)]
pub struct Trace {
    /// Requests as sent.
    pub requests: Vec<String>,
    /// Lines of the console.
    pub console: Vec<String>,
    /// Evaluations and failures of checks, by name.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// Values of metrics, by name and labels.
    pub values: BTreeMap<String, Vec<f64>>,
    /// Names and labels of series of requests.
    pub series: Vec<String>,
    /// Messages that sockets have sent, with their kind.
    pub sent: Vec<String>,
    /// Faults of streams and sockets, by name.
    pub faults: Vec<&'static str>,
    /// Sums and numbers of values of histograms, by series and cell.
    pub sums: BTreeMap<(String, usize), u64>,
    pub hists: BTreeMap<(String, usize), u64>,
    pub slept_ns: u64,
    /// Iterations that threw.
    pub failed_iterations: u64,
}

/// Modules that scripts of tests have as `m0`, `m1`, and so on.
const IMPORTS: [&str; 5] = ["k6", "k6/http", "k6/metrics", "k6/execution", "k6/data"];

/// The built-in modules, and the libraries by their names.
struct Libraries;

impl Builtins for Libraries {
    fn resolve(&self, specifier: &str) -> plimsoll_bundle::Builtin {
        match specifier.starts_with("jslib/") {
            true => plimsoll_bundle::Builtin::Known(specifier.to_owned()),
            false => BuiltIn.resolve(specifier),
        }
    }
}

/// A script of a test.
pub trait ScriptText {
    fn text(&self) -> String;
}

impl ScriptText for &str {
    fn text(&self) -> String {
        let names = IMPORTS.iter().zip(0..).map(|(name, at)| format!("const m{at} = require('{name}');"));
        names.collect::<String>() + self
    }
}

impl ScriptText for Vec<String> {
    fn text(&self) -> String {
        self.concat()
    }
}

/// Returns a script whose imports are `m0`, `m1`, and so on.
pub fn factory(imports: &[&str], body: &str) -> String {
    let names = imports.iter().zip(0..).map(|(name, at)| format!("const m{at} = require('{name}');"));
    names.collect::<String>() + body
}

/// Modules in the folder of the script.
const MODULES: &[(&str, &str)] = &[("lib/note.js", "exports.note = open('note.txt');")];

struct Modules;

impl Files for Modules {
    fn read(&self, path: &std::path::Path) -> std::io::Result<Vec<u8>> {
        let found = MODULES.iter().find(|(name, _)| path.ends_with(name));
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

/// Loads a script, a CommonJS module.
pub fn bundle(text: &str) -> Bundle {
    let entry = Entry::Text { name: PathBuf::from("/scripts/script.js"), text: text.to_owned() };
    load(entry, &Modules, &Libraries).expect("the script loads")
}

pub fn settings() -> Settings {
    let scenario =
        ScenarioSettings { name: "default".into(), exec: "default".into(), ..ScenarioSettings::default() };
    Settings { scenarios: vec![scenario], ..Settings::default() }
}

/// Runs iterations of one user; `k6` is imported as `m0`, `k6/http` as `m1`, `k6/metrics` as `m2`.
pub fn run(body: &str, iterations: u64, settings: Settings, server: impl FnMut(&str) -> Answer) -> Trace {
    run_script(body, 1, iterations, settings, server)
}

/// Files in the folder of the script.
const FILES: &[(&str, &str)] = &[
    ("rows.csv", "name,age\nJo,30\n\"Ja,ne\",25\nZo,41\n"),
    ("scripts/lib/note.txt", "inside"),
    ("scripts/note.txt", "outside"),
];

/// Runs iterations of several users, each after the other.
pub fn run_script(
    text: impl ScriptText,
    users: u32,
    iterations: u64,
    settings: Settings,
    mut server: impl FnMut(&str) -> Answer,
) -> Trace {
    let console = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&console);
    let log = Log::new(move |message| {
        let text = message.text;
        let mark = match message.level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        sink.lock().expect("a lock").push(format!("{mark}: {text}"));
    });
    let read_file =
        Arc::new(|path: &std::path::Path| match FILES.iter().find(|(name, _)| path.ends_with(name)) {
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err(format!("no such file: {}", path.display())),
        });
    let compile_schemas = Arc::new(|_: SchemaSource<'_>| Err("there are no schemas here".to_owned()));
    let script = Script { bundle: Arc::new(bundle(&text.text())), log, read_file, compile_schemas };
    let init = initialize(&script, &settings).expect("the init part runs");
    let target = Target { host: "127.0.0.1".into(), port: 8080, tls: false };
    let shared = Arc::new(Shared::new(script, settings, vec![(target, 0)], 7));
    let stage = Stage::new(shared, &init.functions, true, true);
    let mut trace = Trace::default();
    for phase in [Phase::Setup, Phase::Load, Phase::Teardown] {
        if !stage.has(phase) {
            continue;
        }
        let behavior: Arc<dyn Behavior> = Arc::clone(&stage) as Arc<dyn Behavior>;
        let mut programs = behavior.factory(phase).expect("a factory").programs();
        let rounds = if phase == Phase::Load { iterations } else { 1 };
        let count = if phase == Phase::Load { users } else { 1 };
        let mut all: Vec<_> = (0..count)
            .map(|user| programs.make(UserSlot { workload: 0, user, id: user, users: count }))
            .collect();
        let mut out = Outbox { book: Box::new(SeriesBook::new(0, 10_000)), ..Outbox::default() };
        for iteration in 0..rounds {
            for (user, program) in (0..).zip(&mut all) {
                one(&mut **program, user, iteration, &mut out, &mut trace, &mut server);
            }
        }
        count_series(&out, &mut trace);
    }
    trace.console = std::mem::take(&mut *console.lock().expect("a lock"));
    trace
}

/// Runs one iteration to its end.
fn one(
    program: &mut dyn Program,
    user: u32,
    iteration: u64,
    out: &mut Outbox,
    trace: &mut Trace,
    server: &mut impl FnMut(&str) -> Answer,
) {
    let mut at = At { run_ns: trace.slept_ns, unix_ns: 1_800_000_000_000_000_000 + trace.slept_ns };
    program.resume(at, Wake::Begin { user, iteration, number: None }, out);
    let mut queue: Vec<(u32, Due, u64)> = Vec::new();
    let mut remote = Remote::default();
    loop {
        // As the engine does, before the steps and sleeps of this wake.
        remote.take(out, at.run_ns, &mut queue, trace);
        queue.retain(|(id, due, _)| !out.cancels.contains(id) || due.survives_cancel());
        for step in &out.steps {
            let Payload::Rendered { begin, end } = step.payload else { panic!("a prepared request") };
            let text = String::from_utf8_lossy(&out.arena[begin as usize..end as usize]).into_owned();
            trace.requests.push(text.clone());
            let time_ns = if step.body == BodyUse::Keep { 1_000_000 } else { 2_000_000 };
            queue.push((step.id, Due::Response(text, step.body), at.run_ns + time_ns));
        }
        queue.extend(out.sleeps.iter().map(|(id, ns)| (*id, Due::Slept, at.run_ns + ns)));
        take_counts(out, trace);
        let book = std::mem::take(&mut out.book);
        out.clear();
        out.book = book;
        let Some(next) = (0..queue.len()).min_by_key(|at| queue[*at].2) else { return };
        let (id, due, due_ns) = queue.remove(next);
        trace.slept_ns += due_ns - at.run_ns;
        at = At { run_ns: due_ns, unix_ns: at.unix_ns + (due_ns - at.run_ns) };
        match due {
            Due::Slept => program.resume(at, Wake::Slept { id }, out),
            Due::Response(text, body) if body.is_stream() || body == BodyUse::WebSocket => {
                let answer = server(&text);
                remote.open(program, id, at, &text, body, &answer, out, &mut queue);
            }
            Due::Frame(frame) => remote.show(program, id, at, &frame, out),
            Due::End(fault, ended) => remote.end(program, id, at, (fault, ended), out, trace),
            Due::Response(text, _) => {
                let answer = server(&text);
                let head = format!("HTTP/1.1 {} OK\r\n{}\r\n", answer.status, answer.head);
                let phases = Phases { first_byte_ns: 900_000, body_ns: 100_000, ..Phases::default() };
                let reply = Reply {
                    id,
                    status: answer.status,
                    fault: None,
                    head: Head::new(head.as_bytes()),
                    body: &answer.body,
                    body_bytes: answer.body.len() as u64,
                    trailers: Head::default(),
                    phases,
                    ended: None,
                };
                program.resume(at, Wake::Reply(reply), out);
            }
        }
    }
}

fn take_counts(out: &mut Outbox, trace: &mut Trace) {
    for count in &out.counts {
        match count {
            Count::Sum(series, id, n) => {
                let key = out.book.opened()[*series as usize].clone();
                *trace.sums.entry((key.name.clone(), *id)).or_default() += n;
                if key.family == Family::Check {
                    let entry = trace.checks.entry(key.name.clone()).or_default();
                    let made = Count::sum(*series, CheckSum::Made, 1) == Count::Sum(*series, *id, 1);
                    if made { entry.0 += n } else { entry.1 += n }
                }
            }
            Count::Value(series, value) => {
                let key = &out.book.opened()[*series as usize];
                let labels: Vec<String> = key.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
                let name = [vec![key.name.clone()], labels].concat().join(" ");
                trace.values.entry(name).or_default().push(*value);
            }
            Count::Hist(series, id, _) => {
                let key = &out.book.opened()[*series as usize];
                *trace.hists.entry((key.name.clone(), *id)).or_default() += 1;
            }
            Count::Run(RunSum::IterationsFailed, n) => trace.failed_iterations += n,
            Count::Run(..) => {}
        }
    }
}

fn count_series(out: &Outbox, trace: &mut Trace) {
    for key in out.book.opened().iter().filter(|key| key.family == Family::Request) {
        let labels: Vec<String> = key.labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
        trace.series.push([vec![key.name.clone()], labels].concat().join(" "));
    }
}
