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
fn an_interrupted_load_is_tidied_up_behind_and_the_next_interrupt_ends_that_too() {
    for (path, twice) in [("/tidy", false), ("/tidy?delay=30s", true)] {
        let ruler = Ruler::start(&[]);
        let scratch = Scratch::new();
        let text = format!(
            "target: {}\nteardown: [ {{ get: {path} }} ]\nscenarios: {{ a: [ {{ get: /load }} ] }}\n\
             load: {{ arrivals: 500/s, duration: 60s }}\n",
            ruler.url("")
        );
        let file = scratch.file("tidy.yaml", &text);
        let running = Tool::new(&["run", &file, "--json", "--out", &scratch.path("run.plim")]).start();
        ruler.wait_for_requests(200);
        running.signal("INT");
        if twice {
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !ruler.last_request().contains("/tidy") {
                assert!(std::time::Instant::now() < deadline, "the tear-down has not begun within 20 s");
            }
            running.signal("INT");
            let output = running.wait();
            assert_eq!(output.code, 130, "{}", output.stderr);
            continue;
        }
        let output = running.wait();
        assert_eq!(output.json()["stopped_by"], "interrupt");
        assert!(ruler.last_request().contains("GET /tidy "), "{}", ruler.last_request());
        assert!(!output.stderr.contains("tear-down failed"), "{}", output.stderr);
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
