//! A request in the steady state allocates nothing: closed and open model, waiting arrivals, bodies skipped and read,
//! and programs that keep bodies, render, judge, and sleep. In addition, an open stream holds little memory.
//!
//! The worker runs over a door that responds immediately from preallocated memory, so every counted allocation is the
//! worker's own. A second test uses the real kernel and counts only on the worker's thread.
#![allow(clippy::unwrap_used)]

use plimsoll_engine::driver::{CpuReading, Door, Errno, Flags, IN, Io, OUT, Socket, TcpFacts};
use plimsoll_engine::tally::blank;
use plimsoll_engine::{Command, Job, Next, Post, Scene, WorkerNotes, start};
use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Link, Reuse};
use plimsoll_plan::metric::{SeriesSum, StreamHist};
use plimsoll_plan::program::{
    At, BodyUse, Count, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake,
};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::series::Family;
use plimsoll_plan::{Fault, Plan, Request, Target};
use plimsoll_stats::interval::Interval;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Counts for each thread separately, and in total for all threads that have not declared themselves bystanders.
struct Counting;

static ALL: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static MINE: Cell<u64> = const { Cell::new(0) };
    /// Bytes held: those that this thread has allocated and not freed.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static BYSTANDER: Cell<bool> = const { Cell::new(false) };
}

