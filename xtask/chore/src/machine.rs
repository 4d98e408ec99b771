//! Description of the machine: a label for folder names (never a host name), and the lines that a reader of results
//! needs.

use crate::shell;
use jiff::Timestamp;
use std::process::Command;

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns a label such as `linux-6.18.44-amd-epyc-2-cores`, which distinguishes machines and names no person or
/// network.
pub fn label() -> String {
    slug(&format!("{}-{}-{}-{}-cores", std::env::consts::OS, kernel(), model(), cores()))
}

/// Returns kernel, processor, cores, memory, and congestion control, one line each.
pub fn describe() -> Vec<(&'static str, String)> {
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".into());
    let congestion = read("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_else(|| "unknown".into());
    vec![
        ("kernel", kernel()),
        ("processor", model()),
        ("cores", cores().to_string()),
        ("memory", memory),
        ("congestion control", congestion),
    ]
}

/// Returns the load averages over 1, 5, and 15 minutes. The bench itself adds up to two; more is from other processes.
pub fn load_average() -> String {
    let text = read("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(", ")
}

/// Returns the date in UTC.
pub fn today() -> String {
    Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Returns date and time in UTC, as the name of a folder.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%d-%H%M%S").to_string()
}

/// Returns the first line of a program's version output that contains a digit. Programs differ in the flag, the stream,
/// and the exit status, so all are accepted. A tool that prints no version is listed as "unknown", never omitted.
pub fn version(program: &str) -> String {
    for flag in ["--version", "-V", "-v", "version"] {
        let Ok(out) = Command::new(program).arg(flag).output() else { continue };
        let text = [out.stdout, out.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let name = program.rsplit('/').next().unwrap_or(program);
        let found = text.lines().find(|line| line.contains(name) || line.to_lowercase().contains("version"));
        if let Some(line) = found.filter(|line| line.contains(|c: char| c.is_ascii_digit())) {
            return line.trim().chars().take(80).collect();
        }
    }
    "unknown".into()
}

/// Returns the checked-out commit, or `none`.
pub fn commit() -> String {
    let out =
        Command::new("git").current_dir(shell::root()).args(["describe", "--always", "--dirty"]).output();
    let text = out
        .ok()
        .filter(|o| o.status.success())
        .map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    text.filter(|t| !t.is_empty()).unwrap_or_else(|| "none".into())
}

fn kernel() -> String {
    read("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".into())
}

fn model() -> String {
    field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into())
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = read(path)?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn slug(text: &str) -> String {
    let mut out = String::new();
    for letter in text.to_lowercase().chars() {
        let keep = letter.is_ascii_alphanumeric() || letter == '.';
        if keep {
            out.push(letter);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_plain_folder_name() {
        assert_eq!(slug("linux-6.1-AMD EPYC (tm) 9@3GHz-2-cores"), "linux-6.1-amd-epyc-tm-9-3ghz-2-cores");
        assert!(label().ends_with("-cores"));
    }
}
