//! A whole run against a small server: the events and their order, the ending, the interrupt.

use plimsoll_control::{Options, RunController, run};
use plimsoll_engine::Scene;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::SeriesSum;
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Plan, Request, Target};
use plimsoll_record::event::{Ending, Environment, NoteKind, Opening, RunEvent, Sink, StoppedBy};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A server that answers every request and counts them; its threads end with the test's process.
fn server() -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, served) = (listener.local_addr().unwrap(), Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&served);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counter = Arc::clone(&counter);
            std::thread::spawn(move || answer(stream, &counter));
        }
    });
    (address, served)
}

fn answer(mut stream: TcpStream, served: &AtomicU64) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 4_096]);
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..n]);
        while let Some(end) = seen.windows(4).position(|w| w == b"\r\n\r\n") {
            seen.drain(..end + 4);
            served.fetch_add(1, Ordering::SeqCst);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

fn plan(address: SocketAddr, change: impl FnOnce(&mut Draft)) -> Arc<Plan> {
    let mut draft = Draft {
        target: Some(Target { host: address.ip().to_string(), port: address.port(), tls: false }),
        requests: vec![Request {
            origin: 0,
            name: "GET /".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
        }],
        load: LoadDraft { users: Some(4), ..LoadDraft::default() },
        workers: Some(2),
        ..Draft::default()
    };
    change(&mut draft);
    Arc::new(seal(draft, Machine { cpus: 2, seed: 1 }).unwrap())
}

#[derive(Default)]
struct Listener {
    events: Vec<RunEvent>,
}

impl Sink for Listener {
    fn event(&mut self, event: &RunEvent) {
        self.events.push(event.clone());
    }
}

fn played(
    plan: Arc<Plan>,
    address: SocketAddr,
    controller: impl FnOnce(RunController),
) -> (Vec<RunEvent>, Ending) {
    let scene = Scene::at(address);
    let opening = Opening {
        origin: "here".into(),
        outline: plan.outline.clone(),
        environment: Environment::default(),
        started_unix_ns: 0,
    };
    let (mut one, mut two) = (Listener::default(), Listener::default());
    let mut sinks: Vec<&mut dyn Sink> = vec![&mut one, &mut two];
    let ending = run(plan, scene, opening, Options::default(), &mut sinks, controller).unwrap();
    assert_eq!(one.events.len(), two.events.len(), "every sink hears everything");
    (one.events, ending)
}

fn finished(events: &[RunEvent]) -> u64 {
    let of = |event: &RunEvent| match event {
        RunEvent::Ticked(tick) => tick.interval.series_total().sums[SeriesSum::Finished.id()],
        _ => 0,
    };
    events.iter().map(of).sum()
}

#[test]
fn events_come_in_order_and_count_what_the_server_counted() {
    let (address, served) = server();
    let (events, ending) = played(plan(address, |d| d.load.requests_total = Some(300)), address, |_| ());
    assert_eq!(ending.stopped_by, StoppedBy::Requests);
    assert_eq!(ending.lost_workers, Vec::<String>::new());
    assert!(matches!(events.first(), Some(RunEvent::Opened(_))));
    assert!(matches!(events.last(), Some(RunEvent::Ended(_))));
    let ticks: Vec<u32> = events
        .iter()
        .filter_map(|e| if let RunEvent::Ticked(tick) = e { Some(tick.interval.tick) } else { None })
        .collect();
    assert_eq!(ticks, (0..ticks.len() as u32).collect::<Vec<_>>());
    assert_eq!((finished(&events), served.load(Ordering::SeqCst)), (300, 300));
}

#[test]
fn every_tick_holds_a_pulse_of_each_worker() {
    let (address, _) = server();
    let (events, _) = played(plan(address, |d| d.load.duration_ns = Some(1_500_000_000)), address, |_| ());
    for event in &events {
        if let RunEvent::Ticked(tick) = event {
            assert_eq!(tick.pulses.len(), 2);
            assert!(tick.pulses.iter().all(|pulse| pulse.wall_ns > 0), "{:?}", tick.pulses);
        }
    }
}

#[test]
fn an_interrupt_ends_the_run_early_and_says_so() {
    let (address, _) = server();
    let plan = plan(address, |d| {
        d.load.duration_ns = Some(60_000_000_000);
        (d.load.users, d.load.rate_per_s) = (None, Some(200.0));
    });
    let (events, ending) = played(plan, address, |controller| controller.interrupt());
    assert_eq!(ending.stopped_by, StoppedBy::Interrupt);
    assert!(ending.elapsed_ns < 10_000_000_000, "{}", ending.elapsed_ns);
    let noted = events.iter().any(|e| matches!(e, RunEvent::Noted(note) if note.kind == NoteKind::Control));
    assert!(noted, "the timeline does not show it");
}

#[test]
fn a_threshold_that_stays_missed_ends_the_run_and_its_note_says_which() {
    let (address, _) = server();
    let rule = "response_time p50 > 10s over 1s abort after 1s";
    let plan = plan(address, |d| {
        d.load.duration_ns = Some(60_000_000_000);
        (d.load.users, d.load.rate_per_s) = (None, Some(200.0));
        d.thresholds = vec![plimsoll_plan::threshold::parse(rule).unwrap()];
    });
    let (events, ending) = played(plan, address, |_| ());
    assert_eq!(ending.stopped_by, StoppedBy::Threshold);
    assert!(ending.elapsed_ns < 10_000_000_000, "{}", ending.elapsed_ns);
    let notes: Vec<&str> = events
        .iter()
        .filter_map(|e| if let RunEvent::Noted(note) = e { Some(note.text.as_str()) } else { None })
        .collect();
    assert_eq!(notes.len(), 1, "once is enough: {notes:?}");
    assert!(notes[0].contains(rule) && notes[0].contains("missed since 0 s"), "{notes:?}");
    let mut gatherer = plimsoll_record::record::Gatherer::default();
    events.iter().for_each(|event| gatherer.event(event));
    let summary = plimsoll_analysis::summarise(&gatherer.into_record());
    assert!(summary.thresholds.iter().any(|t| t.text == rule && !t.is_met), "{:?}", summary.thresholds);
}
