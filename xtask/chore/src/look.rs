//! Processes and ports, read from `/proc`: whether a recorded process is still the one that was started, the members of
//! its group, and the owner of a port.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The relevant fields of `/proc/PID/stat`.
#[derive(Debug, PartialEq, Eq)]
pub struct Stat {
    pub command: String,
    pub group: i32,
    /// Ticks since the machine booted: a PID with another start is another process.
    pub start: u64,
    /// Ended, but not yet reaped by its parent: it has no ports and no memory.
    pub ended: bool,
}

pub fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name is in parentheses and may contain parentheses and spaces, so fields are counted from the last one.
fn parse_stat(text: &str) -> Option<Stat> {
    let (head, tail) = text.rsplit_once(')')?;
    let command = head.split_once('(')?.1.to_string();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    Some(Stat {
        command,
        ended: matches!(*fields.first()?, "Z" | "X"),
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// Returns whether the process with this PID and start is running.
pub fn lives(pid: i32, start: u64) -> bool {
    stat(pid).is_some_and(|stat| stat.start == start && !stat.ended)
}

pub fn pids() -> Vec<i32> {
    let folder = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folder.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the running processes of a group.
pub fn group(group: i32) -> Vec<i32> {
    let member = |pid: &i32| stat(*pid).is_some_and(|stat| stat.group == group && !stat.ended);
    pids().into_iter().filter(member).collect()
}

/// Returns the running processes whose environment contains the mark of this lab. It does not find programs that
/// overwrite their environment with a title; they are found by their group or their folder.
pub fn marked(mark: &str) -> Vec<i32> {
    pids().into_iter().filter(|pid| is_marked(*pid, mark)).collect()
}

pub fn is_marked(pid: i32, mark: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
        && stat(pid).is_some_and(|stat| !stat.ended)
}

/// Returns the running processes whose working directory is in `folder` (for a database, its data folder).
pub fn with_working_directory_in(folder: &Path) -> Vec<i32> {
    let is_inside = |pid: &i32| {
        let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let gone = place.as_os_str().as_bytes().strip_suffix(b" (deleted)");
        let place = gone.map_or(place.clone(), |bytes| Path::new(std::ffi::OsStr::from_bytes(bytes)).into());
        place.starts_with(folder) && stat(*pid).is_some_and(|stat| !stat.ended)
    };
    pids().into_iter().filter(is_inside).collect()
}

/// Returns the ports from `base` x 100 to `base` x 100 + 99 that are listened on, with the inodes of their sockets.
pub fn listeners(base: u16) -> BTreeMap<u16, u64> {
    let mut found = BTreeMap::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        found.extend(text.lines().skip(1).filter_map(listener).filter(|(port, _)| port / 100 == base));
    }
    found
}

/// Port and inode of a line of `/proc/net/tcp` whose state is LISTEN (0A).
fn listener(line: &str) -> Option<(u16, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let port = u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()?;
    let inode = fields.get(9)?.parse().ok()?;
    (*fields.get(3)? == "0A").then_some((port, inode))
}

/// Returns `node (PID 12)`, or None without permission to read the owner's file descriptors.
pub fn owner(inode: u64) -> Option<String> {
    let socket = format!("socket:[{inode}]");
    let pid = pids().into_iter().find(|pid| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors
            .filter_map(|entry| std::fs::read_link(entry.path()).ok())
            .any(|l| l.as_os_str() == &*socket)
    })?;
    Some(format!("`{}` (PID {pid})", stat(pid)?.command))
}

/// Returns the ID of the current boot: start times count from it.
pub fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let text = "7 (a) b (c)) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 1 1";
        let expected = Stat { command: "a) b (c)".into(), group: 7, start: 4711, ended: false };
        assert_eq!(parse_stat(text), Some(expected));
    }

    #[test]
    fn a_pid_with_another_start_time_is_another_process() {
        let own = std::process::id() as i32;
        let start = stat(own).expect("this process runs").start;
        assert!(lives(own, start) && !lives(own, start + 1));
    }

    #[test]
    fn a_listening_port_is_found_with_its_owner() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = socket.local_addr().expect("it is bound").port();
        let found = listeners(port / 100);
        let said = owner(found[&port]).expect("it belongs to this process");
        assert!(said.contains(&format!("PID {}", std::process::id())), "{said}");
    }
}
