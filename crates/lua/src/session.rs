//! A script with the states of all threads, from `setup` to `done`.

use crate::done::Results;
use crate::message::{Message, split};
use crate::thread::{Handle, Thread, Watch, problem};
use mlua::Function;
use plimsoll_plan::{Problem, Request};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the command line says of the requests.
#[derive(Clone)]
pub struct Site {
    pub scheme: String,
    pub host: String,
    /// As written; `None`: that of the scheme.
    pub port: Option<String>,
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Returns the addresses of a host and a port or service, for `wrk.lookup`.
    pub lookup: Lookup,
}

/// Looks up the addresses of a host name, or returns why there are none.
pub type Lookup = fn(&str, &str) -> Result<Vec<SocketAddr>, String>;

/// A script whose threads have started.
pub struct Session {
    pub(crate) name: String,
    /// The state of `setup` and `done`.
    main: Arc<Thread>,
    pub(crate) threads: Vec<Arc<Thread>>,
    /// The requests of the first call, which says how deep the pipeline is.
    first: Vec<Message>,
    /// Whether `request` has returned the same string in each of several calls. Only asked of a pipeline.
    is_constant: bool,
    /// The next thread that a worker takes.
    taken: AtomicUsize,
    error: Mutex<Option<Problem>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Session {
    /// Runs a script in each thread, calls `setup` and `init`, and makes the first request.
    ///
    /// # Errors
    /// Returns an error of the script with its place, or that its request is invalid.
    pub fn start(
        name: &str,
        script: &[u8],
        site: &Site,
        arguments: &[String],
        threads: usize,
    ) -> Result<Session, Problem> {
        let (main, _) = Thread::new(name, script, site)?;
        let mut all = Vec::new();
        for _ in 0..threads.max(1) {
            let (thread, start) = Thread::new(name, script, site)?;
            let own = thread.lua.create_userdata(Handle(Arc::downgrade(&thread)));
            let wrk = thread.lua.globals().get::<mlua::Table>("wrk");
            let set = own.and_then(|own| wrk?.set("thread", own));
            set.map_err(|error| problem(name, &error))?;
            if let Some(setup) = main.function("setup") {
                let handle = main.lua.create_userdata(Handle(Arc::downgrade(&thread)));
                main.within_budget(name, || setup.call::<()>(handle?))?;
            }
            thread.within_budget(name, || start.call::<()>(arguments.to_vec()))?;
            all.push(thread);
        }
        let mut session = Session {
            name: name.to_owned(),
            main,
            threads: all,
            first: Vec::new(),
            is_constant: false,
            taken: AtomicUsize::new(0),
            error: Mutex::new(None),
        };
        let thread = Arc::clone(&session.threads[0]);
        let text = thread.within_budget(name, || request_of(&thread)?.call::<mlua::String>(()))?;
        session.first = split(&text.as_bytes()).map_err(|why| {
            let hint = "return whole requests, such as those of `wrk.format()`";
            Problem::new(format!("{name}: {why}"), hint)
        })?;
        if session.depth() > 1 {
            session.is_constant = thread.within_budget(name, || is_constant(&thread, &text))?;
            if session.fixed().is_none() {
                let message = format!("{name}: only a pipeline of the same requests is supported");
                let hint = "return the same string in each call of `request`, without `response` and `delay`";
                return Err(Problem::new(message, hint));
            }
        }
        // Lua has its own buffer of standard output.
        for thread in session.threads.iter().chain([&session.main]) {
            thread.lua.load("io.flush()").exec().map_err(|error| problem(name, &error))?;
        }
        Ok(session)
    }

    /// Returns the number of requests in each string.
    pub fn depth(&self) -> usize {
        self.first.len()
    }

    /// Returns whether a function of the script is not called during the load, because it has returned the same string
    /// each time.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// Returns the requests of the whole run, if the script makes them before the load and does not look at responses.
    pub fn fixed(&self) -> Option<Vec<Request>> {
        let has = |name: &str| self.threads[0].function(name).is_some();
        let is_fixed = !has("response") && !has("delay") && (self.is_constant || !has("request"));
        is_fixed.then(|| self.first.iter().map(Message::request).collect())
    }

    /// Returns the addresses that `setup` has given to threads.
    ///
    /// # Errors
    /// Returns an error if only some threads have one.
    pub fn addresses(&self) -> Result<Vec<SocketAddr>, Problem> {
        let all: Vec<SocketAddr> = self.threads.iter().filter_map(|thread| thread.address()).collect();
        match all.is_empty() || all.len() == self.threads.len() {
            true => Ok(all),
            false => Err(Problem::new(
                format!(
                    "{}: only {} of {} threads have an address",
                    self.name,
                    all.len(),
                    self.threads.len()
                ),
                "set `thread.addr` of each thread, or of none",
            )),
        }
    }

    pub(crate) fn first(&self) -> &[Message] {
        &self.first
    }

    /// Returns the thread of the next worker.
    pub(crate) fn take(&self) -> Arc<Thread> {
        let at = self.taken.fetch_add(1, Ordering::Relaxed);
        Arc::clone(&self.threads[at % self.threads.len()])
    }

    pub(crate) fn fail(&self, problem: Problem) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
    }

    /// Returns the first error of the script during the load.
    pub fn error(&self) -> Option<Problem> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a watch on calls that do not end.
    pub fn watch(&self) -> Watch {
        Watch::new(self.threads.clone())
    }

    /// Calls `done`, if the script has it.
    ///
    /// # Errors
    /// Returns an error of the script with its place.
    pub fn done(&self, results: Results) -> Result<(), Problem> {
        let main = &self.main;
        let Some(done) = main.function("done") else { return Ok(()) };
        main.within_budget(&self.name, || {
            let summary = results.summary(&main.lua)?;
            done.call::<()>((summary, results.latency, results.requests))?;
            // Lua has its own buffer of standard output.
            main.lua.load("io.flush()").exec()
        })
    }
}

/// Calls before the load that must agree.
const CALLS: usize = 100;

/// Returns whether the function `request` returns the same string in each call.
fn is_constant(thread: &Thread, first: &mlua::String) -> mlua::Result<bool> {
    let request = request_of(thread)?;
    for _ in 0..CALLS {
        if request.call::<mlua::String>(())?.as_bytes() != first.as_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the function that makes the requests of a thread.
pub fn request_of(thread: &Thread) -> mlua::Result<Function> {
    match thread.function("request") {
        Some(own) => Ok(own),
        None => thread.lua.globals().get::<mlua::Table>("wrk")?.get("request"),
    }
}
