//! Exit codes: their meanings, and the one place that maps results and failures to them.

use plimsoll_analysis::summary::Outcome;
use plimsoll_control::permission::Refusal;
use plimsoll_control::session::{AfterRunError, Failed};
use plimsoll_experiment::folder;
use plimsoll_plan::diag::Place;
use plimsoll_plan::phrase::duration_ns;
use plimsoll_plan::program::Unready;
use plimsoll_plan::{Diagnostic, Fault, Problem};
use plimsoll_record::run_file;

macro_rules! exits {
    ($($variant:ident = $code:literal, $meaning:literal;)*) => {
        /// Exit status of the program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Exit { $(#[doc = $meaning] $variant,)* }

        impl Exit {
            pub const ALL: &'static [Exit] = &[$(Exit::$variant,)*];

            /// Returns the number that the shell sees.
            pub const fn code(self) -> u8 { match self { $(Exit::$variant => $code,)* } }

            /// Returns the meaning for help texts and documents.
            pub const fn meaning(self) -> &'static str { match self { $(Exit::$variant => $meaning,)* } }
        }
    };
}

exits! {
    Pass = 0, "the run passed, or the command succeeded";
    CouldNotRun = 1, "could not run: unknown host, connection refused, or a file that cannot be read or written";
    Usage = 2, "the command line or the experiment file is invalid; nothing was sent";
    Inconclusive = 3, "inconclusive: not enough evidence to pass or fail";
    Refused = 4, "refused by the safety policy: a public host without permission; no load was sent";
    AbUsage = 22, "`plimsoll ab`: unknown flag, missing value, or wrong number of arguments; nothing was sent";
    AbUnresolved = 50, "`plimsoll ab`: unknown host; nothing was sent";
    ThresholdMissed = 99, "a threshold or a gate was missed, or an audit found an impossible number";
    K6SetupTimeout = 100, "`plimsoll k6 run`: `setup()` took too long";
    K6TeardownTimeout = 101, "`plimsoll k6 run`: `teardown()` took too long";
    K6Invalid = 104, "`plimsoll k6 run`: the options are invalid; nothing was sent";
    K6Interrupted = 105, "`plimsoll k6 run`: interrupted by a signal; the summary is printed";
    K6Exception = 107, "`plimsoll k6 run`: the script is invalid, or its init part, `setup()`, or `teardown()` throws";
    K6Aborted = 108, "a k6 script has ended the test with `exec.test.abort()`";
    K6Failed = 110, "a k6 script has declared the test failed with `exec.test.fail()`";
    AbRefused = 111, "`plimsoll ab`: nothing listens at the address; nothing was sent";
    HungUp = 129, "interrupted by SIGHUP; the report is written if the load had started";
    Interrupted = 130, "interrupted by Ctrl-C or from the console, as for SIGHUP; a second signal exits at once";
    Terminated = 143, "interrupted by SIGTERM, as for SIGHUP";
    LoadtestUsage = 255, "`plimsoll loadtest`: unknown flag, or missing value; nothing was sent";
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Exit::Pass,
            Outcome::Fail => Exit::ThresholdMissed,
            Outcome::Inconclusive => Exit::Inconclusive,
            Outcome::Interrupted => Exit::Interrupted,
        }
    }
}

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is invalid: flags, a file, or a contradiction between them.
    Text(Vec<Diagnostic>),
    /// The safety policy refused the target.
    Refused(Refusal),
    /// The system, a file, or the connection to the target failed; the hint may be empty.
    Machine { sentence: String, hint: String },
    /// The target accepts no connection.
    Unreachable { sentence: String, hint: String, fault: Fault },
    /// The same on an agent's machine, which knows the exit code.
    Agent { sentence: String, hint: String, exit: Exit },
    /// A signal ended the command before there was a load to report on.
    CutShort { sentence: String, exit: Exit },
}

impl Failure {
    pub fn machine(sentence: impl ToString, hint: Option<String>) -> Self {
        Failure::Machine { sentence: sentence.to_string(), hint: hint.unwrap_or_default() }
    }

    /// Turns a system problem with its fix into a failure.
    pub fn of(problem: Problem) -> Self {
        Failure::Machine { sentence: problem.message, hint: problem.hint }
    }

    /// Returns the failure of an agent's load generator, which ended with a code. Codes of the scripts and of the
    /// safety policy are those of the command.
    pub fn of_agent(sentence: String, hint: String, code: Option<i32>) -> Self {
        let known = [Exit::Refused, Exit::K6SetupTimeout, Exit::K6Exception, Exit::K6Aborted, Exit::K6Failed];
        let exit = known.into_iter().find(|exit| code == Some(exit.code().into()));
        Failure::Agent { sentence, hint, exit: exit.unwrap_or(Exit::CouldNotRun) }
    }

    pub fn exit(&self) -> Exit {
        match self {
            Failure::Text(_) => Exit::Usage,
            Failure::Refused(_) => Exit::Refused,
            Failure::Machine { .. } | Failure::Unreachable { .. } => Exit::CouldNotRun,
            Failure::Agent { exit, .. } | Failure::CutShort { exit, .. } => *exit,
        }
    }

