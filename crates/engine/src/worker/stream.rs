//! Answers that a program looks at before they are whole: heads to decide on, and streams of events.

use super::{Post, Worker};
use crate::conn::OpenStream;
use crate::driver::Door;
use crate::fault;
use plimsoll_plan::Fault;
use plimsoll_plan::metric::{RunPeak, SeriesHist, SeriesSum};
use plimsoll_plan::program::{BodyUse, Ended, Event, Reply, Wake};
use plimsoll_wire::h1::Answer;
use plimsoll_wire::sse;

impl<D: Door, P: Post> Worker<D, P> {
    /// Bytes of such an answer have come; `done` when it is whole. Returns whether the socket is still at rest in our
    /// hands.
    pub(super) fn shown(&mut self, id: u32, done: Option<Answer>, surplus: bool) -> bool {
        let conn = &mut self.conns[id as usize];
        if conn.kept_head > 0 && !conn.head_shown {
            conn.head_shown = true;
            self.show_head(id);
        }
        let conn = &self.conns[id as usize];
        if conn.stream.is_some() {
            // Whether what came behind was in the same segment is chance: once given up, nothing is shown.
            if conn.cancelled {
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

    fn show_head(&mut self, id: u32) {
        let now_ns = self.now_ns;
        let conn = &mut self.conns[id as usize];
        let (user, step, request) = (conn.user, conn.step, conn.request);
        let status = conn.session.progress().status;
        let is_stream = conn.body == BodyUse::Stream;
        if is_stream {
            let stream =
                OpenStream { parser: sse::Parser::new(), status, last_event_ns: 0, unfinished: None };
            let accepted = u64::from(stream.is_accepted());
            if stream.is_accepted() {
                // Any other answer is to be whole in time: a redirect is followed only when it is.
                conn.deadline_ns = 0;
            }
            conn.stream = Some(Box::new(stream));
            let took_ns = now_ns.saturating_sub(conn.sent_ns);
            self.streams += 1;
            self.tally.peak(RunPeak::Streams, self.streams);
            let series = self.tally.series(request);
            series.record(SeriesHist::StreamHead.id(), took_ns);
            series.add(SeriesSum::Streams.id(), accepted);
            if accepted > 0 {
                self.stream_lives(id, request, user);
            }
        }
        let conn = &mut self.conns[id as usize];
        let head_bytes = conn.kept_head as usize;
        let Some(kept) = conn.kept.take() else { return };
        // The head is missing if `kept_total_bytes` was used up.
        let head = kept.get(..head_bytes).unwrap_or_default();
        let out = self.wake(user, Wake::Head { id: step, status, head });
        let conn = &mut self.conns[id as usize];
        match out.decision {
            Some(BodyUse::Keep) if !is_stream => {
                conn.body = BodyUse::Keep;
                conn.kept = Some(kept);
            }
            _ => {
                if !is_stream {
                    conn.body = BodyUse::Discard;
                }
                self.give_back(kept);
            }
        }
        self.act(user, out, now_ns, false);
    }

    /// A stream has begun or an event has come: it may be hours until it ends, and the service is there all the while.
    fn stream_lives(&mut self, id: u32, request: u32, user: u32) {
        self.users[user as usize].served = true;
        self.tally.success(request, self.now_ns);
        if let Some(address) = self.address_of(id) {
            self.tally.success(address, self.now_ns);
        }
    }

    /// Shows the events in the payload that has come. False: the stream is over.
    fn take_events(&mut self, id: u32) -> bool {
        let conn = &mut self.conns[id as usize];
        let Some(mut stream) = conn.stream.take() else { return true };
        let (user, step, request, sent_ns) = (conn.user, conn.step, conn.request, conn.sent_ns);
        let payload = std::mem::take(&mut self.payload);
        let mut spares = std::mem::take(&mut self.event_spares);
        let limit = self.outline.limits.event_bytes as usize;
        let mut last_ns = stream.last_event_ns;
        // A program may end the stream in the middle of what has come: the events behind are not shown any more.
        let mut over = false;
        let parsed = stream.parser.feed(&payload, &mut spares, limit, &mut |event| {
            if over {
                return;
            }
            self.tell_time();
            let now_ns = self.now_ns;
            let series = self.tally.series(request);
            series.add(SeriesSum::Events.id(), 1);
            match last_ns {
                0 => series.record(SeriesHist::FirstEvent.id(), now_ns.saturating_sub(sent_ns)),
                last_ns => series.record(SeriesHist::EventGap.id(), now_ns.saturating_sub(last_ns)),
            }
            last_ns = now_ns;
            self.stream_lives(id, request, user);
            let event = Event { id: step, name: event.name, data: event.data, event_id: event.id };
            let out = self.wake(user, Wake::Event(event));
            self.act(user, out, now_ns, false);
            over = self.conns[id as usize].cancelled;
        });
        self.event_spares = spares;
        self.payload = payload;
        self.payload.clear();
        stream.last_event_ns = last_ns;
        let begun = stream.parser.unfinished();
        let same = begun.is_some() && begun == stream.unfinished;
        stream.unfinished = begun;
        let event_timeout_ns = self.outline.limits.event_timeout_ns;
        let conn = &mut self.conns[id as usize];
        if stream.is_accepted() && !same && event_timeout_ns > 0 {
            // An event that has begun must end; between two there is no hurry.
            conn.deadline_ns = begun.map_or(0, |_| self.now_ns.saturating_add(event_timeout_ns));
            if begun.is_some() {
                self.wheel.arm(id, conn.deadline_ns);
            }
        }
        conn.stream = Some(stream);
        if over {
            self.end_stream(id);
            return false;
        }
        if parsed.is_err() {
            match fault::is_lowered("event_bytes", limit as u64) {
                true => self.cut_by(id, "event_bytes", limit as u64),
                false => self.failed(id, Fault::Dangerous),
            }
            return false;
        }
        true
    }

    /// A program has given up a stream: it ends before the next sleep, when nobody is in the middle of it.
    pub(super) fn call_at_once(&mut self, id: u32) {
        self.to_end.push((id, self.conns[id as usize].generation));
    }

    /// Ends the streams that were given up.
    pub(super) fn end_cancelled(&mut self) {
        while let Some((id, generation)) = self.to_end.pop() {
            let conn = &self.conns[id as usize];
            if conn.generation == generation && conn.cancelled && conn.stream.is_some() {
                self.tell_time();
                self.end_stream(id);
            }
        }
    }

    fn end_stream(&mut self, id: u32) {
        let answer = self.conns[id as usize].session.progress();
        self.finished(id, answer, false);
    }

    pub(super) fn forget_stream(&mut self, stream: &mut OpenStream) {
        stream.parser.reset(&mut self.event_spares);
        self.streams -= 1;
    }

    /// At the stop a stream is neither answered nor cut off: it was open. Its program settles its account.
    pub(super) fn stop_stream(&mut self, id: u32) {
        let conn = &mut self.conns[id as usize];
        let Some(mut stream) = conn.stream.take() else { return };
        let (user, step, request) = (conn.user, conn.step, conn.request);
        let service_ns = self.now_ns.saturating_sub(conn.sent_ns);
        let answer = conn.session.progress();
        let status = stream.status;
        self.forget_stream(&mut stream);
        let series = self.tally.series(request);
        series.add(SeriesSum::StreamsOpenAtStop.id(), 1);
        series.add(SeriesSum::BytesIn.id(), answer.wire_bytes);
        series.add(SeriesSum::BodyBytes.id(), answer.body_bytes);
        let reply = Reply {
            id: step,
            status,
            fault: None,
            head: &[],
            body: &[],
            body_bytes: answer.body_bytes,
            service_ns,
            ended: Some(Ended::Stop),
        };
        let out = self.wake(user, Wake::Reply(reply));
        self.put_back(out);
    }
}
