//! Runs a script for what it prints.

use super::run::{Answer, factory, json, run_script, settings};
use plimsoll_js::Isolation;

/// Runs `body` once as the default function, with imports `m0`, `m1`, ...; returns the lines of the console without
/// their level.
pub fn lines(imports: &[&str], body: &str) -> Vec<String> {
    lines_with(imports, body, |_| json(200, "{}"))
}

/// As [`lines`], with responses of a server.
pub fn lines_with(imports: &[&str], body: &str, server: impl FnMut(&str) -> Answer) -> Vec<String> {
    let body = format!("exports.default = async () => {{ {body} }};");
    let mut own = settings();
    own.isolation = Isolation::Runtime;
    let trace = run_script(vec![factory(imports, &body)], 1, 1, own, server);
    trace
        .console
        .into_iter()
        .map(|line| line.strip_prefix("info: ").map(str::to_owned).unwrap_or(line))
        .collect()
}
