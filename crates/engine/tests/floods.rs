//! Servers that send faster than a client can read: they do not delay timeouts, a stop, or other users. The first tests
//! run in a simulated network in which every read is full and takes time, so reading until the socket is empty would
//! never end; the last one uses real sockets.

use crate::support;
use crate::support::{BEGIN_NS, MS, S, closed, get};
use plimsoll_engine::driver::{CpuReading, Door, Errno, Flags, IN, Io, OUT, Socket, TcpFacts};
use plimsoll_engine::tally::blank;
use plimsoll_engine::{Command, Job, Next, Post, Scene, Stopped, WorkerNotes, start};
use plimsoll_plan::Fault;
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunPeak, RunSum, SeriesHist, SeriesSum, StreamSum, fault_id, status_id};
use plimsoll_plan::program::{At, BodyUse, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_stats::interval::Interval;
use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bytes of a flooding server: a beginning, and a part repeated endlessly.
#[derive(Clone, Copy)]
struct Flood {
    begin: &'static [u8],
    again: &'static [u8],
}

const HEAD_LINES: Flood = Flood { begin: b"HTTP/1.1 200 OK\r\n", again: b"X-A: b\r\n" };
const TINY_CHUNKS: Flood =
    Flood { begin: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", again: b"1\r\na\r\n" };
const ZEROS: Flood = Flood { begin: b"HTTP/1.1 200 OK\r\n\r\n", again: b"\0" };
const EVENTS: Flood =
    Flood { begin: b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", again: b"data: x\n\n" };
const ONE_EVENT: Flood = Flood { begin: EVENTS.begin, again: b"data: x\n" };
const ONE_COMMENT: Flood = Flood { begin: EVENTS.begin, again: b":" };
const ONE_LINE: Flood =
    Flood { begin: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", again: b"x" };

impl Flood {
    /// Fills a buffer with the bytes at `from` and after; `block` is the repeated part.
    fn fill(self, from: usize, block: &[u8], into: &mut [u8]) {
        let begin = self.begin.get(from..).unwrap_or_default();
        let cut = begin.len().min(into.len());
        into[..cut].copy_from_slice(&begin[..cut]);
        let past = (from + cut).saturating_sub(self.begin.len()) % self.again.len();
        let rest = &mut into[cut..];
        rest.copy_from_slice(&block[past..][..rest.len()]);
    }

    fn block(self) -> Vec<u8> {
        self.again.repeat(262_144 / self.again.len() + 2)
    }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Cost of a byte for the worker, ns: a full read of 256 KiB takes 5.2 ms.
const BYTE_NS: u64 = 20;
/// Longer than any run planned here.
const AGES_NS: u64 = 60 * S;

struct Tap {
    token: u64,
    /// Bytes read of the flood; for a healthy response, the remaining bytes.
    read: usize,
    asked: bool,
}

/// The first `flooded` users get a flood, all others a response 1 ms after their request.
struct Faucet {
    now_ns: Rc<Cell<u64>>,
    flood: Flood,
    block: Vec<u8>,
    flooded: u32,
    /// Most bytes of one read: a slow flood.
    most: usize,
    taps: Vec<Tap>,
    due: Vec<(u64, usize)>,
    ready: Vec<(u64, Flags)>,
}

impl Faucet {
    fn spend(&self, ns: u64) {
        self.now_ns.set(self.now_ns.get() + ns);
        assert!(self.now_ns.get() < BEGIN_NS + AGES_NS, "the worker is stuck in a flood");
    }

    fn floods(&self, socket: Socket) -> bool {
        (self.taps[socket as usize].token as u32) < self.flooded
    }
}

impl Door for Faucet {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn open(&mut self, _: SocketAddr, _: Option<IpAddr>, token: u64) -> Result<Socket, Errno> {
        self.taps.push(Tap { token, read: 0, asked: false });
        let socket = self.taps.len() - 1;
        self.due.push((self.now_ns.get(), socket));
        Ok(socket as Socket)
    }

    fn connect_result(&mut self, _: Socket) -> Result<(), Errno> {
        Ok(())
    }

    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        self.taps[socket as usize].asked = true;
        self.taps[socket as usize].read = 0;
        self.due.push((self.now_ns.get() + MS, socket as usize));
        Io::Done(bytes.len())
    }

    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        let floods = self.floods(socket);
        let most = self.most;
        let tap = &mut self.taps[socket as usize];
        if !floods {
            if !std::mem::take(&mut tap.asked) {
                return Io::WouldBlock;
            }
            buffer[..OK.len()].copy_from_slice(OK);
            self.spend(1_000);
            return Io::Done(OK.len());
        }
        let n = buffer.len().min(most);
        self.flood.fill(tap.read, &self.block, &mut buffer[..n]);
        tap.read += n;
        if n < buffer.len() {
            // A trickle: a short read, and the next edge 10 ms later.
            self.due.push((self.now_ns.get() + 10 * MS, socket as usize));
        }
        self.spend(n as u64 * BYTE_NS);
        Io::Done(n)
    }

    fn discard(&mut self, socket: Socket, bytes: usize) -> Io {
        let _ = (socket, bytes);
        unreachable!("no response here has a length for which discarding is worthwhile")
    }

    fn set_low_water(&mut self, _: Socket, _: usize) {}

    fn facts(&mut self, _: Socket) -> TcpFacts {
        TcpFacts::default()
    }

    fn close(&mut self, socket: Socket) {
        self.due.retain(|(_, s)| *s != socket as usize);
    }

    fn wait(&mut self, timeout_ns: u64) -> usize {
        self.ready.clear();
        self.due.sort_unstable();
        let next_ns = self.due.first().map_or(u64::MAX, |d| d.0);
        let until_ns = next_ns.min(self.now_ns.get() + timeout_ns);
        self.now_ns.set(self.now_ns.get().max(until_ns));
        let now_ns = self.now_ns.get();
        let (taps, ready) = (&self.taps, &mut self.ready);
        self.due.retain(|(at_ns, socket)| {
            if *at_ns <= now_ns {
                let flags = if taps[*socket].asked || taps[*socket].read > 0 { IN | OUT } else { OUT };
                ready.push((taps[*socket].token, flags));
            }
            *at_ns > now_ns
        });
        self.ready.len()
    }

    fn event(&self, i: usize) -> (u64, Flags) {
        self.ready[i]
    }

    fn cpu(&mut self) -> CpuReading {
        CpuReading::default()
    }

    fn clear_wake(&mut self) {}
}

struct TestPost {
    now_ns: Rc<Cell<u64>>,
    all: Rc<RefCell<Interval>>,
    stop_ns: u64,
}

impl Post for TestPost {
    fn hand_over(&mut self, full: Box<Interval>, _: WorkerNotes, _: bool) {
        self.all.borrow_mut().merge(&full);
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        None
    }

    fn commands(&mut self, into: &mut Vec<Command>) {
        if self.now_ns.get() >= self.stop_ns {
            self.stop_ns = u64::MAX;
            into.push(Command::Stop);
        }
    }
}

/// Opens one stream per iteration and cancels it after half a second.
#[derive(Clone)]
struct Watcher;

impl ProgramFactory for Watcher {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Watcher {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Watcher)
    }
}

impl Program for Watcher {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => {
                out.push(Step { id: 1, body: BodyUse::Stream, ..Step::default() });
                out.sleep(2, 500 * MS);
            }
            Wake::Slept { .. } => out.cancel(1),
            _ => {}
        }
    }
}

