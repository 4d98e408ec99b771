//! Many fibers run groups of constructs that wait in the middle, in random order. Each result, with all stacks of its
//! errors, must be the same as that of a run in which nothing waits.

use plimsoll_quickjs::{Call, Fiber, Native, Progress, Realm, Runtime, StackPool, Thrown, Value};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

const GROUPS: &str = include_str!("groups.js");
/// Number of groups.
const GROUP_COUNT: u32 = 19;
/// Values of `n` that a group is called with.
const VARIANTS: u32 = 4;

pub static NATIVES: &[Native] = &[pause, fail];

/// One run of the torture.
#[derive(Clone, Copy)]
pub struct Torture {
    pub fibers: usize,
    /// Suspensions after which no more groups start.
    pub suspensions: u64,
    pub seed: u64,
    /// Of a million suspensions, about as many end with the cancellation of the fiber.
    pub cancels_per_million: u64,
    /// The same for collections of garbage.
    pub collections_per_million: u64,
}

/// What a run has found.
#[derive(Debug, Default)]
pub struct Found {
    pub suspensions: u64,
    pub groups: u64,
    pub cancelled: u64,
    pub collections: u64,
    /// The first results that differ.
    pub mismatches: Vec<String>,
}

/// What natives and fibers share.
struct Host {
    is_reference: Cell<bool>,
    is_over: Cell<bool>,
    groups: Cell<u64>,
    mismatches: RefCell<Vec<String>>,
    reference: RefCell<BTreeMap<(u32, u32), String>>,
}

/// Random numbers (xorshift), the same for one seed.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit.max(1)
    }
}

fn wait(call: &Call<'_>) -> Result<(), Thrown> {
    let is_reference = call.host::<Host>().is_some_and(|host| host.is_reference.get());
    if is_reference { Ok(()) } else { call.wait() }
}

fn pause(call: &Call<'_>) -> Result<Value, Thrown> {
    wait(call)?;
    Ok(call.argument(0))
}

fn fail(call: &Call<'_>) -> Result<Value, Thrown> {
    wait(call)?;
    Err(call.realm().error("TypeError", &call.argument(0).to_text()?))
}

/// Calls one group, on a fiber, with the jobs that it starts.
fn result(groups: &Value, natives: &Value, group: u32, n: u32) -> Result<String, Thrown> {
    let realm = groups.realm();
    let value = groups.get_index(group)?.call(&realm.undefined(), &[natives, &realm.number(f64::from(n))])?;
    while realm.run_job()? {}
    match value.settled() {
        None if value.is_promise() => Ok("never settled".to_owned()),
        None => value.to_text(),
        Some(Ok(value)) => value.to_text(),
        Some(Err(reason)) => Ok(format!("rejected with {}", reason.describe())),
    }
}

/// Runs a function on a fiber to its end, without waiting.
fn at_once(pool: &StackPool, realm: &Realm, body: impl FnOnce() + 'static) {
    let mut fiber = Fiber::new(pool, realm.runtime(), body).expect("a stack");
    assert_eq!(fiber.resume(), Progress::Ended, "the reference must not wait");
}

impl Torture {
    /// Runs it in a runtime with [`NATIVES`] and without a host.
    pub fn run(&self, runtime: &Runtime) -> Found {
        let host = Rc::new(Host {
            is_reference: Cell::new(true),
            is_over: Cell::new(false),
            groups: Cell::new(0),
            mismatches: RefCell::default(),
            reference: RefCell::default(),
        });
        runtime.set_host(Rc::clone(&host) as Rc<dyn std::any::Any>);
        let realm = Realm::new(runtime).expect("a realm");
        let natives = realm.object();
        natives.set_str("pause", realm.function("pause", 1, pause)).expect("a property");
        natives.set_str("fail", realm.function("fail", 1, fail)).expect("a property");
        let pool = StackPool::new();
        let groups = realm.eval(GROUPS, "groups.js").expect("the groups");
        let count = groups.length().expect("a length");
        assert_eq!(count, GROUP_COUNT);
        for (group, n) in (0..count).flat_map(|group| (0..VARIANTS).map(move |n| (group, n))) {
            let (groups, natives, of) = (groups.clone(), natives.clone(), Rc::clone(&host));
            at_once(&pool, &realm, move || {
                let text = result(&groups, &natives, group, n).expect("the reference");
                of.reference.borrow_mut().insert((group, n), text);
            });
        }
        host.is_reference.set(false);
        let mut random = Random::new(self.seed);
        let mut found = Found::default();
        let start = |random: &mut Random| {
            let (groups, natives, of) = (groups.clone(), natives.clone(), Rc::clone(&host));
            let mut random = Random::new(random.below(u64::MAX));
            let body = move || {
                while !of.is_over.get() && step(&groups, &natives, &of, &mut random) {}
            };
            Fiber::new(&pool, runtime, body).expect("a stack")
        };
        let mut fibers: Vec<Fiber> = (0..self.fibers).map(|_| start(&mut random)).collect();
        while !fibers.is_empty() {
            let at = random.below(fibers.len() as u64) as usize;
            if fibers[at].resume() == Progress::Ended {
                fibers.swap_remove(at);
                continue;
            }
            found.suspensions += 1;
            if !host.mismatches.borrow().is_empty() {
                // The rest of the memory may be corrupt: nothing of it is used again.
                let _ = std::mem::ManuallyDrop::new(fibers);
                break;
            }
            host.is_over.set(found.suspensions >= self.suspensions);
            if random.below(1_000_000) < self.cancels_per_million {
                fibers[at] = start(&mut random);
                found.cancelled += 1;
            }
            if random.below(1_000_000) < self.collections_per_million {
                runtime.collect();
                let stack = realm.eval("new Error('outside').stack", "outside.js").expect("a stack");
                assert_eq!(stack.as_text().as_deref(), Some("    at <eval> (outside.js:1:5)\n"));
                found.collections += 1;
            }
        }
        found.groups = host.groups.get();
        found.mismatches = host.mismatches.take();
        found
    }
}

/// Runs a random group and compares its result; returns whether the fiber is to continue.
fn step(groups: &Value, natives: &Value, host: &Host, random: &mut Random) -> bool {
    let (group, n) = (random.below(u64::from(GROUP_COUNT)) as u32, random.below(u64::from(VARIANTS)) as u32);
    let text = match result(groups, natives, group, n) {
        Ok(text) => text,
        Err(Thrown::Cancelled) => {
            // Other fibers must not run them.
            drop(groups.realm().runtime().take_jobs());
            return false;
        }
        Err(thrown) => format!("{thrown:?}"),
    };
    host.groups.set(host.groups.get() + 1);
    if host.reference.borrow().get(&(group, n)) != Some(&text) {
        let expected = host.reference.borrow().get(&(group, n)).cloned().unwrap_or_default();
        host.mismatches.borrow_mut().push(format!("group {group}, n {n}: {text}\nexpected: {expected}"));
        return false;
    }
    true
}
