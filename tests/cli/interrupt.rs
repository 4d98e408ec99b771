//! Ctrl-C: once ends the run with a report, twice ends the program.

use crate::support::{Ruler, Scratch, Tool};

#[test]
fn once_ends_the_run_with_a_report() {
    for signal in ["INT", "TERM"] {
        let ruler = Ruler::start(&[]);
        let running = Tool::new(&[&ruler.url("/"), "-r", "500", "-d", "60s", "--json"]).start();
        ruler.wait_for_requests(200);
        running.signal(signal);
        let output = running.wait();
        let json = output.json();
        assert_eq!(json["stopped_by"], "interrupt", "{signal}");
        assert!(json["totals"]["requests"].as_u64().unwrap() >= 100);
        assert!(
            [0, 3].contains(&output.code),
            "an ordinary end has the code of its verdict, not {}",
            output.code
        );
        assert_eq!(json["complete"], true);
    }
}

#[test]
fn twice_ends_the_program_with_130_and_the_run_file_can_be_read() {
    let ruler = Ruler::start(&[]);
    let scratch = Scratch::new();
    let file = scratch.path("run.plim");
    let running = Tool::new(&[&ruler.url("/"), "-r", "200", "-d", "60s", "--out", &file]).start();
    ruler.wait_for_requests(300);
    // Stopped, it takes neither; continued, it finds both: SIGINT and SIGTERM are pending side by side.
    running.signal("STOP");
    running.signal("INT");
    running.signal("TERM");
    running.signal("CONT");
    let output = running.wait();
    assert_eq!(output.code, 130, "{}", output.stderr);
    assert_eq!(output.stdout, "", "a report after the second interrupt");
    let report = Tool::run(&["report", &file, "--json"]);
    assert!(report.json()["totals"]["requests"].is_number());
}
