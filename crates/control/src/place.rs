//! Does anybody listen? One connection before any load, so that a closed port is a sentence and not a result.

use crate::{Error, Resolved};
use plimsoll_engine::probe;
use plimsoll_plan::Outline;
use std::time::Duration;

/// The trial waits no longer than this, however long the plan allows a connection to take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries the addresses in order and puts the one that takes a connection first: `localhost` often means `::1`
/// before `127.0.0.1`, and a service may listen on one of them only. Returns the time it took, ns.
///
/// # Errors
/// When none of the addresses takes a connection, with what each of them said.
pub fn knock(place: &mut Resolved, outline: &Outline) -> Result<u64, Error> {
    let patience = PATIENCE.min(Duration::from_nanos(outline.limits.connect_timeout_ns));
    let mut tried = Vec::new();
    for address in place.addresses.clone() {
        match probe::connect(address, patience) {
            Ok(connect_ns) => {
                place.prefer(address);
                return Ok(connect_ns);
            }
            Err(why) => tried.push((address, why)),
        }
    }
    Err(Error::NobodyListens { target: format!("{}:{}", outline.host, outline.port), tried })
}
