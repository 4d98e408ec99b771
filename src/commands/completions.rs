//! `plimsoll completions SHELL`: generated from the same tables as the parser and the help.

use crate::exit::{Exit, Failure};
use crate::flags::tool::Completions;
use crate::flags::whole;
use crate::say;
use clap_complete::{Shell, generate};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

pub fn command(flags: &Completions) -> Result<Exit, Failure> {
    let shell = match flags.shell.as_deref() {
        Some("bash") => Shell::Bash,
        Some("zsh") => Shell::Zsh,
        Some("fish") => Shell::Fish,
        other => {
            let message = match other {
                Some(other) => format!("unknown shell `{other}`"),
                None => "missing shell".into(),
            };
            let hint = "use `plimsoll completions bash`, `zsh`, or `fish`";
            return Err(Diagnostic::new("U024", Place::Whole, message, hint).into());
        }
    };
    let mut script = Vec::new();
    generate(shell, &mut whole::command(), "plimsoll", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        // The generator for bash also lists hidden flags; those for the other shells do not.
        whole::hidden_flags().iter().for_each(|flag| script = script.replace(&format!(" --{flag} "), " "));
    }
    say::result(&script)?;
    Ok(Exit::Pass)
}
