//! The circuit breaker: it stops a ramp after ten seconds of only errors, unless it is disabled.

use crate::support::{Ruler, Tool};

#[test]
fn a_ramp_of_only_errors_is_stopped_unless_the_breaker_is_disabled() {
    let ruler = Ruler::start(&["--status", "500", "--delay", "20ms"]);
    let url = ruler.url("/");
    let args = [url.as_str(), "--stages", "13s:4", "--json"];
    // Side by side, so that the test takes the time of one.
    let cautious = Tool::new(&args).start();
    let insisting = Tool::new(&[&args[..], &["--no-circuit-breaker"]].concat()).start();
    let (cautious, insisting) = (cautious.wait().expect_code(99), insisting.wait().expect_code(99));
    assert_eq!(cautious.json()["stopped_by"], "command");
    let seconds = cautious.json()["totals"]["measured_s"].as_f64().unwrap();
    assert!((9.5..12.5).contains(&seconds), "{seconds}");
    assert!(cautious.stderr.contains("circuit breaker"), "no message:\n{}", cautious.stderr);
    assert_eq!(insisting.json()["stopped_by"], "duration");
}
