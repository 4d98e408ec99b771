//! Events of a run as bytes, without loss: the record that a coordinator gathers from them equals the agent's own.
//!
//! An event is one byte for its kind and its body: JSON, except for a tick. That is the sparse encoding of an interval,
//! its row of the record (which the agent makes, because a coordinator of 1,000 agents could not), both after their
//! lengths, and the times of the workers.

use plimsoll_record::event::{RunEvent, SeriesOpened, Tick, WorkerTimes};
use plimsoll_record::record::{EncodedTick, GeneratorRecord};
pub use plimsoll_stats::Error;
use plimsoll_stats::varint;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

const OPENED: u8 = 1;
const SERIES_OPENED: u8 = 2;
const ORIGIN_OPENED: u8 = 3;
const TICKED: u8 = 4;
const NOTED: u8 = 5;
const FAILURE_RECORDED: u8 = 6;
const MONITOR_SAMPLED: u8 = 7;
const LEARNT: u8 = 8;
const SAMPLE_MISSED: u8 = 9;
const ENDED: u8 = 10;
/// Not an event of the record: samples for a file of the coordinator.
const SAMPLES: u8 = 11;

/// More workers than any machine has.
const WORKERS_MAX: u64 = 65_536;

/// Encoder of one run's events, in order.
#[derive(Default)]
pub struct Encoder {
    /// Without ticks and totals.
    record: Option<GeneratorRecord>,
}

impl Encoder {
    /// Returns the bytes of the next event.
    pub fn encode(&mut self, event: &RunEvent) -> Vec<u8> {
        match (event, &mut self.record) {
            (RunEvent::Opened(opening), record) => *record = Some(GeneratorRecord::new(Arc::clone(opening))),
            // A known series or origin changes nothing.
            (RunEvent::SeriesOpened(opened), Some(record)) => drop(record.open(opened)),
            (RunEvent::OriginOpened(found), Some(record)) => drop(record.open_origin(found)),
            _ => {}
        }
        match event {
            RunEvent::Opened(opening) => json(OPENED, &**opening),
            RunEvent::SeriesOpened(opened) => json(SERIES_OPENED, &(opened.series, &*opened.key)),
            RunEvent::OriginOpened(found) => json(ORIGIN_OPENED, found),
            RunEvent::Ticked(tick) => self.tick(tick),
            RunEvent::Noted(note) => json(NOTED, note),
            RunEvent::FailureRecorded(sample) => json(FAILURE_RECORDED, sample),
            RunEvent::MonitorSampled(sample) => json(MONITOR_SAMPLED, sample),
            RunEvent::Learnt(fact) => json(LEARNT, fact),
            RunEvent::SampleMissed(missed) => json(SAMPLE_MISSED, missed),
            RunEvent::Ended(ending) => json(ENDED, ending),
        }
    }

    fn tick(&self, tick: &Tick) -> Vec<u8> {
        let Some(record) = &self.record else {
            debug_assert!(false, "a tick before the opening");
            return Vec::new();
        };
        let tick = EncodedTick::of(tick, record);
        let mut out = vec![TICKED];
        put(&mut out, tick.interval());
        put(&mut out, tick.row());
        varint::put(&mut out, tick.pulses.len() as u128);
        for pulse in &tick.pulses {
            let WorkerTimes { wall_ns, busy_ns, busy_poll_ns, idle_ns, cpu_wait_ns } = *pulse;
            for ns in [wall_ns, busy_ns, busy_poll_ns, idle_ns, cpu_wait_ns] {
                varint::put(&mut out, ns.into());
            }
        }
        out
    }
}

/// Returns the bytes of a piece of an agent's samples.
pub fn encode_samples(piece: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(piece.len() + 1);
    out.push(SAMPLES);
    out.extend(piece);
    out
}

/// Returns a piece of an agent's samples, or `None` for an event.
pub fn samples_in(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split_first().and_then(|(kind, piece)| (*kind == SAMPLES).then_some(piece))
}

fn json<T: Serialize>(kind: u8, body: &T) -> Vec<u8> {
    let mut out = vec![kind];
    // Only maps with keys that are not strings, or a failing writer, could make this fail.
    let written = serde_json::to_writer(&mut out, body);
    debug_assert!(written.is_ok());
    out
}

/// A decoded event.
#[derive(Debug, Clone)]
pub enum Decoded {
    Event(RunEvent),
    Tick(EncodedTick),
}

/// Returns an event.
///
/// # Errors
/// Returns an error if the bytes are not an event of this version.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Error> {
    let (kind, body) = bytes.split_first().ok_or(Error::Truncated)?;
    Ok(Decoded::Event(match *kind {
        TICKED => return tick(body).map(Decoded::Tick),
        OPENED => RunEvent::Opened(Arc::new(parsed(body)?)),
        SERIES_OPENED => {
            let (series, key) = parsed(body)?;
            RunEvent::SeriesOpened(SeriesOpened { series, key: Arc::new(key) })
        }
        ORIGIN_OPENED => RunEvent::OriginOpened(parsed(body)?),
        NOTED => RunEvent::Noted(parsed(body)?),
        FAILURE_RECORDED => RunEvent::FailureRecorded(parsed(body)?),
        MONITOR_SAMPLED => RunEvent::MonitorSampled(parsed(body)?),
        LEARNT => RunEvent::Learnt(parsed(body)?),
        SAMPLE_MISSED => RunEvent::SampleMissed(parsed(body)?),
        ENDED => RunEvent::Ended(parsed(body)?),
        _ => return Err(Error::Malformed { what: "an unknown kind of event" }),
    }))
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    varint::put(out, bytes.len() as u128);
    out.extend(bytes);
}

fn taken<'a>(body: &mut &'a [u8]) -> Result<&'a [u8], Error> {
    let length = usize::try_from(varint::take_u64(body)?).map_err(|_| Error::Truncated)?;
    let (bytes, rest) = body.split_at_checked(length).ok_or(Error::Truncated)?;
    *body = rest;
    Ok(bytes)
}

fn tick(mut body: &[u8]) -> Result<EncodedTick, Error> {
    let (interval, row) = (taken(&mut body)?, taken(&mut body)?);
    let workers = varint::take_u64(&mut body)?;
    if workers > WORKERS_MAX {
        return Err(Error::Malformed { what: "a tick of too many workers" });
    }
    let mut pulses = Vec::new();
    for _ in 0..workers {
        let mut next = || varint::take_u64(&mut body);
        pulses.push(WorkerTimes {
            wall_ns: next()?,
            busy_ns: next()?,
            busy_poll_ns: next()?,
            idle_ns: next()?,
            cpu_wait_ns: next()?,
        });
    }
    match body.is_empty() {
        true => EncodedTick::from_bytes(interval, row, pulses),
        false => Err(Error::Malformed { what: "bytes after a tick" }),
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|_| Error::Malformed { what: "the JSON of an event" })
}
