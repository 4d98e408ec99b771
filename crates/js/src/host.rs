//! The state that the native functions of a pod share.

use crate::grpc::Connection;
use crate::http::address::Way;
use crate::http::params::KEYS;
use crate::http::{Expected, Response, canonical};
use crate::jar::Jar;
use crate::known::Known;
use crate::metrics::Metrics;
use crate::source::Shared;
use crate::vu::{Arrived, Vu};
use plimsoll_body::json::Path;
use plimsoll_plan::grpc::Schemas;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, OriginQuery, Outbox, StepId};
use plimsoll_plan::redis::RedisClient;
use plimsoll_plan::request::Target;
use plimsoll_quickjs::{Atom, Call, Class, Realm, Runtime, Thrown, Value};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Names of header fields kept at once: a server may send any number of them.
const HEADERS_MOST: usize = 1 << 9;
/// Selectors kept at once.
const PATHS_MOST: usize = 1 << 10;

/// State of a pod.
pub struct Host {
    pub shared: Arc<Shared>,
    /// The outbox of the current wake; an empty one at other times.
    pub out: RefCell<Outbox>,
    pub at: Cell<At>,
    /// The user that runs; none while modules are evaluated before the load.
    pub vu: RefCell<Option<Rc<Vu>>>,
    pub metrics: RefCell<Metrics>,
    pub responses: Class<Response>,
    pub names: OnceCell<Names>,
    pub jars: Class<Rc<RefCell<Jar>>>,
    /// Origins that can be used: those of the plan, and those that were asked for.
    pub origins: RefCell<Vec<(Target, OriginId)>>,
    /// The same by the texts that scripts write.
    pub ways: RefCell<Vec<Rc<Way>>>,
    /// Origins that calls go to, by what was asked for.
    pub found: RefCell<Vec<(OriginQuery, OriginId)>>,
    pub connections: Class<Connection>,
    pub redis_clients: Class<Arc<RedisClient>>,
    /// Schemas that scripts have loaded.
    pub schemas: RefCell<Vec<Arc<Schemas>>>,
    /// Series that were opened before.
    pub known: RefCell<Known>,
    /// The properties of header fields that were read before, by their names as received.
    pub headers: RefCell<FxHashMap<Box<[u8]>, Atom>>,
    /// Selectors of JSON values that were used before.
    pub json_paths: RefCell<FxHashMap<String, Option<Rc<Path>>>>,
    /// Whether the init part of the script runs.
    pub is_init: Cell<bool>,
    /// The module whose top level runs.
    pub evaluating: Cell<Option<usize>>,
    /// State of `Math.random` in the init part.
    pub seed: Cell<u64>,
    /// A response callback that was set in the init part, for all users.
    pub expected: RefCell<Option<Expected>>,
}

/// Names of properties that most iterations use, looked up once.
#[derive(Debug)]
pub struct Names {
    pub status: Atom,
    pub body: Atom,
    /// As in [`KEYS`].
    pub params: [Atom; KEYS.len()],
}

impl Host {
    pub fn names(&self, realm: &Realm) -> &Names {
        self.names.get_or_init(|| Names {
            status: realm.atom("status"),
            body: realm.atom("body"),
            params: KEYS.map(|key| realm.atom(key)),
        })
    }

    /// Makes a header field a property of an object of headers, with the name by which scripts look it up.
    ///
    /// # Errors
    /// Returns that memory has run out.
    pub fn set_header(&self, realm: &Realm, object: &Value, name: &[u8], value: &str) -> Result<(), Thrown> {
        let value = realm.text(value);
        if let Some(known) = self.headers.borrow().get(name) {
            return object.put(*known, value);
        }
        let text = canonical(&String::from_utf8_lossy(name));
        let mut headers = self.headers.borrow_mut();
        if headers.len() >= HEADERS_MOST {
            return object.define(&text, value, true, true);
        }
        let known = realm.atom(&text);
        headers.insert(name.into(), known);
        object.put(known, value)
    }

    /// Returns the host of a call.
    ///
    /// # Errors
    /// Returns an error if the runtime has none, which is a mistake of this crate.
    pub fn of<'a>(call: &'a Call<'_>) -> Result<&'a Host, Thrown> {
        call.host::<Host>().ok_or_else(|| call.realm().error("InternalError", "a runtime without a host"))
    }

