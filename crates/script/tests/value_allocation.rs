//! Filling in a template and reading a row allocate nothing once the buffers have grown, because both may happen a
//! million times per second.

#![allow(clippy::expect_used)]

mod feed_support;

use feed_support::{Scratch, csv, json, machine, slot};
use plimsoll_plan::data::{Feeder, RowOrder, Sharing};
use plimsoll_plan::value::{
    Alphabet, Derived, Digest, Escape, Fake, Form, Function, Locale, Moment, Part, Placeholder, RequestPart,
    Text, TimeFormat, Transform,
};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, RequestParts, Scope, Vars, fill};
use plimsoll_stats::random::SplitMix64;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    // Counted per thread, because the test harness also allocates on its threads.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// Only an allocator can see allocations, and that trait is unsafe. Every call is forwarded to the system's allocator
// unchanged, so its contract holds if the caller keeps it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn every_kind_of_placeholder() -> Text {
    let functions = [
        Function::Uuid,
        Function::Now(TimeFormat::Iso),
        Function::Now(TimeFormat::Http),
        Function::Now(TimeFormat::Pattern("%Y %j".into())),
        Function::Counter { id: 3, start: 0, step: 1 },
        Function::RandomInt { low: -5, high: 5 },
        Function::RandomString { length: 20, alphabet: Alphabet::Letters },
        Function::User,
        Function::Iteration,
        Function::Moment(Box::new(
            Moment::parse(&["%Y %z", "+1mo", "Europe/Berlin"].map(str::to_owned)).expect("it is valid"),
        )),
        Function::Fake(Fake::Paragraph, Locale::De),
        Function::Fake(Fake::Email, Locale::En),
    ];
    let derived = |how| {
        let mut text = Text::literal("a text ");
        text.parts.push(Part::Placeholder(Placeholder::Var(0), Escape::None));
        Placeholder::Derived(Box::new(Derived { how, text }))
    };
    let keyed = Transform::Hmac { algorithm: Digest::Sha512, key: Text::literal("key"), form: Form::Base64 };
    let made = [
        derived(Transform::Digest { algorithm: Digest::Sha256, form: Form::Hex }),
        derived(keyed),
        derived(Transform::Base64Url),
        derived(Transform::Url),
        Placeholder::Timing(0),
        Placeholder::Request(RequestPart::Body),
    ];
    let column = |feeder| Placeholder::Column { feeder, column: 0 };
    let looked_up = [Placeholder::Var(0), Placeholder::Global(0), column(0), column(1), column(2)];
    let mut text = Text::literal("{\"all\": \"");
    for hole in functions.map(Placeholder::Call).into_iter().chain(looked_up).chain(made) {
        for escape in [Escape::None, Escape::Json, Escape::Percent, Escape::Form] {
            text.parts.push(Part::Placeholder(hole.clone(), escape));
        }
    }
    text
}

#[test]
fn a_filled_template_allocates_nothing_in_the_steady_state() {
    let quoted = Scratch::new("n\n\"one \"\"1\"\"\"\n\"two\n\"\nthree\n");
    let lines = Scratch::new("{\"x\": {\"n\": \"\\u00e9 \\\"\"}}\n{\"x\": {\"n\": [1, 2]}}\n");
    let unique = Feeder { share: Sharing::Unique, order: RowOrder::Random, ..csv(&quoted, &["n"]) };
    let feeders = [csv(&quoted, &["n"]), json(&lines, &["x.n"]), unique];
    let feeds = Arc::new(Feeds::open(&feeders, 1, machine(1, 1)).expect("the files are valid"));
    let (mut vars, globals, counters) = (Vars::new(1), Globals::new(1), Counters::new());
    assert!(globals.set(0, b"a \"global\""));
    let mut rows = Rows::new(&feeds, slot(0, 1));
    let mut random = SplitMix64::new(1);
    let text = every_kind_of_placeholder();
    let mut out = Vec::new();
    let mut round = |iteration: u64| {
        rows.new_iteration();
        vars.clear_all();
        vars.set(0, b"a variable & more");
        out.clear();
        let mut scope = Scope {
            vars: &mut vars,
            globals: &globals,
            rows: &mut rows,
            random: &mut random,
            counters: &counters,
            unix_ns: iteration * 86_399_000_000_000,
            user: 1,
            iteration,
            timings: &[5_000_000],
            request: RequestParts { body: b"{}", ..RequestParts::default() },
        };
        fill(&text, &mut scope, &mut out).expect("every placeholder has a value");
    };
    (1..1_000).for_each(&mut round);
    let before = ALLOCATIONS.get();
    (1_000..3_000).for_each(&mut round);
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(before > 0, "the counter counts");
}

#[test]
fn the_rows_of_a_user_cost_one_allocation_for_any_file_size() {
    let file = feed_support::numbered(10_000);
    let feeds = Arc::new(Feeds::open(&[csv(&file, &["n"])], 1, machine(1, 1)).expect("the file is valid"));
    let before = ALLOCATIONS.get();
    let rows = Rows::new(&feeds, slot(0, 1));
    assert_eq!(ALLOCATIONS.get() - before, 1);
    drop(rows);
    let none = Arc::new(Feeds::default());
    let before = ALLOCATIONS.get();
    let (rows, vars) = (Rows::new(&none, slot(0, 1)), Vars::new(0));
    assert_eq!(ALLOCATIONS.get() - before, 0, "a user that reads no row allocates nothing");
    drop((rows, vars));
}
