//! Ctrl-C while servers are up. The signal only raises a flag; whoever waits looks at it, gives up with a sentence,
//! and the ordinary way back stops what was started.

use crate::Outcome;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn flag() -> &'static Arc<AtomicBool> {
    FLAG.get_or_init(Arc::default)
}

/// From here on an interruption is a flag and no longer the end of this process.
pub fn listen() -> Outcome {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, flag().clone())
            .map_err(|e| format!("cannot listen to signal {signal}: {e}"))?;
    }
    Ok(())
}

pub fn asked() -> bool {
    flag().load(Ordering::Relaxed)
}

/// An error once somebody has asked to stop.
pub fn check() -> Outcome {
    if asked() { Err("interrupted".into()) } else { Ok(()) }
}
