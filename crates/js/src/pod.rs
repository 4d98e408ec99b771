//! A pod: one runtime of JavaScript with a part of a worker's users.

use crate::event_loop;
use crate::host::Host;
use crate::log::{Level, Source};
use crate::metrics::Metrics;
use crate::modules::BOOT;
use crate::native::{self, NATIVES};
use crate::source::Shared;
use plimsoll_plan::program::{At, Outbox};
use plimsoll_quickjs::{Class, Realm, Runtime, StackPool, Thrown, Value};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Hidden property of the global object: instantiates the script's modules for a user.
const INSTANTIATE: &str = "__plimsoll_instantiate";
/// Iterations between two garbage collections.
const ITERATIONS_PER_COLLECTION: u64 = 5_000;
/// Iterations between two comparisons of what users share with its first state; each takes some milliseconds.
const ITERATIONS_PER_COMPARISON: u64 = 50_000;

/// A pod.
pub struct Pod {
    pub runtime: Runtime,
    pub host: Rc<Host>,
    /// Stacks of all pods of the worker.
    pub stacks: StackPool,
    /// The realm that users share.
    shared_realm: RefCell<Option<Realm>>,
    /// Values of variables at the top level of the last instance.
    peek: RefCell<Option<Value>>,
    iterations: Cell<u64>,
    pub users: Cell<usize>,
}

/// There is no memory for a runtime.
#[derive(Debug)]
pub struct NoMemory;

impl Pod {
    /// # Errors
    /// Returns an error if memory has run out.
    pub fn new(shared: &Arc<Shared>) -> Result<Pod, NoMemory> {
        Pod::with(shared, StackPool::new())
    }

    /// # Errors
    /// Returns an error if memory has run out.
    pub fn with(shared: &Arc<Shared>, stacks: StackPool) -> Result<Pod, NoMemory> {
        let runtime = Runtime::new(NATIVES).ok_or(NoMemory)?;
        let host = Rc::new(Host {
            shared: Arc::clone(shared),
            out: RefCell::new(Outbox::default()),
            at: Cell::new(At::default()),
            vu: RefCell::new(None),
            metrics: RefCell::new(Metrics::default()),
            responses: Class::new(&runtime, "Response").ok_or(NoMemory)?,
            names: OnceCell::new(),
            jars: Class::new(&runtime, "CookieJar").ok_or(NoMemory)?,
            origins: RefCell::new(shared.origins.clone()),
            ways: RefCell::default(),
            found: RefCell::default(),
            connections: Class::new(&runtime, "GrpcConnection").ok_or(NoMemory)?,
            redis_clients: Class::new(&runtime, "RedisClient").ok_or(NoMemory)?,
            schemas: RefCell::default(),
            headers: RefCell::default(),
            known: RefCell::default(),
            json_paths: RefCell::default(),
            is_init: Cell::new(false),
            evaluating: Cell::new(None),
            seed: Cell::new(shared.seed),
            expected: RefCell::new(None),
        });
        runtime.track_rejections();
        runtime.set_budget_ns(shared.settings.budget_ns);
        runtime.set_memory_limit(shared.settings.memory_bytes);
        runtime.set_host(Rc::clone(&host) as Rc<dyn std::any::Any>);
        Ok(Pod {
            runtime,
            host,
            stacks,
            shared_realm: RefCell::new(None),
            peek: RefCell::new(None),
            iterations: Cell::new(0),
            users: Cell::new(0),
        })
    }

    /// Returns a new realm with the global objects of scripts.
    ///
    /// # Errors
    /// Returns what the preparation has thrown.
    pub fn realm(&self) -> Result<Realm, Thrown> {
        let realm = Realm::new(&self.runtime).ok_or(Thrown::Interrupted(None))?;
        native::install(&realm, &self.host)?;
        let natives = realm.object();
        native::lend(&realm, &natives, BOOT)?;
        let boot = realm.eval(BOOT, "boot.js")?;
        let instantiate = boot.call(&realm.undefined(), &[&natives])?;
        realm.global().define(INSTANTIATE, instantiate, false, false)?;
        Ok(realm)
    }

