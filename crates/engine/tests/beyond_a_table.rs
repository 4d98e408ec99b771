//! Shows that users are programs and not tables of requests: one holds a stream, sends two requests at once during the
//! stream, and decides at the head of each response whether it wants the body. It also serves as an example of the
//! interface.

use crate::support::actors::{Log, lines};
use crate::support::*;
use plimsoll_engine::Stopped;
use plimsoll_plan::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunSum, StreamSum};
use plimsoll_plan::program::{At, BodyUse, Outbox, Program, ProgramFactory, Programs, Step, UserSlot, Wake};
use std::sync::{Arc, Mutex};

const CHUNKED: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Behavior that no list of requests can express. Each iteration of this user:
///
/// 1. opens a stream of notices and holds it;
/// 2. when the first notice arrives, requests `/a` and `/b` at the same time, during the stream;
/// 3. reads the head of each response and takes only bodies declared as small;
/// 4. when both have arrived, ends the stream, and with it the iteration.
struct Reader {
    missing: u32,
    bodies: Arc<Mutex<Vec<String>>>,
}

const NOTICES: u32 = 0;

impl Program for Reader {
    fn resume(&mut self, _: At, wake: Wake<'_>, out: &mut Outbox) {
        match wake {
            Wake::Begin { .. } => out.push(Step { id: NOTICES, body: BodyUse::Stream, ..Step::default() }),
            Wake::Event(_) => {
                self.missing = 2;
                for id in 1..=self.missing {
                    out.push(Step { id, request: id, body: BodyUse::Decide, ..Step::default() });
                }
            }
            Wake::Head { id: NOTICES, .. } | Wake::Message(_) => {}
            Wake::Head { head, .. } => {
                let small = head.field("x-small").is_some();
                out.decide(if small { BodyUse::Keep } else { BodyUse::Discard });
            }
            Wake::Reply(reply) if reply.id != NOTICES => {
                let text = String::from_utf8_lossy(reply.body).into_owned();
                self.bodies.lock().expect("no program has panicked").push(format!("{}: {text}", reply.id));
                self.missing -= 1;
                if self.missing == 0 {
                    out.cancel(NOTICES);
                }
            }
            // The stream has ended: nothing is outstanding, and the iteration is over.
            Wake::Reply(_) | Wake::Slept { .. } | Wake::Reached { .. } | Wake::Interrupted => {}
        }
    }
}

#[derive(Clone)]
struct Readers(Arc<Mutex<Vec<String>>>);

impl ProgramFactory for Readers {
    fn programs(&self) -> Box<dyn Programs> {
        Box::new(self.clone())
    }
}

impl Programs for Readers {
    fn make(&mut self, _: UserSlot) -> Box<dyn Program> {
        Box::new(Reader { missing: 0, bodies: Arc::clone(&self.0) })
    }
}

#[test]
fn a_user_holds_a_stream_asks_twice_at_once_beside_it_and_decides_at_the_head() {
    let bodies = Log::default();
    let draft = Draft { requests: ["/notices", "/a", "/b"].map(get).into(), ..closed(1, 10.0) };
    let draft = Draft { load: LoadDraft { requests_total: Some(9), ..draft.load }, ..draft };
    let out =
        Lab::new(draft).factory(Readers(Arc::clone(&bodies))).run(|a: &SimRequest<'_>| match a.bytes[5] {
            b'n' => Answer::silence().piece(MS, CHUNKED).piece(MS, b"c\r\ndata: news\n\n\r\n"),
            b'a' => Answer::silence()
                .piece(5 * MS, b"HTTP/1.1 200 OK\r\nX-Small: 1\r\nContent-Length: 2\r\n\r\nhi"),
            _ => Answer::silence().piece(3 * MS, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhuge"),
        });
    out.check();
    // 2 ms to the notice, 3 ms to /b, 2 more to /a: three iterations of 7 ms each.
    assert_eq!(lines(&bodies), ["2: ", "1: hi"].repeat(3));
    assert_eq!((out.stopped, out.sum(RunSum::Iterations), out.elapsed_ns), (Stopped::Requests, 3, 21 * MS));
    assert_eq!((out.count(StreamSum::Streams), out.count(StreamSum::ClosedByClient)), (3, 3));
    assert_eq!(out.calls.open_max, 3, "the stream and both requests at once");
}
