//! The end of a gRPC call: its status is counted and judged, and its message is read for checks and extractions.

use super::code::StrandId;
use super::user::Turn;
use crate::answer::Answer;
use crate::call::{Broken, End, Unread, begin_of, details, end_of, status_in};
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{Call, Protocol, Status};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::{COMPRESSED, Event, Outbox, Phases, Reply, RequestId};
use plimsoll_plan::series::{Family, GRPC_STATUS, label};
use plimsoll_wire::grpc::{Message, decode_text, next_message};
use std::cell::Cell;

/// The series of statuses that the users of a worker have opened, by status: one more than the number of the series; 0:
/// not opened yet.
#[derive(Debug, Default)]
pub(super) struct StatusSeries([Cell<RequestId>; Status::COUNT]);

impl StatusSeries {
    fn count(&self, status: Status, out: &mut Outbox) {
        // proof: there is a cell for each status.
        let known = &self.0[status as usize];
        if known.get() == 0 {
            // If there are too many series, the book counts that.
            let labels = [(label::STATUS, status.name())];
            let Some(series) = out.open(Family::Counter, GRPC_STATUS, &labels) else { return };
            known.set(series + 1);
        }
        out.add(known.get() - 1, 1.0);
    }
}

/// Returns a reply without anything.
fn no_reply() -> Reply<'static> {
    Reply {
        id: 0,
        status: 0,
        fault: None,
        head: Head::default(),
        body: b"",
        body_bytes: 0,
        trailers: Head::default(),
        phases: Phases::default(),
        ended: None,
    }
}

