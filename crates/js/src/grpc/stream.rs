//! Calls with streams of messages (`new grpc.Stream()`). What arrives is kept until the event loop passes it to the
//! sink of the stream.

use super::call::{PendingCall, encoded, put_request, series, system_tags};
use super::connection::Connection;
use super::ended::{details_as_json, read_message, status_of, text_of};
use super::params::CallParams;
use crate::host::Host;
use crate::vu::{Arrived, Vu};
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{Method, Protocol, Schemas, Status};
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::StreamHist;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{
    BodyUse, COMPRESSED, Count, Ended, Event, MessageKind, Reply, RequestId, Step, StepId,
};
use plimsoll_plan::series::label;
use plimsoll_quickjs::Value;
use plimsoll_script::call::{begin_of, status_in};
use plimsoll_wire::grpc::Message;
use std::collections::VecDeque;
use std::sync::Arc;

/// What has arrived on a stream.
pub enum StreamNews {
    /// A message as JSON; `None`: it is discarded.
    Data(Option<String>),
    End(StreamEnd),
}

/// The end of a stream.
#[derive(Debug, Clone)]
pub struct StreamEnd {
    pub status: Status,
    pub text: String,
    /// A JSON array.
    pub details: String,
    fault: Option<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// The iteration has left it: nothing takes what arrives.
    Left,
    Ended,
}

/// A call with a stream of messages.
pub struct Stream {
    pub number: u32,
    sink: Value,
    step: StepId,
    series: RequestId,
    origin: OriginId,
    /// The type of the messages to send.
    request: usize,
    of: PendingCall,
    /// The sleep until its deadline.
    deadline: Option<StepId>,
    phase: Phase,
    has_sent_all: bool,
    is_gzip: bool,
    opened_ns: u64,
    messages: u64,
    /// How it ends, once that is known before the reply.
    end: Option<StreamEnd>,
    queue: VecDeque<StreamNews>,
}

/// What opens a stream.
pub struct Opening<'a> {
    pub connection: &'a Connection,
    pub schemas: Arc<Schemas>,
    pub method: Method,
    pub params: CallParams,
    pub sink: Value,
}

/// Opens a stream; returns its number.
///
/// # Errors
/// Returns a message if there are too many series.
pub fn open(host: &Host, vu: &Vu, opening: Opening<'_>) -> Result<u32, String> {
    let Opening { connection, schemas, method, params, sink } = opening;
    let series = series(host, vu, connection, &method, &params, label::STREAMING)?;
    let number = vu.channel_number();
    let step = Step {
        id: vu.step(),
        request: series,
        origin: connection.origin,
        body: BodyUse::Duplex,
        judged: true,
        ..Step::default()
    };
    let names = (method.path.as_str(), connection.authority.as_str(), &*host.shared.settings.user_agent);
    let deadline = (params.timeout_ns > 0).then(|| vu.step());
    {
        let mut out = host.out.borrow_mut();
        out.push_rendered(step, |out| put_request(out, names, params.timeout_ns, &params.metadata, b""));
        if let Some(deadline) = deadline {
            out.sleep(deadline, params.timeout_ns);
        }
    }
    host.shared.note_sent();
    let system = system_tags(connection, &method, &params);
    let of = PendingCall {
        response: method.response,
        discards_message: params.discards_message,
        receive_bytes_max: connection.receive_bytes_max,
        keeps_bytes: false,
        tags: params.tags,
        system,
        schemas,
    };
    of.sample(host, vu, "grpc_streams", 1.0, None);
    vu.streams.borrow_mut().push(Stream {
        number,
        sink,
        step: step.id,
        series,
        origin: connection.origin,
        request: method.request,
        of,
        deadline,
        phase: Phase::Open,
        has_sent_all: false,
        is_gzip: false,
        opened_ns: host.at.get().run_ns,
        messages: 0,
        end: None,
        queue: VecDeque::new(),
    });
    Ok(number)
}

impl Stream {
    /// Sends a message; does nothing after the end of either side.
    ///
    /// # Errors
    /// Returns a message that names the field.
    pub fn write(&mut self, host: &Host, vu: &Vu, json: &str) -> Result<(), String> {
        if self.phase != Phase::Open || self.has_sent_all || self.end.is_some() {
            return Ok(());
        }
        let framed = encoded(&self.of.schemas, self.request, json)?;
        host.out.borrow_mut().send(self.step, MessageKind::Binary, &framed);
        self.of.sample(host, vu, "grpc_streams_msgs_sent", 1.0, None);
        Ok(())
    }