    pub fn of_runtime(runtime: &Runtime) -> Option<&Host> {
        runtime.host::<Host>()
    }

    pub fn origin(&self, target: &Target) -> Option<OriginId> {
        self.origins.borrow().iter().find(|(known, _)| known == target).map(|(_, id)| *id)
    }

    /// Remembers the number of an origin.
    pub fn know_origin(&self, target: Target, number: OriginId) {
        if self.origin(&target).is_none() {
            self.origins.borrow_mut().push((target, number));
            self.known.borrow_mut().forget_requests();
        }
    }

    /// Returns the user that runs.
    ///
    /// # Errors
    /// Returns an error in the init part of a script.
    pub fn vu(&self, realm: &Realm, what: &str) -> Result<Rc<Vu>, Thrown> {
        self.vu.borrow().clone().filter(|_| !self.is_init.get()).ok_or_else(|| {
            realm.error("Error", &format!("{what} cannot be called in the init part of a script"))
        })
    }

    /// Cancels a step. Returns whether it was one of the current wake, which the engine does not know yet: then it is
    /// removed, and no reply follows.
    pub fn cancel(&self, id: StepId) -> bool {
        let out = &mut *self.out.borrow_mut();
        let count = |out: &Outbox| out.steps.len() + out.sleeps.len() + out.reaches.len();
        let before = count(out);
        out.steps.retain(|step| step.id != id);
        out.sleeps.retain(|(step, _)| *step != id);
        out.reaches.retain(|(step, _)| *step != id);
        let is_new = count(out) < before;
        if !is_new {
            out.cancel(id);
        }
        is_new
    }

    /// Waits until a step has ended, and returns its result.
    ///
    /// # Errors
    /// Returns an error if the fiber is to end, or if there is none.
    pub fn wait(&self, call: &Call<'_>, vu: &Vu, id: StepId) -> Result<Arrived, Thrown> {
        vu.await_step(id);
        loop {
            if let Err(thrown) = call.wait() {
                vu.stop_waiting();
                return Err(thrown);
            }
            if let Some(arrived) = vu.take(id) {
                return Ok(arrived);
            }
        }
    }

    /// Waits until one of several steps has ended; returns it with its result.
    ///
    /// # Errors
    /// Returns an error if the fiber is to end, or if there is none.
    pub fn wait_for_one(
        &self,
        call: &Call<'_>,
        vu: &Vu,
        ids: impl Iterator<Item = StepId> + Clone,
    ) -> Result<(StepId, Arrived), Thrown> {
        loop {
            for id in ids.clone() {
                if let Some(arrived) = vu.take(id) {
                    return Ok((id, arrived));
                }
            }
            vu.awaits_any.set(true);
            let waited = call.wait();
            vu.awaits_any.set(false);
            waited?;
        }
    }

    /// Returns the path of a JSON selector that consists of plain names; `None` for any other one.
    pub fn json_path(&self, selector: &str) -> Option<Rc<Path>> {
        if let Some(known) = self.json_paths.borrow().get(selector) {
            return known.clone();
        }
        let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let is_name = |part: &str| {
            part.bytes().next().is_some_and(is_first)
                && part.bytes().all(|byte| is_first(byte) || byte.is_ascii_digit())
        };
        let is_plain = selector.split('.').all(is_name);
        let path = if is_plain { Path::compile(&format!("$.{selector}")).ok().map(Rc::new) } else { None };
        let mut known = self.json_paths.borrow_mut();
        if known.len() < PATHS_MOST {
            known.insert(selector.to_owned(), path.clone());
        }
        path
    }

    /// Returns a random number below 1 for the init part.
    pub fn init_random(&self) -> f64 {
        let (state, number) = crate::vu::next_random(self.seed.get());
        self.seed.set(state);
        number
    }

    /// Returns the time since 1970, s.
    pub fn unix_s(&self) -> i64 {
        (self.at.get().unix_ns / 1_000_000_000) as i64
    }

    /// Returns the time since 1970, ms.
    pub fn unix_ms(&self) -> f64 {
        self.at.get().unix_ns as f64 / 1e6
    }
}
