//! Files with the keys of signed orders.

use crate::exit::Failure;
use plimsoll_cluster::signature::{CoordinatorKey, SigningKey};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};

/// Returns the public key in a file of `--coordinator-key`.
///
/// # Errors
/// Returns an error if the file cannot be read, or contains something else.
pub fn coordinator(file: &str) -> Result<CoordinatorKey, Failure> {
    read("--coordinator-key", file, CoordinatorKey::parse)
}

/// Returns the secret key in a file of `--signing-key`.
///
/// # Errors
/// Returns an error if the file cannot be read, or contains something else.
pub fn signing(file: &str) -> Result<SigningKey, Failure> {
    read("--signing-key", file, SigningKey::parse)
}

fn read<T>(flag: &str, file: &str, parse: impl Fn(&str) -> Result<T, Problem>) -> Result<T, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::machine(format!("cannot read `{file}`: {e}"), None))?;
    parse(&text).map_err(|problem| {
        let problem = problem.within(format!("`{file}` contains "));
        Diagnostic::of("U011", Place::Flag(flag.into()), problem).into()
    })
}
