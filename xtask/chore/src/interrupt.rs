//! Ctrl-C while children run. The signal only sets a flag; code that waits checks the flag and returns an error, and
//! the callers stop what they have started.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use crate::Outcome;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// True if no `Listening` exists, so that a signal has its default effect.
static OVER: OnceLock<Arc<AtomicBool>> = OnceLock::new();
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

fn asked_flag() -> &'static Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default)
}

fn over_flag() -> &'static Arc<AtomicBool> {
    OVER.get_or_init(Arc::default)
}

/// While a value of this type exists, an interrupt only sets a flag. Afterward, it ends the process, because other
/// chores start nothing that would outlive them.
pub struct Listening(());

pub fn listen() -> Result<Listening, String> {
    // Handlers cannot be removed: a second registration would end the process although a `Listening` exists.
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
            .map_err(|e| format!("cannot handle signal {signal}: {e}"))?;
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

/// Returns an error after an interrupt.
pub fn check() -> Outcome {
    if requested() { Err("interrupted".into()) } else { Ok(()) }
}
