//! `cargo xtask lab` from outside: a checkout that the test creates, with one small system on free ports. The tests
//! check that a start either completes or leaves nothing, and that the lab never stops other processes.

// A helper of a test may panic, like the test itself.
#![allow(clippy::expect_used)]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

/// A folder that looks like a checkout; removed at the end, together with everything that still runs in it.
struct Checkout {
    root: PathBuf,
    base: u16,
}

/// Tests of one process run concurrently, so each starts its search for ports at a different number.
static NEXT: AtomicU16 = AtomicU16::new(0);

impl Checkout {
    /// `more` follows a process `web` (nginx at offset 1) in its `lab.toml`.
    fn new(name: &str, more: &str) -> Checkout {
        let root = std::env::temp_dir().join(format!("plimsoll-xtask-{name}-{}", std::process::id()));
        let checkout = Checkout { root, base: free_base() };
        let nginx = "worker_processes 1;\nevents {}\nhttp {\n  access_log off;\n  client_body_temp_path tmp;\n  \
                     proxy_temp_path tmp;\n  fastcgi_temp_path tmp;\n  uwsgi_temp_path tmp;\n  scgi_temp_path tmp;\n  \
                     server {\n    listen 127.0.0.1:@{port:1};\n    location / { return 200 \"@{base}\"; }\n  }\n}\n";
        let lab = format!(
            "about = \"tiny\"\nbase = {}\nneeds = [\"nginx\", \"curl\"]\n[[file]]\nfrom = \"nginx.conf\"\n\
             to = \"nginx.conf\"\n[[process]]\nname = \"web\"\nkind = \"nginx\"\nconfig = \"nginx.conf\"\n\
             ports = [1]\nhealth = \"http://127.0.0.1:@{{port:1}}/\"\n{more}",
            checkout.base
        );
        checkout.write("testbed/tiny/nginx.conf", nginx);
        checkout.write("testbed/tiny/lab.toml", &lab);
        checkout.write("xtask/Cargo.toml", "");
        // Marks the root, wherever the folder for temporary files is.
        checkout.write("Cargo.lock", "");
        checkout
    }

    fn write(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        std::fs::create_dir_all(file.parent().expect("a file has a folder")).expect("the folder is writable");
        std::fs::write(file, text).expect("the folder is writable");
    }

    /// Returns the command in this checkout: cargo's variable for the folder of xtask determines the root.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.env("CARGO_MANIFEST_DIR", self.root.join("xtask")).arg("lab").args(line.split(' '));
        command.stdin(Stdio::null());
        command
    }

    fn lab(&self, line: &str) -> CommandOutput {
        CommandOutput(self.command(line).output().expect("xtask was built"))
    }

    fn port(&self, offset: u16) -> u16 {
        self.base * 100 + offset
    }

    fn answers(&self, offset: u16) -> bool {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port(offset))).is_ok()
    }

    fn state(&self) -> PathBuf {
        self.root.join("target/lab/tiny/lab.json")
    }

    /// Starts `lab up` with a second process that never becomes healthy, and waits until the first one is healthy.
    fn half_up(&self) -> Child {
        let mut child = self
            .command("up tiny")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("xtask was built");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        let seen = out.lines().map_while(Result::ok).any(|line| line.contains("web is healthy"));
        assert!(seen && self.answers(1));
        child
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        self.lab("down");
        let removed = std::fs::remove_dir_all(&self.root);
        // If the test has failed, its own message matters more.
        assert!(removed.is_ok() || std::thread::panicking());
    }
}

struct CommandOutput(Output);

impl CommandOutput {
    fn good(&self) -> String {
        assert!(self.0.status.success(), "{}{}", self.out(), self.err());
        self.out()
    }

    fn bad(&self) -> String {
        assert_eq!(self.0.status.code(), Some(1), "{}{}", self.out(), self.err());
        self.err()
    }

    fn out(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }
}

fn free_base() -> u16 {
    let begin = (std::process::id() % 200) as u16 + 20 * NEXT.fetch_add(1, Ordering::Relaxed);
    let free = |base: &u16| (1..=3).all(|n| TcpListener::bind((Ipv4Addr::LOCALHOST, base * 100 + n)).is_ok());
    (0..200).map(|n| 110 + (begin + n) % 200).find(free).expect("some ports are free")
}

fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args([name, &pid.to_string()]).status().expect("kill is there");
    assert!(status.success());
}

const NEVER_HEALTHY: &str = "[[process]]\nname = \"slow\"\nrun = [\"sh\", \"-c\", \"exec tail -f /dev/null\"]\n\
                             ports = [2]\n";

#[test]
fn a_system_starts_once_is_listed_and_can_be_stopped_repeatedly() {
    let checkout = Checkout::new("whole", "");
    let said = checkout.lab("list").good();
    assert!(said.contains("down; base"), "{said}");
    checkout.lab("up tiny").good();
    assert!(checkout.answers(1));
    let said = checkout.lab("list").good();
    assert!(said.contains("web") && said.contains("healthy") && said.contains(&checkout.port(1).to_string()));
    let said = checkout.lab("up tiny").good();
    assert!(said.contains("is up already"), "{said}");
    let said = checkout.lab("up tiny --base 55").bad();
    assert!(said.contains("help: run `cargo xtask lab down tiny` first"), "{said}");
    let said = checkout.lab("down").good();
    assert!(said.contains("processes stopped: 1") && !checkout.answers(1) && !checkout.state().exists());
    checkout.lab("down").good();
    assert!(checkout.lab("down tiny").good().contains("is down already"));
}

#[test]
fn a_process_that_dies_is_reported_with_its_output_and_the_others_are_stopped() {
    let dies =
        "[[process]]\nname = \"weak\"\nrun = [\"sh\", \"-c\", \"echo no paper left; exit 7\"]\nports = [2]\n";
    let checkout = Checkout::new("dies", dies);
    let said = checkout.lab("up tiny").bad();
    let expected = "process `weak` died: exit status: 7\noutput:\n    no paper left\n";
    assert!(said.contains(expected), "{said}");
    assert!(!checkout.answers(1) && !checkout.state().exists());
}

#[test]
fn a_port_in_use_is_reported_with_its_owner_which_keeps_running() {
    let checkout = Checkout::new("taken", "");
    let owner = TcpListener::bind((Ipv4Addr::LOCALHOST, checkout.port(1))).expect("it was free");
    let said = checkout.lab("up tiny").bad();
    let expected = format!("port {} is in use by", checkout.port(1));
    assert!(said.contains(&expected) && said.contains(&format!("(PID {})", std::process::id())), "{said}");
    assert!(owner.local_addr().is_ok() && checkout.answers(1));
}

#[test]
fn a_start_is_locked_and_an_interrupted_start_stops_what_it_had_started() {
    let checkout = Checkout::new("interrupted", NEVER_HEALTHY);
    let child = checkout.half_up();
    let said = checkout.lab("down tiny").bad();
    assert!(said.contains("is using `tiny`"), "{said}");
    signal("-INT", child.id());
    let said = CommandOutput(child.wait_with_output().expect("it is a child")).bad();
    assert!(said.contains("did not start: interrupted"), "{said}");
    assert!(!checkout.answers(1) && !checkout.state().exists());
}

#[test]
fn down_stops_the_rest_of_a_killed_start() {
    let checkout = Checkout::new("killed", NEVER_HEALTHY);
    let mut child = checkout.half_up();
    signal("-KILL", child.id());
    child.wait().expect("it is a child");
    assert!(checkout.answers(1), "it was killed too early to leave anything");
    assert!(checkout.lab("list").good().contains("incomplete"));
    checkout.lab("down").good();
    assert!(!checkout.answers(1) && !checkout.state().exists());
}

#[test]
fn a_reused_pid_is_not_stopped() {
    let checkout = Checkout::new("reused", "");
    checkout.lab("up tiny").good();
    let text = std::fs::read_to_string(checkout.state()).expect("it is up");
    checkout.lab("down").good();
    let mut stranger = Command::new("tail");
    let mut stranger = stranger.args(["-f", "/dev/null"]).process_group(0).spawn().expect("tail is there");
    let mut state: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    state["processes"][0]["pid"] = stranger.id().into();
    std::fs::write(checkout.state(), state.to_string()).expect("the folder is writable");
    checkout.lab("down").good();
    assert!(stranger.try_wait().expect("it is a child").is_none(), "the stranger was stopped");
    stranger.kill().expect("it is a child");
    stranger.wait().expect("it is a child");
}

