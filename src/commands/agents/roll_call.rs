//! Which agents are there: asks all of them for a sign of life.

use super::options::AgentOptions;
use crate::exit::Failure;
use crate::interrupt::Interrupts;
use plimsoll_cluster::bus::{Bus, Change, Heard};
use plimsoll_cluster::message::{self, Beat, Identity};
use plimsoll_cluster::roster::{Roster, Selection};
use plimsoll_cluster::subject;
use plimsoll_engine::clock::now_ns;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Time between two looks at an interrupt.
const LOOK: Duration = Duration::from_millis(20);
/// Time in which an agent answers a roll call.
const ANSWER: Duration = Duration::from_millis(700);
/// Time between two roll calls, ns.
const REPEAT_NS: u64 = 500_000_000;
/// Wait for agents that start on this machine, ns.
const STARTING_NS: u64 = 10_000_000_000;

/// Returns all agents that answer.
///
/// # Errors
/// Returns an error if the server does not let this process hear them.
pub fn all(bus: &Bus, heard: &Receiver<Heard>) -> Result<Roster, Failure> {
    bus.subscribe(subject::BEATS);
    bus.publish(subject::ROLL_CALL.into(), Vec::new());
    let mut roster = Roster::default();
    let until_ns = now_ns() + ANSWER.as_nanos() as u64;
    while let Some(left_ns) = until_ns.checked_sub(now_ns()) {
        match heard.recv_timeout(Duration::from_nanos(left_ns)) {
            Ok(Heard::Message(message)) => {
                if let Ok(beat) = message::decode::<Beat>(&message.payload) {
                    roster.take(beat);
                }
            }
            Ok(Heard::Change(Change::Refused(why))) => return Err(refused(&why)),
            Ok(Heard::Change(_)) | Err(_) => {}
        }
    }
    Ok(roster)
}

fn refused(why: &str) -> Failure {
    let hint = "use the credentials of a coordinator, not those of an agent";
    Failure::machine(format!("the NATS server refused: {why}"), Some(hint.into()))
}

/// Waits for the agents of a load.
///
/// # Errors
/// Returns an error if there are not enough of them in time, or after an interrupt.
pub fn gathered(
    bus: &Bus,
    heard: &Receiver<Heard>,
    asked: &AgentOptions,
    interrupts: &Interrupts,
) -> Result<Vec<Identity>, Failure> {
    let mut roster = Roster::default();
    let begun_ns = now_ns();
    let mut asked_ns = 0;
    let mut refusal = None;
    loop {
        let now = now_ns();
        if now.saturating_sub(asked_ns) >= REPEAT_NS {
            asked_ns = now;
            bus.publish(subject::ROLL_CALL.into(), Vec::new());
        }
        match heard.recv_timeout(LOOK) {
            Ok(Heard::Message(message)) => {
                if let Ok(beat) = message::decode::<Beat>(&message.payload) {
                    roster.take(beat);
                }
            }
            Ok(Heard::Change(Change::Refused(why))) => refusal = Some(why),
            Ok(Heard::Change(_)) | Err(_) => {}
        }
        if interrupts.happened() {
            return Err(interrupts.cut_short("interrupted before the load"));
        }
        let waited_ns = now_ns().saturating_sub(begun_ns);
        let is_local = matches!(asked.selection, Selection::Local(_));
        // A label, or a name that is used twice, is known after all had time to answer.
        let is_settled = is_local || waited_ns >= REPEAT_NS;
        match roster.choose(&asked.selection, env!("CARGO_PKG_VERSION")) {
            Ok(beats) if is_settled => return Ok(beats.into_iter().map(|beat| beat.identity).collect()),
            Ok(_) => {}
            Err(problem) => {
                let least_ns = if is_local { STARTING_NS } else { 0 };
                if waited_ns >= asked.wait_ns.max(least_ns) {
                    // Without the permission to hear them, all agents seem to be missing.
                    return Err(refusal.map_or_else(|| Failure::of(problem), |why| refused(&why)));
                }
            }
        }
    }
}