    /// Returns what went wrong; of several errors, the first.
    pub fn sentence(&self) -> String {
        match self {
            Failure::Text(all) => all.first().map(|d| d.message.clone()).unwrap_or_default(),
            Failure::Refused(refusal) => refusal.sentence.clone(),
            Failure::Machine { sentence, .. }
            | Failure::Unreachable { sentence, .. }
            | Failure::Agent { sentence, .. }
            | Failure::CutShort { sentence, .. } => sentence.clone(),
        }
    }
}

/// Returns the failure for a feature that this build lacks.
pub fn not_built(asked: &str, feature: &str) -> Failure {
    let sentence = format!("`{asked}` is not available: this build lacks the feature `{feature}`");
    Failure::machine(sentence, Some(format!("build it with `cargo build --release --features {feature}`")))
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure::Text(vec![diagnostic])
    }
}

impl From<plimsoll_output::Error> for Failure {
    fn from(error: plimsoll_output::Error) -> Self {
        Failure::machine(error, None)
    }
}

impl From<plimsoll_chart::png::Unpaintable> for Failure {
    fn from(error: plimsoll_chart::png::Unpaintable) -> Self {
        Failure::machine(error, None)
    }
}

impl From<run_file::Error> for Failure {
    fn from(error: run_file::Error) -> Self {
        match &error {
            // Naming an existing file is a command-line error; everything else is a system failure.
            run_file::Error::Exists { .. } => {
                let hint = error.hint().unwrap_or_default();
                Diagnostic::new("U020", Place::Flag("--out".into()), error.to_string(), hint).into()
            }
            _ => Failure::machine(&error, error.hint()),
        }
    }
}

impl From<folder::Error> for Failure {
    fn from(error: folder::Error) -> Self {
        match error {
            folder::Error::Run(error) => error.into(),
            other => Failure::machine(&other, other.hint()),
        }
    }
}

impl From<plimsoll_control::Error> for Failure {
    fn from(error: plimsoll_control::Error) -> Self {
        let (sentence, hint) = (error.to_string(), error.hint().unwrap_or_default());
        match error.fault_of_connection() {
            Some(fault) => Failure::Unreachable { sentence, hint, fault },
            None => Failure::Machine { sentence, hint },
        }
    }
}

/// Invalid content of a file is the user's error; failing to read it is a system failure.
impl From<Unready> for Failure {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Data(problem) => Diagnostic::of("F026", Place::Whole, problem).into(),
            Unready::File(problem) => Failure::of(problem),
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refusal) => Failure::Refused(refusal),
            Failed::CouldNotRun(error) => error.into(),
            Failed::RunFile(error) => error.into(),
            Failed::CutShort(sentence) => Failure::CutShort { sentence, exit: Exit::Interrupted },
            Failed::NotReady { target, within_ns, why } => {
                let Problem { message, hint } = why;
                let (within, more) = match within_ns {
                    0 => (String::new(), "start the service, or add `--wait-for-ready 30s`"),
                    ns => {
                        let within = format!(" within {}", duration_ns(ns));
                        (within, "start the service, or raise `--wait-for-ready`")
                    }
                };
                let hint = if hint.is_empty() { more.into() } else { format!("{hint}\n{more}") };
                Failure::machine(format!("`{target}` was not ready{within}: {message}"), Some(hint))
            }
            Failed::NotBuilt { asked, feature } => not_built(asked, feature),
            Failed::Behavior(problem) => Failure::of(problem),
            Failed::Unready(unready) => unready.into(),
        }
    }
}

impl From<AfterRunError> for Failure {
    fn from(trouble: AfterRunError) -> Self {
        match trouble {
            AfterRunError::RunFile(trouble, second) => {
                let own = trouble.hint().unwrap_or_default();
                let hint = match second {
                    Some(path) => {
                        format!("the complete run was saved to `{}`; next time, {own}", path.display())
                    }
                    None => {
                        format!(
                            "no other directory could hold the run either, so only this report remains; {own}"
                        )
                    }
                };
                Failure::machine(trouble, Some(hint))
            }
            AfterRunError::TearDown(failed) => failed.into(),
            AfterRunError::KeyLog(why) => {
                Failure::machine(format!("the file of `--tls-key-log` is incomplete: {why}"), None)
            }
            AfterRunError::Behavior(problem) => Failure::of(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_those_that_scripts_rely_on() {
        let codes: Vec<u8> = Exit::ALL.iter().map(|e| e.code()).collect();
        assert_eq!(
            codes,
            [0, 1, 2, 3, 4, 22, 50, 99, 100, 101, 104, 105, 107, 108, 110, 111, 129, 130, 143, 255]
        );
    }

    #[test]
    fn every_kind_of_bad_news_has_its_code() {
        let refusal = Refusal { sentence: String::new(), hint: String::new() };
        for (failure, code) in
            [(Failure::machine("x", None), 1), (Failure::Text(Vec::new()), 2), (Failure::Refused(refusal), 4)]
        {
            assert_eq!(failure.exit().code(), code);
        }
        for (outcome, code) in
            [(Outcome::Pass, 0), (Outcome::Inconclusive, 3), (Outcome::Fail, 99), (Outcome::Interrupted, 130)]
        {
            assert_eq!(Exit::from(outcome).code(), code);
        }
    }
}
