//! `cargo xtask needs`: the system programs that tests and benchmarks use. It looks for the programs, not for packages,
//! because they may be from elsewhere than the distribution. It installs them only if that needs no password.

use crate::{Outcome, shell};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// (program, Debian package, purpose).
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("cc", "gcc", "SQLite and the benchmark targets"),
    ("wrk", "wrk", "peer in benchmarks"),
    ("ab", "apache2-utils", "peer in benchmarks"),
    ("h2load", "nghttp2-client", "peer in benchmarks"),
    ("nghttpd", "nghttp2-server", "an ordinary server of HTTP/2"),
    ("nginx", "nginx-light", "an ordinary server for conformance tests"),
    ("node", "nodejs", "an ordinary server, and one for event streams"),
    ("npm", "npm", "the event-stream library of that server"),
    ("go", "golang-go", "an ordinary server, and servers of the testbed (which require 1.25 or newer)"),
    ("openssl", "openssl", "certificates for a test"),
    ("tmux", "tmux", "the live view in a real terminal"),
    ("unshare", "util-linux", "a separate network for a test"),
    ("nsenter", "util-linux", "a process in the network of another"),
    ("taskset", "util-linux", "a program on one CPU"),
    ("chrt", "util-linux", "a build with idle priority during the tests"),
    ("nft", "nftables", "lost packets"),
    ("ss", "iproute2", "socket counts from outside the tool"),
    ("tc", "iproute2", "a link with a known bandwidth"),
    ("ip", "iproute2", "a network for that link"),
    ("python3", "python3", "a network device with a delay, and a library of HPACK"),
    ("sqlite3", "sqlite3", "run files read by another program"),
    ("curl", "curl", "an independent client for the contracts of the testbed"),
    ("postgres", "postgresql", "a database under load"),
    ("initdb", "postgresql", "a cluster for that database"),
    ("psql", "postgresql-client", "the rows of that database"),
    ("redis-server", "redis-server", "a cache under load"),
    ("nats-server", "nats-server", "agents"),
    ("prometheus", "prometheus", "a scraper during the load"),
    ("prometheus-node-exporter", "prometheus-node-exporter", "host metrics for Prometheus"),
    ("chromium", "chromium", "pages in a real browser"),
    ("strace", "strace", "system calls per request"),
];

/// Those that only `cargo xtask nightly` uses.
const NIGHTLY: &[(&str, &str, &str)] = &[
    ("java", "default-jdk-headless", "an ordinary server of HTTP/2"),
    ("mvn", "maven", "the libraries of that server"),
];

fn rows() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    PROGRAMS.iter().chain(NIGHTLY)
}

/// Installs what only `cargo xtask nightly` uses.
pub fn nightly() -> Outcome {
    let all: Vec<&str> = NIGHTLY.iter().map(|row| row.0).collect();
    ensure(&all)
}

pub fn command(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("unknown argument `{unknown}`"));
    }
    let all: Vec<&str> = PROGRAMS.iter().map(|row| row.0).collect();
    ensure(&all)?;
    println!("all {} programs are installed", PROGRAMS.len());
    Ok(())
}

/// Installs the missing ones of these programs, or returns an error with the command that does.
pub fn ensure(programs: &[&str]) -> Outcome {
    if let Some(unknown) = programs.iter().find(|name| !rows().any(|row| row.0 == **name)) {
        return Err(format!("unknown program `{unknown}`\nhelp: add a row to xtask/chore/src/needs.rs"));
    }
    let missing = missing(programs, |program| find(program).is_some());
    if missing.is_empty() {
        return Ok(());
    }
    for (program, package, purpose) in &missing {
        println!("missing: {program} (package {package}; {purpose})");
    }
    let packages: Vec<&str> = missing.iter().map(|row| row.1).collect();
    match installer() {
        Some(prefix) => {
            install(prefix, &packages)?;
            let names: Vec<&str> = missing.iter().map(|row| row.0).filter(|n| find(n).is_none()).collect();
            let still = names.join(", ");
            if names.is_empty() { Ok(()) } else { Err(format!("installed, but still not found: {still}")) }
        }
        None => Err(format!("some programs are missing\nhelp: run {}", sentence(&packages))),
    }
}

