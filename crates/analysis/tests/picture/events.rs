//! Events that a report names: each with a run that has it, and one that does not.

use crate::analysis::fixture::{MS, Run, S, answers, profile};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{EventKind, Summary};
use plimsoll_plan::load::Load;
use plimsoll_plan::metric::RunSum;
use plimsoll_record::RunRecord;
use plimsoll_record::event::NoteKind;
use plimsoll_record::steered::Steered;

fn events_of(summary: &Summary, kind: EventKind) -> Vec<(f64, &str)> {
    summary.events.iter().filter(|e| e.kind == kind).map(|e| (e.at_s, e.text.as_str())).collect()
}

#[test]
fn a_quiet_run_has_no_events() {
    assert_eq!(Run::closed(60).summary().events, Vec::new());
    assert_eq!(Run::open(60).summary().events, Vec::new());
}

#[test]
fn notes_keep_their_order_and_appear_once_for_all_machines() {
    let run = Run::closed(20)
        .note(9 * S, NoteKind::Control, "paused")
        .note(4 * S, NoteKind::Note, "<b>cache</b> off")
        .note(3 * S, NoteKind::Gap, "reported by the gap itself");
    let summary = run.summary();
    assert_eq!(events_of(&summary, EventKind::Note), [(4.0, "<b>cache</b> off")]);
    assert_eq!(events_of(&summary, EventKind::Control), [(9.0, "paused")]);
    assert_eq!(summary.events.len(), 2);
    let other = run.clone().with(|r| r.origin = "b".into()).with(|r| r.notes[1].at_ns += 300 * MS);
    let both = summarise(&RunRecord::merge(run.record(), other.record()).unwrap());
    assert_eq!(events_of(&both, EventKind::Note).len(), 1);
}

#[test]
fn stages_are_reported_where_the_load_bends_or_jumps() {
    let load =
        |stages: &[(u64, f64)]| Load::Open { rate_per_s: profile(0.0, stages), arrivals: Default::default() };
    let run = |stages: &[(u64, f64)]| Run::open(40).with(|r| r.outline.load = load(stages)).summary();
    let summary = run(&[(10, 500.0), (10, 500.0), (0, 800.0), (10, 800.0), (90, 0.0)]);
    let expected =
        [(10.0, "500 arrivals/s"), (20.0, "800 arrivals/s"), (30.0, "from 800 to 0 arrivals/s within 90 s")];
    assert_eq!(events_of(&summary, EventKind::Stage), expected);
    // A straight line in two pieces is one stage, and stages after the end of the run are omitted.
    assert_eq!(events_of(&run(&[(20, 500.0), (100, 3_000.0)]), EventKind::Stage), []);
    let recorded: Vec<(u64, f64)> = (0..60).map(|k| (1, f64::from(k % 7))).collect();
    assert_eq!(events_of(&run(&recorded), EventKind::Stage), [], "seconds of a recording are not stages");
}

#[test]
fn a_gap_and_a_spike_are_events() {
    let mut run = Run::closed(60);
    run.ticks.drain(20..25);
    let summary = run.summary();
    assert_eq!(
        events_of(&summary, EventKind::Gap),
        [(20.0, "20 s to 25 s: these seconds were never reported")]
    );
    let slow = Run::closed(60).at(30, |tick| {
        tick.series[0].clear();
        answers(tick, 0, 200, 50 * MS);
    });
    let summary = slow.summary();
    let spikes = events_of(&summary, EventKind::Spike);
    assert_eq!(spikes.len(), 1, "{spikes:?}");
    assert!(spikes[0].0 == summary.spikes[0].from_s && spikes[0].1.contains("baseline 5."), "{spikes:?}");
}

#[test]
fn a_missing_machine_is_not_a_change_of_the_service() {
    let name = |one: &str| one.to_owned();
    let a = Run::open(120).with(|run| run.origin = name("a"));
    let mut b = Run::open(120).with(|run| run.origin = name("b"));
    b.ticks.drain(40..80);
    let both = summarise(&RunRecord::merge(a.record(), b.record()).unwrap());
    assert_eq!(events_of(&both, EventKind::Gap).len(), 1);
    assert_eq!(events_of(&both, EventKind::Change), []);
}

