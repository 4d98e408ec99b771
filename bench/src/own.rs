//! What our tool says about a run that it has just made. It is never believed for itself: it is held against what the
//! server counted, so that a round that did something else than it claims stops the bench.

use super::tools::run_file;
use chore::{Outcome, shell};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const REQUESTS: &str = "/totals/requests";
const SENT: &str = "/totals/requests_sent";
const ERRORS: &str = "/totals/errors";

/// The JSON report out of the run file that a round has left.
pub fn report(program: &Path, folder: &Path) -> Result<Value, String> {
    // The exit code carries the verdict, which on a noisy machine may be INCONCLUSIVE: the figures stand all the same.
    let mut command = Command::new(program);
    let out = command.arg("report").arg(run_file(folder)).arg("--json").stderr(Stdio::inherit()).output();
    let out = out.map_err(|e| format!("cannot start `{}`: {e}", shell::show(&command)))?;
    serde_json::from_slice(&out.stdout)
        .map_err(|e| format!("`plimsoll report --json` printed no JSON ({}): {e}", out.status))
}

pub fn number(said: &Value, place: &str) -> Result<f64, String> {
    let found = said.pointer(place).and_then(Value::as_f64);
    found.ok_or_else(|| format!("our own JSON report has no number at `{place}`"))
}

/// No errors, and the server's count lies between what we finished and what we sent: it may have served requests whose
/// answers the stop cut off, and may never have read those that were cut off with their connection.
pub fn agrees(said: &Value, served: u64) -> Outcome {
    let (finished, sent, errors) = (number(said, REQUESTS)?, number(said, SENT)?, number(said, ERRORS)?);
    if errors > 0.0 {
        return Err(format!("our own record has {errors} errors of {finished} requests: {}", said["errors"]));
    }
    let served = served as f64;
    if finished <= served && served <= sent {
        return Ok(());
    }
    Err(format!("our own record says {finished} finished and {sent} sent, but the server counted {served}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_count_lies_between_finished_and_sent() {
        let totals =
            |errors: u64| serde_json::json!({"requests": 90, "requests_sent": 100, "errors": errors});
        let describe = |errors: u64| serde_json::json!({"totals": totals(errors)});
        assert!(agrees(&describe(0), 90).is_ok() && agrees(&describe(0), 100).is_ok());
        assert!(agrees(&describe(0), 89).unwrap_err().contains("the server counted 89"));
        assert!(agrees(&describe(0), 101).is_err());
        assert!(agrees(&describe(1), 95).unwrap_err().contains("1 errors of 90"));
        assert!(agrees(&Value::Null, 95).unwrap_err().contains(REQUESTS));
    }
}
