//! Turns clap's errors into diagnostics, each with one sentence and one fix.

use crate::exit::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// Separates requested help and version texts, which clap returns as errors, from real errors.
///
/// # Errors
/// Returns the diagnostic of a real error.
pub fn asked_or_wrong<T>(error: clap::Error) -> Result<Result<T, String>, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Err(error.to_string())),
        _ => Err(diagnostic(&error).into()),
    }
}

/// Flags of other tools that are unsupported or have another name here.
fn of_other_tools(flag: &str) -> Option<(String, &'static str)> {
    const NOT_YET: &[(&[&str], &str, &str)] = &[
        (&["--http3", "--h3", "--quic"], "HTTP/3", "use `--http2`, or omit this flag"),
        (&["--grpc", "--proto"], "gRPC", "plimsoll supports HTTP/1.1 and server-sent events"),
        (&["--proxy", "-x"], "a proxy for requests", "omit this flag and load the service directly"),
    ];
    const RENAMED: &[(&[&str], &str)] = &[
        (&["--ws", "--websocket"], "write an experiment file with a `connect` step"),
        (
            &["--vus", "--users", "--concurrency", "--clients", "--virtual-users"],
            "did you mean `-c`? Each connection is a virtual user",
        ),
        (&["--rps", "--qps"], "did you mean `-r`? It sets the arrivals per second"),
        (&["--iterations", "--number", "--total"], "did you mean `-n`? It sets the number of requests"),
        (&["--threads", "--cpus"], "did you mean `-t`? It sets the threads of the load generator"),
        (&["--data", "--data-raw"], "did you mean `-b`? Or paste the line after `plimsoll curl`"),
        (
            &["--location", "--redirects", "--max-redirects", "--follow-redirects"],
            "did you mean `--follow N`?",
        ),
        (
            &["--max-vus", "--max-workers"],
            "did you mean `--max-connections`? It limits the connections with `--rate`",
        ),
        (&["--http2-prior-knowledge", "--h2", "--h2c"], "did you mean `--http2`?"),
        (&["--max-concurrent-streams"], "did you mean `--streams`? It sets the users on each connection"),
        (&["--share", "--execution-segment"], "did you mean `--shard`?"),
        (&["--bands", "--histogram"], "did you mean `--buckets`?"),
        (&["--figures", "--plots"], "did you mean `--charts`?"),
        (&["--every", "--step-time"], "did you mean `--step-duration`?"),
        (&["--until"], "did you mean `--stop-when`?"),
        (&["--within", "--tolerance"], "did you mean `--precision`?"),
        (&["--budget"], "did you mean `--max-time`?"),
        (&["--cacert"], "did you mean `--ca`?"),
        (&["--output"], "did you mean `--out`?"),
        (&["--env", "-e"], "did you mean `--set NAME=VALUE`?"),
        (&["--duration-seconds", "--time"], "did you mean `-d`? A duration has a unit, such as `30s`"),
    ];
    let has = |names: &[&str]| names.contains(&flag);
    let not_yet = NOT_YET.iter().find(|row| has(row.0));
    let not_yet = not_yet.map(|(_, what, hint)| (format!("{what} (`{flag}`) is not supported yet"), *hint));
    not_yet.or_else(|| {
        let renamed = RENAMED.iter().find(|row| has(row.0));
        renamed.map(|(_, hint)| (format!("unknown flag `{flag}`"), *hint))
    })
}

fn diagnostic(error: &clap::Error) -> Diagnostic {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    // For `--limit <NAME=VALUE>`, the place is the flag alone.
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = argument.split(" <").next().unwrap_or_default().to_owned();
    let at = |flag: String| Place::Flag(flag);
    match error.kind() {
        ErrorKind::UnknownArgument if let Some((message, hint)) = of_other_tools(&flag) => {
            Diagnostic::new("U001", Place::Whole, message, hint)
        }
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean `{near}`? `plimsoll --help` lists all flags"),
                None => "`plimsoll --help` lists all flags".into(),
            };
            Diagnostic::new("U001", Place::Whole, format!("unknown flag `{flag}`"), hint)
        }
        ErrorKind::UnknownArgument => Diagnostic::new(
            "U002",
            Place::Whole,
            format!("unexpected argument `{flag}`"),
            "give one URL or file per command, and quote values that contain spaces",
        ),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            Diagnostic::new(
                "U003",
                at(flag.clone()),
                "this flag requires a value",
                "`plimsoll --help` shows what each flag takes",
            )
        }
        ErrorKind::TooManyValues => Diagnostic::new(
            "U004",
            at(flag.clone()),
            "this flag takes no value",
            "remove the `=` and what follows it",
        ),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            let message = if other.is_empty() || other == argument {
                "this flag is given twice".to_owned()
            } else {
                format!("`{flag}` cannot be used with `{}`", other.split(" <").next().unwrap_or_default())
            };
            Diagnostic::new("U005", at(flag), message, "remove one of them")
        }
        _ => {
            let whole = error.to_string();
            let line = whole.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Diagnostic::new("U006", Place::Whole, line, "`plimsoll --help` lists all flags")
        }
    }
}