    /// Returns the realm that users share.
    ///
    /// # Errors
    /// Returns what the preparation has thrown.
    pub fn shared_realm(&self) -> Result<Realm, Thrown> {
        if let Some(realm) = &*self.shared_realm.borrow() {
            return Ok(realm.clone());
        }
        let realm = self.realm()?;
        native::share_envs(&realm)?;
        realm.global().get_str(INSTANTIATE)?.call_method("watch", &[])?;
        self.shared_realm.replace(Some(realm.clone()));
        Ok(realm)
    }

    /// Ends the test if the script has changed what users share.
    pub fn compare_shared(&self) {
        let Some(realm) = self.shared_realm.borrow().clone() else { return };
        let shared = &self.host.shared;
        self.runtime.set_budget(shared.settings.budget);
        let instantiate = realm.global().get_str(INSTANTIATE);
        let why = match instantiate.and_then(|of| of.call_method("changed", &[])).map(|name| name.as_text()) {
            Ok(None) => return,
            Ok(Some(name)) => format!("the script changes `{name}`"),
            Err(thrown) => format!("the script changes global objects ({})", shared.message(&thrown)),
        };
        if shared.aborted().is_none() {
            let why = format!(
                "{why}, which users share: write `globalThis;` into the script, and each user gets its own global \
                 objects"
            );
            shared.script.log.write(Level::Error, Source::Run, &why);
            shared.abort(&why);
        }
    }

    /// Evaluates the modules of the script for a user; returns the exports of its entry. With `wants_peek`,
    /// [`Pod::peek`] returns the values of their variables afterwards.
    ///
    /// # Errors
    /// Returns what a module has thrown.
    pub fn instantiate(&self, realm: &Realm, wants_peek: bool) -> Result<Value, Thrown> {
        self.host.is_init.set(true);
        let instantiate = realm.global().get_str(INSTANTIATE)?;
        let result = instantiate.call(&realm.undefined(), &[&realm.bool(wants_peek)]);
        self.host.is_init.set(false);
        let instance = result?;
        if wants_peek {
            self.peek.replace(Some(instance.get_str("peek")?));
        }
        let ready = instance.get_str("ready")?;
        if ready.is_promise() {
            self.host.is_init.set(true);
            let settled = self.settled(realm, &ready);
            self.host.is_init.set(false);
            settled?;
        }
        event_loop::uncaught(realm, &ready)?;
        instance.get_str("exports")
    }

    /// Runs callbacks until a promise of the init part is settled.
    fn settled(&self, realm: &Realm, promise: &Value) -> Result<(), Thrown> {
        while realm.run_job()? {}
        match promise.settled() {
            Some(Ok(_)) => Ok(()),
            Some(Err(reason)) => Err(Thrown::Value(reason)),
            None => {
                Err(realm.error("Error", "the init part of a script must not wait for timers or requests"))
            }
        }
    }

    /// Returns the values of variables at the top level of the last instance.
    ///
    /// # Errors
    /// Returns what a getter has thrown.
    pub fn peek(&self, realm: &Realm) -> Result<Value, Thrown> {
        let peek = self.peek.borrow().clone();
        match peek {
            Some(peek) => peek.call(&realm.undefined(), &[]),
            None => Ok(realm.undefined()),
        }
    }

    /// Collects garbage from time to time, between iterations.
    pub fn iteration_ended(&self) {
        let count = self.iterations.get() + 1;
        self.iterations.set(count);
        if count.is_multiple_of(ITERATIONS_PER_COLLECTION) {
            self.runtime.collect();
        }
        if count == 1 || count.is_multiple_of(ITERATIONS_PER_COMPARISON) {
            self.compare_shared();
        }
    }
}
