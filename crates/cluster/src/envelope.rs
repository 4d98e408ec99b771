//! Envelopes: numbered batches of events from an agent to a coordinator.
//!
//! The sender keeps each envelope until the coordinator confirms it, and sends it again if that takes too long. The
//! receiver hands out each number once and in order. So a lost, repeated, late, or reordered message changes nothing.

use plimsoll_plan::Problem;
use std::collections::{BTreeMap, VecDeque};
use zstd::bulk::Decompressor;

/// Envelopes that are sent without a receipt.
pub const WINDOW: usize = 64;
/// Wait for a receipt before the oldest envelopes are repeated, ns.
pub const RESEND_NS: u64 = 2_000_000_000;
/// The wait doubles up to this.
pub const RESEND_MAX_NS: u64 = 8_000_000_000;
/// Level of compression; higher ones take twice the CPU for 3% fewer bytes.
const LEVEL: i32 = 1;
/// Largest decompressed envelope, bytes.
const UNPACKED_MAX: usize = 256 << 20;

/// A numbered batch of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Instance of the agent that sent it.
    pub instance: String,
    /// Number, from 0 without a gap.
    pub number: u64,
    pub events: Vec<Vec<u8>>,
}

impl Envelope {
    /// Returns the bytes of the envelope: the length of the instance's name, the name, the number, and the compressed
    /// events, each after its length.
    ///
    /// # Errors
    /// Returns an error if the compression fails, which means that memory has run out.
    pub fn encode(&self) -> Result<Vec<u8>, Problem> {
        let mut raw = Vec::new();
        for event in &self.events {
            raw.extend((event.len() as u32).to_le_bytes());
            raw.extend(event);
        }
        let packed = zstd::bulk::compress(&raw, LEVEL)
            .map_err(|e| Problem::plain(format!("cannot compress an envelope: {e}")))?;
        let mut out = Vec::with_capacity(packed.len() + 32);
        out.push(self.instance.len() as u8);
        out.extend(self.instance.as_bytes());
        out.extend(self.number.to_le_bytes());
        out.extend((raw.len() as u32).to_le_bytes());
        out.extend(packed);
        Ok(out)
    }

    /// Decodes one envelope; use an [`Unpacker`] for many.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an envelope.
    pub fn decode(bytes: &[u8]) -> Result<Envelope, Problem> {
        Unpacker::default().unpack(bytes)
    }
}

/// Decoder of envelopes, which keeps the memory that decompression takes: more than all events of a second.
#[derive(Default)]
pub struct Unpacker {
    context: Option<Decompressor<'static>>,
    raw: Vec<u8>,
}

impl Unpacker {
    /// Decodes an envelope.
    ///
    /// # Errors
    /// Returns an error if the bytes are not an envelope.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<Envelope, Problem> {
        let wrong = || Problem::plain("unreadable envelope");
        let (length, rest) = bytes.split_first().ok_or_else(wrong)?;
        let (instance, rest) = rest.split_at_checked(usize::from(*length)).ok_or_else(wrong)?;
        let instance = std::str::from_utf8(instance).map_err(|_| wrong())?.to_owned();
        let (number, rest) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
        let (size, packed) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
        let size = u32::from_le_bytes(*size) as usize;
        if size > UNPACKED_MAX {
            return Err(wrong());
        }
        let context = match &mut self.context {
            Some(context) => context,
            None => self.context.insert(Decompressor::new().map_err(|_| wrong())?),
        };
        self.raw.clear();
        self.raw.reserve(size);
        context.decompress_to_buffer(packed, &mut self.raw).map_err(|_| wrong())?;
        // What is cut off may be a valid frame without content.
        if self.raw.len() != size {
            return Err(wrong());
        }
        let mut events = Vec::new();
        let mut rest = &self.raw[..];
        while !rest.is_empty() {
            let (length, after) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (event, after) = after.split_at_checked(length).ok_or_else(wrong)?;
            events.push(event.to_vec());
            rest = after;
        }
        Ok(Envelope { instance, number: u64::from_le_bytes(*number), events })
    }
}