/// Counts an allocation of `size` bytes that replaces one of `before` bytes.
fn count(before: usize, size: usize) {
    // A thread that is ending has no cells any more; nothing is measured then.
    let _ = MINE.try_with(|n| n.set(n.get() + 1));
    let _ = HELD.try_with(|held| held.set(held.get() + size as i64 - before as i64));
    if !BYSTANDER.try_with(Cell::get).unwrap_or(true) {
        ALL.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counters do not touch the allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(0, layout.size());
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(layout.size(), size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        let _ = HELD.try_with(|held| held.set(held.get() - layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn mine() -> u64 {
    MINE.with(Cell::get)
}

/// Responds to every request after a fixed time, in one piece, from preallocated memory.
struct Canned {
    now_ns: Rc<Cell<u64>>,
    service_ns: u64,
    answer: Vec<u8>,
    /// By socket: its token, the number of bytes read of the response (`usize::MAX`: all), and when it arrived.
    links: Vec<(u64, usize, u64)>,
    /// (time, socket) in order of time, because the service time is the same for all.
    due: VecDeque<(u64, Socket)>,
    ready: Vec<(u64, Flags)>,
}

impl Canned {
    fn take(&mut self, socket: Socket, most: usize, into: Option<&mut [u8]>) -> Io {
        let (_, read, at_ns) = &mut self.links[socket as usize];
        if *at_ns > self.now_ns.get() {
            return Io::WouldBlock;
        }
        let n = self.answer.len().saturating_sub(*read).min(most);
        if n == 0 {
            return Io::WouldBlock;
        }
        if let Some(buffer) = into {
            buffer[..n].copy_from_slice(&self.answer[*read..*read + n]);
        }
        *read += n;
        Io::Done(n)
    }
}

impl Door for Canned {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn open(&mut self, _: SocketAddr, _: Option<IpAddr>, token: u64) -> Result<Socket, Errno> {
        self.links.push((token, usize::MAX, 0));
        let socket = self.links.len() as Socket - 1;
        self.due.push_back((self.now_ns.get() + self.service_ns, -1 - socket));
        Ok(socket)
    }

    fn connect_result(&mut self, _: Socket) -> Result<(), Errno> {
        Ok(())
    }

    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        let at_ns = self.now_ns.get() + self.service_ns;
        (self.links[socket as usize].1, self.links[socket as usize].2) = (0, at_ns);
        self.due.push_back((at_ns, socket));
        Io::Done(bytes.len())
    }

    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        self.take(socket, buffer.len(), Some(buffer))
    }

    fn discard(&mut self, socket: Socket, bytes: usize) -> Io {
        self.take(socket, bytes, None)
    }

    fn set_low_water(&mut self, socket: Socket, _: usize) {
        // All bytes are there already: as in the kernel, that is an edge.
        self.due.push_front((self.now_ns.get(), socket));
    }

    fn facts(&mut self, _: Socket) -> TcpFacts {
        TcpFacts { retransmits: 0, rtt_ns: 1_000, min_rtt_ns: 500, ..TcpFacts::default() }
    }

    fn close(&mut self, _: Socket) {}

    fn wait(&mut self, timeout_ns: u64) -> usize {
        self.ready.clear();
        let deadline_ns = self.now_ns.get() + timeout_ns;
        let next_ns = self.due.front().map_or(u64::MAX, |d| d.0);
        self.now_ns.set(self.now_ns.get().max(next_ns.min(deadline_ns)));
        while self.ready.len() < 256
            && let Some(&(at_ns, socket)) = self.due.front()
            && at_ns <= self.now_ns.get()
        {
            self.due.pop_front();
            // A negative number means that a connection was established.
            let link = if socket < 0 { -1 - socket } else { socket };
            self.ready.push((self.links[link as usize].0, if socket < 0 { OUT } else { IN | OUT }));
        }
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

/// One test at a time: the last one counts over all threads.
static ALONE: Mutex<()> = Mutex::new(());

/// Values at a tick: allocations, requests finished, bytes held.
type Mark = (u64, u64, i64);

/// Takes intervals and returns them, and records the values at each tick.
struct Circle {
    // In the order in which they are handed over.
    #[allow(clippy::vec_box)]
    spares: Vec<Box<Interval>>,
    finished: u64,
    requests: usize,
    marks: Rc<Cell<Vec<Mark>>>,
}

impl Post for Circle {
    fn hand_over(&mut self, full: Box<Interval>, _: WorkerNotes, _last: bool) {
        self.finished +=
            full.series[..self.requests].iter().map(|s| s.sums[SeriesSum::Finished.id()]).sum::<u64>();
        self.spares.push(full);
        let mut marks = self.marks.take();
        marks.push((mine(), self.finished, HELD.with(Cell::get)));
        self.marks.set(marks);
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.spares.pop()
    }

    fn commands(&mut self, _: &mut Vec<Command>) {}
}

const BEGIN_NS: u64 = 1_000_000_000_000;

fn plan(mut draft: Draft, address: SocketAddr, paths: &[&str]) -> Plan {
    draft.target = Some(Target { host: address.ip().to_string(), port: address.port(), tls: false });
    draft.requests = paths
        .iter()
        .map(|p| Request {
            origin: 0,
            name: (*p).into(),
            method: "GET".into(),
            path: (*p).into(),
            headers: vec![],
            body: None,
        })
        .collect();
    draft.workers = Some(1);
    seal(draft, Machine { cpus: 1, seed: 1 }).unwrap()
}

/// Returns the allocations and requests from the third tick to the last but one.
fn steady(
    draft: Draft,
    body_bytes: usize,
    paths: &[&str],
    factory: Option<Arc<dyn ProgramFactory>>,
) -> (u64, u64) {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {body_bytes}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + body_bytes, b'x');
    let marks = simulated(draft, answer, paths, factory);
    let ((a, requests, _), (b, later, _)) = (marks[2], marks[marks.len() - 2]);
    (b - a, later - requests)
}

/// Runs eight seconds against a server that always responds with `answer`; bytes held are those since the start.
fn simulated(
    mut draft: Draft,
    answer: Vec<u8>,
    paths: &[&str],
    factory: Option<Arc<dyn ProgramFactory>>,
) -> Vec<Mark> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    draft.load.duration_ns = Some(8_000_000_000);
    draft.limits.spin_ns = 0;
    let address: SocketAddr = "127.0.0.1:80".parse().unwrap();
    let plan = plan(draft, address, paths);
    let marks = Rc::new(Cell::new(Vec::with_capacity(64)));
    let door = Canned {
        now_ns: Rc::new(Cell::new(BEGIN_NS)),
        service_ns: 400_000,
        answer,
        links: Vec::with_capacity(100_000),
        due: VecDeque::with_capacity(10_000),
        ready: Vec::with_capacity(256),
    };
    let mut spares = Vec::with_capacity(8);
    spares.push(Box::new(blank(&plan.outline, 0)));
    let post = Circle { spares, finished: 0, requests: paths.len(), marks: Rc::clone(&marks) };
    let seating = Job::new(&plan, Scene { factory, ..Scene::at(address) }, 0).seating(0);
    let (before, held) = (mine(), HELD.with(Cell::get));
    seating.run(BEGIN_NS, door, post);
    assert!(mine() - before > 10, "the counter counts");
    let mut marks = marks.take();
    marks.iter_mut().for_each(|mark| mark.2 -= held);
    marks
}

fn none(what: &str, (allocations, requests): (u64, u64)) {
    assert!(requests > 2_000, "{what}: only {requests} requests");
    assert_eq!(allocations, 0, "{what}: {allocations} allocations in {requests} requests");
}

fn users(n: u32) -> Draft {
    Draft { load: LoadDraft { users: Some(n), ..LoadDraft::default() }, ..Draft::default() }
}

fn rate(per_s: f64, connections: u32) -> Draft {
    Draft {
        load: LoadDraft {
            rate_per_s: Some(per_s),
            max_connections: Some(connections),
            ..LoadDraft::default()
        },
        ..Draft::default()
    }
}

#[test]
fn the_closed_model_allocates_nothing() {
    none("one request", steady(users(20), 100, &["/"], None));
    none("a sequence", steady(users(20), 100, &["/a", "/b", "/c"], None));
    let counted =
        Draft { load: LoadDraft { requests_total: Some(100_000_000), ..users(20).load }, ..users(20) };
    none("with a count", steady(counted, 100, &["/"], None));
}

#[test]
fn the_open_model_allocates_nothing() {
    none("arrivals", steady(rate(5_000.0, 100), 100, &["/"], None));
    none("a sequence", steady(rate(5_000.0, 100), 100, &["/a", "/b"], None));
    let poisson = Draft {
        load: LoadDraft { arrivals: Some(plimsoll_plan::load::Arrivals::Poisson), ..rate(4_000.0, 2).load },
        ..rate(4_000.0, 2)
    };
    none("Poisson", steady(poisson, 100, &["/"], None));
    // Twice as many arrivals as two connections can serve: the queue grows, its memory does not.
    none("a growing queue", steady(rate(10_000.0, 2), 100, &["/"], None));
}

#[test]
fn large_bodies_allocate_nothing_skipped_or_read() {
    none("skipped", steady(users(4), 400_000, &["/"], None));
    none("read", steady(Draft { read_bodies: Some(true), ..users(4) }, 400_000, &["/"], None));
}

/// Three steps at once, all bodies kept.
#[derive(Clone)]
struct Three;

impl ProgramFactory for Three {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Three {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Three)
    }
}

impl Program for Three {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => {
                (0..3).for_each(|id| out.push(Step { id, body: BodyUse::Keep, ..Step::default() }));
            }
            Wake::Reply(reply) => assert_eq!(reply.body.len(), 5_000),
            other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn programs_that_keep_bodies_allocate_nothing_once_their_buffers_are_large_enough() {
    none("closed", steady(users(5), 5_000, &["/"], Some(Arc::new(Three))));
    none("open", steady(rate(1_000.0, 50), 5_000, &["/"], Some(Arc::new(Three))));
    // Connections that are opened and closed with each iteration reuse the same few entries.
    let link = Link { reuse: Reuse::Iteration, ..Link::default() };
    none(
        "a connection per iteration",
        steady(Draft { link, ..users(1) }, 5_000, &["/"], Some(Arc::new(Three))),
    );
}

/// Sleeps, renders its request, keeps the response, judges it, and counts; a second sleep is canceled each time.
#[derive(Clone)]
struct Busy;

impl ProgramFactory for Busy {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Busy {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Busy)
    }
}

impl Program for Busy {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => {
                out.sleep(1, 2_000_000);
                out.sleep(2, 1_000_000_000);
            }
            Wake::Slept { .. } => {
                for id in 3..5 {
                    let body = if id == 3 { BodyUse::Keep } else { BodyUse::Decide };
                    let step = Step { id, judged: true, body, ..Step::default() };
                    out.push_rendered(step, |bytes| {
                        bytes.extend_from_slice(b"GET /");
                        bytes.extend_from_slice(&at.run_ns.to_be_bytes().map(|b| b'a' + b % 16));
                        bytes.extend_from_slice(b" HTTP/1.1\r\nHost: a\r\n\r\n");
                    });
                }
                out.cancel(2);
            }
            Wake::Head { .. } => out.decide(BodyUse::Keep),
            Wake::Reply(reply) => {
                assert_eq!(reply.body.len(), 500);
                out.count(Count::hist(0, StreamHist::EventAge, reply.phases.service_ns()));
                if reply.id == 4 {
                    out.fail(Fault::Check);
                }
            }
            Wake::Event(_) | Wake::Message(_) | Wake::Reached { .. } | Wake::Interrupted => {}
        }
    }
}

