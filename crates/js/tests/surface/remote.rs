//! The far side of WebSockets and streams of events in tests, in simulated time.
//!
//! The body of an answer says what happens after its head, one line after the other, a millisecond apart: `text TEXT`,
//! `binary TEXT`, `ping TEXT`, `close CODE REASON`, `lost` (the connection ends), `wait` (10 ms), `event ID NAME DATA`,
//! where `-` means none. With `echo`, messages are sent back, and pings are answered. A stream without more lines ends;
//! a socket waits for its client.

use super::run::{Answer, Trace};
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{
    At, BodyUse, Ended, Event, Message, MessageKind, Outbox, Phases, Program, Reply, Wake,
};
use plimsoll_wire::ws;

/// What happens at a time.
pub enum Due {
    Slept,
    /// The response to a request.
    Response(String, BodyUse),
    Frame(Frame),
    End(Option<Fault>, Option<Ended>),
}

impl Due {
    /// A response that was requested comes, and a stream that was canceled ends with a reply.
    pub fn survives_cancel(&self) -> bool {
        matches!(self, Due::Response(..) | Due::End(..))
    }
}

pub enum Frame {
    Message(MessageKind, Vec<u8>),
    /// ID, name, and data.
    Event([String; 3]),
}

/// The open streams and sockets of a user.
#[derive(Default)]
pub struct Remote {
    open: Vec<Open>,
}

struct Open {
    id: u32,
    status: u16,
    echoes: bool,
    by_client: bool,
}

const MS: u64 = 1_000_000;

impl Remote {
    /// Takes what a program wants of its streams and sockets.
    pub fn take(&mut self, out: &Outbox, now_ns: u64, queue: &mut Vec<(u32, Due, u64)>, trace: &mut Trace) {
        for sending in &out.messages {
            let payload = out.arena[sending.begin as usize..sending.end as usize].to_vec();
            trace.sent.push(format!("{:?} {}", sending.kind, String::from_utf8_lossy(&payload)));
            let Some(open) = self.open.iter_mut().find(|one| one.id == sending.id) else { continue };
            let answer =
                |kind| queue.push((sending.id, Due::Frame(Frame::Message(kind, payload)), now_ns + MS));
            match sending.kind {
                MessageKind::Ping if open.echoes => answer(MessageKind::Pong),
                MessageKind::Text | MessageKind::Binary if open.echoes => answer(sending.kind),
                MessageKind::Close(_) => {
                    open.by_client = true;
                    queue.retain(|(id, _, _)| *id != sending.id);
                    queue.push((
                        sending.id,
                        Due::Frame(Frame::Message(sending.kind, Vec::new())),
                        now_ns + MS,
                    ));
                    queue.push((sending.id, Due::End(None, Some(Ended::Client)), now_ns + MS));
                }
                _ => {}
            }
        }
        for id in self.open.iter().map(|one| one.id).filter(|id| out.cancels.contains(id)) {
            queue.retain(|(one, _, _)| *one != id);
            queue.push((id, Due::End(None, Some(Ended::Client)), now_ns + MS));
        }
    }

    /// Shows the head of the response, and plans what follows.
    #[allow(clippy::too_many_arguments, reason = "the state of the simulation")]
    pub fn open(
        &mut self,
        program: &mut dyn Program,
        id: u32,
        at: At,
        request: &str,
        body: BodyUse,
        answer: &Answer,
        out: &mut Outbox,
        queue: &mut Vec<(u32, Due, u64)>,
    ) {
        let key =
            request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap_or_default();
        let accept = String::from_utf8(ws::accept_of(key.as_bytes()).to_vec()).expect("text");
        let upgrade = match body {
            BodyUse::WebSocket if answer.status == 101 => {
                format!("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n")
            }
            _ => String::new(),
        };
        let head = format!("HTTP/1.1 {} Status\r\n{upgrade}{}\r\n", answer.status, answer.head);
        let text = String::from_utf8(answer.body.clone()).expect("text");
        let mut due_ns = at.run_ns;
        let mut is_over = body != BodyUse::WebSocket || answer.status != 101;
        let mut fault = None;
        for line in text.lines() {
            due_ns += MS;
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let message = |kind, text: &str| Due::Frame(Frame::Message(kind, text.as_bytes().to_vec()));
            let due = match word {
                "text" => message(MessageKind::Text, rest),
                "binary" => message(MessageKind::Binary, rest),
                "ping" => message(MessageKind::Ping, rest),
                "close" => {
                    let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
                    is_over = true;
                    message(MessageKind::Close(code.parse().expect("a code")), reason)
                }
                "event" => {
                    let parts: Vec<&str> = rest.splitn(3, ' ').collect();
                    Due::Frame(Frame::Event([0, 1, 2].map(|at| parts[at].replace('-', ""))))
                }
                "lost" => {
                    (is_over, fault) = (true, Some(Fault::WebSocketClosed));
                    continue;
                }
                "wait" => {
                    due_ns += 9 * MS;
                    continue;
                }
                "echo" => continue,
                other => panic!("unknown line `{other}`"),
            };
            queue.push((id, due, due_ns));
        }
        if is_over {
            queue.push((id, Due::End(fault, Some(Ended::Server)), due_ns + MS));
        }
        let echoes = text.lines().any(|line| line == "echo");
        self.open.push(Open { id, status: answer.status, echoes, by_client: false });
        program.resume(at, Wake::Head { id, status: answer.status, head: Head::new(head.as_bytes()) }, out);
    }

    pub fn show(&self, program: &mut dyn Program, id: u32, at: At, frame: &Frame, out: &mut Outbox) {
        let wake = match frame {
            Frame::Message(kind, data) => Wake::Message(Message { id, kind: *kind, data }),
            Frame::Event([event_id, name, data]) => Wake::Event(Event {
                id,
                name: name.as_bytes(),
                data: data.as_bytes(),
                event_id: (!event_id.is_empty()).then_some(event_id.as_bytes()),
            }),
        };
        program.resume(at, wake, out);
    }

    pub fn end(
        &mut self,
        program: &mut dyn Program,
        id: u32,
        at: At,
        (fault, ended): (Option<Fault>, Option<Ended>),
        out: &mut Outbox,
        trace: &mut Trace,
    ) {
        let Some(at_index) = self.open.iter().position(|one| one.id == id) else { return };
        let open = self.open.swap_remove(at_index);
        let ended = if open.by_client { Some(Ended::Client) } else { ended };
        let reply = Reply {
            id,
            status: open.status,
            fault,
            head: Head::default(),
            body: &[],
            body_bytes: 0,
            trailers: Head::default(),
            phases: Phases::default(),
            ended: ended.filter(|_| fault.is_none()),
        };
        program.resume(at, Wake::Reply(reply), out);
        trace.faults.extend(fault.or(out.failure).map(Fault::name));
    }
}
