//! `plimsoll explain CODE`: error codes, failure classes, cautions, and exit codes, from their tables.

use crate::codes;
use crate::exit::{Exit, Failure};
use crate::flags::verbs::Explain;
use crate::say;
use plimsoll_analysis::caution;
use plimsoll_front::explain::TABLE;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Fault, Side};
use std::fmt::Write;

pub fn command(explain: &Explain) -> Result<Exit, Failure> {
    let text = match &explain.code {
        None => list(),
        Some(code) => page(code.trim())?,
    };
    say::result(&text)?;
    Ok(Exit::Pass)
}

/// Returns every code with its title.
fn list() -> String {
    let mut text = String::new();
    for row in TABLE.iter().chain(codes::TABLE) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}  {}", row.code, row.title);
    }
    for fault in Fault::ALL {
        let _ = writeln!(text, "{}  {}", fault.name(), fault.sentence());
    }
    for caution in caution::Kind::ALL {
        let _ = writeln!(text, "{}  {}", caution.code(), caution.title());
    }
    for exit in Exit::ALL {
        let _ = writeln!(text, "{}  {}", exit.code(), exit.meaning());
    }
    text
}

/// Returns everything with this name, because a failure class and a caution may share one.
fn page(code: &str) -> Result<String, Failure> {
    let mut text = String::new();
    if let Some(row) = TABLE.iter().chain(codes::TABLE).find(|row| row.code.eq_ignore_ascii_case(code)) {
        let _ = write!(text, "{}  {}\n\n{}\n", row.code, row.title, row.text.trim_end());
    }
    if let Some(fault) = Fault::ALL.iter().find(|fault| fault.name() == code) {
        let _ = write!(
            text,
            "{}  failure class, {} side\n\n{}.\n\n{}\n",
            fault.name(),
            side(fault.side()),
            capital(fault.sentence()),
            counts(fault.side())
        );
    }
    if let Some(caution) = caution::Kind::of_code(code) {
        let blank = if text.is_empty() { "" } else { "\n" };
        let _ = write!(
            text,
            "{blank}{}  {}\n\n{}\n\n{}\n",
            caution.code(),
            caution.title(),
            caution.page().trim_end(),
            caution.advice()
        );
    }
    if let Some(exit) = Exit::ALL.iter().find(|exit| exit.code().to_string() == code) {
        let _ = write!(text, "{}  exit code\n\n{}.\n", exit.code(), capital(exit.meaning()));
    }
    if text.is_empty() {
        return Err(unknown(code));
    }
    Ok(text)
}

fn unknown(code: &str) -> Failure {
    let codes = TABLE.iter().chain(codes::TABLE).map(|row| row.code);
    let faults = Fault::ALL.iter().map(|fault| fault.name());
    let cautions = caution::Kind::ALL.iter().map(|caution| caution.code());
    // Numeric codes that differ by a digit are not a typing error, so only names have a nearest one.
    let names: Vec<&str> = codes.filter(|code| code.len() > 4).chain(faults).chain(cautions).collect();
    let hint = match plimsoll_build::nearest::nearest(code, names).filter(|_| code.len() > 4) {
        Some(right) => format!("did you mean `plimsoll explain {right}`?"),
        None => "`plimsoll explain` lists all codes".into(),
    };
    Diagnostic::new("U021", Place::Whole, format!("unknown code `{code}`"), hint).into()
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Client => "client",
        Side::Network => "network",
        Side::Server => "server",
    }
}

/// Returns how failures of this side affect the verdict.
fn counts(side: Side) -> &'static str {
    match side {
        Side::Client => {
            "It is a limit of the load generator. It never counts as an error of the service, but makes the run \
             INCONCLUSIVE. `plimsoll doctor` shows the limits of this machine."
        }
        Side::Network => {
            "It counts as an error. It happened between client and server: check the address, the server's listen \
             queue, firewalls, and proxies."
        }
        Side::Server => {
            "It counts as an error. Check the server's log at that time, and the failure examples in the report."
        }
    }
}

fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}
