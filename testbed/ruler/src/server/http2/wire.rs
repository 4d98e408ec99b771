//! The memory between a socket and the HTTP/2 library: the event loop fills and empties it, and the library reads and
//! writes it. Frames are stamped and counted on the way.
//!
//! The library needs no runtime, and the loop decides when a write happens: after each response, or after all that
//! are ready.

use super::frames::{
    ACK, DATA, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, Seen, WINDOW_UPDATE, Walk, goaway,
};
use crate::http2::Counts;
use crate::kept::Arrival;
use crate::timers::Key;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// With this much unsent, the library has to wait.
const UNSENT_MOST: usize = 256 << 10;
/// Buffers that grew beyond this are given back.
const BUFFER_MOST: usize = 64 << 10;

/// The end of a connection that a key demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum Ending {
    /// With everything sent that is in the buffer.
    Now,
    /// When the streams up to the last one of the GOAWAY have their responses.
    Drained,
}

/// One connection's bytes in both directions.
pub(in crate::server) struct Wire {
    /// Received; the library has read the first `used` bytes.
    input: Vec<u8>,
    used: usize,
    /// The client has ended its side.
    pub(super) at_end: bool,
    /// The library may see the end.
    pub(super) end_due: bool,
    /// Written by the library; the socket has taken the first `sent` bytes.
    output: Vec<u8>,
    sent: usize,
    /// Bytes of the connection before the first one of `output`.
    base: u64,
    inbound: Walk,
    outbound: Walk,
    /// Frames to insert between those of the library.
    injected: Vec<u8>,
    /// Where responses end, counted from the start of the connection, and their streams.
    ends: VecDeque<(u64, u32)>,
    /// Streams whose body is watched, and its bytes that are not written yet.
    watched: Vec<(u32, u64)>,
    /// Streams that the client opened and that have not ended, with the time when their requests were complete.
    open: HashMap<u32, u64>,
    /// How their requests have arrived so far.
    arrivals: HashMap<u32, Arrival>,
    /// Responses that the kernel took to their last byte, with the time.
    pub(super) finished: Vec<(u32, u64)>,
    /// Streams that the client reset.
    pub(super) reset: Vec<u32>,
    /// Streams that the ruler reset.
    pub(super) gone: Vec<u32>,
    /// Watched streams whose bytes are written.
    pub(super) reached: Vec<u32>,
    /// Streams with more to write than was written.
    pub(super) writers: Vec<Key>,
    pub(super) ending: Option<Ending>,
    /// The last stream that the GOAWAY names.
    pub(super) last: Option<u32>,
    /// The highest stream that the client opened.
    pub(super) highest: u32,
    /// The connection is in the loop's list of those to serve.
    pub(super) listed: bool,
    pub(super) counts: Counts,
}

impl Wire {
    pub(super) fn new() -> Self {
        Wire {
            input: Vec::new(),
            used: 0,
            at_end: false,
            end_due: false,
            output: Vec::new(),
            sent: 0,
            base: 0,
            inbound: Walk::after(PREFACE.len()),
            outbound: Walk::default(),
            injected: Vec::new(),
            ends: VecDeque::new(),
            watched: Vec::new(),
            open: HashMap::new(),
            arrivals: HashMap::new(),
            finished: Vec::new(),
            reset: Vec::new(),
            gone: Vec::new(),
            reached: Vec::new(),
            writers: Vec::new(),
            ending: None,
            last: None,
            highest: 0,
            listed: false,
            counts: Counts::default(),
        }
    }

    /// Appends bytes from the socket that were available at `now_ns`.
    pub(super) fn receive(&mut self, bytes: &[u8], now_ns: u64) {
        if self.used == self.input.len() {
            self.input.clear();
            self.input.shrink_to(BUFFER_MOST);
            self.used = 0;
        }
        self.input.extend_from_slice(bytes);
        let Wire { inbound, counts, open, arrivals, reset, highest, last, .. } = self;
        inbound.feed(bytes, |frame| {
            if frame.kind == HEADERS && frame.stream > *highest {
                *highest = frame.stream;
                counts.unprocessed += u64::from(last.is_some_and(|last| frame.stream > last));
                open.insert(frame.stream, now_ns);
                counts.streams_most = counts.streams_most.max(open.len() as u64);
            }
            if matches!(frame.kind, DATA | HEADERS) && open.contains_key(&frame.stream) {
                let arrival = arrivals.entry(frame.stream).or_default();
                arrival.read(now_ns);
                if frame.kind == DATA {
                    arrival.begin_body(now_ns);
                    arrival.piece(u64::from(frame.bytes));
                }
            }
            if frame.ends_stream
                && let Some(arrive_ns) = open.get_mut(&frame.stream)
            {
                *arrive_ns = now_ns;
            }
            match frame.kind {
                RST_STREAM => {
                    counts.resets_received.add(frame.number(0));
                    open.remove(&frame.stream);
                    arrivals.remove(&frame.stream);
                    reset.push(frame.stream);
                }
                SETTINGS if frame.flags & ACK == 0 => counts.announced(frame.payload),
                PING if frame.flags & ACK == 0 => counts.pings_received += 1,
                GOAWAY => counts.goaways_received.add(frame.number(4)),
                WINDOW_UPDATE => counts.window_updates_received += 1,
                _ => {}
            }
        });
    }

