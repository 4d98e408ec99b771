//! A link with a known bandwidth: a network namespace, one pair of virtual devices, and a token bucket on the far one,
//! so the server's data arrives at the rate of the link. Only root can create links.

use super::certificate::LINKS;
use super::file::Link;
use super::fill::Ends;
use super::state::{Linked, State};
use chore::{Outcome, shell};
use std::path::Path;
use std::process::Command;

pub fn allowed() -> bool {
    nix::unistd::geteuid().is_root() && shell::find_program("ip").is_some()
}

/// Returns the namespace of a link. It has a number, not a name, because two checkouts may run the same system.
pub fn namespace(number: u8) -> String {
    format!("plimsoll-lab-{number}")
}

/// Returns the addresses of a link. Before it is created, and without permission to create it, both are the loopback.
pub fn ends(linked: Option<&Linked>) -> Ends {
    match linked {
        None => Ends { near: "127.0.0.1".into(), far: "127.0.0.1".into() },
        Some(l) => Ends { near: format!("10.203.{}.1", l.number), far: format!("10.203.{}.2", l.number) },
    }
}

/// Creates a link with a free number. The number is saved before anything is created with it.
pub fn make(link: &Link, state: &mut State) -> Outcome {
    let burst = burst_bytes(&link.rate)?;
    let number = free_number()?;
    state.links.push(Linked { name: link.name.clone(), number });
    state.save()?;
    let (inside, near, far) = (namespace(number), device(number, 'n'), device(number, 'f'));
    // A network of four addresses for two ends: only traffic for these ends is routed into it.
    let network = format!("10.203.{number}");
    ip(&format!("netns add {inside}"))?;
    ip(&format!("link add {near} type veth peer name {far} netns {inside}"))?;
    ip(&format!("addr add {network}.1/30 dev {near}"))?;
    ip(&format!("link set {near} up"))?;
    ip(&format!("-n {inside} addr add {network}.2/30 dev {far}"))?;
    ip(&format!("-n {inside} link set {far} up"))?;
    ip(&format!("-n {inside} link set lo up"))?;
    // A modem queues about 100 ms before it drops packets. The bucket has room for 10 ms, so that even a run of one
    // second has the right rate.
    let shape =
        format!("-n {inside} qdisc add dev {far} root tbf rate {} burst {burst} latency 100ms", link.rate);
    quietly("tc", &shape)
}

/// Removes the rest of a link. The devices disappear with the namespace; without a namespace, they are removed by name.
pub fn remove(number: u8) -> Outcome {
    if Path::new("/run/netns").join(namespace(number)).exists() {
        ip(&format!("netns delete {}", namespace(number)))?;
    }
    if exists(&device(number, 'n')) {
        // The kernel removes the devices of a namespace shortly after its name, so "not found" is not an error.
        if let Err(sentence) = ip(&format!("link delete {}", device(number, 'n')))
            && exists(&device(number, 'n'))
        {
            return Err(sentence);
        }
    }
    Ok(())
}

/// Returns what still exists of a removed link.
pub fn left(number: u8) -> Option<String> {
    let name = namespace(number);
    Path::new("/run/netns").join(&name).exists().then(|| format!("network namespace `{name}`"))
}

fn device(number: u8, end: char) -> String {
    format!("plimlab{number}{end}")
}

fn exists(device: &str) -> bool {
    Path::new("/sys/class/net").join(device).exists()
}

fn free_number() -> Result<u8, String> {
    let addresses = shell::output(Command::new("ip").args(["-4", "-o", "addr"]))?;
    let taken = |n: u8| {
        exists(&device(n, 'n'))
            || Path::new("/run/netns").join(namespace(n)).exists()
            || addresses.contains(&format!(" 10.203.{n}."))
    };
    (0..LINKS).find(|n| !taken(*n)).ok_or_else(|| format!("all {LINKS} networks of the lab are in use"))
}

/// Returns 10 ms of the rate, but at least two full packets: a smaller bucket lets no packet pass.
fn burst_bytes(rate: &str) -> Result<u64, String> {
    let wrong = || format!("invalid rate `{rate}`\nhelp: write for example `5mbit`, `500kbit`, or `1gbit`");
    let digits = rate.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = rate[..digits].parse().map_err(|_| wrong())?;
    let bits_per_s = match &rate[digits..] {
        "kbit" => number * 1_000,
        "mbit" => number * 1_000_000,
        "gbit" => number * 1_000_000_000,
        _ => return Err(wrong()),
    };
    if bits_per_s == 0 { Err(wrong()) } else { Ok((bits_per_s / 8 / 100).max(3_200)) }
}

fn ip(line: &str) -> Outcome {
    quietly("ip", line)
}

fn quietly(program: &str, line: &str) -> Outcome {
    let path =
        shell::find_program(program).ok_or_else(|| format!("`{program}` is missing (package iproute2)"))?;
    let out = Command::new(path).args(line.split(' ')).output();
    let out = out.map_err(|e| format!("cannot start `{program}`: {e}"))?;
    if out.status.success() {
        return Ok(());
    }
    Err(format!("`{program} {line}` failed: {}", String::from_utf8_lossy(&out.stderr).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_has_room_for_ten_milliseconds_and_at_least_two_packets() {
        assert_eq!(burst_bytes("5mbit"), Ok(6_250));
        assert_eq!(burst_bytes("100kbit"), Ok(3_200));
        for wrong in ["5", "mbit", "5MB", "0mbit", ""] {
            assert!(burst_bytes(wrong).unwrap_err().starts_with("invalid rate `"), "{wrong}");
        }
    }
}
