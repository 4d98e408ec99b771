//! What clap says, as a diagnostic like any other: one sentence, one mend.

use crate::exit::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// Help and the version come as errors too: these are texts that were asked for.
///
/// # Errors
/// The diagnostic for everything else.
pub fn asked_or_wrong<T>(error: clap::Error) -> Result<Result<T, String>, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Err(error.to_string())),
        _ => Err(diagnostic(&error).into()),
    }
}

fn diagnostic(error: &clap::Error) -> Diagnostic {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    // `--limit <NAME=VALUE>`: the flag alone is the place.
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = argument.split(" <").next().unwrap_or_default().to_owned();
    let at = |flag: String| Place::Flag(flag);
    match error.kind() {
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean `{near}`? `plimsoll --help` lists all flags"),
                None => "`plimsoll --help` lists all flags".into(),
            };
            Diagnostic::new("U001", Place::Whole, format!("there is no flag `{flag}`"), hint)
        }
        ErrorKind::UnknownArgument => Diagnostic::new(
            "U002",
            Place::Whole,
            format!("`{flag}` is one word too many"),
            "a command takes one URL or file; quote what belongs together",
        ),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            Diagnostic::new(
                "U003",
                at(flag.clone()),
                "a value is missing",
                "`plimsoll --help` shows its form",
            )
        }
        ErrorKind::TooManyValues => Diagnostic::new(
            "U004",
            at(flag.clone()),
            "this flag takes no value",
            "leave out what follows the `=`",
        ),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            let message = if other.is_empty() || other == argument {
                "given twice".to_owned()
            } else {
                format!("`{flag}` and `{}` exclude each other", other.split(" <").next().unwrap_or_default())
            };
            Diagnostic::new("U005", at(flag), message, "keep one of them")
        }
        _ => {
            let whole = error.to_string();
            let line = whole.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Diagnostic::new("U006", Place::Whole, line, "`plimsoll --help` lists all flags")
        }
    }
}
