//! A coordinator takes no more memory the longer a load lasts. Alone in its process, whose memory is measured.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first error")]

mod fixture;

use fixture::{identity, task};
use plimsoll_cluster::coordinator::{Coordinator, Input, OnLoss, Output};
use plimsoll_cluster::envelope::Envelope;
use plimsoll_cluster::event_codec::Encoder;
use plimsoll_cluster::whole::Whole;
use plimsoll_record::event::RunEvent;
use plimsoll_record::run_file::PartWriter;
use plimsoll_testkit::made_up::{Folder, Random, interval, opening, tick};
use std::sync::Arc;

const AGENTS: usize = 3;
const SERIES: usize = 3;
const SECOND_NS: u64 = 1_000_000_000;

/// Resident memory of this process, KiB.
fn memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn the_memory_of_a_coordinator_does_not_grow_with_the_length_of_the_load() {
    let folder = Folder::new("coordinator-memory");
    let tasks = (0..AGENTS).map(|at| (identity(at), task(at + 1, AGENTS))).collect();
    let mut coordinator = Coordinator::resumed("run", tasks, OnLoss::Continue, 0, 1);
    let whole_opening = opening("whole", SERIES);
    let mut whole = Whole::new(&whole_opening.outline, AGENTS, true);
    let mut encoder = Encoder::default();
    let opened = encoder.encode(&RunEvent::Opened(Arc::new(whole_opening)));
    let path = |at: usize| folder.file(&format!("{at}.plim"));
    let part =
        |at: usize| PartWriter::new(&path(at), &opening(&format!("part-{at}"), SERIES), 4, at as u32 + 1);
    let mut writers: Vec<PartWriter> = (0..AGENTS).map(part).collect();
    let mut random = Random::new(3);
    let seconds: Vec<_> = (0..8).map(|_| interval(0, SERIES, 5, &mut random)).collect();
    let (mut shown, mut after_kib) = (0, Vec::new());
    for second in 0..3_000_u32 {
        let mut next = seconds[second as usize % seconds.len()].clone();
        next.tick = second;
        let mut events = vec![encoder.encode(&tick(next))];
        if second == 0 {
            events.insert(0, opened.clone());
        }
        for (at, writer) in writers.iter_mut().enumerate() {
            let envelope =
                Envelope { instance: format!("i{at}"), number: second.into(), events: events.clone() };
            let input = Input::Envelope(envelope.encode().unwrap());
            for output in coordinator.step(u64::from(second) * SECOND_NS, input).unwrap() {
                match output {
                    Output::Event { part, event } => drop(whole.event(part, &event)),
                    Output::Ticked { part, tick } => {
                        let events = whole.tick(part, &tick).unwrap().events;
                        shown += events.iter().filter(|event| matches!(event, RunEvent::Ticked(_))).count();
                        writer.tick(tick).unwrap();
                    }
                    Output::Order { .. } | Output::News(_) | Output::Samples { .. } => {}
                }
            }
        }
        if (second + 1) % 500 == 0 {
            after_kib.push(memory_kib());
        }
    }
    assert_eq!(shown, 3_000, "each second was shown as a whole");
    // The caches of the databases are full by then.
    assert!(after_kib[5] <= after_kib[3] + 128, "KiB after each 500 seconds: {after_kib:?}");
}
