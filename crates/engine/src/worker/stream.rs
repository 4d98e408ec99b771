//! Responses that a program sees before they are complete: heads to decide on, and streams of events.

use super::socket::open_socket;
use super::socket_stream::socket_answer;
use super::{Post, Worker};
use crate::driver::Door;
use crate::exchange::{OpenStream, Parser, Reader, Unreadable};
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::head::Head;
use plimsoll_plan::metric::{RunPeak, SeriesSum, StreamHist, StreamSum};
use plimsoll_plan::program::{BodyUse, Ended, Event, Reply, Wake};
use plimsoll_wire::h1::Answer;

impl<D: Door, P: Post> Worker<D, P> {
    /// Handles bytes of such a response; `done` is set when it is complete. Returns whether the socket is idle and
    /// still owned by the worker.
    pub(super) fn describe(&mut self, id: u32, done: Option<Answer>, surplus: bool) -> bool {
        let exchange = &mut self.exchanges[id as usize];
        if exchange.kept_head > 0 && exchange.stream.is_none() {
            let status = match done {
                Some(answer) => answer.status,
                None => self.progress_of(id).status,
            };
            self.show_head(id, status);
        }
        let exchange = &self.exchanges[id as usize];
        if exchange.stream.is_some() {
            // It is chance whether the following bytes were in the same segment: after a cancellation, nothing is
            // shown.
            if exchange.cancelled {
                self.payload.clear();
                self.end_stream(id);
                return false;
            }
            if !self.take_events(id) {
                return false;
            }
        }
        match done {
            Some(answer) => self.finished(id, answer, surplus),
            None => {
                self.time_part(id);
                true
            }
        }
    }

    /// Returns what has arrived of a response.
    pub(super) fn progress_of(&self, id: u32) -> Answer {
        let exchange = &self.exchanges[id as usize];
        let session = &self.links[exchange.link as usize].session;
        let answer = session.progress(exchange.place);
        if session.is_multiplexed() && exchange.is_socket() { socket_answer(answer) } else { answer }
    }

    pub(super) fn show_head(&mut self, id: u32, status: u16) {
        let now_ns = self.now_ns;
        let exchange = &mut self.exchanges[id as usize];
        let (user, step, request) = (exchange.user, exchange.step, exchange.request);
        let is_opened = match self.links[exchange.link as usize].session.is_multiplexed() {
            true => (200..300).contains(&status),
            false => status == 101,
        };
        let reader = match exchange.body {
            BodyUse::Stream | BodyUse::Duplex => {
                let kept = exchange.kept.as_deref().map_or(&[][..], Vec::as_slice);
                let head = Head::new(kept.get(..exchange.kept_head as usize).unwrap_or_default());
                Some(Reader::Events(Parser::of(head)))
            }
            BodyUse::WebSocket if is_opened => {
                let kept = exchange.kept.as_deref().map_or(&[][..], Vec::as_slice);
                Some(Reader::Socket(open_socket(kept)))
            }
            BodyUse::WebSocket => Some(Reader::Nothing),
            BodyUse::Discard | BodyUse::Keep | BodyUse::Decide | BodyUse::HeadOnly => None,
        };
        let is_stream = reader.is_some();
        // Its program decides whether it is open.
        let is_websocket = exchange.body == BodyUse::WebSocket;
        if let Some(reader) = reader {
            let stream = OpenStream { reader, status, last_event_ns: 0, unfinished: 0 };
            let accepted = u64::from(stream.is_accepted());
            if stream.is_accepted() || matches!(stream.reader, Reader::Socket(_)) {
                // Any other response must be complete in time: a redirect is followed only once it is.
                exchange.deadline_ns = 0;
            }
            exchange.stream = Some(Box::new(stream));
            let took_ns = now_ns.saturating_sub(exchange.sent_ns);
            self.streams += 1;
            self.tally.peak(RunPeak::Streams, self.streams);
            let series = self.tally.stream(request);
            if !is_websocket {
                series.record(StreamHist::StreamHead.id(), took_ns);
            }
            series.add(StreamSum::Streams.id(), accepted);
            if accepted > 0 {
                self.stream_lives(id, request, user);
            }
        }
        let exchange = &mut self.exchanges[id as usize];
        let head_bytes = exchange.kept_head as usize;
        let Some(kept) = exchange.kept.take() else { return };
        // The head is missing if `kept_total_bytes` was used up.
        let head = kept.get(..head_bytes).unwrap_or_default();
        let out = self.wake(user, Wake::Head { id: step, status, head: Head::new(head) });
        let exchange = &mut self.exchanges[id as usize];
        match out.decision {
            Some(BodyUse::Keep) if !is_stream => {
                exchange.body = BodyUse::Keep;
                exchange.kept = Some(kept);
            }
            _ => {
                if !is_stream {
                    exchange.body = BodyUse::Discard;
                }
                self.give_back(kept);
            }
        }
        self.act(user, out, now_ns, false);
    }

    /// Notes the start of a stream or an event: its end may be hours away, and the service is up all that time.
    pub(super) fn stream_lives(&mut self, id: u32, request: u32, user: u32) {
        self.users[user as usize].served = true;
        self.tally.success(request, self.now_ns);
        if let Some(address) = self.address_of(self.exchanges[id as usize].link) {
            self.tally.success(address, self.now_ns);
        }
    }