#[test]
fn a_mistake_in_the_file_is_reported_with_its_place() {
    let checkout = Checkout::new("mistake", "prots = [2]\n");
    let said = checkout.lab("up tiny").bad();
    assert!(said.contains("testbed/tiny/lab.toml: line 13: unknown field `prots`"), "{said}");
    checkout.write("testbed/tiny/nginx.conf", "listen @{prot:1};\n");
    checkout.write("testbed/tiny/lab.toml", &good_again(&checkout.root));
    let said = checkout.lab("up tiny").bad();
    assert!(said.contains("testbed/tiny/nginx.conf: unknown placeholder `@{prot:1}`"), "{said}");
}

fn good_again(root: &Path) -> String {
    let text = std::fs::read_to_string(root.join("testbed/tiny/lab.toml")).expect("it was written");
    text.replace("prots = [2]\n", "")
}

#[test]
fn a_build_step_is_repeated_only_if_its_input_or_product_changes() {
    let step = "[[prepare]]\nrun = [\"sh\", \"-c\", \"cat source >> product\"]\ninputs = [\"source\"]\n\
                makes = [\"product\"]\n";
    let checkout = Checkout::new("prepared", step);
    let product =
        || std::fs::read_to_string(checkout.root.join("testbed/tiny/product")).expect("it was made");
    let start = || {
        checkout.lab("up tiny").good();
        checkout.lab("down tiny").good();
    };
    checkout.write("testbed/tiny/source", "a");
    start();
    start();
    assert_eq!(product(), "a");
    checkout.write("testbed/tiny/source", "b");
    start();
    assert_eq!(product(), "ab");
    std::fs::remove_file(checkout.root.join("testbed/tiny/product")).expect("it was made");
    start();
    assert_eq!(product(), "b");
}

#[test]
fn a_test_names_broken_contracts_and_leaves_nothing() {
    let checkout = Checkout::new("test", "");
    let contract = r#"[{"name": "good", "port": 1, "path": "/", "expect": {"status": 200, "body_bytes": [2, 3]}},
                       {"name": "bad", "port": 1, "path": "/x", "expect": {"status": 404}}]"#;
    checkout.write("testbed/tiny/contract.json", contract);
    checkout.write("experiments/tiny/experiment.yaml", "name: tiny\n");
    checkout.write("experiments/tiny/predictions.json", "[]");
    // A tool that succeeds without measuring anything counts as a failure.
    let said = checkout.lab("test tiny --tool /bin/true").bad();
    assert!(
        said.contains("contract `bad`: GET /x") && said.contains("status: expected 404, seen 200"),
        "{said}"
    );
    assert!(!said.contains("`good`") && said.contains("did not hold: 2"), "{said}");
    assert!(!said.contains("but left"), "{said}");
    assert!(!checkout.state().exists());
}

/// In place of the tool: a run leaves a folder with a part, or a file; every report is the same JSON.
const TOOL: &str = r#"#!/bin/sh
if [ "$1" = run ]; then
    while [ "$1" != --out ]; do shift; done
    LEAVES
fi
case "$*" in
    *--json*) echo '{"rate": 5}';;
    *--charts*) while [ "$1" != --charts ]; do shift; done; mkdir -p "$2" && echo drawn >"$2/a.svg"; echo "![a]($2)";;
esac
"#;

fn with_tool(name: &str, leaves: &str) -> Checkout {
    let checkout = Checkout::new(name, "");
    let contract = r#"[{"name": "good", "port": 1, "path": "/", "expect": {"status": 200}}]"#;
    checkout.write("testbed/tiny/contract.json", contract);
    checkout.write("experiments/tiny/experiment.yaml", "name: tiny\n");
    checkout.write("tool", &TOOL.replace("LEAVES", leaves));
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(checkout.root.join("tool"), all).expect("the file is writable");
    checkout
}

