//! Sessions of users as code, and a server that counts its connections.

use plimsoll_control::Options;
use plimsoll_control::RunController;
use plimsoll_control::session::{self, AfterRunError, Failed, News, Orders, SessionHost, Team};
use plimsoll_plan::code::Code;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::origin::{ORIGIN_TAG, OriginId, found_name};
use plimsoll_plan::program::{
    At, Behavior, Outbox, Phase, Program, ProgramFactory, Programs, Step, Unready, UserSlot, Wake,
};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::series::Family;
use plimsoll_plan::{Draft, Outline, Plan, Problem, Target};
use plimsoll_record::RunRecord;
use plimsoll_record::event::Sink;
use plimsoll_record::record::GeneratorRecord;
use plimsoll_stats::Tally;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub fn target(host: &str, port: u16) -> Target {
    Target { host: host.into(), port, tls: false }
}

pub fn tls_target(host: &str, port: u16) -> Target {
    Target { tls: true, ..target(host, port) }
}

/// A draft of users as code without a target.
pub fn draft(users: u32, iterations: u64) -> Draft {
    let load = LoadDraft { users: Some(users), iterations: Some(iterations), ..LoadDraft::default() };
    Draft { load, workers: Some(1), ..Draft::default() }
}

/// The same for one iteration, without a long wait for connections.
pub fn quick() -> Draft {
    let mut draft = draft(1, 1);
    draft.limits.connect_timeout_ns = 200_000_000;
    draft
}

/// Sends a GET to an origin, in a series that names it.
pub fn get(out: &mut Outbox, origin: OriginId, port: u16) {
    let name = found_name(&target("127.0.0.1", port));
    let request = out.open(Family::Request, "one", &[(ORIGIN_TAG, &name)]).expect("few series are open");
    let step = Step { id: 100, request, origin, ..Step::default() };
    out.push_rendered(step, |bytes| bytes.extend_from_slice(b"GET / HTTP/1.1\r\nHost: one\r\n\r\n"));
}

type Act = dyn Fn(Phase, &Wake<'_>, &mut Outbox) + Send + Sync;

/// Users that run a function in each wake; answers are logged.
struct Users {
    phases: Vec<Phase>,
    act: Arc<Act>,
    log: Arc<Mutex<Vec<String>>>,
}

impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Users")
    }
}

/// The same for a phase.
#[derive(Clone)]
struct InPhase(Arc<Users>, Phase);

/// What [`Code::behavior`] returns shares the users.
#[derive(Debug, Clone)]
struct Shared(Arc<Users>);

impl Code for Shared {
    fn behavior(&self, plan: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        assert!(plan.requests.is_empty() && plan.script.is_none() && !plan.outline.workloads.is_empty());
        Ok(Arc::new(self.clone()))
    }
}

impl Behavior for Shared {
    fn has(&self, phase: Phase) -> bool {
        phase == Phase::Load || self.0.phases.contains(&phase)
    }
    fn check_data(&self) -> Result<(), Unready> {
        Ok(())
    }
    fn factory(self: Arc<Self>, phase: Phase) -> Result<Arc<dyn ProgramFactory>, Unready> {
        Ok(Arc::new(InPhase(Arc::clone(&self.0), phase)))
    }
    fn trouble(&self) -> Option<String> {
        None
    }
    fn is_through(&self) -> bool {
        true
    }
    fn missing_globals(&self) -> Vec<String> {
        Vec::new()
    }
    fn close(&self) -> Result<(), Problem> {
        Ok(())
    }
}

impl ProgramFactory for InPhase {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for InPhase {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(self.clone())
    }
}

impl Program for InPhase {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        let text = match &wake {
            Wake::Reached { id, result: Ok(origin) } => Some(format!("reached {id} origin {origin}")),
            Wake::Reached { id, result: Err(why) } => {
                Some(format!("reached {id} {:?} {}", why.fault, why.sentence))
            }
            Wake::Reply(reply) => Some(format!("reply {}", reply.status)),
            Wake::Slept { .. } => Some("slept".into()),
            _ => None,
        };
        let phase = match self.1 {
            Phase::Setup => "setup",
            Phase::Load => "load",
            Phase::Teardown => "teardown",
        };
        self.0
            .log
            .lock()
            .expect("no program has panicked")
            .extend(text.map(|text| format!("{phase}: {text}")));
        (self.0.act)(self.1, &wake, out);
    }
}

/// A finished session.
pub struct Ran {
    pub record: RunRecord,
    pub log: Vec<String>,
}

impl Ran {
    pub fn machine(&self) -> &GeneratorRecord {
        self.record.generators.values().next().expect("one machine")
    }
}

pub trait SumOf {
    fn sum_of(&self, id: SeriesSum) -> u64;
}

