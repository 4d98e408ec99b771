//! Runs plans without an engine: a function answers requests, and delays end in simulated time.

use plimsoll_jmeter::{JmeterCode, Level, Log, Options, SampleSink};
use plimsoll_jmx::Given;
use plimsoll_plan::code::Code;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::CheckSum;
use plimsoll_plan::program::{At, Count, Outbox, Payload, Phase, Phases, Program, Reply, UserSlot, Wake};
use plimsoll_plan::request::Target;
use plimsoll_plan::series::Family;
use plimsoll_plan::series::book::SeriesBook;
use plimsoll_plan::{Diagnostic, Fault};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A response of the simulated server, after a time.
pub struct Answer {
    pub status: u16,
    /// Header lines, each with its line end.
    pub head: String,
    pub body: Vec<u8>,
    pub ms: u64,
    pub fault: Option<Fault>,
}

/// Returns a response after 10 ms.
pub fn text(status: u16, body: &str) -> Answer {
    Answer { status, head: "Content-Type: text/html\r\n".into(), body: body.into(), ms: 10, fault: None }
}

/// The result of a run.
#[derive(Default)]
pub struct Trace {
    /// Requests as sent, with their times, ms.
    pub requests: Vec<String>,
    pub times_ms: Vec<u64>,
    pub log: Vec<String>,
    /// Lines of results.
    pub lines: Vec<String>,
    /// Evaluations and failures of checks, by name.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// Requests by series.
    pub series: BTreeMap<String, u64>,
    pub now_ns: u64,
}

impl Trace {
    /// Returns the request targets in their order.
    pub fn paths(&self) -> Vec<&str> {
        self.requests.iter().map(|one| one.split(' ').nth(1).unwrap()).collect()
    }

    /// Returns a column of the results.
    pub fn column(&self, number: usize) -> Vec<&str> {
        self.lines.iter().map(|line| line.split(',').nth(number).unwrap()).collect()
    }

    pub fn labels(&self) -> Vec<&str> {
        self.column(2)
    }
}

struct Sink(Mutex<Vec<String>>);

impl SampleSink for Sink {
    fn sample(&self, line: &str, _begin_ms: u64, _elapsed_ms: u64, _is_success: bool) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A folder for the files of one test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(files: &[(&str, &str)]) -> Folder {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plimsoll-jmeter-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (name, content) in files {
            std::fs::write(path.join(name), content).unwrap();
        }
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays is not a reason to fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reads a plan; returns what cannot run.
pub fn refusals(plan: &str) -> Vec<Diagnostic> {
    let folder = Folder::new(&[("plan.jmx", plan)]);
    match plimsoll_jmx::read(&folder.0.join("plan.jmx"), &Given::default()) {
        Ok(reading) => plimsoll_jmeter::check(&reading.plan),
        Err(wrong) => wrong,
    }
}

/// Runs a plan.
pub fn run(plan: &str, server: impl FnMut(&str) -> Answer) -> Trace {
    run_in(&Folder::new(&[]), plan, &[], server)
}

/// Runs a plan in a folder, with properties.
pub fn run_in(
    folder: &Folder,
    plan: &str,
    properties: &[(&str, &str)],
    mut server: impl FnMut(&str) -> Answer,
) -> Trace {
    let path = folder.0.join("plan.jmx");
    std::fs::write(&path, plan).unwrap();
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let given = Given { properties: properties.iter().map(own).collect(), ..Given::default() };
    let reading = plimsoll_jmx::read(&path, &given).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let wrong = plimsoll_jmeter::check(&reading.plan);
    assert!(wrong.is_empty(), "{wrong:?}");
    let (log, sink) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Sink(Mutex::default())));
    let written = Arc::clone(&log);
    let options = Options {
        results: Some(Arc::clone(&sink) as Arc<dyn SampleSink>),
        log: Log::new(move |level, text| {
            if level >= Level::Info {
                written.lock().unwrap().push(text.to_owned());
            }
        }),
        ..Options::default()
    };
    let code = JmeterCode::new(Arc::new(reading.plan.clone()), options);
    let mut draft =
        plimsoll_jmx::draft(&reading.plan, &reading.files).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    draft.code = Some(Arc::clone(&code) as Arc<dyn Code>);
    draft.seed = Some(7);
    let machine = plimsoll_plan::seal::Machine { cpus: 1, seed: 7 };
    let sealed = plimsoll_plan::seal::seal(draft, machine).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let behavior = code.behavior(&sealed).unwrap();
    behavior.check_data().unwrap();
    let mut trace = Trace::default();
    let mut out = Outbox { book: Box::new(SeriesBook::new(0, 10_000)), ..Outbox::default() };
    for phase in [Phase::Setup, Phase::Load, Phase::Teardown] {
        if !behavior.has(phase) {
            continue;
        }
        let mut programs = Arc::clone(&behavior).factory(phase).unwrap().programs();
        let mut users = Vec::new();
        if phase == Phase::Load {
            let mut id = 0;
            for (workload, of) in (0..).zip(&sealed.outline.workloads) {
                for user in 0..of.connections {
                    let slot = UserSlot { workload, user, id, users: of.connections };
                    users.push(User::new(programs.make(slot), of.loops.unwrap_or(u64::MAX)));
                    id += 1;
                }
            }
        } else {
            users.push(User::new(programs.make(UserSlot { workload: 0, user: 0, id: 0, users: 1 }), 1));
        }
        play(&mut users, &mut out, &mut trace, &mut server);
        drop(users);
        if phase != Phase::Load {
            assert!(behavior.is_through(), "the phase reaches its end");
        }
    }
    behavior.close().unwrap();
    trace.log = std::mem::take(&mut *log.lock().unwrap());
    trace.lines = std::mem::take(&mut *sink.0.lock().unwrap());
    trace
}

