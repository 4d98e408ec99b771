//! This process as the load generator of an agent (`--part-of-agent`): it reports to its parent on standard output, in
//! frames of one byte for the kind, the length (4 bytes, little-endian), and the content. Orders come as lines on
//! standard input, among the commands of `--steered`.

use crate::interrupt::Interrupts;
use plimsoll_cluster::agent::Report;
use plimsoll_cluster::bytes;
use plimsoll_cluster::event_codec::{self, Encoder};
use plimsoll_control::session::Team;
use plimsoll_engine::Gate;
use plimsoll_plan::code::Code;
use plimsoll_record::event::{RunEvent, Sink};
use serde_json::Value;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

const PREPARED: u8 = b'P';
const READY: u8 = b'R';
const BEGUN: u8 = b'B';
const EVENT: u8 = b'E';
const TICK: u8 = b'T';
const ENDED: u8 = b'D';
const ENDED_TEST: u8 = b'X';

/// Largest frame, bytes: a tick with 10,000 series and full histograms.
const FRAME_MAX: u32 = 1 << 30;

/// Samples in one message, bytes: with another piece, they are still smaller than the largest message.
const PIECE_BYTES: usize = 256 << 10;

/// Longest text with the values and files of setup: it is part of messages, and servers accept 1 MB by default.
const SETUP_CHARS: usize = 900_000;

/// An order of the coordinator, as the agent passes it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartOrder {
    /// Make the users; contains the values of a setup that ran elsewhere, in Base64.
    Seat {
        setup: Option<String>,
    },
    /// Begin at this time of the engine's clock, ns.
    Begin {
        at_ns: u64,
    },
    TearDown,
}

impl PartOrder {
    /// Reads an order from a command; returns `None` if it is another command.
    pub fn of(value: &Value) -> Option<PartOrder> {
        match value.get("do")?.as_str()? {
            "seat" => Some(PartOrder::Seat { setup: value.get("setup")?.as_str().map(str::to_owned) }),
            "begin" => Some(PartOrder::Begin { at_ns: value.get("at_ns")?.as_u64()? }),
            "tear_down" => Some(PartOrder::TearDown),
            _ => None,
        }
    }
}

/// The agent and, through it, the other load generators.
pub struct PartTeam {
    is_first: bool,
    orders: Arc<Mutex<Receiver<PartOrder>>>,
}

impl PartTeam {
    /// Creates the team of part `part`. Orders arrive until an interrupt.
    pub fn new(part: u32, interrupts: &Interrupts) -> PartTeam {
        let (sender, orders) = channel();
        interrupts.order_to(sender);
        PartTeam { is_first: part == 1, orders: Arc::new(Mutex::new(orders)) }
    }

    /// Blocks until an order that `wanted` accepts; returns `None` after an interrupt.
    fn await_order<T>(
        orders: &Mutex<Receiver<PartOrder>>,
        wanted: impl Fn(PartOrder) -> Option<T>,
    ) -> Option<T> {
        let orders = orders.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            // The sender is dropped at an interrupt.
            if let Some(found) = wanted(orders.recv().ok()?) {
                return Some(found);
            }
        }
    }
}

impl Team for PartTeam {
    fn is_first(&self) -> bool {
        self.is_first
    }

    fn prepared(&self, setup: Option<&dyn Fn() -> Vec<u8>>) -> Result<Option<Vec<u8>>, String> {
        let text = setup.map(|values| bytes::text_of(&values())).unwrap_or_default();
        if text.len() > SETUP_CHARS {
            return Err(format!(
                "setup has set values and written data of {} characters, and the other agents receive at most \
                 {SETUP_CHARS}",
                text.len()
            ));
        }
        send(PREPARED, text.as_bytes());
        let seat = |order| if let PartOrder::Seat { setup } = order { Some(setup) } else { None };
        let setup = Self::await_order(&self.orders, seat).ok_or("interrupted before the load")?;
        match setup {
            // The first one has them already.
            Some(text) if !self.is_first => {
                bytes::bytes_of(&text).map(Some).ok_or_else(|| "the values of setup are unreadable".into())
            }
            _ => Ok(None),
        }
    }