impl Turn<'_> {
    /// Reads a message that a step has just rendered, the last bytes of the buffer, as JSON.
    pub(super) fn read_sent(&mut self, call: &Call, framed: &[u8], json: &mut Vec<u8>) {
        json.clear();
        let mut rest = framed;
        if let Ok(Some(message)) = next_message(&mut rest) {
            // It was encoded by this program: what it cannot read has no ID, either.
            let _ = self.decode((call, call.request), message, true, json);
        }
    }

    /// Handles the complete response to a call.
    pub fn call_ended(&mut self, strand: StrandId, ask: u32, call: &Call, reply: &Reply<'_>) {
        let mut json = std::mem::take(&mut self.bench.json);
        json.clear();
        let mut web = std::mem::take(&mut self.bench.web);
        let opened = match call.protocol {
            Protocol::Grpc => Ok(*reply),
            of => web.open(reply, of, &mut self.bench.gzip, self.stage.body_bytes_max),
        };
        let ended = opened.and_then(|reply| end_of(&reply, call.protocol).map(|end| (reply, end)));
        let fault = match ended {
            Ok((reply, end)) => self.judge_call(ask, call, &reply, end, &mut json),
            Err(fault) => {
                self.tell_no_call((ask, call), fault, reply);
                Some(fault)
            }
        };
        (self.bench.json, self.bench.web) = (json, web);
        match fault {
            None => self.go_on(strand),
            Some(fault) => {
                self.out.fail(fault);
                self.failed(strand, ask, fault);
            }
        }
    }

    fn judge_call(
        &mut self,
        ask: u32,
        call: &Call,
        reply: &Reply<'_>,
        end: End<'_>,
        json: &mut Vec<u8>,
    ) -> Option<Fault> {
        self.series.count(end.status, self.out);
        if end.status == Status::Ok
            && let Err(fault) = self.read_message(ask, call, reply, json)
        {
            self.tell_fault(ask, fault, reply);
            return Some(fault);
        }
        let unexpected = end.status.fault().filter(|_| !call.expect.holds(end.status));
        if let Some(fault) = unexpected {
            self.tell_status(ask, call, fault, &end, reply);
        }
        let answer = Answer {
            status: reply.status,
            head: reply.head,
            body: json,
            body_bytes: json.len() as u64,
            service_ns: reply.phases.service_ns(),
            call: Some(end),
        };
        let judged = self.judge(ask, &answer);
        unexpected.or(judged)
    }

    /// Reads the only message of a response as JSON, if a check or an extraction needs it.
    fn read_message(
        &mut self,
        ask: u32,
        call: &Call,
        reply: &Reply<'_>,
        json: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        if (reply.body.len() as u64) < reply.body_bytes {
            return Err(Fault::ClientLimit);
        }
        let mut body = reply.body;
        let message = next_message(&mut body).map_err(|_| Fault::GrpcInvalidMessage)?;
        let Some(message) = message.filter(|_| body.is_empty()) else {
            return Err(Fault::GrpcInvalidMessage);
        };
        if message.is_compressed && reply.head.field("grpc-encoding") != Some(b"gzip") {
            return Err(Fault::DecodeFailed);
        }
        let is_read = self.stage.asks[ask as usize].reads_message;
        self.decode((call, call.response), message, is_read, json)
    }

    /// Decompresses a message of one of the types of a call, and reads it as JSON if that is needed.
    fn decode(
        &mut self,
        (call, of): (&Call, usize),
        message: Message<'_>,
        is_read: bool,
        json: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let most_bytes = self.stage.body_bytes_max;
        let mut bytes = message.bytes;
        if message.is_compressed {
            bytes = self.bench.gzip.decode(bytes, most_bytes).map_err(|why| match why {
                Broken::Invalid => Fault::DecodeFailed,
                Broken::TooLong => Fault::ClientLimit,
            })?;
        }
        if !is_read {
            return Ok(());
        }
        let read = self.bench.messages.read(&call.types, of, bytes, most_bytes, json);
        read.map_err(|why| match why {
            Unread::Invalid => Fault::GrpcInvalidMessage,
            Unread::TooLong => Fault::ClientLimit,
        })
    }

    /// Checks that a head begins a stream of messages. A response without any has its status there.
    pub fn call_began(&mut self, ask: u32, call: &Call, status: u16, head: Head<'_>) -> Result<(), Fault> {
        let begun = begin_of(status, head, call.protocol);
        let Some(end) = status_in(head).filter(|_| begun.is_ok()) else {
            if let Err(fault) = begun {
                let reply = Reply { status, head, ..no_reply() };
                self.tell_no_call((ask, call), fault, &reply);
            }
            return begun;
        };
        self.judge_stream(ask, call, &end, &Reply { status, head, ..no_reply() })
    }

    /// Counts and judges the status of a stream that the server has ended.
    pub fn stream_call_ended(&mut self, ask: u32, call: &Call, reply: &Reply<'_>) -> Result<(), Fault> {
        match status_in(reply.trailers) {
            Some(end) => self.judge_stream(ask, call, &end, reply),
            None => Err(Fault::GrpcNoStatus),
        }
    }

    fn judge_stream(&mut self, ask: u32, call: &Call, end: &End<'_>, reply: &Reply<'_>) -> Result<(), Fault> {
        self.judge_end(ask, call, end, reply, b"")
    }

    /// Counts and judges the status of a call, whose only response is `json`.
    pub(super) fn judge_end(
        &mut self,
        ask: u32,
        call: &Call,
        end: &End<'_>,
        reply: &Reply<'_>,
        json: &[u8],
    ) -> Result<(), Fault> {
        self.series.count(end.status, self.out);
        let unexpected = end.status.fault().filter(|_| !call.expect.holds(end.status));
        if let Some(fault) = unexpected {
            self.tell_status(ask, call, fault, end, reply);
        }
        let answer = Answer {
            status: reply.status,
            head: reply.head,
            body: json,
            body_bytes: json.len() as u64,
            service_ns: reply.phases.service_ns(),
            call: Some(*end),
        };
        let judged = self.judge(ask, &answer);
        unexpected.or(judged).map_or(Ok(()), Err)
    }

    /// Replaces the data of an event, a message, by its JSON if its stream has an account that reads it.
    pub fn read_event<'e>(
        &mut self,
        call: &Call,
        event: &Event<'e>,
        is_read: bool,
        json: &'e mut Vec<u8>,
    ) -> Result<Event<'e>, Fault> {
        json.clear();
        let message = Message { is_compressed: event.name == COMPRESSED, bytes: event.data };
        self.decode((call, call.response), message, is_read, json)?;
        Ok(Event { name: b"", data: json, ..*event })
    }

    /// Reports a status that is a failure, with its text and its details.
    fn tell_status(&mut self, ask: u32, call: &Call, fault: Fault, end: &End<'_>, reply: &Reply<'_>) {
        let asked = &self.stage.script.asks[ask as usize];
        let is_wanted = self.stage.fault_samples[fault as usize].take();
        if !is_wanted && !self.is_aside() {
            return;
        }
        let mut text = end.status.name().as_bytes().to_vec();
        if !end.message.is_empty() {
            text.extend_from_slice(b": ");
            decode_text(end.message, &mut text);
        }
        let found = self.excerpt(&text);
        if !asked.go_on_after_failure {
            self.note_aside(&asked.name, || found.clone());
        }
        if is_wanted {
            let excerpt = self.excerpt(details(&call.types, end.details).as_bytes());
            self.sample(&asked.name, fault.name(), found, reply.status, excerpt);
        }
    }

    /// Reports a response that is not the end of a call.
    fn tell_no_call(&mut self, (ask, call): (u32, &Call), fault: Fault, reply: &Reply<'_>) {
        let name = &self.stage.script.asks[ask as usize].name;
        if !self.stage.fault_samples[fault as usize].take() {
            return;
        }
        let found = match fault {
            Fault::Status => {
                let usual = Status::of_http(reply.status).name();
                format!(
                    "expected `200` and a gRPC status, found `{}` ({usual} to gRPC clients)",
                    reply.status
                )
            }
            Fault::GrpcContentType => {
                let found = reply.head.field("content-type").unwrap_or_default();
                format!("expected `{}`, found `{}`", call.protocol.media_type(), self.excerpt(found))
            }
            _ => fault.sentence().into(),
        };
        let excerpt = self.excerpt(reply.body);
        self.sample(name, fault.name(), found, reply.status, excerpt);
    }
}
