//! The cost of an iteration; a time is only printed, because machines differ.

use super::run::{json, run, settings};

#[test]
#[ignore = "runs with `cargo xtask nightly`"]
fn costs_of_an_iteration() {
    let body = "exports.default = () => { const r = m1.default.get('http://127.0.0.1:8080/'); \
                m0.check(r, { a: (r) => r.status === 200, b: (r) => r.status < 300 }) }";
    let begin = std::time::Instant::now();
    let trace = run(body, 200_000, settings(), |_| json(200, ""));
    let per = begin.elapsed().as_nanos() / 200_000;
    assert_eq!(trace.checks["a"], (200_000, 0));
    eprintln!("{per} ns an iteration, with the simulated server");
}
