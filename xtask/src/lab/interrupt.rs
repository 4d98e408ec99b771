//! Ctrl-C while servers are up. The signal only raises a flag; whoever waits looks at it, gives up with a sentence,
//! and the ordinary way back stops what was started.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::Outcome;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn asked_flag() -> &'static Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default)
}

/// While this lives an interruption is a flag. Afterwards it is the end of the process again: other chores start
/// nothing that would outlive them.
pub struct Listening {
    over: Arc<AtomicBool>,
}

pub fn listen() -> Result<Listening, String> {
    let over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // A handler cannot be taken away again; this one does what would have happened without it.
        let usual = signal_hook::flag::register_conditional_default(signal, over.clone());
        usual
            .and_then(|_| signal_hook::flag::register(signal, asked_flag().clone()))
            .map_err(|e| format!("cannot listen to signal {signal}: {e}"))?;
    }
    Ok(Listening { over })
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

pub fn asked() -> bool {
    asked_flag().load(Ordering::Relaxed)
}

/// An error once somebody has asked to stop.
pub fn check() -> Outcome {
    if asked() { Err("interrupted".into()) } else { Ok(()) }
}
