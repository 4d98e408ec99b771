//! An event stream (`text/event-stream`, WHATWG HTML 9.2) as defined by the query of `/events`: its events, when
//! each is due, and how it is written. Without sockets and timers.

use crate::draw::Random;
use crate::json::quoted;
use crate::outgoing::push_text;
use crate::settings::query_parts;
use crate::units::{duration_ns, percent_decoded, switch, whole};

/// The plan of one stream.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    every_ns: u64,
    /// From the start of the response to the first event; None: `every_ns`.
    first_ns: Option<u64>,
    /// The last sequence number; 0: no end.
    count: u64,
    ids: bool,
    event: Option<String>,
    data: Option<String>,
    retry_ms: Option<u64>,
    pub(crate) comment_every_ns: u64,
    drop: Vec<u64>,
    repeat: Vec<u64>,
    swap: Vec<u64>,
    jitter_ns: u64,
    pub(crate) aligned: bool,
    pub(crate) fanout_ns: u64,
    /// The sequence number before the first one.
    resume_after: u64,
}

/// A running stream.
pub(crate) struct Feed {
    pub(crate) plan: Plan,
    pub(crate) chunked: bool,
    /// The next position in the order of events, from 1; drops and swaps determine its event.
    place: u64,
    /// When that position is due: CLOCK_REALTIME for aligned streams, otherwise CLOCK_MONOTONIC.
    due_ns: u64,
}

impl Plan {
    /// Reads the query. Ignores unknown names; an invalid value is an error, as a sentence.
    pub(crate) fn parse(query: &[u8], last_id: Option<&str>) -> Result<Self, String> {
        let mut plan = Plan {
            every_ns: 1_000_000_000,
            first_ns: None,
            count: 0,
            ids: true,
            event: None,
            data: None,
            retry_ms: None,
            comment_every_ns: 0,
            drop: Vec::new(),
            repeat: Vec::new(),
            swap: Vec::new(),
            jitter_ns: 0,
            aligned: false,
            fanout_ns: 0,
            resume_after: 0,
        };
        for (name, value) in query_parts(query) {
            let (name, value) = (percent_decoded(name)?, percent_decoded(value)?);
            plan.set(&name, &value).map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        if plan.aligned && plan.first_ns.is_some() {
            return Err("`first` and `aligned` exclude each other".into());
        }
        if plan.fanout_ns > 0 && !plan.aligned {
            return Err("`fanout_us` requires `aligned=1`".into());
        }
        if plan.count > 0 && plan.swap.iter().any(|&place| place >= plan.count) {
            return Err("invalid `swap`: no event follows the last one".into());
        }
        if let Some(id) = last_id {
            plan.resume_after = whole(id, 0, 1 << 60).map_err(|wrong| format!("Last-Event-ID: {wrong}"))?;
        }
        Ok(plan)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "every" => {
                self.every_ns = duration_ns(value)?;
                if self.every_ns < 10_000 {
                    return Err(format!("invalid time `{value}`: expected at least 10us"));
                }
            }
            "first" => self.first_ns = Some(duration_ns(value)?),
            "count" => self.count = whole(value, 0, 1 << 60)?,
            "id" => {
                self.ids = match value {
                    "seq" => true,
                    "none" => false,
                    _ => return Err(format!("unknown kind of ID `{value}`: expected seq or none")),
                }
            }
            "event" if value.contains(['\r', '\n']) => {
                return Err("invalid name: line breaks are not allowed".into());
            }
            "event" => self.event = Some(value.to_owned()),
            "data" => self.data = Some(quoted(value)),
            "retry" => self.retry_ms = Some(whole(value, 0, 1 << 40)?),
            "comment_every" => self.comment_every_ns = duration_ns(value)?,
            "drop" => self.drop = places(value)?,
            "repeat" => self.repeat = places(value)?,
            "swap" => self.swap = places(value)?,
            "jitter" => self.jitter_ns = duration_ns(value)?,
            "aligned" => self.aligned = switch(value)?,
            "fanout_us" => self.fanout_ns = whole(value, 0, 1_000_000_000)? * 1_000,
            _ => {}
        }
        Ok(())
    }

    /// Returns the sequence number at a position, and how often it is sent.
    pub(crate) fn place(&self, place: u64) -> (u64, u64) {
        let seq = match place {
            place if self.swap.contains(&place) => place + 1,
            place if self.swap.contains(&(place - 1)) => place - 1,
            place => place,
        };
        let times = match (self.drop.contains(&seq), self.repeat.contains(&seq)) {
            (true, _) => 0,
            (false, true) => 2,
            (false, false) => 1,
        };
        (seq, times)
    }

