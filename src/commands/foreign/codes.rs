//! Exit codes of other tools for a load that did not run.

use crate::exit::{Exit, Failure};
use crate::say;
use plimsoll_lines::flags::USAGE;
use plimsoll_plan::Fault;
use plimsoll_plan::diag::Place;

/// The codes of a tool. For anything else, the code is that of plimsoll.
#[derive(Debug)]
pub struct Codes {
    /// An unknown flag, or a flag without its value.
    pub flag: Exit,
    /// A wrong number of arguments.
    pub arguments: Exit,
    /// Nothing listens at the address.
    pub refused: Exit,
    /// The name of the host does not resolve.
    pub unresolved: Exit,
}

/// wrk 4.1.0.
pub const WRK: Codes = Codes {
    flag: Exit::CouldNotRun,
    arguments: Exit::CouldNotRun,
    refused: Exit::CouldNotRun,
    unresolved: Exit::CouldNotRun,
};
/// ab 2.3.
pub const AB: Codes = Codes {
    flag: Exit::AbUsage,
    arguments: Exit::AbUsage,
    refused: Exit::AbRefused,
    unresolved: Exit::AbUnresolved,
};
/// hey 0.1.5 and Vegeta 12.13, whose flags are read by the package `flag` of Go.
pub const GO: Codes = Codes { flag: Exit::Usage, ..WRK };
/// oha 1.16, whose command line is read by the crate clap.
pub const OHA: Codes = Codes { arguments: Exit::Usage, ..GO };
/// loadtest 8.2.
pub const LOADTEST: Codes = Codes { flag: Exit::LoadtestUsage, ..WRK };

impl Codes {
    /// Runs a command with the words of a tool. If it fails, prints why, and returns the code of the tool; with
    /// `--verdict`, the failure is that of plimsoll.
    pub fn apply(
        &self,
        words: &[String],
        command: impl FnOnce(&[String]) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        command(words).or_else(|failure| match self.of(&failure) {
            Some(exit) if !words.iter().any(|word| word == "--verdict") => {
                say::failure(&failure, false);
                Ok(exit)
            }
            _ => Err(failure),
        })
    }

    fn of(&self, failure: &Failure) -> Option<Exit> {
        match failure {
            Failure::Text(all) => {
                let first = all.first().filter(|first| first.code == USAGE)?;
                Some(if first.place == Place::Whole { self.arguments } else { self.flag })
            }
            Failure::Unreachable { fault: Fault::ConnectionRefused, .. } => Some(self.refused),
            Failure::Unreachable { fault: Fault::DnsFailed, .. } => Some(self.unresolved),
            _ => None,
        }
    }
}
