//! What texts, functions, and scripts see: one thread at one moment.

use crate::run::Run;
use crate::sample::Sample;
use crate::script::{Language, Refused, Script};
use crate::vars::Vars;
use plimsoll_plan::program::At;
use plimsoll_stats::random::SplitMix64;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The source of all values.
pub struct Scope<'a> {
    pub vars: &'a mut Vars,
    pub run: &'a Run,
    pub thread: &'a Identity,
    pub random: &'a mut SplitMix64,
    pub at: At,
    /// The last sample of this thread.
    pub previous: Option<&'a Sample>,
    /// The label of the current sampler.
    pub sampler: &'a str,
    /// What a function or a script asks the thread to do.
    pub wish: &'a mut Wish,
    pub caches: &'a Caches,
}

/// Who a thread is.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// Index of its group in the plan.
    pub group: usize,
    /// Number in its group, starting at 1.
    pub number: u32,
    /// Such as `Thread Group 1-1`.
    pub name: Rc<str>,
    /// The number of the current iteration of its group, starting at 1.
    pub iteration: u64,
    /// Counts of this thread, by call (`__counter(TRUE)`).
    pub counts: RefCell<HashMap<u32, i64>>,
}

/// What a function or a script asks the thread to do after the current sampler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wish {
    pub stops_thread: bool,
    pub stops_test: bool,
    /// Without waiting for threads.
    pub stops_now: bool,
    /// Whether the next iteration of the thread begins.
    pub restarts: bool,
}

impl Scope<'_> {
    /// Returns the milliseconds since 1970.
    pub fn unix_ms(&self) -> i64 {
        (self.at.unix_ns / 1_000_000) as i64
    }

    /// Returns a number from `least` to `most`.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        if most <= least {
            return least;
        }
        // The range fits into 65 bits; the bias of the high half of the product is 2^-64 of it.
        let range = (i128::from(most) - i128::from(least) + 1) as u128;
        let drawn = (u128::from(self.random.next_u64()).saturating_mul(range)) >> 64;
        (i128::from(least) + drawn as i128) as i64
    }

    /// Returns a number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number of the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.fraction(), self.fraction());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// Evaluates a text with variables and functions, such as the value of a variable (`__evalVar`).
    pub fn evaluate(&mut self, text: &str) -> String {
        self.run.dynamic(text).value(self)
    }
}

/// A pattern, or why it is invalid.
type CachedPattern = Rc<Result<regex::Regex, String>>;
/// A place of values, or why it is invalid.
type CachedValues = Rc<Result<plimsoll_body::Values, String>>;
/// A script, or what it uses that is not supported.
type CachedScript = Rc<Result<Script, Refused>>;

/// What one worker has compiled during the load: patterns and texts that come from variables.
#[derive(Default)]
pub struct Caches {
    pub patterns: RefCell<HashMap<Box<str>, CachedPattern>>,
    pub values: RefCell<HashMap<(u8, Box<str>), CachedValues>>,
    pub scripts: RefCell<HashMap<(Language, Box<str>), CachedScript>>,
}

/// Entries of each cache, after which it is emptied: texts with changing values must not fill the memory.
const ENTRIES_MAX: usize = 2_000;

impl Caches {
    /// Returns a pattern of a text.
    pub fn pattern(&self, text: &str) -> CachedPattern {
        cached(&self.patterns, text, crate::pattern::compile)
    }

    /// Returns a script of a text.
    pub fn script(&self, text: &str, language: Language) -> CachedScript {
        let mut all = self.scripts.borrow_mut();
        if let Some(known) = all.get(&(language, text.into())) {
            return Rc::clone(known);
        }
        if all.len() >= ENTRIES_MAX {
            all.clear();
        }
        let made = Rc::new(Script::parse(text, language));
        all.insert((language, text.into()), Rc::clone(&made));
        made
    }

    /// Returns a place of values; `kind` tells the languages of places from each other.
    pub fn place(
        &self,
        kind: u8,
        text: &str,
        compile: impl FnOnce() -> Result<plimsoll_body::Values, String>,
    ) -> CachedValues {
        let mut all = self.values.borrow_mut();
        if let Some(known) = all.get(&(kind, text.into())) {
            return Rc::clone(known);
        }
        if all.len() >= ENTRIES_MAX {
            all.clear();
        }
        let made = Rc::new(compile());
        all.insert((kind, text.into()), Rc::clone(&made));
        made
    }
}

fn cached<T>(cache: &RefCell<HashMap<Box<str>, Rc<T>>>, text: &str, make: impl FnOnce(&str) -> T) -> Rc<T> {
    let mut all = cache.borrow_mut();
    if let Some(known) = all.get(text) {
        return Rc::clone(known);
    }
    if all.len() >= ENTRIES_MAX {
        all.clear();
    }
    let made = Rc::new(make(text));
    all.insert(text.into(), Rc::clone(&made));
    made
}
