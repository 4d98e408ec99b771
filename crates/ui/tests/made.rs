//! Builds of the scripts: the same bytes in every directory, built once for all profiles. Without Node, the tool works
//! and reports what is missing. Each build here is real, of a package that prints its scripts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory for this test below the one that cargo provides.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("left over from an earlier run of this test alone");
    }
    fs::create_dir_all(folder.join("src")).expect("cargo's directory for tests is writable");
    folder
}

/// A program that depends on this crate and prints its contents.
fn package(name: &str) -> PathBuf {
    let folder = folder(name);
    let manifest = format!(
        "[package]\nname = \"asks\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
         plimsoll-ui = {{ path = {:?} }}\n\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    let main = r#"fn main() {
        match plimsoll_ui::missing() {
            Some(missing) => println!("missing: {}; {}", missing.why, missing.fix),
            None => println!("missing: nothing"),
        }
        println!("console: {}", plimsoll_ui::console_files().len());
        print!("{}", plimsoll_ui::report_script().unwrap_or("no script"));
    }"#;
    fs::write(folder.join("Cargo.toml"), manifest).expect("the folder was just made");
    fs::write(folder.join("src/main.rs"), main).expect("the folder was just made");
    folder
}

/// A `PATH` with only the programs of a Rust build, as on a machine without Node.
fn path_without_node(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    fs::create_dir_all(&bin).expect("the folder was just made");
    let all = std::env::var_os("PATH").expect("cargo was found in it");
    for tool in ["cargo", "rustc", "cc", "ld", "as"] {
        let found = std::env::split_paths(&all).map(|place| place.join(tool)).find(|file| file.is_file());
        let link = bin.join(tool);
        if let (Some(found), false) = (found, link.exists()) {
            std::os::unix::fs::symlink(found, link).expect("the folder was just made");
        }
    }
    bin
}

struct BuildOutput {
    missing: String,
    script: String,
    /// The output of cargo during the build.
    log: String,
}

fn run(folder: &Path, path: Option<&Path>, without: Option<&str>, more: &[&str]) -> BuildOutput {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["run", "--offline", "--target-dir"])
        .arg(folder.join("target"))
        .args(more)
        .current_dir(folder);
    // The variables of this build must not reach the inner one.
    for name in ["CARGO_TARGET_DIR", "PLIMSOLL_WITHOUT_UI", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"] {
        cargo.env_remove(name);
    }
    if let Some(path) = path {
        cargo.env("PATH", path);
    }
    if let Some(value) = without {
        cargo.env("PLIMSOLL_WITHOUT_UI", value);
    }
    let output = cargo.output().expect("cargo runs this test");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{log}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (first, rest) = text.split_once('\n').expect("the program prints three lines at least");
    let (_, script) = rest.split_once('\n').expect("the program prints three lines at least");
    let missing = first.trim_start_matches("missing: ").to_owned();
    BuildOutput { missing, script: script.to_owned(), log }
}

#[test]
fn without_node_everything_builds_and_names_what_is_missing() {
    let folder = package("without-node");
    let bin = path_without_node(&folder);
    let said = run(&folder, Some(&bin), None, &[]);
    assert_eq!(said.script, "no script");
    assert!(
        said.missing
            .starts_with("Node was not found; install Node 22.12 or newer (or 20 since 20.19) with npm"),
        "{}",
        said.missing
    );
    assert!(said.missing.contains("`touch crates/ui/build.rs`"), "{}", said.missing);
    assert_eq!(said.log.matches("warning:").count(), 1, "{}", said.log);
}

#[test]
fn a_node_that_is_too_old_is_reported() {
    let folder = package("old-node");
    let bin = path_without_node(&folder);
    for (name, version) in [("node", "v18.20.1"), ("npm", "9.2.0")] {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\necho {version}\n")).expect("the folder was just made");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&file, mode).expect("the test made the file");
    }
    let said = run(&folder, Some(&bin), None, &[]);
    assert!(
        said.missing.starts_with("Node v18.20.1 cannot run the bundler; install Node 22.12"),
        "{}",
        said.missing
    );
}

#[test]
fn a_build_without_scripts_is_quiet_and_does_not_look_for_node() {
    let folder = package("on-purpose");
    let said = run(&folder, None, Some("1"), &[]);
    assert_eq!(said.script, "no script");
    assert!(said.missing.contains("PLIMSOLL_WITHOUT_UI=1"), "{}", said.missing);
    assert!(!said.log.contains("warning:"), "{}", said.log);
}

/// If this crate has its scripts, two builds in two directories give the same bytes, and the second profile of one of
/// them needs no Node.
#[test]
fn scripts_have_the_same_bytes_everywhere_and_are_built_once_for_all_profiles() {
    let Some(own) = plimsoll_ui::report_script() else {
        let why = plimsoll_ui::missing().expect("one of the two exists");
        assert!(why.fix.contains("build again"), "{why:?}");
        return;
    };
    let folder = package("twice");
    let first = run(&folder, None, None, &[]);
    assert_eq!(first.missing, "nothing", "{}", first.log);
    assert!(first.script == own, "the same sources gave different bytes in another directory");
    let bin = path_without_node(&folder);
    let second = run(&folder, Some(&bin), None, &["--release"]);
    assert!(second.script == own, "another profile did not reuse the scripts: {}", second.missing);
}

#[test]
fn the_console_exists_if_the_script_does() {
    let files = plimsoll_ui::console_files();
    assert_eq!(files.is_empty(), plimsoll_ui::missing().is_some());
    let mimes: Vec<(&str, &str)> = files.iter().map(|file| (file.path, file.mime)).collect();
    if !files.is_empty() {
        assert!(mimes.contains(&("index.html", "text/html; charset=utf-8")), "{mimes:?}");
        let script =
            |(path, mime): &(&str, &str)| path.ends_with(".js") && *mime == "text/javascript; charset=utf-8";
        assert!(mimes.iter().any(script), "{mimes:?}");
        assert!(
            mimes.iter().all(|(path, mime)| !path.starts_with('/') && *mime != "application/octet-stream")
        );
        assert!(files.iter().all(|file| !file.bytes.is_empty()));
    }
}

#[test]
fn a_script_can_be_embedded_and_requests_nothing() {
    let Some(script) = plimsoll_ui::report_script() else {
        assert!(plimsoll_ui::missing().is_some(), "neither a script nor a reason");
        return;
    };
    assert!(plimsoll_ui::missing().is_none());
    assert!(script.len() < 120_000, "{} bytes", script.len());
    let lower = script.to_lowercase();
    // Text that would end the script element, and features that the page's policy forbids.
    for word in [
        "</script",
        "<!--",
        "eval(",
        "new function",
        "innerhtml",
        "insertadjacenthtml",
        "document.write",
        "fetch(",
    ] {
        assert!(!lower.contains(word), "the script has `{word}`");
    }
    // The only addresses in it are names of XML dialects.
    for (at, _) in lower.match_indices("http") {
        assert!(
            lower[at..].starts_with("http://www.w3.org/"),
            "{}",
            &script[at..(at + 60).min(script.len())]
        );
    }
    assert!(script.contains("Leon Sorokin"), "the script includes the license of its library");
}
