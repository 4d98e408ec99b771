//! `--steered`: commands from the parent process, one JSON object per line on standard input:
//! `{"do":"note","text":"deployed"}`, `{"do":"pause"}`, `{"do":"resume"}`, `{"do":"level","factor":1.1}` (of the
//! current level), and `{"do":"stop"}` (as one Ctrl-C). The coordinator of a load from agents also sends
//! `{"do":"rebalance","factor":2,"left":1,"lost":"b"}`. A rejected command changes nothing and prints one sentence to
//! stderr. The run continues when the input ends.

use crate::exit::Failure;
use crate::interrupt::Interrupts;
use crate::part::PartOrder;
use crate::say;
use plimsoll_control::RunController;
pub use plimsoll_record::steered::REFUSED;
use serde_json::Value;
use std::io::BufRead;

/// Role of the process that reads commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The only generator: rejects commands before its load starts, because there is nothing to steer.
    Alone,
    /// One of several generators: keeps early commands until its load starts. All receive the same commands but start
    /// at different moments, and must still act alike.
    OneOfSeveral,
}

/// A command of one line.
enum SteerCommand {
    Note(String),
    Pause,
    Resume,
    Level(f64),
    Rebalance { factor: f64, left: u32, lost: String },
    Stop,
}

/// Starts a thread that reads commands while the program runs; further calls change nothing.
///
/// # Errors
/// Returns an error if the thread cannot be started.
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
            let order = serde_json::from_str(text).ok().and_then(|value| PartOrder::of(&value));
            if order.is_some_and(|order| interrupts.order(order)) {
                continue;
            }
            refused(wish(text).and_then(|wish| obey(wish, text, &interrupts)));
        }
    };
    let spawned = std::thread::Builder::new().name("steering".into()).spawn(body);
    spawned.map_err(|e| Failure::machine(format!("cannot wait for commands: {e}"), None))?;
    Ok(())
}

fn obey(wish: SteerCommand, line: &str, interrupts: &Interrupts) -> Result<(), String> {
    if let SteerCommand::Stop = wish {
        interrupts.once();
        return Ok(());
    }
    // Each of several generators decides for itself and reports its rejections.
    if interrupts.pass_on(line) {
        return Ok(());
    }
    if interrupts.is_kept(line) {
        return Ok(());
    }
    let controller = interrupts.controller().ok_or("no load is running")?;
    steer(&controller, wish)
}

/// Marks the start of the load. Commands now apply to it, beginning with those kept by one of several generators.
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
        SteerCommand::Rebalance { factor, left, lost } => controller.rebalance(factor, left, &lost),
        SteerCommand::Stop => Ok(()),
    }
}

fn wish(line: &str) -> Result<SteerCommand, String> {
    // The line may contain anything; make it safe for a terminal.
    let shown: String = line.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let wrong = |what: &str| format!("`{shown}` {what}; expected a command such as `{{\"do\":\"pause\"}}`");
    let value: Value = serde_json::from_str(line).map_err(|_| wrong("is not a JSON object"))?;
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
        Some("rebalance") => {
            let factor = value.get("factor").and_then(Value::as_f64);
            let left = value.get("left").and_then(Value::as_u64).and_then(|left| u32::try_from(left).ok());
            let lost = value.get("lost").and_then(Value::as_str);
            match (factor, left, lost) {
                (Some(factor), Some(left), Some(lost)) => {
                    Ok(SteerCommand::Rebalance { factor, left, lost: lost.to_owned() })
                }
                _ => Err(wrong("lacks `factor`, `left`, or `lost`")),
            }
        }
        Some("stop") => Ok(SteerCommand::Stop),
        Some(_) => Err(wrong("has an unknown `do`: expected `note`, `pause`, `resume`, `level`, or `stop`")),
        None => Err(wrong("has no `do`")),
    }
}