#[test]
fn programs_that_sleep_render_judge_and_decide_allocate_nothing() {
    none("closed", steady(users(20), 500, &["/"], Some(Arc::new(Busy))));
    none("open", steady(rate(1_000.0, 50), 500, &["/"], Some(Arc::new(Busy))));
}

/// Opens its metrics by name and labels with each response, and counts in them.
#[derive(Clone)]
struct Measuring;

impl ProgramFactory for Measuring {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Measuring {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Measuring)
    }
}

impl Program for Measuring {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => out.push(Step { id: 1, ..Step::default() }),
            Wake::Reply(_) => {
                let shop = if at.run_ns.is_multiple_of(2) { "a" } else { "b" };
                for family in Family::CUSTOM {
                    let metric = out.open(family, "metric", &[("shop", shop), ("kind", "x")]).unwrap();
                    out.add(metric, 1_000.0 + (at.run_ns % 1_000) as f64);
                }
            }
            other => unreachable!("{other:?}"),
        }
    }
}

#[test]
fn metrics_that_are_open_allocate_nothing() {
    none("closed", steady(users(20), 500, &["/"], Some(Arc::new(Measuring))));
}

/// Holds one stream forever.
#[derive(Clone)]
struct Listener;

impl ProgramFactory for Listener {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Listener {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Listener)
    }
}