struct Made {
    stopped: Stopped,
    elapsed_ns: u64,
    all: Interval,
}

impl Made {
    fn sum(&self, id: RunSum) -> u64 {
        self.all.run.sums[id.id()]
    }

    fn fault(&self, fault: Fault) -> u64 {
        self.all.series[0].sums[fault_id(fault)]
    }
}

struct Scenery {
    draft: Draft,
    flood: Flood,
    flooded: u32,
    most: usize,
    stop_ns: u64,
    factory: Option<Arc<dyn ProgramFactory>>,
}

/// Four users for 1.5 s with a timeout of 0.7 s.
fn scenery(flood: Flood, flooded: u32) -> Scenery {
    let draft = Draft { timeout_ns: Some(700 * MS), ..closed(4, 1.5) };
    Scenery { draft, flood, flooded, most: usize::MAX, stop_ns: u64::MAX, factory: None }
}

fn simulate(scenery: Scenery) -> Made {
    let plan = support::plan(scenery.draft);
    let now_ns = Rc::new(Cell::new(BEGIN_NS));
    let all = Rc::new(RefCell::new(blank(&plan.outline, 0)));
    let door = Faucet {
        now_ns: Rc::clone(&now_ns),
        flood: scenery.flood,
        block: scenery.flood.block(),
        flooded: scenery.flooded,
        most: scenery.most,
        taps: vec![],
        due: vec![],
        ready: vec![],
    };
    let stop_ns = scenery.stop_ns.saturating_add(BEGIN_NS);
    let post = TestPost { now_ns, all: Rc::clone(&all), stop_ns };
    let scene = Scene { factory: scenery.factory, ..Scene::at("127.0.0.1:80".parse().unwrap()) };
    let seating = Job::new(&plan, scene, 0).seating(0);
    let (stopped, elapsed_ns) = seating.run(BEGIN_NS, door, post);
    let all = all.replace(blank(&plan.outline, 0));
    Made { stopped, elapsed_ns, all }
}

