//! Judging allocates nothing in the steady state, neither for a check on the text of a body, nor for a singular
//! JSONPath, nor for an extracted value, nor for a body that must be inflated first.

#![allow(clippy::expect_used)]

mod answer_support;

use answer_support::{User, answer, checked, compiled, json, taking, with_variable};
use flate2::{Compression, write::GzEncoder};
use plimsoll_plan::answer::{Hash, Pick, Rule, Source, Statuses, Subject};
use plimsoll_plan::head::Head;
use plimsoll_plan::script::Condition;
use plimsoll_plan::value::Text;
use plimsoll_script::answer::{Answer, CompiledCondition, Findings, Scratch};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;

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

/// Returns the allocations of a thousand runs, after ten that grow the buffers.
fn allocations(mut run: impl FnMut()) -> usize {
    (0..10).for_each(|_| run());
    let before = ALLOCATIONS.get();
    (0..1_000).for_each(|_| run());
    ALLOCATIONS.get() - before
}

const BODY: &[u8] = br#"{"id": "a\u0062c", "items": [{"price": 1.50}, {"price": 2}], "state": "ready"}"#;

#[test]
fn an_expected_response_costs_no_allocation() {
    let mut ask = checked([
        Subject::Status(Statuses(vec![(200, 299)])),
        Subject::Header { name: "content-type".into(), rule: Rule::Contains(Text::literal("json")) },
        Subject::Body(Rule::Contains(Text::literal("ready"))),
        Subject::Body(Rule::Lacks(with_variable("error ", 0, ""))),
        Subject::Body(Rule::Matches("rea[d]y".into())),
        json("$.id", Rule::Equals(Text::literal("abc"))),
        json("$.items[-1].price", Rule::AtMost(2.0)),
        json("$.state", Rule::OneOf(vec![Text::literal("new"), with_variable("rea", 0, "")])),
        Subject::Length { least_bytes: 1, most_bytes: 1_000 },
        Subject::Duration { below_ns: u64::MAX },
        Subject::Hash { algorithm: Hash::Sha1, hex: "da39a3ee5e6b4b0d3255bfef95601890afd80709".into() },
    ]);
    let sources = [Source::Json("$.id".into()), Source::Header("x-id".into()), Source::Status, Source::Body];
    ask.extracts = taking(sources.map(|source| (source, Pick::First))).extracts;
    let (judge, mut user, mut scratch, mut findings) =
        (compiled(&ask), User::new(), Scratch::default(), Findings::default());
    user.vars.set(0, b"dy");
    let mut run = || judge.run(&answer(BODY), &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!(allocations(&mut run), 0);
    run();
    // This is the hash of empty text, so the check fails. Without sentences, that costs no allocation either.
    let failed: Vec<usize> = (0..findings.verdicts.len()).filter(|at| !findings.verdicts[*at]).collect();
    assert_eq!(failed, [10]);
    assert_eq!(findings.extracted.len(), 4);
}

#[test]
fn a_body_that_is_inflated_first_costs_no_allocation() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let coded = encoder.write_all(BODY).and_then(|()| encoder.finish()).expect("into a vector");
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let answer = Answer { head: Head::new(head), ..answer(&coded) };
    let judge = compiled(&checked([json("$.state", Rule::Equals(Text::literal("ready")))]));
    let (mut user, mut scratch, mut findings) = (User::new(), Scratch::default(), Findings::default());
    let mut run = || judge.run(&answer, &mut user.scope(), &mut scratch, &mut findings);
    assert_eq!(allocations(&mut run), 0);
    assert!(findings.all_held() && findings.shape.is_some());
}

#[test]
fn a_condition_costs_no_allocation() {
    let condition =
        Condition { left: with_variable("", 0, ""), rule: Rule::Equals(with_variable("", 1, "")) };
    let (asked, mut user, mut scratch) =
        (CompiledCondition::compile(&condition).expect("valid"), User::new(), Scratch::default());
    user.vars.set(0, b"1.0");
    user.vars.set(1, b"1");
    assert_eq!(allocations(|| assert_eq!(asked.holds(&mut user.scope(), &mut scratch), Ok(true))), 0);
}

#[test]
fn a_scratch_stays_small_until_its_first_use() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Scratch::default()))), 0);
    assert!(size_of::<Scratch>() <= 512, "{} bytes", size_of::<Scratch>());
}
