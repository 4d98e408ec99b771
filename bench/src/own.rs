//! plimsoll's own results of a run. They are not trusted but compared with the server's count, so that a round that did
//! something else than it claims stops the bench.

use super::tools::run_file;
use chore::{Outcome, shell};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

const REQUESTS: &str = "/totals/requests";
const SENT: &str = "/totals/requests_sent";
const ERRORS: &str = "/totals/errors";

/// Returns the JSON report of the run file of a round.
pub fn report(program: &Path, folder: &Path) -> Result<Value, String> {
    // The exit code is that of the verdict, which may be INCONCLUSIVE on a noisy machine; the results count anyway.
    let mut command = Command::new(program);
    let out = command.arg("report").arg(run_file(folder)).arg("--json").stderr(Stdio::inherit()).output();
    let out = out.map_err(|e| format!("cannot start `{}`: {e}", shell::show(&command)))?;
    serde_json::from_slice(&out.stdout)
        .map_err(|e| format!("`plimsoll report --json` printed no JSON ({}): {e}", out.status))
}

pub fn number(said: &Value, place: &str) -> Result<f64, String> {
    let found = said.pointer(place).and_then(Value::as_f64);
    found.ok_or_else(|| format!("plimsoll's JSON report has no number at `{place}`"))
}

/// Requires no errors, and a server's count between the completed and the sent requests: the server may have served
/// requests that were in flight at the end, and may never have read those whose connection was closed.
pub fn agrees(said: &Value, served: u64) -> Outcome {
    let (finished, sent, errors) = (number(said, REQUESTS)?, number(said, SENT)?, number(said, ERRORS)?);
    if errors > 0.0 {
        return Err(format!(
            "plimsoll's record has {errors} errors in {finished} requests: {}",
            said["errors"]
        ));
    }
    let served = served as f64;
    if finished <= served && served <= sent {
        return Ok(());
    }
    Err(format!(
        "plimsoll's record has {finished} completed and {sent} sent requests, but the server counted {served}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_count_lies_between_completed_and_sent() {
        let totals =
            |errors: u64| serde_json::json!({"requests": 90, "requests_sent": 100, "errors": errors});
        let describe = |errors: u64| serde_json::json!({"totals": totals(errors)});
        assert!(agrees(&describe(0), 90).is_ok() && agrees(&describe(0), 100).is_ok());
        assert!(agrees(&describe(0), 89).unwrap_err().contains("the server counted 89"));
        assert!(agrees(&describe(0), 101).is_err());
        assert!(agrees(&describe(1), 95).unwrap_err().contains("in 90 requests"));
        assert!(agrees(&Value::Null, 95).unwrap_err().contains(REQUESTS));
    }
}