impl Program for Listener {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        if let Wake::Begin { .. } = wake {
            out.push(Step { body: BodyUse::Stream, ..Step::default() });
        }
    }
}

#[test]
fn an_idle_stream_holds_less_than_a_kilobyte_with_its_user_and_connection_and_no_more_in_time() {
    let answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: x\n\n\r\n".to_vec();
    let held = |streams: u32| {
        let marks = simulated(users(streams), answer.clone(), &["/"], Some(Arc::new(Listener)));
        let (early, late) = (marks[1].2, marks[marks.len() - 2].2);
        assert_eq!(early, late, "memory does not grow with time");
        late
    };
    // The worker's fixed memory cancels out in the difference.
    let bytes = (held(3_000) - held(1_000)) / 2_000;
    assert!((100..=1_024).contains(&bytes), "{bytes} bytes for each stream");
}

/// Starts a server that responds to everything and allocates nothing after its start, one thread per connection.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        BYSTANDER.set(true);
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                BYSTANDER.set(true);
                let mut buffer = [0u8; 4_096];
                // A request is small and arrives in one piece.
                while stream.read(&mut buffer).is_ok_and(|n| n > 0) {
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Runs the real engine with a real server: (allocations of the worker, requests) between two ticks.
fn real(draft: Draft) -> (u64, u64) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let address = server();
    let draft = Draft { load: LoadDraft { duration_ns: Some(4_000_000_000), ..draft.load }, ..draft };
    let plan = Arc::new(plan(draft, address, &["/"]));
    // From this point, this thread only passes intervals on; its own allocations are the channel's.
    BYSTANDER.set(true);
    let mut running = start(plan, Scene::at(address)).unwrap();
    let (mut marks, mut finished) = (Vec::new(), 0);
    loop {
        match running.next(Duration::from_secs(10)) {
            Next::Report(report) => {
                finished += report.interval.series[0].sums[SeriesSum::Finished.id()];
                marks.push((ALL.load(Ordering::Relaxed), finished));
                running.give_back(report.worker, report.interval);
            }
            Next::Quiet => panic!("the engine sent no report"),
            Next::Ended => break,
        }
    }
    running.finish();
    BYSTANDER.set(false);
    assert_eq!(marks.len(), 4);
    (marks[2].0 - marks[0].0, marks[2].1 - marks[0].1)
}

#[test]
fn over_the_real_kernel_there_is_no_allocation_per_request_either() {
    for (what, draft) in [("closed", users(8)), ("open", rate(2_000.0, 50))] {
        let (allocations, requests) = real(draft);
        // Two ticks: a channel allocates for every 31 messages, and a histogram for its very first value.
        assert!(requests > 2_000, "{what}: only {requests} requests");
        assert!(allocations <= 24, "{what}: {allocations} allocations in {requests} requests");
    }
}