#[test]
fn a_flood_without_end_is_timed_out_and_the_run_ends_in_time() {
    for flood in [TINY_CHUNKS, ZEROS] {
        let made = simulate(scenery(flood, 3));
        assert_eq!(made.stopped, Stopped::Duration);
        assert_eq!(made.elapsed_ns, 1_500 * MS);
        // At 0.7 and 1.4 s, three users each.
        assert_eq!(made.fault(Fault::Timeout), 6);
        let cut = made.all.series[0].hists[SeriesHist::ServiceCensored.id()].max().unwrap();
        assert!((700 * MS..750 * MS).contains(&cut), "{cut}");
    }
}

#[test]
fn a_head_without_end_is_unsafe_and_the_run_ends_in_time() {
    let made = simulate(scenery(HEAD_LINES, 3));
    assert_eq!(made.elapsed_ns, 1_500 * MS);
    assert!(made.fault(Fault::UnsafeResponse) > 100);
    assert_eq!(made.fault(Fault::Timeout), 0);
}

#[test]
fn a_stop_is_obeyed_in_the_middle_of_a_flood() {
    for flood in [HEAD_LINES, TINY_CHUNKS, ZEROS] {
        let made = simulate(Scenery { stop_ns: 500 * MS, ..scenery(flood, 4) });
        assert_eq!(made.stopped, Stopped::Command);
        // One round of events and one of continued reading.
        assert!(made.elapsed_ns <= 550 * MS, "{}", made.elapsed_ns);
    }
}

#[test]
fn users_beside_a_flood_go_on_and_nobody_says_that_this_machine_stood_still() {
    let alone = simulate(scenery(ZEROS, 0));
    let alone_each = alone.all.series[0].sums[status_id(200)] / 4;
    for flood in [TINY_CHUNKS, ZEROS] {
        let made = simulate(scenery(flood, 3));
        let served = made.all.series[0].sums[status_id(200)];
        // An event-loop iteration contains a share of 2 ms for each flood, plus the excess of a first full read; a
        // response takes 1 ms and at most one such iteration.
        assert!(served * 20 >= alone_each, "{served} of {alone_each}");
        assert_eq!(made.sum(RunSum::Stalls), 0);
        assert!(made.all.run.peaks[RunPeak::LoopTimeNs.id()] < 40 * MS);
    }
}

#[test]
fn a_thousand_floods_leave_time_for_a_stop_and_for_the_others() {
    let draft = Draft {
        load: LoadDraft { users: Some(1_001), ..scenery(TINY_CHUNKS, 0).draft.load },
        ..scenery(TINY_CHUNKS, 0).draft
    };
    let made = simulate(Scenery { draft, ..scenery(TINY_CHUNKS, 1_000) });
    assert_eq!(made.elapsed_ns, 1_500 * MS);
    assert_eq!(made.sum(RunSum::Stalls), 0);
    assert!(
        made.all.series[0].sums[status_id(200)] >= 30,
        "the healthy user waits 35 ms for each event-loop iteration"
    );
    assert_eq!(made.fault(Fault::Timeout), 2_000);
}

#[test]
fn a_stream_that_floods_is_given_up_when_its_program_says_so() {
    let made = simulate(Scenery { factory: Some(Arc::new(Watcher)), ..scenery(EVENTS, 4) });
    assert_eq!(made.elapsed_ns, 1_500 * MS);
    // Ended after 0.5 and 1 s; the third is open at the stop, or was ended just then.
    let ended = made.all.series[0].sums[StreamSum::ClosedByClient.id()];
    assert!((8..=12).contains(&ended), "{ended}");
    assert!(made.all.series[0].sums[StreamSum::Events.id()] > 1_000);
    let stopped =
        simulate(Scenery { factory: Some(Arc::new(Watcher)), stop_ns: 300 * MS, ..scenery(EVENTS, 4) });
    assert!(stopped.elapsed_ns <= 350 * MS, "{}", stopped.elapsed_ns);
}

// ---- parts that do not end --------------------------------------------------------------------------------------

/// 100 bytes every 10 ms, forever: far below any size limit, and timeouts are out of reach.
fn trickle(flood: Flood) -> Scenery {
    let mut made = scenery(flood, 1);
    made.draft = Draft { timeout_ns: Some(50 * S), ..closed(1, 5.0) };
    made.most = 100;
    made
}

