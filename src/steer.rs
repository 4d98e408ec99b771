//! `--steered`: commands of whoever started this process, one JSON object a line on standard input.
//!
//! `{"do":"note","text":"deployed"}`, `{"do":"pause"}`, `{"do":"resume"}`, `{"do":"level","factor":1.1}` (of the level
//! that there is now), `{"do":"stop"}` (as Ctrl-C, once). What cannot be obeyed is one sentence on stderr and changes
//! nothing; the end of the input ends nothing.

use crate::exit::Failure;
use crate::interrupt::Interrupts;
use crate::say;
use plimsoll_control::RunController;
pub use plimsoll_record::steered::REFUSED;
use serde_json::Value;
use std::io::BufRead;

/// Who listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Before its load there is nothing to steer, and whoever tries is told so.
    Alone,
    /// All are told the same, and they do not begin at the same instant: what comes before the own load is kept for it,
    /// so that none does what another does not.
    OneOfSeveral,
}

/// What a line asks for.
enum SteerCommand {
    Note(String),
    Pause,
    Resume,
    Level(f64),
    Stop,
}

/// Reads on a thread of its own for as long as the program lives; further calls change nothing.
///
/// # Errors
/// When the kernel refuses the thread.
pub fn listen(interrupts: &Interrupts, who: Who) -> Result<(), Failure> {
    if !interrupts.is_first_to_listen() {
        return Ok(());
    }
    if who == Who::OneOfSeveral {
        interrupts.keep_early();
    }
    let interrupts = interrupts.clone();
    let body = move || {
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { return };
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            refused(wish(text).and_then(|wish| obey(wish, text, &interrupts)));
        }
    };
    let spawned = std::thread::Builder::new().name("steering".into()).spawn(body);
    spawned.map_err(|e| Failure::machine(format!("commands cannot be waited for: {e}"), None))?;
    Ok(())
}

fn obey(wish: SteerCommand, line: &str, interrupts: &Interrupts) -> Result<(), String> {
    if let SteerCommand::Stop = wish {
        interrupts.once();
        return Ok(());
    }
    // Each of several generators judges for itself, and says so if it does not obey.
    if interrupts.pass_on(line) {
        return Ok(());
    }
    if interrupts.is_kept(line) {
        return Ok(());
    }
    let controller = interrupts.controller().ok_or("no load is going on")?;
    steer(&controller, wish)
}

/// The load begins: commands are for it, those first that one of several generators was told before.
pub fn begin(interrupts: &Interrupts, controller: RunController) {
    interrupts
        .begin(controller, |controller, line| refused(wish(line).and_then(|wish| steer(controller, wish))));
}

fn refused(obeyed: Result<(), String>) {
    if let Err(sentence) = obeyed {
        say::talk(&format!("{REFUSED}{sentence}\n"));
    }
}

fn steer(controller: &RunController, wish: SteerCommand) -> Result<(), String> {
    match wish {
        SteerCommand::Note(text) => controller.note(&text),
        SteerCommand::Pause => controller.pause(),
        SteerCommand::Resume => controller.resume(),
        SteerCommand::Level(factor) => controller.scale(factor),
        SteerCommand::Stop => Ok(()),
    }
}

fn wish(line: &str) -> Result<SteerCommand, String> {
    // The line may be anything at all; a terminal is to show it.
    let shown: String = line.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let wrong = |what: &str| format!("`{shown}` {what}; expected such as `{{\"do\":\"pause\"}}`");
    let value: Value = serde_json::from_str(line).map_err(|_| wrong("is no JSON object"))?;
    match value.get("do").and_then(Value::as_str) {
        Some("note") => match value.get("text").and_then(Value::as_str) {
            Some(text) => Ok(SteerCommand::Note(text.to_owned())),
            None => Err(wrong("is a note without a `text`")),
        },
        Some("pause") => Ok(SteerCommand::Pause),
        Some("resume") => Ok(SteerCommand::Resume),
        Some("level") => match value.get("factor").and_then(Value::as_f64) {
            Some(factor) => Ok(SteerCommand::Level(factor)),
            None => Err(wrong("is a level without a `factor`")),
        },
        Some("stop") => Ok(SteerCommand::Stop),
        Some(_) => {
            Err(wrong("asks for what there is not: `note`, `pause`, `resume`, `level` and `stop` are"))
        }
        None => Err(wrong("does not say what to `do`")),
    }
}