struct User {
    program: Box<dyn Program>,
    iteration: u64,
    loops: u64,
    outstanding: u32,
    is_retired: bool,
}

impl User {
    fn new(program: Box<dyn Program>, loops: u64) -> User {
        User { program, iteration: 0, loops, outstanding: 0, is_retired: false }
    }
}

enum Due {
    Begin,
    Slept(u32),
    Reached(u32, u16),
    Response(u32, Box<Answer>),
}

/// Events of all users after which a test has run away.
const EVENTS_MAX: u32 = 200_000;

/// Runs all users to their ends, in the order of their events.
fn play(users: &mut [User], out: &mut Outbox, trace: &mut Trace, server: &mut impl FnMut(&str) -> Answer) {
    let mut queue: Vec<(usize, Due, u64, u64)> = Vec::new();
    let mut count = 0u64;
    let mut origins: Vec<Target> = Vec::new();
    for user in 0..users.len() {
        queue.push((user, Due::Begin, trace.now_ns, count));
        count += 1;
    }
    for _ in 0..EVENTS_MAX {
        let Some(next) = (0..queue.len()).min_by_key(|at| (queue[*at].2, queue[*at].3)) else { return };
        let (number, due, due_ns, _) = queue.remove(next);
        trace.now_ns = trace.now_ns.max(due_ns);
        let at = At { run_ns: trace.now_ns, unix_ns: 1_800_000_000_000_000_000 + trace.now_ns };
        let user = &mut users[number];
        if !matches!(due, Due::Begin) {
            user.outstanding -= 1;
        }
        match due {
            Due::Begin => {
                let begin = Wake::Begin { user: number as u32, iteration: user.iteration, number: None };
                user.program.resume(at, begin, out);
            }
            Due::Slept(id) => user.program.resume(at, Wake::Slept { id }, out),
            Due::Reached(id, origin) => {
                user.program.resume(at, Wake::Reached { id, result: Ok(origin) }, out)
            }
            Due::Response(id, answer) => {
                let head = format!("HTTP/1.1 {} OK\r\n{}\r\n", answer.status, answer.head);
                let phases = Phases { first_byte_ns: answer.ms * 1_000_000, ..Phases::default() };
                let is_failed = answer.fault.is_some();
                let reply = Reply {
                    id,
                    status: if is_failed { 0 } else { answer.status },
                    fault: answer.fault,
                    head: Head::new(if is_failed { b"" } else { head.as_bytes() }),
                    body: &answer.body,
                    body_bytes: answer.body.len() as u64,
                    trailers: Head::default(),
                    phases,
                    ended: None,
                };
                user.program.resume(at, Wake::Reply(reply), out);
            }
        }
        let now_ns = trace.now_ns;
        for (id, ns) in &out.sleeps {
            queue.push((number, Due::Slept(*id), now_ns + ns, count));
            count += 1;
        }
        for (id, query) in &out.reaches {
            let known = origins.iter().position(|known| *known == query.target).unwrap_or_else(|| {
                origins.push(query.target.clone());
                origins.len() - 1
            });
            queue.push((number, Due::Reached(*id, known as u16), now_ns, count));
            count += 1;
        }
        for step in &out.steps {
            let Payload::Rendered { begin, end } = step.payload else { panic!("a prepared request") };
            let sent = String::from_utf8_lossy(&out.arena[begin as usize..end as usize]).into_owned();
            let name = out.book.opened()[step.request as usize].name.clone();
            *trace.series.entry(name).or_default() += 1;
            let answer = server(&sent);
            trace.requests.push(sent);
            trace.times_ms.push(now_ns / 1_000_000);
            queue.push((number, Due::Response(step.id, Box::new(answer)), 0, count));
            let last = queue.len() - 1;
            let Due::Response(_, answer) = &queue[last].1 else { unreachable!() };
            queue[last].2 = now_ns + answer.ms * 1_000_000;
            count += 1;
        }
        user.outstanding += (out.sleeps.len() + out.reaches.len() + out.steps.len()) as u32;
        user.is_retired |= out.retired;
        take_counts(out, trace);
        let book = std::mem::take(&mut out.book);
        out.clear();
        out.book = book;
        if user.outstanding == 0 && !user.is_retired {
            user.iteration += 1;
            if user.iteration < user.loops {
                queue.push((number, Due::Begin, now_ns, count));
                count += 1;
            }
        }
    }
    panic!("the plan does not end");
}

fn take_counts(out: &mut Outbox, trace: &mut Trace) {
    for counted in &out.counts {
        let Count::Sum(series, id, n) = counted else { continue };
        let key = &out.book.opened()[*series as usize];
        if key.family == Family::Check {
            let entry = trace.checks.entry(key.name.clone()).or_default();
            let is_made = Count::sum(*series, CheckSum::Made, 1) == Count::Sum(*series, *id, 1);
            if is_made { entry.0 += n } else { entry.1 += n }
        }
    }
}