    /// Returns true if the client already has the last event.
    pub(crate) fn is_over(&self) -> bool {
        self.count > 0 && self.resume_after >= self.count
    }
}

fn places(text: &str) -> Result<Vec<u64>, String> {
    text.split(',').map(|place| whole(place, 1, 1 << 60)).collect()
}

impl Feed {
    /// Starts at `now_ns` (CLOCK_MONOTONIC), which is `wall_ns` on CLOCK_REALTIME.
    pub(crate) fn new(plan: Plan, chunked: bool, now_ns: u64, wall_ns: u64) -> Self {
        // Aligned streams tick at whole multiples of their period since 1970, regardless of their start.
        let due_ns = match plan.aligned {
            true => (wall_ns / plan.every_ns + 1) * plan.every_ns,
            false => now_ns + plan.first_ns.unwrap_or(plan.every_ns),
        };
        Feed { place: plan.resume_after + 1, chunked, due_ns, plan }
    }

    /// Returns when the next event is due on CLOCK_MONOTONIC and on CLOCK_REALTIME, which are at `now_ns` and
    /// `wall_ns` now.
    pub(crate) fn due(&self, now_ns: u64, wall_ns: u64) -> (u64, u64) {
        match self.plan.aligned {
            true => ((self.due_ns + now_ns).saturating_sub(wall_ns), self.due_ns),
            false => (self.due_ns, (self.due_ns + wall_ns).saturating_sub(now_ns)),
        }
    }

    /// Draws the intended delay of one event.
    pub(crate) fn jitter_ns(&self, random: &mut Random) -> u64 {
        match self.plan.jitter_ns {
            0 => 0,
            most => (random.fraction() * most as f64) as u64,
        }
    }

    /// Continues with the next position; returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        self.place += 1;
        self.due_ns += self.plan.every_ns;
        self.plan.count == 0 || self.place <= self.plan.count
    }

    /// Writes the lines before the first event.
    pub(crate) fn push_opening(&self, to: &mut Vec<u8>) {
        if let Some(retry_ms) = self.plan.retry_ms {
            self.push(to, format!("retry: {retry_ms}\n\n").as_bytes());
        }
    }

    pub(crate) fn push_comment(&self, to: &mut Vec<u8>) {
        self.push(to, b": still here\n\n");
    }

    /// Writes the events at the current position, and returns their number (0, 1, or 2).
    pub(crate) fn push_events(&self, to: &mut Vec<u8>, at_ns: u64, sent_ns: u64) -> u64 {
        let plan = &self.plan;
        let (seq, times) = plan.place(self.place);
        if times == 0 {
            return 0;
        }
        let mut text = Vec::with_capacity(128);
        if let Some(event) = &plan.event {
            push_text(&mut text, format_args!("event: {event}\n"));
        }
        if plan.ids {
            push_text(&mut text, format_args!("id: {seq}\n"));
        }
        push_text(&mut text, format_args!("data: {{\"seq\":{seq},\"at_ns\":{at_ns},\"sent_ns\":{sent_ns}"));
        if let Some(data) = &plan.data {
            push_text(&mut text, format_args!(",\"data\":{data}"));
        }
        text.extend_from_slice(b"}\n\n");
        (0..times).for_each(|_| self.push(to, &text));
        times
    }

    /// Returns the message at the current position for a WebSocket, and how often it is sent: 0, 1, or 2 times.
    pub(crate) fn message(&self, at_ns: u64, sent_ns: u64) -> (String, u64) {
        let (seq, times) = self.plan.place(self.place);
        (format!("{{\"seq\":{seq},\"at_ns\":{at_ns},\"sent_ns\":{sent_ns}}}"), times)
    }

    /// Writes the end of the response.
    pub(crate) fn push_end(&self, to: &mut Vec<u8>) {
        if self.chunked {
            to.extend_from_slice(b"0\r\n\r\n");
        }
    }

    /// Writes each piece as its own chunk, as servers do: readers must be able to handle that.
    fn push(&self, to: &mut Vec<u8>, text: &[u8]) {
        if self.chunked {
            push_text(to, format_args!("{:x}\r\n", text.len()));
        }
        to.extend_from_slice(text);
        if self.chunked {
            to.extend_from_slice(b"\r\n");
        }
    }
}
