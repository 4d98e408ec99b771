//! Short programs: each wake is logged as text with its virtual time, and a function defines the actions.

use plimsoll_plan::program::{At, BodyUse, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use std::sync::{Arc, Mutex};

/// One line for each wake: `12.5 reply 3 200 ok`, times in ms from the start of the run.
pub type Log = Arc<Mutex<Vec<String>>>;

type Act = dyn Fn(&mut Scene<'_>, &Wake<'_>) + Send + Sync;

/// The inputs and outputs of a program in one wake.
pub struct Scene<'a> {
    pub at: At,
    pub slot: UserSlot,
    /// The user's own number, kept between wakes.
    pub number: &'a mut u64,
    pub out: &'a mut Outbox,
}

impl Scene<'_> {
    pub fn ask(&mut self, id: u32, request: u32, body: BodyUse) {
        self.out.push(step(id, request, body));
    }

    /// Requests a GET whose bytes are rendered now.
    pub fn render(&mut self, step: Step, path: &str) {
        self.out.push_rendered(step, |bytes| bytes.extend_from_slice(get_bytes(path).as_bytes()));
    }
}

/// Returns a request as a program would render it.
pub fn get_bytes(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n")
}

pub fn step(id: u32, request: u32, body: BodyUse) -> Step {
    Step { id, request, body, ..Step::default() }
}

/// Creates programs with the same behavior.
#[derive(Clone)]
pub struct Diary {
    log: Log,
    act: Arc<Act>,
}

struct Actor {
    slot: UserSlot,
    number: u64,
    log: Log,
    act: Arc<Act>,
}

/// Returns a factory of programs that run `act`, and the common log of all of them.
pub fn diary(act: impl Fn(&mut Scene<'_>, &Wake<'_>) + Send + Sync + 'static) -> (Diary, Log) {
    let log = Log::default();
    (Diary { log: Arc::clone(&log), act: Arc::new(act) }, log)
}

/// Returns the log so far.
pub fn lines(log: &Log) -> Vec<String> {
    log.lock().expect("no program has panicked").clone()
}

impl ProgramFactory for Diary {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Diary {
    fn make(&mut self, slot: UserSlot) -> Box<dyn Program> {
        Box::new(Actor { slot, number: 0, log: Arc::clone(&self.log), act: Arc::clone(&self.act) })
    }
}

impl Program for Actor {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        let who = if self.slot.users > 1 { format!("u{} ", self.slot.user) } else { String::new() };
        let line = format!("{who}{} {}", at.run_ns as f64 / 1e6, text(&wake));
        self.log.lock().expect("no program has panicked").push(line);
        let mut scene = Scene { at, slot: self.slot, number: &mut self.number, out };
        (self.act)(&mut scene, &wake);
    }
}

fn text(wake: &Wake<'_>) -> String {
    let describe = String::from_utf8_lossy;
    match wake {
        Wake::Begin { iteration, .. } => format!("begin {iteration}"),
        Wake::Slept { id } => format!("slept {id}"),
        Wake::Reached { id, result: Ok(origin) } => format!("reached {id} origin {origin}"),
        Wake::Reached { id, result: Err(why) } => format!("reached {id} {:?} {}", why.fault, why.sentence),
        Wake::Interrupted => "interrupted".into(),
        Wake::Head { id, status, .. } => format!("head {id} {status}"),
        Wake::Event(event) => format!("event {} {}{}", event.id, describe(event.name), describe(event.data)),
        Wake::Message(message) => {
            format!("message {} {:?} {}", message.id, message.kind, describe(message.data))
        }
        Wake::Reply(reply) => {
            let how = match (reply.fault, reply.ended) {
                (Some(fault), _) => format!(" {fault:?}"),
                (None, Some(by)) => format!(" by {by:?}"),
                (None, None) => String::new(),
            };
            let body = if reply.body.len() < 40 { describe(reply.body).into_owned() } else { "...".into() };
            format!("reply {} {}{how} {body}", reply.id, reply.status).trim_end().to_owned()
        }
    }
}
