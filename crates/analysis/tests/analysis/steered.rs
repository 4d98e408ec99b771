//! A load that was paused or changed manually: it is reported, and it does not count against the service.

use crate::analysis::cautions::cases;
use crate::analysis::fixture::*;
use plimsoll_analysis::caution::Kind;
use plimsoll_analysis::summary::{Outcome, Severity};
use plimsoll_plan::load::{Arrivals, Load};
use plimsoll_plan::metric::RunSum;
use plimsoll_record::event::{Note, NoteKind, StoppedBy};
use plimsoll_record::steered::{Steered, pauses};

cases! {
    a_pause_is_said_with_its_seconds: LoadChangedManually, Warning,
        steered(paused(Run::open(15)), &[(5, Steered::Paused), (8, Steered::Resumed)]),
        // These notes have the same words but are not manual changes.
        Run::open(15).note(5 * S, NoteKind::Note, "paused manually"),
        ["paused from 5.00 s to 8.00 s", "for comparable results"];

    another_level_is_said_with_its_second: LoadChangedManually, Warning,
        steered(Run::open(15), &[(6, Steered::level(&open_load(), 1_100.0))]),
        Run::open(15).note(6 * S, NoteKind::Control, "the rate was set to 1,100/s"),
        ["1,100/s (110% of the plan) since 6.00 s"];

    a_pause_that_the_end_cuts_off_lasts_until_then: LoadChangedManually, Warning,
        steered(Run::closed(15), &[(14, Steered::Paused)]),
        Run::closed(15),
        ["paused from 14.0 s to 15.0 s"];
}

fn open_load() -> Load {
    Run::open(15).outline.load
}

fn steered(mut run: Run, steps: &[(u64, Steered)]) -> Run {
    for (second, step) in steps {
        run.notes.push(step.note(second * S));
    }
    run
}

/// Nothing comes due, and nothing completes, from 5 s to 8 s.
fn paused(run: Run) -> Run {
    run.with(|run| (5..8).for_each(|second| run.ticks[second] = run.blank(second as u32)))
}

const PAUSE: [(u64, Steered); 2] = [(5, Steered::Paused), (8, Steered::Resumed)];

#[test]
fn a_manual_pause_is_not_the_services_fault() {
    // Without a manual pause, the same seconds raise a caution.
    assert!(caution(&paused(Run::open(15)).summary(), "offered_rate_missed").is_some());
    let summary = steered(paused(Run::open(15)), &PAUSE).summary();
    assert_eq!(summary.verdict.result, Outcome::Pass, "{}", summary.verdict.sentence);
    assert_eq!(summary.achieved.ratio, Some(1.0));
    assert!(summary.spikes.is_empty(), "{:?}", summary.spikes);
    let codes: Vec<&str> = summary.cautions.iter().map(|c| c.kind.code()).collect();
    assert_eq!(codes, ["load_changed_manually"]);
}

#[test]
fn users_in_a_pause_are_held_back_and_not_missing() {
    let pause = |run: Run| {
        paused(run)
            .with(|run| (5..8).for_each(|second| run.ticks[second].run.add(RunSum::UsersNs.id(), 10 * S)))
    };
    // Users who count as active during a stall wait for a service that does not respond.
    assert!(!pause(Run::closed(15)).summary().availability.outages.is_empty());
    let summary = steered(pause(Run::closed(15)), &PAUSE).summary();
    assert!(summary.spikes.is_empty() && summary.availability.outages.is_empty());
}

#[test]
fn a_pause_in_the_last_second_excuses_its_arrivals() {
    let cut = || {
        let less = |run: &mut Run| {
            let mut last = run.blank(14);
            last.run.add(RunSum::Arrivals.id(), 400);
            answers(&mut last, 0, 400, 5 * MS);
            run.ticks[14] = last;
        };
        Run::open(15).with(less)
    };
    assert!(caution(&cut().summary(), "offered_rate_missed").is_some());
    let run = cut().with(|run| run.notes.push(Steered::Paused.note(14 * S + 400 * MS)));
    assert!(caution(&run.summary(), "offered_rate_missed").is_none());
}

#[test]
fn a_stop_is_not_a_manual_change() {
    let run = steered(Run::open(15), &[(14, Steered::level(&open_load(), 500.0))])
        .ends(StoppedBy::Interrupt, 15 * S);
    let told = caution(&run.summary(), "stopped_early").expect("it was").evidence_text();
    assert!(told.contains("interrupted") && !told.contains("manually"), "{told}");
}

#[test]
fn a_manual_change_is_recognized_by_its_kind_and_not_by_its_words() {
    let closed = Run::closed(15).outline.load;
    let steps =
        [Steered::Paused, Steered::Resumed, Steered::level(&open_load(), 90.0), Steered::level(&closed, 5.0)];
    for step in steps {
        let note = step.note(7);
        assert_eq!((note.at_ns, Steered::of(&note)), (7, Some(step)), "{}", note.text);
        assert_eq!(Steered::of(&Note { kind: NoteKind::Control, ..note }), None, "words are not changes");
    }
    let text = Steered::level(&closed, 5.0).note(0).text;
    assert_eq!(text, "load changed manually to 5 users (50% of the plan)");
    assert!(matches!(open_load(), Load::Open { arrivals: Arrivals::Constant, .. }));
}

#[test]
fn pauses_are_pairs_and_the_last_may_lack_its_end() {
    let notes = |steps: &[(u64, Steered)]| steps.iter().map(|(at, step)| step.note(*at)).collect::<Vec<_>>();
    let (paused, resumed) = (Steered::Paused, Steered::Resumed);
    let all = [(1, resumed), (2, paused), (3, paused), (5, resumed), (6, resumed), (8, paused)];
    assert_eq!(pauses(&notes(&all), 10), [(2, 5), (8, 10)]);
    assert_eq!(pauses(&notes(&all), 8), [(2, 5)]);
    assert_eq!(pauses(&[], 10), []);
}