/// Where envelopes wait for their receipt.
pub trait Spool {
    /// Keeps the bytes of the next envelope.
    ///
    /// # Errors
    /// Returns a sentence if they cannot be kept.
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), String>;

    /// Returns the envelope at this position from the oldest.
    ///
    /// # Errors
    /// Returns a sentence if it cannot be read.
    fn get(&mut self, at: usize) -> Result<Vec<u8>, String>;

    /// Forgets the oldest `count` envelopes.
    fn forget(&mut self, count: usize);

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A spool in memory.
#[derive(Debug, Default)]
pub struct MemorySpool(VecDeque<Vec<u8>>);

impl Spool for MemorySpool {
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        self.0.push_back(bytes);
        Ok(())
    }

    fn get(&mut self, at: usize) -> Result<Vec<u8>, String> {
        self.0.get(at).cloned().ok_or_else(|| "the envelope is not in the spool".into())
    }

    fn forget(&mut self, count: usize) {
        self.0.drain(..count.min(self.0.len()));
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The sender's side.
pub struct Sender<S> {
    spool: S,
    /// Number of the oldest envelope in the spool.
    oldest: u64,
    /// Envelopes of the spool that were sent.
    sent: usize,
    /// Time of the last progress or repetition, ns.
    since_ns: u64,
    wait_ns: u64,
}

impl<S: Spool> Sender<S> {
    pub fn new(spool: S) -> Self {
        Sender { spool, oldest: 0, sent: 0, since_ns: 0, wait_ns: RESEND_NS }
    }

    /// Returns the number of the next envelope.
    pub fn next_number(&self) -> u64 {
        self.oldest + self.spool.len() as u64
    }

    /// Returns the number of envelopes without a receipt.
    pub fn backlog(&self) -> u64 {
        self.spool.len() as u64
    }

    /// Keeps an encoded envelope with the number [`Sender::next_number`].
    ///
    /// # Errors
    /// Returns a sentence if it cannot be kept.
    pub fn push(&mut self, bytes: Vec<u8>, now_ns: u64) -> Result<(), String> {
        if self.spool.is_empty() {
            self.since_ns = now_ns;
        }
        self.spool.push(bytes)
    }

    /// Takes a receipt for all envelopes below a number. An old receipt changes nothing.
    pub fn receipt(&mut self, below: u64, now_ns: u64) {
        let count = below.min(self.next_number()).saturating_sub(self.oldest) as usize;
        if count > 0 {
            self.spool.forget(count);
            self.oldest += count as u64;
            self.sent = self.sent.saturating_sub(count);
            (self.since_ns, self.wait_ns) = (now_ns, RESEND_NS);
        }
    }

    /// Returns the envelopes to send now: new ones, or those without a receipt for too long.
    ///
    /// # Errors
    /// Returns a sentence if the spool cannot be read.
    pub fn due(&mut self, now_ns: u64) -> Result<Vec<Vec<u8>>, String> {
        if self.sent > 0 && now_ns.saturating_sub(self.since_ns) >= self.wait_ns {
            self.sent = 0;
            self.since_ns = now_ns;
            self.wait_ns = (self.wait_ns * 2).min(RESEND_MAX_NS);
        }
        let until = self.spool.len().min(WINDOW);
        let due = (self.sent..until).map(|at| self.spool.get(at)).collect();
        self.sent = self.sent.max(until);
        due
    }
}

/// The receiver's side for one instance.
#[derive(Debug, Default)]
pub struct Receiver {
    next: u64,
    /// Envelopes that arrived before their predecessors.
    early: BTreeMap<u64, Vec<Vec<u8>>>,
}

impl Receiver {
    /// Takes an envelope, and returns the events that are due now, in order; none for a repetition.
    pub fn take(&mut self, envelope: Envelope) -> Vec<Vec<u8>> {
        // Those too far ahead come again.
        let is_wanted = envelope.number >= self.next && envelope.number < self.next + 2 * WINDOW as u64;
        if is_wanted {
            self.early.entry(envelope.number).or_insert(envelope.events);
        }
        let mut due = Vec::new();
        while let Some(events) = self.early.remove(&self.next) {
            due.extend(events);
            self.next += 1;
        }
        due
    }

    /// Returns the number below which everything has arrived.
    pub fn below(&self) -> u64 {
        self.next
    }
}