#[test]
fn a_lasting_change_is_reported_and_a_planned_one_is_not() {
    // Responses take 5 ms with a little noise, and 20% more after second 60.
    let course = |slower: u64| {
        let mut run = Run::planned(|draft| {
            draft.load.rate_per_s = Some(1_000.0);
            draft.load.duration_ns = Some(120 * S);
        });
        run.fill(|tick| {
            let factor = if tick.tick >= 60 { 100 + slower } else { 100 };
            let noise = u64::from(tick.tick * 7919 % 13);
            tick.run.add(RunSum::Arrivals.id(), 1_000);
            answers(tick, 0, 1_000, (5 * MS + noise * 4_000) * factor / 100);
            tick.run.add(RunSum::InFlightNs.id(), 5 * S);
        });
        run
    };
    let summary = course(20).summary();
    let changes = events_of(&summary, EventKind::Change);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert!((58.0..=62.0).contains(&changes[0].0), "{changes:?}");
    assert!(changes[0].1.starts_with("p99 per second changed from 5.9"), "{changes:?}");
    assert_eq!(events_of(&course(2).summary(), EventKind::Change), [], "2% require no action");
    // The rate follows its profile, which is not an event.
    let rates = |planned: bool| {
        let mut run = Run::planned(|draft| draft.load.duration_ns = Some(120 * S));
        let stages = [(60, 10.0), (0, 20.0)];
        run.outline.load = Load::Closed { users: profile(10.0, if planned { &stages } else { &[] }) };
        run.fill(|tick| {
            let n = if tick.tick < 60 { 400 } else { 800 };
            answers(tick, 0, n + u64::from(tick.tick * 7919 % 11), 5 * MS);
        });
        run.summary()
    };
    let unplanned = rates(false);
    let told_of = events_of(&unplanned, EventKind::Change);
    assert!(
        told_of.iter().any(|(at_s, text)| *at_s == 60.0 && text.starts_with("throughput changed from 40")),
        "{told_of:?}"
    );
    let planned = rates(true);
    assert!(!events_of(&planned, EventKind::Change).iter().any(|(_, text)| text.starts_with("the rate")));
    assert_eq!(events_of(&planned, EventKind::Stage), [(60.0, "20.0 users")]);
}

#[test]
fn a_manual_change_is_not_a_change_of_the_service() {
    // Nothing completes from 40 s to 70 s, and the seconds at the edges have half of the load.
    let hole = |notes: &[(u64, Steered)]| {
        let mut run = Run::open(120);
        for second in 40..70 {
            run.ticks[second] = run.blank(second as u32);
        }
        for second in [39, 70] {
            let mut half = run.blank(second as u32);
            half.run.add(RunSum::Arrivals.id(), 500);
            answers(&mut half, 0, 500, 5 * MS);
            run.ticks[second] = half;
        }
        run.notes.extend(notes.iter().map(|(at_ns, step)| step.note(*at_ns)));
        run.summary()
    };
    let pause = [(39 * S + 500 * MS, Steered::Paused), (70 * S + 500 * MS, Steered::Resumed)];
    let rates = |summary: &Summary| events_of(summary, EventKind::Change).len();
    assert!(rates(&hole(&[])) >= 2, "{:?}", hole(&[]).events);
    let paused = hole(&pause);
    assert_eq!(events_of(&paused, EventKind::Change), [], "only the pause is reported");
    assert_eq!(events_of(&paused, EventKind::Control).len(), 2);
    // For another level, the note reports it.
    let higher = |notes: &[(u64, Steered)]| {
        let mut run = Run::open(120);
        for second in 60..120 {
            let mut tick = run.blank(second as u32);
            tick.run.add(RunSum::Arrivals.id(), 1_500);
            answers(&mut tick, 0, 1_500, 5 * MS);
            run.ticks[second] = tick;
        }
        run.notes.extend(notes.iter().map(|(at_ns, step)| step.note(*at_ns)));
        run.summary()
    };
    let level = Steered::level(&Run::open(120).outline.load, 1_500.0);
    assert_eq!(rates(&higher(&[])), 1);
    assert_eq!(rates(&higher(&[(60 * S + 200 * MS, level)])), 0);
}
