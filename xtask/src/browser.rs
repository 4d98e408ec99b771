//! `cargo xtask browser`: the report and the console in a real browser. It makes real runs, writes their pages, and
//! tests them with Playwright in the distribution's Chromium. `--shots` only takes screenshots of every section, and
//! `--pictures` only those of README and docs.

use chore::{Outcome, needs, shell};
use std::path::{Path, PathBuf};
use std::process::Command;

pub const USAGE: &str = "[--shots | --pictures | --only SPEC] [--tool FILE]";

pub fn command(arguments: &[String]) -> Outcome {
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let given = match words.iter().position(|word| *word == "--tool") {
        Some(at) if at + 1 < words.len() => words.drain(at..at + 2).next_back(),
        _ => None,
    };
    let specs: Vec<&str> = match words[..] {
        [] => vec!["report", "results", "console"],
        ["--shots"] => vec!["shots"],
        ["--pictures"] => vec!["pictures"],
        ["--only", spec] => vec![spec],
        _ => {
            return Err(format!(
                "unknown arguments `{}`\nusage: cargo xtask browser {USAGE}",
                words.join(" ")
            ));
        }
    };
    needs::ensure(&["node", "npm", "chromium", "nats-server"])?;
    let chromium = needs::find("chromium").ok_or("chromium was installed, but is not found")?;
    let target = shell::target_folder()?;
    let (tool, maker) = match given {
        Some(tool) => built(Path::new(tool))?,
        None => build(&target)?,
    };
    let here = shell::root().join("tests/browser");
    packages(&here)?;
    if words.is_empty() {
        scripts()?;
    }
    let mut run = Command::new("npx");
    run.args(["--no-install", "playwright", "test"]).args(specs.iter().map(|spec| format!("/{spec}")));
    run.current_dir(&here)
        .env("PLIMSOLL_BIN", tool)
        .env("PLIMSOLL_MAKE_RUN", maker)
        .env("PLIMSOLL_BROWSER_FOLDER", target.join("browser"))
        .env("PLIMSOLL_CHROMIUM", chromium);
    shell::run(&mut run)
}

/// Builds the release binary, and the example that generates runs in simulated time.
fn build(target: &Path) -> Result<(PathBuf, PathBuf), String> {
    shell::run(shell::cargo().args(["build", "--release", "--quiet"]))?;
    let example = ["build", "--quiet", "--package", "plimsoll-testkit", "--example", "make_run"];
    shell::run(shell::cargo().args(example))?;
    Ok((target.join("release/plimsoll"), target.join("debug/examples/make_run")))
}

/// Returns existing ones: cargo builds examples together with tests.
fn built(tool: &Path) -> Result<(PathBuf, PathBuf), String> {
    let tool = std::path::absolute(tool).map_err(|e| format!("`{}`: {e}", tool.display()))?;
    let maker = tool.with_file_name("examples").join("make_run");
    if let Some(file) = [&tool, &maker].into_iter().find(|file| !file.is_file()) {
        let help = "help: build it with `cargo test --workspace --no-run`";
        return Err(format!("`{}` does not exist\n{help}", file.display()));
    }
    Ok((tool, maker))
}

/// Checks the scripts without a browser: types, and tests of their pure parts.
fn scripts() -> Outcome {
    let web = shell::root().join("crates/ui/web");
    packages(&web)?;
    for command in ["check", "test"] {
        shell::run(Command::new("npm").args(["run", "--silent", command]).current_dir(&web))?;
    }
    shell::run(
        Command::new("npx")
            .args(["--no-install", "tsc", "-p", "tsconfig.json"])
            .current_dir(shell::root().join("tests/browser")),
    )
}

/// Installs the packages of the lock file, unless they are installed. It downloads no browser: the tests use that of
/// the distribution.
fn packages(here: &Path) -> Outcome {
    let lock = here.join("package-lock.json");
    let mark = here.join("node_modules/.package-lock.json");
    let is_newer = |a: &Path, b: &Path| {
        let time = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
        time(a) >= time(b)
    };
    if mark.is_file() && is_newer(&mark, &lock) {
        return Ok(());
    }
    shell::run(
        Command::new("npm")
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .current_dir(here),
    )
}
