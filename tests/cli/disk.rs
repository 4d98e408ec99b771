//! A full disk during a run, and a run file that was deleted. Each test has its own small disk in a mount namespace.

use crate::support::{Ruler, Scratch, Tool, namespace, run_alongside};
use std::io::Write;
use std::path::Path;

/// Fills the disk with another file, and keeps it full until `is_over`.
fn fill(disk: &Path, is_over: &dyn Fn() -> bool) {
    let mut hog = std::fs::File::create(disk.join("hog")).unwrap();
    while !is_over() {
        if hog.write_all(&[1; 4096]).is_err() {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_full_disk_keeps_the_totals_and_report_reads_them_there() {
    let test = "disk::a_full_disk_keeps_the_totals_and_report_reads_them_there";
    namespace::on_a_disk(test, 3_500, run_alongside, |disk| {
        let (ruler, scratch) = (Ruler::start(&["--delay", "1ms"]), Scratch::new());
        // On the full disk itself, so that the totals have no other place to go.
        let file = disk.join("run.plim").display().to_string();
        // 400 names: each second is long.
        let requests: Vec<String> = (0..400).map(|at| format!("{{ get: \"/{at}\" }}")).collect();
        let text = format!(
            "target: {}\nscenarios: {{ all: [ {} ] }}\nload: {{ users: 4, duration: 7s }}\n",
            ruler.url(""),
            requests.join(", ")
        );
        let experiment = scratch.file("many.yaml", &text);
        let run = Tool::new(&["run", &experiment, "--json", "--out", &file]).start();
        ruler.wait_for_requests(2_000);
        let over = std::sync::atomic::AtomicBool::new(false);
        let output = std::thread::scope(|scope| {
            scope.spawn(|| fill(disk, &|| over.load(std::sync::atomic::Ordering::Relaxed)));
            let output = run.wait();
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            output
        });
        let said = output.json();
        let totals = &said["totals"];
        assert!(totals["requests"].as_u64().unwrap() > 2_000, "{totals:#}");
        let events = said["events"].to_string();
        assert!(
            events.contains("the disk was full; the totals include them"),
            "the gap is not reported: {events}"
        );
        // Named where it is not there: a second place would be in the state directory.
        assert_eq!(
            output.stderr.contains("was saved to"),
            !output.state_files.is_empty(),
            "{}",
            output.stderr
        );
        if output.state_files.is_empty() {
            let full = Tool::run(&["report", &file, "--json"]).json();
            assert_eq!(&full["totals"], totals, "on the full disk");
            std::fs::remove_file(disk.join("hog")).unwrap();
            assert_eq!(
                &Tool::run(&["report", &file, "--json"]).json()["totals"],
                totals,
                "and with free space"
            );
        }
    });
}

#[test]
fn a_run_file_that_is_deleted_meanwhile_is_named_and_the_run_is_kept_elsewhere() {
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let file = scratch.path("run.plim");
    let run = Tool::new(&[&ruler.url("/"), "-r", "100", "-d", "3s", "--json", "--out", &file]).start();
    ruler.wait_for_requests(120);
    std::fs::remove_file(&file).unwrap();
    let output = run.wait();
    let named = format!("the run file `{file}` was deleted or moved during the run");
    assert!(output.stderr.contains(&named), "{}", output.stderr);
    let [second] = output.state_files.as_slice() else { panic!("{:?}", output.state_files) };
    assert!(output.stderr.contains(&format!("{second}`")), "it is named: {}", output.stderr);
    assert_eq!(output.json()["totals"]["requests"], 300);
    assert!(!output.stderr.contains("df -h"), "the disk is not to blame: {}", output.stderr);
}
