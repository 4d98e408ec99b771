//! Timers of the event loop.

use super::run::{Trace, json, run, settings};
use plimsoll_js::{Isolation, Settings};

fn run_once(body: &str) -> Trace {
    let settings = Settings { isolation: Isolation::Runtime, ..settings() };
    run(&format!("exports.default = () => {{ {body} }}"), 1, settings, |_| json(200, "{}"))
}

#[test]
fn a_timer_that_is_cleared_at_once_does_not_delay_the_end_of_the_iteration() {
    assert_eq!(run_once("setTimeout(() => {}, 5000)").slept_ns, 5_000_000_000);
    assert_eq!(run_once("clearTimeout(setTimeout(() => {}, 5000))").slept_ns, 0);
}

#[test]
fn a_timer_that_expires_while_another_callback_waits_is_run_after_it() {
    let trace = run_once(
        "setTimeout(() => { m1.get('http://127.0.0.1:8080/'); console.log('first') }, 5); \
         setTimeout(() => console.log('second'), 5.5)",
    );
    assert_eq!(trace.console, ["info: first", "info: second"]);
}