    /// Sends no more messages.
    pub fn finish(&mut self, host: &Host) {
        if self.phase == Phase::Open && !std::mem::replace(&mut self.has_sent_all, true) {
            host.out.borrow_mut().send(self.step, MessageKind::Close(0), b"");
        }
    }

    /// Ends it from this side; the first reason applies.
    fn cancel(&mut self, host: &Host, end: StreamEnd) {
        if self.phase == Phase::Open && self.end.is_none() {
            self.end = Some(end);
            host.cancel(self.step);
        }
    }

    /// Keeps what has arrived; returns whether the fiber can continue.
    fn push(&mut self, vu: &Vu, news: StreamNews) -> bool {
        if self.phase == Phase::Left {
            return false;
        }
        self.queue.push_back(news);
        vu.arrive(StepId::MAX, Arrived::News(self.number))
    }

    /// Counts its duration and the number of its messages.
    fn settle(&self, host: &Host) {
        let life_ns = host.at.get().run_ns.saturating_sub(self.opened_ns);
        let mut out = host.out.borrow_mut();
        out.count(Count::hist(self.series, StreamHist::StreamLife, life_ns));
        out.count(Count::hist(self.series, StreamHist::StreamEvents, self.messages));
    }

    /// Leaves it at the end of the iteration. Returns whether its reply is to come.
    fn leave(&mut self, host: &Host) -> bool {
        if let Some(deadline) = self.deadline.take() {
            host.cancel(deadline);
        }
        let is_new = self.phase == Phase::Open && self.end.is_none() && host.cancel(self.step);
        let is_over = is_new || self.phase == Phase::Ended;
        self.phase = Phase::Left;
        !is_over
    }

    /// Returns how it ends by the reply of the engine.
    fn end_by(&mut self, reply: &Reply<'_>) -> StreamEnd {
        if let Some(end) = self.end.take() {
            return end;
        }
        if let Some(fault) = reply.fault {
            return ended(status_of(fault), fault.sentence().to_owned(), Some(fault));
        }
        if reply.ended == Some(Ended::Client) {
            return canceled();
        }
        match status_in(reply.trailers).or_else(|| status_in(reply.head)) {
            Some(end) => StreamEnd {
                details: details_as_json(&self.of.schemas.types, end.details),
                ..ended(end.status, text_of(&end), end.status.fault())
            },
            None => {
                let fault = Fault::GrpcNoStatus;
                ended(Status::Internal, fault.sentence().to_owned(), Some(fault))
            }
        }
    }
}

fn ended(status: Status, text: String, fault: Option<Fault>) -> StreamEnd {
    StreamEnd { status, text, details: "[]".to_owned(), fault }
}

fn canceled() -> StreamEnd {
    ended(Status::Cancelled, "canceled by the client".to_owned(), None)
}

/// Passes the open stream of a step to a function.
fn with<R>(vu: &Vu, step: StepId, act: impl FnOnce(&mut Stream) -> R) -> Option<R> {
    vu.streams.borrow_mut().iter_mut().find(|one| one.step == step && one.phase != Phase::Ended).map(act)
}

/// Takes the head of a response; `None` if it is not that of a stream. Like all of these, it returns whether the fiber
/// can continue.
pub fn head(host: &Host, vu: &Vu, id: StepId, status: u16, head: Head<'_>) -> Option<bool> {
    with(vu, id, |stream| {
        stream.is_gzip = head.field("grpc-encoding") == Some(b"gzip");
        let end = match (begin_of(status, head, Protocol::Grpc), status_in(head)) {
            (Ok(()), None) => return false,
            (Ok(()), Some(end)) => StreamEnd {
                details: details_as_json(&stream.of.schemas.types, end.details),
                ..ended(end.status, text_of(&end), end.status.fault())
            },
            (Err(Fault::Status), _) => {
                let text = format!("the server responded with HTTP status {status}");
                ended(Status::of_http(status), text, Some(Fault::Status))
            }
            (Err(fault), _) => ended(Status::Unknown, fault.sentence().to_owned(), Some(fault)),
        };
        stream.cancel(host, end);
        false
    })
}