    fn gate(&self) -> Option<Arc<dyn Gate>> {
        Some(Arc::new(PartGate(Arc::clone(&self.orders))))
    }

    fn begun(&self, begin_ns: u64) {
        send(BEGUN, &begin_ns.to_le_bytes());
    }

    fn await_others(&self) {
        send(ENDED, &[]);
        // After an interrupt, the teardown runs at once.
        let _ = Self::await_order(&self.orders, |order| (order == PartOrder::TearDown).then_some(()));
    }
}

struct PartGate(Arc<Mutex<Receiver<PartOrder>>>);

impl Gate for PartGate {
    fn begin_ns(&self) -> Option<u64> {
        send(READY, &[]);
        PartTeam::await_order(&self.0, |order| match order {
            PartOrder::Begin { at_ns } => Some(at_ns),
            PartOrder::Seat { .. } | PartOrder::TearDown => None,
        })
    }
}

/// Sends every event to the agent.
pub struct EventSender {
    /// The users, if they are code.
    code: Option<Arc<dyn Code>>,
    encoder: Encoder,
}

impl EventSender {
    pub fn new(code: Option<Arc<dyn Code>>) -> EventSender {
        EventSender { code, encoder: Encoder::default() }
    }
}

impl Sink for EventSender {
    fn event(&mut self, event: &RunEvent) {
        if let (RunEvent::Ended(_), Some(code)) = (event, &self.code)
            && code.has_ended_test()
        {
            send(ENDED_TEST, &[]);
        }
        let kind = if let RunEvent::Ticked(_) = event { TICK } else { EVENT };
        send(kind, &self.encoder.encode(event));
    }
}

/// Sends a file of samples to the agent, after the events of the load.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn send_samples(mut file: impl Read) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        send(EVENT, &event_codec::encode_samples(&piece[..read]));
    }
}

/// Writes a frame. An agent that has ended reads none, and `--with-parent` then ends this process.
fn send(kind: u8, content: &[u8]) {
    let mut frame = Vec::with_capacity(content.len() + 5);
    frame.push(kind);
    frame.extend((content.len() as u32).to_le_bytes());
    frame.extend(content);
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(&frame).and_then(|()| out.flush());
}

/// Reads the frames of a load generator until it ends.
///
/// # Errors
/// Returns an error if the pipe fails, or contains something else.
pub fn read_reports(mut pipe: impl Read, to: &Sender<Report>) -> std::io::Result<()> {
    let invalid = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_owned());
    loop {
        let mut head = [0; 5];
        match pipe.read_exact(&mut head) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        }
        let [kind, length @ ..] = head;
        let length = u32::from_le_bytes(length);
        if length > FRAME_MAX {
            return Err(invalid("the load generator printed something that is not a report"));
        }
        let mut content = vec![0; length as usize];
        pipe.read_exact(&mut content)?;
        let report = match kind {
            PREPARED => {
                let text = String::from_utf8(content).map_err(|_| invalid("invalid values of setup"))?;
                Report::Prepared { setup: Some(text).filter(|text| !text.is_empty()) }
            }
            READY => Report::Ready,
            BEGUN => {
                let bytes: [u8; 8] = content.try_into().map_err(|_| invalid("invalid start time"))?;
                Report::Begun { begin_ns: u64::from_le_bytes(bytes) }
            }
            EVENT => Report::Event(content, false),
            TICK => Report::Event(content, true),
            ENDED => Report::Ended,
            ENDED_TEST => Report::EndedTest,
            _ => return Err(invalid("the load generator printed something that is not a report")),
        };
        if to.send(report).is_err() {
            return Ok(());
        }
    }
}