#[test]
fn a_head_and_a_chunk_line_must_end_in_time() {
    for (flood, head_s, line_s) in [(HEAD_LINES, 1, 0), (ONE_LINE, 0, 1)] {
        let mut slow = trickle(flood);
        slow.draft.limits.head_timeout_ns = head_s * S;
        slow.draft.limits.chunk_line_timeout_ns = line_s * S;
        // So that size does not end it first.
        (slow.draft.limits.head_bytes, slow.draft.limits.headers) = (1 << 30, 1 << 20);
        slow.draft.limits.chunk_line_bytes = 1 << 30;
        let made = simulate(slow);
        assert_eq!(made.fault(Fault::Timeout), 4, "once a second, and a millisecond or two for each");
        assert_eq!(made.all.series[0].sums[SeriesSum::Finished.id()], 4);
    }
}

#[test]
fn lines_that_end_in_time_may_come_for_as_long_as_they_like() {
    let mut slow = trickle(TINY_CHUNKS);
    slow.draft.limits.chunk_line_timeout_ns = 50 * MS;
    let made = simulate(slow);
    assert_eq!((made.fault(Fault::Timeout), made.sum(RunSum::InFlightAtEnd)), (0, 1));
}

#[test]
fn an_event_must_end_in_time_and_events_that_end_may_come_for_ever() {
    for (flood, expected) in [(ONE_EVENT, 4), (ONE_COMMENT, 4), (EVENTS, 0)] {
        let mut slow = trickle(flood);
        slow.draft.limits.event_timeout_ns = S;
        slow.factory = Some(Arc::new(WaitingProgram));
        let made = simulate(slow);
        assert_eq!(
            made.fault(Fault::StreamIdleTimeout),
            expected,
            "{:?}",
            String::from_utf8_lossy(flood.again)
        );
    }
}

/// Opens one stream and never ends it.
#[derive(Clone)]
struct WaitingProgram;

impl ProgramFactory for WaitingProgram {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for WaitingProgram {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(WaitingProgram)
    }
}

impl Program for WaitingProgram {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        if let Wake::Begin { .. } = wake {
            out.push(Step { id: 1, body: BodyUse::Stream, ..Step::default() });
        }
    }
}

// ---- over real sockets ------------------------------------------------------------------------------------------

/// Sends its flood as fast as the kernel takes it, on every connection, after the first request.
fn flooding(flood: Flood) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut request = [0; 1_024];
                if !stream.read(&mut request).is_ok_and(|n| n > 0) || stream.write_all(flood.begin).is_err() {
                    return;
                }
                let block = flood.block();
                let block = &block[..block.len() / flood.again.len() * flood.again.len()];
                while stream.write_all(block).is_ok() {}
            });
        }
    });
    address
}

#[test]
fn over_real_sockets_a_run_ends_within_a_second_of_its_stop_whatever_the_server_sends() {
    for (flood, stop, streams) in
        [(HEAD_LINES, false, false), (TINY_CHUNKS, true, false), (ZEROS, false, false), (EVENTS, true, true)]
    {
        let address = flooding(flood);
        let mut draft = Draft { timeout_ns: Some(150 * MS), ..closed(3, if stop { 60.0 } else { 0.4 }) };
        draft.target.as_mut().unwrap().port = address.port();
        draft.requests = vec![get("/")];
        let plan = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap();
        let scene = Scene {
            factory: streams.then(|| Arc::new(WaitingProgram) as Arc<dyn ProgramFactory>),
            ..Scene::at(address)
        };
        let mut running = start(Arc::new(plan), scene).unwrap();
        let begun = Instant::now();
        let mut stopped = None;
        loop {
            if stop && stopped.is_none() && begun.elapsed() > Duration::from_millis(400) {
                running.commander().send(Command::Stop);
                stopped = Some(Instant::now());
            }
            match running.next(Duration::from_millis(20)) {
                Next::Report(report) => running.give_back(report.worker, report.interval),
                Next::Quiet => assert!(begun.elapsed() < Duration::from_secs(20), "the run does not end"),
                Next::Ended => break,
            }
        }
        let late = stopped.map_or_else(
            // The run may have begun before this clock.
            || begun.elapsed().saturating_sub(Duration::from_millis(400)),
            |at| at.elapsed(),
        );
        let finish = running.finish();
        assert_eq!(finish.stopped, if stop { Stopped::Command } else { Stopped::Duration });
        assert!(late < Duration::from_secs(1), "{late:?} after its stop");
    }
}