    /// Shows the events in the received payload. Returns false if the stream is over.
    fn take_events(&mut self, id: u32) -> bool {
        let exchange = &mut self.exchanges[id as usize];
        let Some(mut stream) = exchange.stream.take() else { return true };
        let Reader::Events(parser) = &mut stream.reader else {
            exchange.stream = Some(stream);
            self.payload.clear();
            return true;
        };
        let (user, step, request, sent_ns) =
            (exchange.user, exchange.step, exchange.request, exchange.sent_ns);
        let payload = std::mem::take(&mut self.payload);
        let mut spares = std::mem::take(&mut self.event_spares);
        let limit = self.outline.limits.event_bytes as usize;
        let mut last_ns = stream.last_event_ns;
        // A program may end the stream in the middle of the received events: the rest are not shown.
        let mut over = false;
        let parsed = parser.feed(&payload, &mut spares, limit, &mut |name, data, event_id| {
            if over {
                return;
            }
            self.tell_time();
            let now_ns = self.now_ns;
            let series = self.tally.stream(request);
            series.add(StreamSum::Events.id(), 1);
            match last_ns {
                0 => series.record(StreamHist::FirstEvent.id(), now_ns.saturating_sub(sent_ns)),
                last_ns => series.record(StreamHist::EventGap.id(), now_ns.saturating_sub(last_ns)),
            }
            last_ns = now_ns;
            self.stream_lives(id, request, user);
            let event = Event { id: step, name, data, event_id };
            let out = self.wake(user, Wake::Event(event));
            self.act(user, out, now_ns, false);
            over = self.exchanges[id as usize].cancelled;
        });
        self.event_spares = spares;
        self.payload = payload;
        self.payload.clear();
        stream.last_event_ns = last_ns;
        let begun = parser.unfinished().map_or(0, |blocks| blocks + 1);
        let same = begun > 0 && begun == stream.unfinished;
        stream.unfinished = begun;
        let event_timeout_ns = self.outline.limits.event_timeout_ns;
        let exchange = &mut self.exchanges[id as usize];
        if stream.is_accepted() && !same && event_timeout_ns > 0 {
            // An event that has begun must end in time; there is no such limit between two events.
            exchange.deadline_ns = if begun > 0 { self.now_ns.saturating_add(event_timeout_ns) } else { 0 };
            if begun > 0 {
                self.exchange_wheel.arm(id, exchange.deadline_ns);
            }
        }
        let is_grpc = matches!(stream.reader, Reader::Events(Parser::Messages(_)));
        exchange.stream = Some(stream);
        if over {
            self.end_stream(id);
            return false;
        }
        match parsed {
            Ok(()) => return true,
            Err(Unreadable::Invalid) => self.failed(id, Fault::GrpcInvalidMessage),
            Err(Unreadable::TooLong) if fault::is_lowered("event_bytes", limit as u64) => {
                self.cut_by(id, "event_bytes", limit as u64);
            }
            // An event without an end is a danger; a message says how long it is.
            Err(Unreadable::TooLong) if is_grpc => self.failed(id, Fault::ClientLimit),
            Err(Unreadable::TooLong) => self.failed(id, Fault::UnsafeResponse),
        }
        false
    }

    /// Schedules the end of a stream that a program has canceled: before the next sleep, when no code is using it.
    pub(super) fn call_at_once(&mut self, id: u32) {
        self.to_end.push(id);
    }

    /// Ends the canceled streams. If one has ended by itself, its slot may belong to another exchange; that one is
    /// ended only if it was canceled, too.
    pub(super) fn end_cancelled(&mut self) {
        while let Some(id) = self.to_end.pop() {
            let exchange = &self.exchanges[id as usize];
            if exchange.is_socket() {
                self.tell_time();
                self.end_socket_if_due(id);
            } else if exchange.cancelled && exchange.stream.is_some() {
                self.tell_time();
                self.end_stream(id);
            } else {
                self.end_duplex_if_clogged(id);
            }
        }
    }

    fn end_stream(&mut self, id: u32) {
        let answer = self.progress_of(id);
        self.finished(id, answer, false);
    }

    pub(super) fn forget_stream(&mut self, stream: &mut OpenStream) {
        self.forget_reader(stream);
        self.streams -= 1;
    }

    /// Stops an open stream at the end of the run: it has neither completed nor been cut off. Its program finishes its
    /// accounting.
    pub(super) fn stop_stream(&mut self, id: u32) {
        self.take_leave(id);
        let answer = self.progress_of(id);
        let exchange = &mut self.exchanges[id as usize];
        let Some(mut stream) = exchange.stream.take() else { return };
        let (user, step, request) = (exchange.user, exchange.step, exchange.request);
        let phases = exchange.phases(self.now_ns);
        let status = stream.status;
        self.forget_stream(&mut stream);
        let series = self.tally.stream(request);
        series.add(StreamSum::OpenAtEnd.id(), 1);
        series.add(SeriesSum::BytesIn.id(), answer.wire_bytes);
        series.add(SeriesSum::BodyBytes.id(), answer.body_bytes);
        let reply = Reply {
            id: step,
            status,
            fault: None,
            head: Head::default(),
            body: &[],
            body_bytes: answer.body_bytes,
            trailers: Head::default(),
            phases,
            ended: Some(Ended::Stop),
        };
        let out = self.wake(user, Wake::Reply(reply));
        self.put_back(out);
    }
}
