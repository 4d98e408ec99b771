//! A run of tests that is interrupted as on a CI machine: by one signal to one process. The tests have their own
//! process group, which that signal does not reach. Here, cargo is a script that reports one test program, and that
//! program is a script that hangs.
#![allow(clippy::expect_used)]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn script(file: &Path, text: &str) -> String {
    std::fs::write(file, format!("#!/bin/sh\n{text}\n")).expect("the folder is writable");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file, executable).expect("it belongs to this user");
    file.display().to_string()
}

#[test]
fn an_interrupted_run_ends_its_tests_with_their_children_and_shows_their_output() {
    let folder = std::env::temp_dir().join(format!("xtask-interrupted-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("xtask")).expect("the folder for temporary files is writable");
    // Marks the root, wherever the folder for temporary files is.
    std::fs::write(folder.join("Cargo.lock"), "").expect("the folder is writable");
    let truth = script(&folder.join("truth"), "echo test a ... ok\nsleep 60 &\necho pid $! here\nwait");
    let root = folder.display();
    let cargo = script(
        &folder.join("cargo"),
        &format!(
            "case $1 in metadata) echo '{{\"target_directory\":\"{root}\"}}' ;;\n\
             *) echo '{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"{root}/Cargo.toml\",\
             \"target\":{{\"name\":\"truth\"}},\"profile\":{{\"test\":true}},\"executable\":\"{truth}\"}}' ;; esac"
        ),
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("nightly")
        .env("CARGO", cargo)
        .env("CARGO_MANIFEST_DIR", folder.join("xtask"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xtask can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "truth: started, output in test-output/truth.txt"));

    let said = folder.join("test-output/truth.txt");
    let deadline = Instant::now() + Duration::from_secs(20);
    let pid = loop {
        let text = std::fs::read_to_string(&said).unwrap_or_default();
        if let Some(pid) = text.split("pid ").nth(1).and_then(|rest| Some(rest.split_once(' ')?.0.to_owned()))
        {
            break pid;
        }
        assert!(Instant::now() < deadline, "output `{text}`");
    };
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` can be started").success());
    let rest: Vec<String> = lines.collect();
    let status = child.wait().expect("a child can be waited for");
    let mut sentence = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut sentence).expect("it is text");
    assert_eq!(status.code(), Some(1), "{sentence}");
    assert!(sentence.ends_with("interrupted\n"), "{sentence}");
    assert!(rest.contains(&"test a ... ok".to_string()), "{rest:?}");
    // A zombie counts as ended, regardless of which process reaps it.
    let lives =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while lives() {
        assert!(Instant::now() < deadline, "{pid} is still running");
    }
    std::fs::remove_dir_all(&folder).expect("it is removable");
}
