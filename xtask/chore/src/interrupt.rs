//! Ctrl-C while children of ours are up. The signal only raises a flag; whoever waits looks at it, gives up with a
//! sentence, and the ordinary way back stops what was started.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::Outcome;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Whether nobody listens, so that a signal does what it usually does.
static OVER: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

fn asked_flag() -> &'static Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default)
}

fn over_flag() -> &'static Arc<AtomicBool> {
    OVER.get_or_init(Arc::default)
}

/// While one of these lives an interruption is a flag. Afterwards it is the end of the process again: other chores
/// start nothing that would outlive them.
pub struct Listening(());

pub fn listen() -> Result<Listening, String> {
    // Handlers cannot be taken away again: one that an earlier listener left would end the process under a later one.
    static REGISTERED: OnceLock<Outcome> = OnceLock::new();
    REGISTERED.get_or_init(register).clone()?;
    LISTENERS.fetch_add(1, Ordering::Relaxed);
    over_flag().store(false, Ordering::Relaxed);
    Ok(Listening(()))
}

fn register() -> Outcome {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let usual = signal_hook::flag::register_conditional_default(signal, over_flag().clone());
        usual
            .and_then(|_| signal_hook::flag::register(signal, asked_flag().clone()))
            .map_err(|e| format!("cannot listen to signal {signal}: {e}"))?;
    }
    Ok(())
}

impl Drop for Listening {
    fn drop(&mut self) {
        if LISTENERS.fetch_sub(1, Ordering::Relaxed) == 1 {
            over_flag().store(true, Ordering::Relaxed);
        }
    }
}

pub fn requested() -> bool {
    asked_flag().load(Ordering::Relaxed)
}

/// An error once somebody has asked to stop.
pub fn check() -> Outcome {
    if requested() { Err("interrupted".into()) } else { Ok(()) }
}