/// Returns an error if the file system of this folder has less free space. A linker that runs out of it is killed by a
/// signal and does not say why.
pub fn space(folder: &Path, bytes: u64) -> Outcome {
    // The folder of a clean checkout does not exist yet.
    let Some(existing) = folder.ancestors().find(|path| path.exists()) else { return Ok(()) };
    let system = nix::sys::statvfs::statvfs(existing)
        .map_err(|e| format!("cannot read the free space of `{}`: {e}", existing.display()))?;
    enough(folder, system.blocks_available() as u64 * system.fragment_size() as u64, bytes)
}

fn enough(folder: &Path, free: u64, needed: u64) -> Outcome {
    const GB: f64 = 1e9;
    if free >= needed {
        return Ok(());
    }
    Err(format!(
        "`{}` has {:.1} GB of free disk space, but building and testing need {:.1} GB\nhelp: free disk space, or set \
         CARGO_TARGET_DIR to a folder on another disk",
        folder.display(),
        free as f64 / GB,
        needed as f64 / GB
    ))
}

/// Returns the path of a program. Debian installs the server programs of each PostgreSQL version in a folder that is
/// not on PATH; of several versions, the newest is used.
pub fn find(program: &str) -> Option<PathBuf> {
    if let Some(path) = shell::find_program(program) {
        return Some(path);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    folders.sort_by_key(|path| std::cmp::Reverse(number(path)));
    folders.into_iter().map(|path| path.join("bin").join(program)).find(|path| path.is_file())
}

fn missing(
    programs: &[&str],
    here: impl Fn(&str) -> bool,
) -> Vec<&'static (&'static str, &'static str, &'static str)> {
    rows().filter(|row| programs.contains(&row.0) && !here(row.0)).collect()
}

/// Returns the words before `apt-get`, if installing needs no password.
fn installer() -> Option<&'static [&'static str]> {
    shell::find_program("apt-get")?;
    if nix::unistd::geteuid().is_root() {
        return Some(&[]);
    }
    // -n: never prompt. A chore that stops at a password prompt hangs CI.
    let quiet =
        Command::new("sudo").args(["-n", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

/// Debian starts a server as soon as it is installed. A policy program that exits with 101 prevents that; an existing
/// one stays. One shell does all of it, because the program must be removed at any end of the installation.
const INSTALL: &str = r#"
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\nexit 101\n' > $policy && chmod 755 $policy || exit 1
fi
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
"#;

fn install(prefix: &[&str], packages: &[&str]) -> Outcome {
    as_root(prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update", "-qq"])?;
    let mut line = vec!["sh", "-c", INSTALL, "install"];
    line.extend_from_slice(packages);
    println!("installing: {}", packages.join(" "));
    as_root(prefix, &line).map_err(|_| format!("cannot install {}", packages.join(" ")))
}

fn as_root(prefix: &[&str], line: &[&str]) -> Outcome {
    let words: Vec<&str> = prefix.iter().chain(line).copied().collect();
    // `line` is never empty: it names a program.
    shell::run(Command::new(words[0]).args(&words[1..]))
}

fn sentence(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {}", packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_disk_space_is_an_error_with_both_numbers() {
        let here = &std::env::temp_dir().join("plimsoll-no/such/folder");
        assert_eq!(enough(here, 2_000_000_000, 2_000_000_000), Ok(()));
        let sentence = enough(here, 1_900_000_000, 12_000_000_000).unwrap_err();
        assert!(sentence.contains("1.9 GB of free") && sentence.contains("need 12.0 GB"), "{sentence}");
        assert!(space(here, u64::MAX).is_err() && space(here, 0).is_ok());
    }

    #[test]
    fn only_missing_packages_are_installed() {
        let all: Vec<&str> = PROGRAMS.iter().map(|row| row.0).collect();
        let gone = missing(&all, |program| program != "strace" && program != "ab");
        let packages: Vec<&str> = gone.iter().map(|row| row.1).collect();
        assert_eq!(packages, ["apache2-utils", "strace"]);
        assert!(missing(&["wrk"], |program| program != "strace").is_empty());
        assert!(sentence(&packages).ends_with("--no-install-recommends apache2-utils strace"));
    }
}
