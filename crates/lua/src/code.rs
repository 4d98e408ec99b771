//! A script as the code of a plan: the users of a worker call the functions of its thread.

use crate::message::{Message, first, split};
use crate::session::{Session, request_of};
use crate::thread::{MEMORY_MAX, Thread, problem, too_large};
use mlua::Function;
use plimsoll_plan::code::Code;
use plimsoll_plan::program::{
    At, Behavior, BodyUse, Outbox, Phase, Program, ProgramFactory, Programs, Reply, RequestId, Step, StepId,
    Unready, UserSlot, Wake,
};
use plimsoll_plan::series::Family;
use plimsoll_plan::{Plan, Problem};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const REQUEST: StepId = 1;
const DELAY: StepId = 2;
/// Calls between two looks at the memory of a script.
const MEMORY_LOOK: u32 = 64;

/// A script as the code of a plan.
#[derive(Debug, Clone)]
pub struct LuaCode(pub Arc<Session>);

impl Code for LuaCode {
    fn behavior(&self, _: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        Ok(Arc::new(self.clone()))
    }
}

impl Behavior for LuaCode {
    fn has(&self, phase: Phase) -> bool {
        phase == Phase::Load
    }

    fn check_data(&self) -> Result<(), Unready> {
        Ok(())
    }

    fn factory(self: Arc<Self>, _: Phase) -> Result<Arc<dyn ProgramFactory>, Unready> {
        Ok(self)
    }

    fn trouble(&self) -> Option<String> {
        self.0.error().map(|problem| problem.message)
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

impl ProgramFactory for LuaCode {
    fn programs(&self) -> Box<dyn Programs> {
        let thread = self.0.take();
        let is_dynamic = thread.function("request").is_some();
        let worker = Worker {
            request: is_dynamic.then(|| request_of(&thread).ok()).flatten(),
            response: thread.function("response"),
            delay: thread.function("delay"),
            fixed: if is_dynamic { Vec::new() } else { self.0.first().to_vec() },
            next: Cell::new(0),
            calls: Cell::new(0),
            queue: RefCell::default(),
            series: Cell::new(None),
            session: Arc::clone(&self.0),
            thread,
        };
        Box::new(Maker(Rc::new(worker)))
    }
}

struct Maker(Rc<Worker>);

impl Programs for Maker {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(User(Rc::clone(&self.0)))
    }
}

/// What the users of a worker share.
struct Worker {
    session: Arc<Session>,
    thread: Arc<Thread>,
    request: Option<Function>,
    response: Option<Function>,
    delay: Option<Function>,
    /// The requests of a script without the function `request`, in turn.
    fixed: Vec<Message>,
    next: Cell<usize>,
    /// Calls of the script, to look at its memory now and then.
    calls: Cell<u32>,
    /// The rest of the last string with several requests.
    queue: RefCell<VecDeque<Message>>,
    series: Cell<Option<RequestId>>,
}

struct User(Rc<Worker>);

impl Program for User {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        let worker = &self.0;
        if worker.thread.is_stopped.load(Ordering::Relaxed) {
            return out.retire();
        }
        let done = match wake {
            Wake::Begin { .. } => worker.begin(out),
            Wake::Slept { .. } => worker.send(out),
            Wake::Reply(reply) => worker.reply(&reply),
            // These steps ask for none of the others.
            Wake::Head { .. }
            | Wake::Event(_)
            | Wake::Message(_)
            | Wake::Reached { .. }
            | Wake::Interrupted => Ok(()),
        };
        if let Err(problem) = done {
            worker.session.fail(problem);
            // No other request of this thread would be right.
            worker.thread.is_stopped.store(true, Ordering::Relaxed);
            out.retire();
        }
    }
}

impl Worker {
    /// Calls the script.
    fn call<R>(&self, run: impl FnOnce() -> mlua::Result<R>) -> Result<R, Problem> {
        let result = self.thread.during(run).map_err(|error| problem(&self.session.name, &error))?;
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if calls.is_multiple_of(MEMORY_LOOK) && self.thread.lua.used_memory() as u64 > MEMORY_MAX {
            return Err(too_large(&self.session.name));
        }
        Ok(result)
    }

    fn begin(&self, out: &mut Outbox) -> Result<(), Problem> {
        let Some(delay) = &self.delay else { return self.send(out) };
        let ms = self.call(|| delay.call::<Option<f64>>(()))?.unwrap_or(0.0);
        out.sleep(DELAY, (ms.max(0.0) as u64).saturating_mul(1_000_000));
        Ok(())
    }

    fn send(&self, out: &mut Outbox) -> Result<(), Problem> {
        let series = match self.series.get() {
            Some(series) => series,
            None => {
                // The first one cannot be one too many.
                let opened = out.open(Family::Request, &self.session.name, &[]).unwrap_or(0);
                self.series.set(Some(opened));
                opened
            }
        };
        let body = if self.response.is_some() { BodyUse::Keep } else { BodyUse::Discard };
        let step = Step { id: REQUEST, request: series, body, ..Step::default() };
        let push = |out: &mut Outbox, bytes: &[u8], head_only: bool, close: bool| {
            out.push_rendered(Step { head_only, close, ..step }, |arena| arena.extend_from_slice(bytes));
        };
        if let Some(next) = self.queue.borrow_mut().pop_front() {
            push(out, &next.bytes, next.head_only, next.close);
            return Ok(());
        }
        let Some(request) = &self.request else {
            let at = self.next.replace((self.next.get() + 1) % self.fixed.len().max(1));
            if let Some(next) = self.fixed.get(at) {
                push(out, &next.bytes, next.head_only, next.close);
            }
            return Ok(());
        };
        let text = self.call(|| request.call::<mlua::String>(()))?;
        let text = text.as_bytes();
        let invalid = |why| Problem::plain(format!("{}: {why}", self.session.name));
        let (found, after) = first(&text).map_err(invalid)?;
        push(out, &text[..text.len() - after.len()], found.head_only, found.close);
        if !after.is_empty() {
            self.queue.borrow_mut().extend(split(after).map_err(invalid)?);
        }
        Ok(())
    }

    fn reply(&self, reply: &Reply<'_>) -> Result<(), Problem> {
        let Some(response) = self.response.as_ref().filter(|_| reply.status > 0) else { return Ok(()) };
        self.call(|| {
            let lua = &self.thread.lua;
            // Text is pushed directly; for other bytes, each value needs a reference, which costs more than the copy.
            let text = |bytes| std::str::from_utf8(bytes).ok();
            let fields = || fields(reply.head.text());
            let headers =
                lua.create_table_from(fields().filter_map(|(name, value)| text(name).zip(text(value))))?;
            for (name, value) in fields().filter(|(name, value)| text(name).and(text(value)).is_none()) {
                headers.raw_set(lua.create_string(name)?, lua.create_string(value)?)?;
            }
            match text(reply.body) {
                Some(body) => response.call::<()>((reply.status, headers, body)),
                None => response.call::<()>((reply.status, headers, lua.create_string(reply.body)?)),
            }
        })
    }
}

/// Returns the names and values of a head.
fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').skip(1).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}