/// Takes a message; `None` if it is not that of a stream.
pub fn event(host: &Host, vu: &Vu, event: &Event<'_>) -> Option<bool> {
    with(vu, event.id, |stream| {
        if stream.phase != Phase::Open || stream.end.is_some() {
            return false;
        }
        let message = Message { is_compressed: event.name == COMPRESSED, bytes: event.data };
        match read_message(&stream.of, message, stream.is_gzip) {
            Ok(json) => {
                stream.messages += 1;
                stream.of.sample(host, vu, "grpc_streams_msgs_received", 1.0, None);
                stream.push(vu, StreamNews::Data(json))
            }
            Err((fault, status, text)) => {
                stream.cancel(host, ended(status, text, Some(fault)));
                false
            }
        }
    })
}

/// Takes the end of a sleep; `None` if it is not the deadline of a stream.
pub fn slept(host: &Host, vu: &Vu, id: StepId) -> Option<bool> {
    let mut streams = vu.streams.borrow_mut();
    let stream = streams.iter_mut().find(|one| one.deadline == Some(id))?;
    stream.deadline = None;
    let end = ended(Status::DeadlineExceeded, "the deadline has passed".to_owned(), Some(Fault::Timeout));
    stream.cancel(host, end);
    Some(false)
}

/// Takes the end of a stream; `None` if the reply is not that of one.
pub fn reply(host: &Host, vu: &Vu, reply: &Reply<'_>) -> Option<bool> {
    let (can_continue, is_forgotten) = with(vu, reply.id, |stream| {
        stream.settle(host);
        if let Some(deadline) = stream.deadline.take() {
            host.cancel(deadline);
        }
        if reply.ended == Some(Ended::Stop) || stream.phase == Phase::Left {
            return (false, true);
        }
        let end = stream.end_by(reply);
        if let Some(fault) = end.fault.filter(|_| reply.fault.is_none()) {
            host.out.borrow_mut().fail(fault);
        }
        let ms = host.at.get().run_ns.saturating_sub(stream.opened_ns) as f64 / 1e6;
        stream.of.sample(host, vu, "grpc_req_duration", ms, Some(end.status));
        let can_continue = stream.push(vu, StreamNews::End(end));
        stream.phase = Phase::Ended;
        (can_continue, false)
    })?;
    if is_forgotten {
        vu.streams.borrow_mut().retain(|one| one.step != reply.id);
    }
    Some(can_continue)
}

/// Settles the streams of an iteration that is interrupted: they end without a reply.
pub fn interrupted(host: &Host, vu: &Vu) {
    vu.streams.borrow_mut().drain(..).for_each(|stream| stream.settle(host));
}

impl Vu {
    /// Passes a stream to a function; `None` if its end was taken.
    pub fn with_stream<R>(&self, number: u32, act: impl FnOnce(&mut Stream) -> R) -> Option<R> {
        self.streams.borrow_mut().iter_mut().find(|one| one.number == number).map(act)
    }

    /// Takes the oldest of what has arrived on a stream, with its sink. The end is the last.
    pub fn take_news(&self, number: u32) -> Option<(StreamNews, Value)> {
        let mut streams = self.streams.borrow_mut();
        let at = streams.iter().position(|one| one.number == number)?;
        let news = streams[at].queue.pop_front()?;
        let sink = streams[at].sink.clone();
        if matches!(news, StreamNews::End(_)) {
            streams.swap_remove(at);
        }
        Some((news, sink))
    }

    /// Leaves all streams.
    pub fn release_streams(&self, host: &Host) {
        self.streams.borrow_mut().retain_mut(|one| one.leave(host));
    }

    /// Ends the streams to an origin, whose connection is closed.
    pub fn cancel_streams(&self, host: &Host, origin: OriginId) {
        let mut streams = self.streams.borrow_mut();
        streams.iter_mut().filter(|one| one.origin == origin).for_each(|one| one.cancel(host, canceled()));
    }

    /// Returns whether a stream is open, or has what the script has not taken.
    pub fn has_streams(&self) -> bool {
        self.streams.borrow().iter().any(|one| one.phase != Phase::Left)
    }
}
