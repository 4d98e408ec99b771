//! `cargo xtask needs`: the system programs that tests and benchmarks use. Probed by program name, because a
//! person may have them from somewhere else than the distribution; installed only where that needs no password.

use crate::{Outcome, shell};
use std::process::{Command, Stdio};

/// (program, Debian package, what for).
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("cc", "gcc", "SQLite and the benchmark targets"),
    ("wrk", "wrk", "peer in benchmarks"),
    ("ab", "apache2-utils", "peer in benchmarks"),
    ("h2load", "nghttp2-client", "peer in benchmarks"),
    ("nginx", "nginx-light", "an ordinary server for conformance tests"),
    ("node", "nodejs", "an ordinary server, and one for event streams"),
    ("npm", "npm", "the event-stream library of that one"),
    ("go", "golang-go", "an ordinary server"),
    ("openssl", "openssl", "certificates of a test's own"),
    ("tmux", "tmux", "the live view in a real terminal"),
    ("unshare", "util-linux", "a network of a test's own"),
    ("nsenter", "util-linux", "a process in the network of another"),
    ("taskset", "util-linux", "a program on one CPU"),
    ("nft", "nftables", "packets that get lost"),
    ("ss", "iproute2", "socket counts seen from outside"),
    ("tc", "iproute2", "a link of a known width"),
    ("python3", "python3-minimal", "a network device with a way to the target and back"),
    ("sqlite3", "sqlite3", "run files read by another program"),
    ("strace", "strace", "system calls per request"),
];

pub fn command(arguments: &[String]) -> Outcome {
    if let Some(unknown) = arguments.first() {
        return Err(format!("unknown argument `{unknown}`"));
    }
    let missing = missing(|program| shell::find_program(program).is_some());
    if missing.is_empty() {
        println!("all {} programs are here", PROGRAMS.len());
        return Ok(());
    }
    for (program, package, purpose) in &missing {
        println!("missing: {program} (package {package}; {purpose})");
    }
    let packages: Vec<&str> = missing.iter().map(|row| row.1).collect();
    match installer() {
        Some(prefix) => install(prefix, &packages),
        None => Err(format!("some programs are missing\ntype: {}", sentence(&packages))),
    }
}

fn missing(here: impl Fn(&str) -> bool) -> Vec<&'static (&'static str, &'static str, &'static str)> {
    PROGRAMS.iter().filter(|row| !here(row.0)).collect()
}

/// The words to put before `apt-get`, when installing needs no password here.
fn installer() -> Option<&'static [&'static str]> {
    shell::find_program("apt-get")?;
    if nix::unistd::geteuid().is_root() {
        return Some(&[]);
    }
    // -n: never ask. A chore that stops at a password prompt hangs CI.
    let quiet =
        Command::new("sudo").args(["-n", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

fn install(prefix: &[&str], packages: &[&str]) -> Outcome {
    apt(prefix, &["update", "-qq"])?;
    let mut line = vec!["install", "-y", "-qq", "--no-install-recommends"];
    line.extend_from_slice(packages);
    apt(prefix, &line)?;
    let still = missing(|program| shell::find_program(program).is_some());
    if still.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = still.iter().map(|row| row.0).collect();
    Err(format!("installed, but still not found: {}", names.join(", ")))
}

fn apt(prefix: &[&str], line: &[&str]) -> Outcome {
    let words: Vec<&str> =
        prefix.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]).collect();
    // `words` starts with sudo or env: never empty.
    shell::run(Command::new(words[0]).args(&words[1..]).args(line))
}

fn sentence(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install -y --no-install-recommends {}", packages.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_asked_for() {
        let gone = missing(|program| program != "strace" && program != "ab");
        let packages: Vec<&str> = gone.iter().map(|row| row.1).collect();
        assert_eq!(packages, ["apache2-utils", "strace"]);
        assert!(sentence(&packages).ends_with("--no-install-recommends apache2-utils strace"));
    }
}
