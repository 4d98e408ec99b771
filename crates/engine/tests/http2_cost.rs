//! The cost of a request over HTTP/2: no allocation in the steady state, and few system calls, the fewer the more
//! streams a connection has. Bodies are kept or not; requests are prepared, rendered, or with a body.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use plimsoll_engine::driver::{CpuReading, Door, Errno, Flags, IN, Io, OUT, Socket, TcpFacts};
use plimsoll_engine::tally::blank;
use plimsoll_engine::{Command, Job, Next, Post, Scene, WorkerNotes, start};
use plimsoll_plan::draft::{Draft, LoadDraft};
use plimsoll_plan::link::{Http, Link, Reuse};
use plimsoll_plan::metric::{RunSum, SeriesSum};
use plimsoll_plan::program::{At, BodyUse, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Plan, Request, Target};
use plimsoll_stats::interval::Interval;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::process::Command as Child;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

struct Counting;

thread_local! {
    static MINE: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending has no cells any more; nothing is measured then.
    let _ = MINE.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is passed on unchanged to the system's allocator; the counter does not touch the allocated memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BEGIN_NS: u64 = 1_000_000_000_000;
const SERVICE_NS: u64 = 400_000;

/// Appends the responses to the requests in these whole frames: a head and a body of `body` bytes for each stream whose
/// request is complete, and the server's SETTINGS and windows where they are due.
fn respond(mut frames: &[u8], body: usize, out: &mut Vec<u8>) {
    if let Some(rest) = frames.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
        frames = rest;
        out.extend_from_slice(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
    }
    while let Some(head) = frames.first_chunk::<9>() {
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let (kind, flags, stream) = (head[3], head[4], &head[5..9]);
        if kind == 0 && len > 0 {
            for number in [&[0, 0, 0, 0], stream] {
                out.extend_from_slice(&[0, 0, 4, 8, 0]);
                out.extend_from_slice(number);
                out.extend_from_slice(&(len as u32).to_be_bytes());
            }
        }
        if kind <= 1 && flags & 1 != 0 {
            // `:status: 200`, indexed.
            out.extend_from_slice(&[0, 0, 1, 1, 4]);
            out.extend_from_slice(stream);
            out.push(0x88);
            let length = (body as u32).to_be_bytes();
            out.extend_from_slice(&length[1..]);
            out.extend_from_slice(&[0, 1]);
            out.extend_from_slice(stream);
            out.resize(out.len() + body, b'x');
        }
        frames = &frames[9 + len..];
    }
}

/// A connection: its token, what is on its way to the client, and how much of that was read.
struct Wire {
    token: u64,
    inbox: Vec<u8>,
    read: usize,
}

/// A server in memory that responds after a fixed time, and allocates only until its buffers are large enough.
struct Canned {
    now_ns: Rc<Cell<u64>>,
    body: usize,
    wires: Vec<Wire>,
    /// (time, socket, end of what arrives then); the socket is negative if a connection is established.
    due: VecDeque<(u64, Socket, usize)>,
    arrived: Vec<usize>,
    ready: Vec<(u64, Flags)>,
}

impl Door for Canned {
    fn now_ns(&self) -> u64 {
        self.now_ns.get()
    }

    fn open(&mut self, _: SocketAddr, _: Option<IpAddr>, token: u64) -> Result<Socket, Errno> {
        self.wires.push(Wire { token, inbox: Vec::with_capacity(1 << 20), read: 0 });
        self.arrived.push(0);
        let socket = self.wires.len() as Socket - 1;
        self.due.push_back((self.now_ns.get() + SERVICE_NS, -1 - socket, 0));
        Ok(socket)
    }

    fn connect_result(&mut self, _: Socket) -> Result<(), Errno> {
        Ok(())
    }

    fn send(&mut self, socket: Socket, bytes: &[u8]) -> Io {
        let wire = &mut self.wires[socket as usize];
        if wire.read > 0 {
            // Only the part that was read is dropped, so that the buffer does not grow.
            wire.inbox.drain(..wire.read);
            let shift = std::mem::take(&mut wire.read);
            self.arrived[socket as usize] -= shift;
            let own = self.due.iter_mut().filter(|(_, to, _)| *to == socket);
            own.for_each(|(_, _, end)| *end -= shift);
        }
        respond(bytes, self.body, &mut wire.inbox);
        self.due.push_back((self.now_ns.get() + SERVICE_NS, socket, wire.inbox.len()));
        Io::Done(bytes.len())
    }

    fn recv(&mut self, socket: Socket, buffer: &mut [u8]) -> Io {
        let wire = &mut self.wires[socket as usize];
        let n = (self.arrived[socket as usize] - wire.read).min(buffer.len());
        if n == 0 {
            return Io::WouldBlock;
        }
        buffer[..n].copy_from_slice(&wire.inbox[wire.read..wire.read + n]);
        wire.read += n;
        Io::Done(n)
    }

    fn discard(&mut self, _: Socket, _: usize) -> Io {
        unreachable!("frames are read")
    }

    fn set_low_water(&mut self, _: Socket, _: usize) {}

    fn facts(&mut self, _: Socket) -> TcpFacts {
        TcpFacts::default()
    }

    fn close(&mut self, _: Socket) {}

    fn wait(&mut self, timeout_ns: u64) -> usize {
        self.ready.clear();
        let deadline_ns = self.now_ns.get() + timeout_ns;
        let next_ns = self.due.front().map_or(u64::MAX, |due| due.0);
        self.now_ns.set(self.now_ns.get().max(next_ns.min(deadline_ns)));
        while self.ready.len() < 256
            && let Some(&(at_ns, socket, end)) = self.due.front()
            && at_ns <= self.now_ns.get()
        {
            self.due.pop_front();
            let at = if socket < 0 { -1 - socket } else { socket } as usize;
            self.arrived[at] = self.arrived[at].max(end);
            self.ready.push((self.wires[at].token, if socket < 0 { OUT } else { IN | OUT }));
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

/// Takes intervals and returns them, and records allocations and finished requests at each tick.
struct Circle {
    #[allow(clippy::vec_box)]
    spares: Vec<Box<Interval>>,
    finished: u64,
    marks: Rc<Cell<Vec<(u64, u64)>>>,
}

impl Post for Circle {
    fn hand_over(&mut self, full: Box<Interval>, _: WorkerNotes, _last: bool) {
        self.finished += full.series.iter().map(|s| s.sums[SeriesSum::Finished.id()]).sum::<u64>();
        self.spares.push(full);
        let mut marks = self.marks.take();
        marks.push((MINE.get(), self.finished));
        self.marks.set(marks);
    }

    fn spare(&mut self) -> Option<Box<Interval>> {
        self.spares.pop()
    }

    fn commands(&mut self, _: &mut Vec<Command>) {}
}

fn plan(mut draft: Draft, address: SocketAddr, bodies: &[usize], streams: u32) -> Plan {
    draft.target = Some(Target { host: address.ip().to_string(), port: address.port(), tls: false });
    draft.requests = bodies
        .iter()
        .map(|body| Request {
            origin: 0,
            name: format!("/{body}"),
            method: "POST".into(),
            path: format!("/{body}"),
            headers: vec![],
            body: (*body > 0).then(|| vec![b'x'; *body]),
        })
        .collect();
    draft.workers = Some(1);
    draft.link = Link { http: Http::V2, streams, ..draft.link };
    let mut plan = seal(draft, Machine { cpus: 1, seed: 1 }).unwrap();
    plan.outline.set_http2(0);
    plan
}

/// Returns the allocations and requests from the third tick to the last but one, with request bodies of these sizes.
fn steady(
    mut draft: Draft,
    streams: u32,
    bodies: &[usize],
    response: usize,
    factory: Option<Arc<dyn ProgramFactory>>,
) -> (u64, u64) {
    draft.load.duration_ns = Some(5_000_000_000);
    draft.limits.spin_ns = 0;
    let address: SocketAddr = "127.0.0.1:80".parse().unwrap();
    let plan = plan(draft, address, bodies, streams);
    let marks = Rc::new(Cell::new(Vec::with_capacity(64)));
    let door = Canned {
        now_ns: Rc::new(Cell::new(BEGIN_NS)),
        body: response,
        wires: Vec::with_capacity(10_000),
        due: VecDeque::with_capacity(10_000),
        arrived: Vec::with_capacity(10_000),
        ready: Vec::with_capacity(256),
    };
    let mut spares = Vec::with_capacity(8);
    spares.push(Box::new(blank(&plan.outline, 0)));
    let post = Circle { spares, finished: 0, marks: Rc::clone(&marks) };
    let seating = Job::new(&plan, Scene { factory, ..Scene::at(address) }, 0).seating(0);
    let before = MINE.get();
    seating.run(BEGIN_NS, door, post);
    assert!(MINE.get() - before > 10, "the counter counts");
    let marks = marks.take();
    let ((a, requests), (b, later)) = (marks[2], marks[marks.len() - 2]);
    (b - a, later - requests)
}

fn none(what: &str, (allocations, requests): (u64, u64)) {
    assert!(requests > 2_000, "{what}: only {requests} requests");
    assert_eq!(allocations, 0, "{what}: {allocations} allocations in {requests} requests");
}

fn users(n: u32) -> Draft {
    Draft { load: LoadDraft { users: Some(n), ..LoadDraft::default() }, ..Draft::default() }
}

fn rate(per_s: f64, connections: u32) -> Draft {
    let load =
        LoadDraft { rate_per_s: Some(per_s), max_connections: Some(connections), ..LoadDraft::default() };
    Draft { load, ..Draft::default() }
}

#[test]
fn requests_on_streams_allocate_nothing() {
    none("one stream", steady(users(4), 1, &[0], 76, None));
    none("many streams", steady(users(40), 20, &[0], 76, None));
    none("a sequence", steady(users(6), 3, &[0, 0, 0], 76, None));
    none("arrivals", steady(rate(3_000.0, 5), 20, &[0], 76, None));
    none(
        "a pool",
        steady(Draft { link: Link { reuse: Reuse::Pool, ..Link::default() }, ..users(8) }, 4, &[0], 76, None),
    );
    none("uploads", steady(users(4), 4, &[10_000], 76, None));
    none("uploads in several windows", steady(users(6), 2, &[100_000], 76, None));
}

/// Three requests at once: one kept, one rendered, one decided on.
#[derive(Clone)]
struct Three;

impl ProgramFactory for Three {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Three {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(self.clone())
    }
}

impl Program for Three {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => {
                let step = |id, body| Step { id, body, ..Step::default() };
                out.push(step(1, BodyUse::Keep));
                out.push(step(2, BodyUse::Decide));
                out.push_rendered(step(3, BodyUse::HeadOnly), |bytes| {
                    bytes.extend_from_slice(b"PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
                });
            }
            Wake::Head { .. } => out.decide(BodyUse::Keep),
            Wake::Reply(reply) => assert!(reply.status == 200 && (reply.id == 3) == reply.body.is_empty()),
            _ => {}
        }
    }
}

#[test]
fn programs_that_keep_bodies_and_render_allocate_nothing() {
    none("a connection each", steady(users(5), 1, &[0], 300, Some(Arc::new(Three))));
    none("shared connections", steady(users(8), 4, &[0], 300, Some(Arc::new(Three))));
}

// ---- system calls -------------------------------------------------------------------------------------------------

/// `address users streams requests`: the child's task.
const TASK: &str = "PLIMSOLL_TEST_TASK";

/// Not a test by itself: the child's work.
#[test]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let numbers: Vec<u32> = words[1..].iter().map(|word| word.parse().unwrap()).collect();
    let address: SocketAddr = words[0].parse().unwrap();
    let mut draft = users(numbers[0]);
    draft.load.requests_total = Some(u64::from(numbers[2]));
    let plan = plan(draft, address, &[0], numbers[1]);
    let mut all = blank(&plan.outline, 0);
    let mut running = start(Arc::new(plan), Scene::at(address)).unwrap();
    loop {
        match running.next(Duration::from_secs(30)) {
            Next::Report(report) => {
                all.merge(&report.interval);
                running.give_back(report.worker, report.interval);
            }
            Next::Quiet => panic!("the engine sent no report"),
            Next::Ended => break,
        }
    }
    running.finish();
    assert_eq!(all.series[0].sums[SeriesSum::Finished.id()], u64::from(numbers[2]));
    assert_eq!(all.series[0].sums[SeriesSum::Failed.id()], 0);
    assert_eq!(all.run.sums[RunSum::ConnOpened.id()], u64::from(numbers[0].div_ceil(numbers[1])));
}

/// Starts a server with one thread for each connection, which responds to all requests of a read with one write.
fn batching() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let (mut heard, mut out) = (Vec::new(), Vec::new());
                let mut buffer = [0u8; 65_536];
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    heard.extend_from_slice(&buffer[..n]);
                    let whole = whole_frames(&heard);
                    out.clear();
                    respond(&heard[..whole], 76, &mut out);
                    heard.drain(..whole);
                    if !out.is_empty() && stream.write_all(&out).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Returns the length of the whole frames at the front, with the preface if it is there.
fn whole_frames(bytes: &[u8]) -> usize {
    let mut at = if bytes.starts_with(b"PRI ") { 24.min(bytes.len()) } else { 0 };
    while let Some(&[a, b, c]) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let end = at + 9 + u32::from_be_bytes([0, a, b, c]) as usize;
        if end > bytes.len() {
            break;
        }
        at = end;
    }
    at
}

/// Returns the system calls of the child by name.
fn traced(address: SocketAddr, users: u32, streams: u32, requests: u32) -> BTreeMap<String, f64> {
    let name = format!("plimsoll-strace-h2-{}-{streams}-{requests}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let status = Child::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(&file)
        .arg(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture"])
        .env(TASK, format!("{address} {users} {streams} {requests}"))
        .output()
        .expect("strace is needed to count system calls; `cargo xtask needs` installs it");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let rows = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        Some(((*words.last()?).to_owned(), words.get(3)?.parse().ok()?))
    });
    rows.filter(|(name, _)| name != "total").collect()
}

/// Returns the calls per request: writes, reads, waits, and all others.
fn per_request(users: u32, streams: u32) -> [f64; 4] {
    let (short, long) = (5_000, 25_000);
    let address = batching();
    let (a, b) = (traced(address, users, streams, short), traced(address, users, streams, long));
    // The slope between two lengths: start, connections, and end cost the same in both.
    let sum = |is: &dyn Fn(&str) -> bool| {
        let of = |calls: &BTreeMap<String, f64>| -> f64 {
            calls.iter().filter(|(name, _)| is(name)).map(|(_, count)| count).sum()
        };
        (of(&b) - of(&a)) / f64::from(long - short)
    };
    let (send, recv) = (sum(&|name| name == "sendto"), sum(&|name| name == "recvfrom"));
    let wait = sum(&|name| name.starts_with("epoll_"));
    [send, recv, wait, sum(&|_| true) - send - recv - wait]
}

#[test]
fn ten_streams_cost_a_fraction_of_the_system_calls_of_one() {
    let [send, recv, wait, other] = per_request(20, 1);
    println!("1 stream: {send:.3} writes, {recv:.3} reads, {wait:.3} waits, {other:.3} others per request");
    assert!((0.99..=1.01).contains(&send), "{send} writes per request");
    assert!((0.99..=1.01).contains(&recv), "{recv} reads per request");
    assert!(other.abs() < 0.02 && send + recv + wait <= 2.5, "{wait} waits, {other} others");
    let [send, recv, wait, other] = per_request(20, 10);
    println!("10 streams: {send:.3} writes, {recv:.3} reads, {wait:.3} waits, {other:.3} others per request");
    // All streams of a connection are answered together, and their next requests are sent together.
    assert!(send <= 0.3 && recv <= 0.3, "{send} writes and {recv} reads per request");
    assert!(other.abs() < 0.02 && send + recv + wait <= 0.9, "{wait} waits, {other} others");
}