#[test]
fn an_answer_excuses_a_wrong_value_but_not_a_missing_one() {
    let checkout = with_tool("answered", "mkdir -p \"$2/01-one\"; exit 0");
    let predictions = r#"[
        {"id": "wrong", "text": "1, 2, 9", "part": "one", "value": "/rate", "between": [1, 2], "answer": "it was 5"},
        {"id": "gone", "text": "1, 2, 9", "part": "one", "value": "/none", "between": [1, 2], "answer": "it was 5"},
        {"id": "other", "text": "1, 2, 9", "part": "two", "value": "/rate", "between": [1, 9], "answer": "it was 5"}]"#;
    checkout.write("experiments/tiny/predictions.json", predictions);
    let tool = checkout.root.join("tool");
    let said = checkout.lab(&format!("test tiny --tool {}", tool.display())).bad();
    assert!(said.contains("did not hold: 2\n") && !said.contains("`wrong`"), "{said}");
    assert!(said.contains("`gone`") && said.contains("the report has nothing at `/none`"), "{said}");
    assert!(said.contains("`other`") && said.contains("its part did not run"), "{said}");
}

#[test]
fn a_part_that_does_not_hold_is_repeated_once_with_longer_runs() {
    // The rate is the number of runs so far: the second one is in bounds, or none is.
    const COUNTS: &str = r#"#!/bin/sh
here=$(dirname "$0")
if [ "$1" = run ]; then
    echo "$*" >>"$here/runs"
    while [ "$1" != --out ]; do shift; done
    mkdir -p "$2/01-one"
fi
case "$*" in
    *--json*) echo "{\"rate\": $(wc -l <"$here/runs")}";;
    *--charts*) while [ "$1" != --charts ]; do shift; done; mkdir -p "$2" && echo drawn >"$2/a.svg"; echo "![a]($2)";;
esac
"#;
    for (name, least, holds) in [("again", 2, true), ("never", 5, false)] {
        let checkout = with_tool(name, "");
        checkout.write("tool", COUNTS);
        let prediction = format!(
            r#"[{{"id": "late", "text": "{least} to 9", "part": "one", "value": "/rate", "between": [{least}, 9]}}]"#
        );
        checkout.write("experiments/tiny/predictions.json", &prediction);
        let said = checkout.lab(&format!("test tiny --tool {}", checkout.root.join("tool").display()));
        let out = said.out();
        assert!(
            out.contains("`late`: predicted") && out.contains("repeating with runs 3 times as long"),
            "{out}"
        );
        assert!(out.contains("repeated with longer runs: tiny one"), "{out}");
        let runs = std::fs::read_to_string(checkout.root.join("runs")).expect("the tool was run");
        assert!(
            runs.lines().count() == 2 && runs.contains("scale=0.05") && runs.contains("scale=0.15 "),
            "{runs}"
        );
        match holds {
            true => drop(said.good()),
            false => assert!(said.bad().contains("did not hold: 1"), "{}", said.err()),
        }
    }
}

#[test]
fn results_before_a_failed_part_are_reported_with_the_failure() {
    let checkout = with_tool("halfway", "mkdir -p \"$2/01-one\"; exit 2");
    let predictions =
        r#"[{"id": "seen", "text": "1 to 2, 1 to 9", "part": "one", "value": "/rate", "between": [1, 9]}]"#;
    checkout.write("experiments/tiny/predictions.json", predictions);
    let tool = checkout.root.join("tool");
    let said = checkout.lab(&format!("run tiny --tool {}", tool.display()));
    assert!(said.bad().contains("ended with 2"), "{}", said.err());
    assert!(said.out().contains("1 of 1 predictions held"), "{}", said.out());
    assert!(!checkout.answers(1));
}

#[test]
fn a_single_run_has_its_charts_next_to_its_file() {
    let checkout = with_tool("single", "echo run >\"$2\"; exit 0");
    let predictions = r#"[{"id": "seen", "text": "1 to 2, 1 to 9", "value": "/rate", "between": [1, 9]}]"#;
    checkout.write("experiments/tiny/predictions.json", predictions);
    let tool = checkout.root.join("tool");
    let said = checkout.lab(&format!("run tiny --tool {}", tool.display())).good();
    assert!(said.contains("1 of 1 predictions held"), "{said}");
    let runs = std::fs::read_dir(checkout.root.join("target/lab/tiny/runs")).expect("it was run");
    let folder = runs.flatten().next().expect("it was run once").path();
    assert!(folder.join("00-run.plim").is_file() && folder.join("00-run/figures/a.svg").is_file());
}

#[test]
fn list_ends_quietly_if_its_reader_closes_the_pipe() {
    let checkout = Checkout::new("unread", "");
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    let said = CommandOutput(checkout.command("list").stdout(writer).output().expect("xtask was built"));
    assert!(said.err().is_empty() && said.0.status.success(), "{}", said.err());
}
