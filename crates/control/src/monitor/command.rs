//! Monitor that runs a program and reads the numbers that it prints, for systems that no other monitor covers.

use super::previous_counters::PreviousCounters;
use super::probe::{Found, Moment, MonitorError, PATIENCE, Probe};
use crate::reach::{Deadline, words};
use plimsoll_plan::watch::Unit;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// Runs one program per sample.
pub struct Command {
    words: Vec<String>,
}

/// Maximum bytes of either stream, and maximum numbers of one sample.
const MOST_BYTES: usize = 1 << 20;
const MOST_READINGS: usize = 200;
/// Minimum length of a part of an argument that is redacted; shorter parts occur in ordinary words.
const HIDDEN_FROM: usize = 4;

impl Command {
    /// Creates a probe for a program with arguments, which is started without a shell.
    pub fn new(words: &[String]) -> Command {
        Command { words: words.to_vec() }
    }

    fn start(&self) -> Result<(&str, Child), MonitorError> {
        let (program, arguments) =
            self.words.split_first().ok_or_else(|| MonitorError("the command has no program".to_owned()))?;
        let child = std::process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own group lets child processes be killed with it.
            .process_group(0)
            .spawn()
            .map_err(|error| MonitorError(format!("cannot start `{program}`: {}", words(&error))))?;
        Ok((program, child))
    }

    /// Shortens a line for a sentence and redacts the program's arguments, which may be secrets that programs repeat
    /// in error messages.
    fn cut(&self, line: &str) -> String {
        const MOST: usize = 80;
        let arguments = self.words.iter().skip(1);
        let words = |text: &'_ str, more: &[char]| -> Vec<String> {
            let ends = |c: char| c.is_whitespace() || "'\"`;|<>()".contains(c) || more.contains(&c);
            text.split(ends).map(str::to_owned).collect()
        };
        // Whole arguments, words of a script, and parts of such a word (`--key=x`, `user:x@host`).
        let mut hidden: Vec<String> = arguments
            .flat_map(|text| {
                let parts = words(text, &['=', ':', '@', '/', '&', '?', ',', '$', '{', '}']);
                [vec![text.clone()], words(text, &[]), parts].concat()
            })
            .filter(|part| part.chars().count() >= HIDDEN_FROM)
            .collect();
        // Longest first, because redacting a part would leave the rest.
        hidden.sort_by_key(|part| std::cmp::Reverse(part.len()));
        let line = hidden.iter().fold(line.to_owned(), |line, part| line.replace(part.as_str(), "***"));
        let short: String = line.chars().take(MOST).collect();
        if short.len() < line.len() { format!("{short}...") } else { short }
    }
}

impl Probe for Command {
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let until = Deadline::of_a_look();
        let (program, mut child) = self.start()?;
        let said = listen(&mut child, until);
        // Before the process is reaped; until then no other process can have its number.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            // All processes of the group may have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let status = child
            .wait()
            .map_err(|error| MonitorError(format!("cannot run `{program}`: {}", words(&error))))?;
        let (out, err) = match said {
            Ok(said) => said,
            Err(why) => return Err(MonitorError(format!("`{program}` {why}"))),
        };
        if !status.success() {
            let first =
                err.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing");
            return Err(MonitorError(format!("`{program}` failed with {status}: {}", self.cut(first))));
        }
        let mut page = PreviousCounters::page(at);
        let mut names = BTreeSet::new();
        for line in out.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (name, value) = row(line).ok_or_else(|| {
                MonitorError(format!("`{program}` printed `{}`, which is not `name value`", self.cut(line)))
            })?;
            if !names.insert(name) {
                return Err(MonitorError(format!("`{program}` printed `{}` twice", self.cut(name))));
            }
            if names.len() > MOST_READINGS {
                return Err(MonitorError(format!("`{program}` printed more than {MOST_READINGS} numbers")));
            }
            page.gauge("", name, unit(name), None, value);
        }
        if names.is_empty() {
            return Err(MonitorError(format!("`{program}` printed nothing")));
        }
        // Gauges need no previous sample.
        Ok(Found { readings: PreviousCounters::default().take(page), facts: Vec::new() })
    }
}

/// Reads both streams to their end or to the end of the program; does not wait for a grandchild that keeps them open.
fn listen(child: &mut Child, until: Deadline) -> Result<(String, String), String> {
    let too_long = || format!("took longer than {} ms and was killed", (PATIENCE * 7 / 8).as_millis());
    let Some((out, err)) = child.stdout.take().zip(child.stderr.take()) else {
        return Err("has no output".to_owned());
    };
    let mut streams: [(OwnedFd, Vec<u8>, bool); 2] =
        [(out.into(), Vec::new(), true), (err.into(), Vec::new(), true)];
    // Before Linux 5.3, which lacks pidfds, only the ends of the streams are detected.
    let exit = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    loop {
        let left = until.left().map_err(|_| too_long())?;
        let timeout = Timespec::try_from(left).map_err(|_| too_long())?;
        let open: Vec<usize> = (0..2).filter(|at| streams[*at].2).collect();
        let mut all: Vec<PollFd<'_>> =
            open.iter().map(|at| PollFd::from_borrowed_fd(streams[*at].0.as_fd(), PollFlags::IN)).collect();
        all.extend(exit.as_ref().map(|exit| PollFd::new(exit, PollFlags::IN)));
        if all.is_empty() {
            break;
        }
        match poll(&mut all, Some(&timeout)) {
            Ok(0) => return Err(too_long()),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(format!("has unreadable output: {}", words(&error.into()))),
        }
        let ready: Vec<bool> = all.iter().map(|one| !one.revents().is_empty()).collect();
        drop(all);
        let any = ready[..open.len()].contains(&true);
        for (at, ready) in open.iter().zip(&ready) {
            let (fd, text, is_open) = &mut streams[*at];
            if *ready {
                let mut block = [0; 16_384];
                match rustix::io::read(&*fd, &mut block) {
                    Ok(0) => *is_open = false,
                    Ok(n) => text.extend_from_slice(&block[..n]),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(format!("has unreadable output: {}", words(&error.into()))),
                }
                if text.len() > MOST_BYTES {
                    return Err(format!("printed more than {MOST_BYTES} bytes"));
                }
            }
        }
        // The program has ended, and all its output is read.
        if ready.len() > open.len() && ready[open.len()] && !any {
            break;
        }
    }
    let [out, err] = streams.map(|(_, text, _)| String::from_utf8_lossy(&text).into_owned());
    Ok((out, err))
}

/// Parses `name value` or `name=value`, with a finite number.
fn row(line: &str) -> Option<(&str, f64)> {
    let (name, value) = line.split_once('=').or_else(|| line.split_once(char::is_whitespace))?;
    let (name, value) = (name.trim(), value.trim());
    let value = value.parse().ok().filter(|value: &f64| value.is_finite())?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, value))
}

/// Derives the unit from the end of the name.
fn unit(name: &str) -> Unit {
    const ENDS: &[(&str, Unit)] = &[
        ("_bytes_per_s", Unit::BytesPerS),
        ("_per_s", Unit::PerS),
        ("_bytes", Unit::Bytes),
        ("_ratio", Unit::Share),
        ("_seconds", Unit::Seconds),
        ("_s", Unit::Seconds),
    ];
    ENDS.iter().find(|(end, _)| name.ends_with(end)).map_or(Unit::Count, |(_, unit)| *unit)
}
