//! `--wait-for-ready 30s`: the load begins when the service answers, not when its container is started.

use super::load::Shared;
use crate::exit::Failure;
use crate::flags::draft;
use crate::flags::load::MannerFlags;
use crate::interrupt::Interrupts;
use crate::{say, wall};
use plimsoll_control::{Resolved, dns};
use plimsoll_engine::link::tls::Setup;
use plimsoll_engine::probe;
use plimsoll_plan::link::Link;
use plimsoll_plan::value::Part;
use plimsoll_plan::{Plan, Target};
use std::fmt::Display;
use std::time::Duration;

/// From one try to the next.
const PAUSE_NS: u64 = 100_000_000;
/// No try takes longer, so that a host that drops packets is asked again.
const TRY: Duration = Duration::from_secs(1);

/// How long is waited, and from when.
pub struct Patience<'a> {
    limit_ns: u64,
    begin_unix_ns: u64,
    shared: Option<&'a Shared>,
    /// None while a signal still ends the program.
    interrupts: Option<&'a Interrupts>,
    quiet: bool,
}

impl<'a> Patience<'a> {
    /// None without the flag, and after the first run of several.
    pub fn of(manner: &MannerFlags, shared: Option<&'a Shared>) -> Self {
        let is_ready = shared.is_some_and(|shared| shared.is_ready.get());
        // Judged with all flags, before this.
        let limit = manner.wait_for_ready.as_deref().and_then(|text| draft::wait(text).ok());
        Self {
            limit_ns: limit.filter(|_| !is_ready).unwrap_or(0),
            begin_unix_ns: wall::now_unix_ns(),
            shared,
            interrupts: shared.map(|shared| &shared.interrupts),
            quiet: manner.quiet,
        }
    }

    /// Ends with these interrupts, too, if there are any.
    pub fn heed(&mut self, interrupts: Option<&'a Interrupts>) {
        self.interrupts = interrupts.or(self.interrupts);
    }

    /// There is something to wait for.
    pub fn is_long(&self) -> bool {
        self.limit_ns > 0
    }

    fn is_over(&self) -> bool {
        wall::now_unix_ns().saturating_sub(self.begin_unix_ns) >= self.limit_ns || self.is_interrupted()
    }

    fn is_interrupted(&self) -> bool {
        self.interrupts.is_some_and(Interrupts::happened)
    }

    /// # Errors
    /// Returns an error if a signal has ended the wait.
    fn check_interrupted(&self, target: &impl Display) -> Result<(), Failure> {
        match self.interrupts.filter(|interrupts| interrupts.happened()) {
            None => Ok(()),
            Some(interrupts) => {
                Err(interrupts
                    .cut_short(format!("interrupted while waiting for `{target}`; no load was sent")))
            }
        }
    }

    fn pause(&self) {
        match self.interrupts {
            Some(interrupts) => wall::rest(PAUSE_NS, interrupts),
            None => std::thread::sleep(Duration::from_nanos(PAUSE_NS)),
        }
    }
}

/// The addresses of the target; a name that is not known yet is looked up again.
///
/// # Errors
/// Returns the last error if the time is over.
pub fn resolved(target: &Target, link: &Link, patience: &Patience) -> Result<Resolved, Failure> {
    loop {
        match dns::resolve_with(target, link) {
            Err(error) if patience.is_over() => {
                patience.check_interrupted(&target.host)?;
                return Err(error.into());
            }
            Err(_) => patience.pause(),
            Ok(place) => return Ok(place),
        }
    }
}

/// Waits until one of the addresses answers a GET with a status below 500.
///
/// # Errors
/// Returns an error if the time is over.
pub fn wait(place: &Resolved, plan: &Plan, tls: Option<&Setup>, patience: &Patience) -> Result<(), Failure> {
    if patience.limit_ns == 0 {
        return Ok(());
    }
    if !patience.quiet {
        say::talk(&format!("waiting for {} ...\n", plan.outline.target));
    }
    let path = path(plan);
    loop {
        let mut why = String::new();
        for address in &place.addresses {
            match probe::status(*address, tls, &plan.outline.target, &path, TRY) {
                Ok(status) if status >= 500 => why = format!("it answered {status}"),
                Ok(_) => {
                    if let Some(shared) = patience.shared {
                        shared.is_ready.set(true);
                    }
                    return Ok(());
                }
                Err(sentence) => why = sentence,
            }
        }
        if patience.is_over() {
            patience.check_interrupted(&plan.outline.target)?;
            let waited = plimsoll_plan::phrase::duration_ns(patience.limit_ns);
            let sentence = format!("`{}` was not ready within {waited}: {why}", plan.outline.target);
            let hint = "start the service, or give it longer with `--wait-for-ready`";
            return Err(Failure::machine(sentence, Some(hint.into())));
        }
        patience.pause();
    }
}

/// The path of the first GET of the plan that has no variables, else the root.
fn path(plan: &Plan) -> String {
    let plain = plan.requests.first().filter(|request| request.method == "GET");
    let asked =
        plan.script.iter().flat_map(|script| &script.asks).find_map(|ask| match &ask.path.parts[..] {
            [Part::Literal(path)] if ask.scenario.is_some() && ask.method == "GET" => Some(path),
            _ => None,
        });
    match (plain, asked) {
        (Some(request), _) => request.path.clone(),
        (None, Some(path)) => String::from_utf8_lossy(path).into_owned(),
        (None, None) => "/".into(),
    }
}