impl SumOf for Tally {
    fn sum_of(&self, id: SeriesSum) -> u64 {
        self.sums.get(id.id()).copied().unwrap_or(0)
    }
}

/// Runs a session of one load.
pub fn session(
    draft: Draft,
    allow: &[&str],
    act: impl Fn(Phase, &Wake<'_>, &mut Outbox) + Send + Sync + 'static,
) -> Ran {
    session_with(draft, allow, &[], act)
}

/// Runs a session with other phases.
pub fn session_with(
    draft: Draft,
    allow: &[&str],
    phases: &[Phase],
    act: impl Fn(Phase, &Wake<'_>, &mut Outbox) + Send + Sync + 'static,
) -> Ran {
    let log = Arc::default();
    let users = Users { phases: phases.to_vec(), act: Arc::new(act), log: Arc::clone(&log) };
    let draft = Draft { code: Some(Arc::new(Shared(Arc::new(users)))), ..draft };
    let plan = seal(draft, Machine { cpus: 2, seed: 1 }).expect("the draft is valid");
    let allow: Vec<String> = allow.iter().map(|host| (*host).to_owned()).collect();
    let orders = Orders {
        version: "1.2.3",
        allow: &allow,
        may_ask: false,
        wait_ns: 0,
        is_child: false,
        loads_unreachable: false,
        options: Options::default(),
    };
    let of_code = |plan: &Plan| plan.code.as_ref().map(|code| code.behavior(plan)).transpose();
    let ran = session::run(&plan, of_code, orders, &Alone).expect("the session ends with a record");
    let log = log.lock().expect("no program has panicked").clone();
    Ran { record: ran.record, log }
}

/// A host without terminal, signals, and folders.
struct Alone;

#[derive(Debug)]
struct Failure(#[expect(dead_code, reason = "shown by `expect`")] Failed);

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Failure(failed)
    }
}

impl SessionHost for Alone {
    type Failure = Failure;

    fn now_unix_ns(&self) -> u64 {
        1_700_000_000_000_000_000
    }
    fn date(&self, _: u64) -> String {
        "2026-01-01".into()
    }
    fn origin(&self) -> Result<String, Failure> {
        Ok("here".into())
    }
    fn tell(&self, _: News<'_>) {}
    fn trouble(&self, trouble: AfterRunError) {
        panic!("{trouble:?}");
    }
    fn confirm(&self, question: &str) -> String {
        panic!("asked: {question}");
    }
    fn take_signals(&self) -> Result<(), Failure> {
        Ok(())
    }
    fn is_interrupted(&self) -> bool {
        false
    }
    fn rest(&self, _: u64) {}
    fn listen(&self, _: &Outline) -> Result<(), Failure> {
        Ok(())
    }
    fn steer(&self, _: Phase, _: RunController) {}
    fn run_file(&self, _: &str, _: u64) -> Result<Option<PathBuf>, Failure> {
        Ok(None)
    }
    fn second_run_file(&self, _: &Path, _: &str, _: u64, _: &RunRecord) -> Option<PathBuf> {
        None
    }
    fn team(&self) -> &dyn Team {
        &session::Alone
    }
    fn view(&self) -> Option<Box<dyn Sink>> {
        None
    }
}

/// A server that answers every request; its threads end with the test's process.
pub struct Server {
    pub port: u16,
    /// Requests of each connection.
    served: Arc<Mutex<Vec<u64>>>,
}

impl Server {
    pub fn new() -> Server {
        Server::on(Ipv4Addr::LOCALHOST)
    }

    pub fn on(address: Ipv4Addr) -> Server {
        Server::made(address, false)
    }

    /// A server that closes every connection at once.
    pub fn closing() -> Server {
        Server::made(Ipv4Addr::LOCALHOST, true)
    }

    fn made(address: Ipv4Addr, closes: bool) -> Server {
        let listener = TcpListener::bind(SocketAddr::new(IpAddr::V4(address), 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let served = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&served);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut known = all.lock().expect("no thread has panicked");
                known.push(0);
                let (number, all) = (known.len() - 1, Arc::clone(&all));
                if !closes {
                    std::thread::spawn(move || answer(stream, number, &all));
                }
            }
        });
        Server { port, served }
    }

    pub fn connections(&self) -> Vec<u64> {
        self.served.lock().expect("no thread has panicked").clone()
    }
}

fn answer(mut stream: TcpStream, number: usize, served: &Mutex<Vec<u64>>) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4_096]);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..n]);
        while let Some(end) = seen.windows(4).position(|w| w == b"\r\n\r\n") {
            seen.drain(..end + 4);
            served.lock().expect("no thread has panicked")[number] += 1;
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}
