//! A user and requests for tests of the judge, and repeatable random numbers.

// Each test file uses some of these.
#![allow(dead_code, clippy::expect_used)]

use plimsoll_plan::answer::{Check, Extract, Pick, Rule, Source, Subject};
use plimsoll_plan::head::Head;
use plimsoll_plan::load::Share;
use plimsoll_plan::program::UserSlot;
use plimsoll_plan::script::{Ask, Slot};
use plimsoll_plan::value::{Escape, Part, Placeholder, Text};
use plimsoll_script::answer::{Answer, Findings, Judge, Scratch};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, Scope, Vars};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;

pub const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
    Content-Type: application/json\r\nX-Id: first\r\nx-id: second\r\nContent-Length: 100\r\n\r\n";

/// All that a scope borrows, with four variables.
pub struct User {
    pub vars: Vars,
    pub globals: Arc<Globals>,
    pub rows: Rows,
    pub random: SplitMix64,
    pub counters: Counters,
}

impl User {
    pub fn new() -> User {
        let feeds = Feeds::open(&[], 1, Share { part: 1, of: 1 }).expect("opening no feeder cannot fail");
        User::fed(&Arc::new(feeds))
    }

    pub fn fed(feeds: &Arc<Feeds>) -> User {
        User {
            vars: Vars::new(4),
            globals: Globals::new(4),
            rows: Rows::new(feeds, UserSlot { workload: 0, user: 0, id: 0, users: 1 }),
            random: SplitMix64::new(7),
            counters: Counters::new(),
        }
    }

    pub fn scope(&mut self) -> Scope<'_> {
        Scope {
            vars: &mut self.vars,
            globals: &self.globals,
            rows: &mut self.rows,
            random: &mut self.random,
            counters: &self.counters,
            unix_ns: 0,
            user: 1,
            iteration: 1,
            timings: &[],
            request: Default::default(),
        }
    }
}

/// A request without expectations.
pub fn ask() -> Ask {
    Ask {
        origin: 0,
        name: "order".into(),
        scenario: None,
        group: None,
        tags: Vec::new(),
        method: "GET".into(),
        path: Text::literal("/"),
        headers: Vec::new(),
        body: None,
        timeout_ns: None,
        redirects: 0,
        expect: None,
        checks: Vec::new(),
        extracts: Vec::new(),
        go_on_after_failure: false,
        stream: None,
        websocket: None,
        grpc: None,
    }
}

pub fn checked(subjects: impl IntoIterator<Item = Subject>) -> Ask {
    let number = |(number, on): (usize, Subject)| Check { name: format!("check {number}"), on };
    Ask { checks: subjects.into_iter().enumerate().map(number).collect(), ..ask() }
}

/// Extracts into the variables 0, 1, ...
pub fn taking(sources: impl IntoIterator<Item = (Source, Pick)>) -> Ask {
    let extract = |(number, (from, pick)): (usize, (Source, Pick))| Extract {
        into: Slot::Var(number as u16),
        name: format!("var {number}"),
        from,
        pick,
        default: None,
    };
    Ask { extracts: sources.into_iter().enumerate().map(extract).collect(), ..ask() }
}

/// `before${variable}after`
pub fn with_variable(before: &str, variable: u16, after: &str) -> Text {
    let mut text = Text::literal(before);
    text.parts.push(Part::Placeholder(Placeholder::Var(variable), Escape::None));
    text.push_literal(after.as_bytes());
    text
}

pub fn json(path: &str, rule: Rule) -> Subject {
    Subject::Json { path: path.into(), rule }
}

pub fn answer(body: &[u8]) -> Answer<'_> {
    Answer {
        status: 200,
        head: Head::new(HEAD),
        body,
        body_bytes: body.len() as u64,
        service_ns: 1_500_000,
        call: None,
    }
}

pub fn compiled(ask: &Ask) -> Judge {
    Judge::compile(ask).expect("the request of the test is valid")
}

/// Judges one response and records sentences.
pub fn judged(ask: &Ask, answer: &Answer<'_>) -> Findings {
    let mut findings = Findings { wants_sentences: true, ..Findings::default() };
    compiled(ask).run(answer, &mut User::new().scope(), &mut Scratch::default(), &mut findings);
    findings
}

/// Returns the extracted values as text, in the order of the variables that have a value.
pub fn values(findings: &Findings) -> Vec<(u16, String)> {
    let value = |(slot, range): &(Slot, std::ops::Range<usize>)| {
        let Slot::Var(id) = slot else { panic!("the tests extract into variables") };
        (*id, String::from_utf8_lossy(&findings.bytes[range.clone()]).into_owned())
    };
    findings.extracted.iter().map(value).collect()
}

/// Runs `case` once for each of `usual` seeds, or for as many as `PLIMSOLL_FUZZ_CASES` says. A failing case prints its
/// seed, and `PLIMSOLL_FUZZ_SEED` repeats only that case.
pub fn cases(usual: u64, case: impl Fn(&mut Chance) + std::panic::RefUnwindSafe) {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is `{text}`, not a whole number")))
    };
    let seeds = match number("PLIMSOLL_FUZZ_SEED") {
        Some(seed) => seed..=seed,
        None => 1..=number("PLIMSOLL_FUZZ_CASES").unwrap_or(usual),
    };
    for seed in seeds {
        let held = std::panic::catch_unwind(|| case(&mut Chance(SplitMix64::new(seed)))).is_ok();
        assert!(held, "PLIMSOLL_FUZZ_SEED={seed} repeats this case alone");
    }
}

pub struct Chance(SplitMix64);

impl Chance {
    /// 0 to `bound` - 1; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() >> 11) as usize % bound.max(1)
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