    /// Lets the library see the end, if it has not seen it. It drops requests that it has read and not yet handed out
    /// when it sees the end, so these come first.
    pub(super) fn show_end(&mut self) -> bool {
        let shows = self.at_end && !self.end_due && self.used == self.input.len();
        self.end_due |= shows;
        shows
    }

    /// Drops what the library has not read.
    pub(super) fn discard_input(&mut self) {
        self.used = self.input.len();
    }

    /// Returns when the request on this stream was complete; None if the client has reset it since.
    pub(super) fn arrived_ns(&self, stream: u32) -> Option<u64> {
        self.open.get(&stream).copied()
    }

    /// Returns how the request on this stream arrived.
    pub(super) fn take_arrival(&mut self, stream: u32) -> Arrival {
        self.arrivals.remove(&stream).unwrap_or_default()
    }

    pub(super) fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// Returns true if work is left that neither the library nor the socket will announce.
    pub(super) fn has_news(&self) -> bool {
        !self.gone.is_empty() || !self.reached.is_empty() || !self.reset.is_empty()
    }

    /// Returns true if the library must wait until something is sent.
    pub(super) fn is_full(&self) -> bool {
        self.unsent().len() >= UNSENT_MOST
    }

    /// Notes that the socket took the next `bytes`.
    pub(super) fn took(&mut self, bytes: usize, now_ns: u64) {
        self.sent += bytes;
        let sent = self.base + self.sent as u64;
        while let Some(&(end, stream)) = self.ends.front() {
            if end > sent {
                break;
            }
            self.ends.pop_front();
            self.open.remove(&stream);
            self.finished.push((stream, now_ns));
        }
        if self.sent == self.output.len() {
            self.base = sent;
            self.sent = 0;
            self.output.clear();
            self.output.shrink_to(BUFFER_MOST);
        }
    }

    /// Reports in `reached` when this number of bytes of the stream's body is written.
    pub(super) fn watch(&mut self, stream: u32, bytes: u64) {
        match bytes {
            0 => self.reached.push(stream),
            _ => self.watched.push((stream, bytes)),
        }
    }

    /// Notes that this stream has more to write.
    pub(super) fn has_more_of(&mut self, stream: Key) {
        if !self.writers.contains(&stream) {
            self.writers.push(stream);
        }
    }

    /// Announces the end of the connection: streams beyond `last` are not processed.
    pub(super) fn go_away(&mut self, last: u32, code: u32) {
        if self.last.is_none() {
            self.last = Some(last);
            self.counts.goaways += 1;
            // Later ones are counted as they arrive, also those that the library does not see after its end.
            self.counts.unprocessed += self.open.keys().filter(|&&stream| stream > last).count() as u64;
            self.ending.get_or_insert(Ending::Drained);
            self.inject(&goaway(last, code));
        }
    }

    /// Inserts frames between those of the library.
    pub(super) fn inject(&mut self, frames: &[u8]) {
        self.injected.extend_from_slice(frames);
        self.settle();
    }

    /// Appends bytes that belong to no frame.
    pub(super) fn append_garbage(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }

    fn settle(&mut self) {
        if !self.injected.is_empty() && self.outbound.is_between() {
            let frames = std::mem::take(&mut self.injected);
            self.append(&frames);
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        let before = self.base + self.output.len() as u64;
        let Wire { outbound, counts, ends, open, watched, reached, .. } = self;
        outbound.feed(bytes, |frame: &Seen<'_>| {
            if frame.ends_stream {
                ends.push_back((before + frame.at as u64, frame.stream));
            }
            match frame.kind {
                RST_STREAM => {
                    counts.resets_sent.add(frame.number(0));
                    open.remove(&frame.stream);
                }
                GOAWAY => counts.goaways_sent.add(frame.number(4)),
                DATA if !watched.is_empty() => {
                    watched.retain_mut(|(stream, left)| {
                        if *stream == frame.stream {
                            *left = left.saturating_sub(u64::from(frame.bytes));
                        }
                        if *left == 0 {
                            reached.push(*stream);
                        }
                        *left > 0
                    });
                }
                _ => {}
            }
        });
        self.output.extend_from_slice(bytes);
    }
}

/// The library's end of a [`Wire`].
pub(super) struct Io(pub(super) Rc<RefCell<Wire>>);

impl AsyncRead for Io {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let mut wire = self.0.borrow_mut();
        let rest = &wire.input[wire.used..];
        if !rest.is_empty() {
            let taken = rest.len().min(to.remaining());
            to.put_slice(&rest[..taken]);
            wire.used += taken;
            return Poll::Ready(Ok(()));
        }
        if wire.end_due { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

impl AsyncWrite for Io {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let mut wire = self.0.borrow_mut();
        // The loop asks the library again when the socket took something: no need to wake it.
        if wire.is_full() {
            return Poll::Pending;
        }
        for piece in pieces {
            wire.append(piece);
        }
        wire.settle();
        Poll::Ready(Ok(pieces.iter().map(|piece| piece.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}
