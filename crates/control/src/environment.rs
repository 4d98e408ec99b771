//! The load generator's machine and its path to the target, as recorded.

use crate::session::Way;
use plimsoll_engine::machine;
use plimsoll_plan::address::describe;
use plimsoll_record::event::{Environment, WayThere};
use std::net::IpAddr;

/// Describes the machine. Also raises the soft limit of file descriptors to the hard limit, or to a lower limit of
/// the plan; the hard limit never changes. `ways` are the origins, the target first.
pub fn environment(ways: &[Way], tool_version: &str, descriptors: u64) -> Environment {
    let own = machine::local_addresses();
    let mut there: Vec<WayThere> = ways.iter().map(|way| way_there(way, &own)).collect();
    let same_machine = there.iter().any(|way| way.is_same_machine);
    let target = if there.is_empty() { WayThere::default() } else { there.remove(0) };
    let nofile = machine::set_nofile(descriptors);
    let (port_low, port_high) = machine::port_range();
    Environment {
        tool_version: tool_version.to_owned(),
        host: machine::host(),
        boot_id: machine::boot_id(),
        kernel: machine::kernel(),
        cpu_model: machine::cpu_model(),
        cpus: machine::cpus(),
        cpus_online: machine::cpus_online(),
        memory_bytes: machine::memory_bytes(),
        nofile_soft_found: nofile.soft_found,
        nofile_soft: nofile.soft,
        nofile_hard: nofile.hard,
        port_low,
        port_high,
        addresses: target.addresses,
        dns_ns: target.dns_ns,
        first_connect_ns: target.first_connect_ns,
        is_same_machine: same_machine,
        more_origins: there,
        agent: None,
    }
}

/// Describes the path to one origin; `own` are the addresses of this machine.
pub(crate) fn way_there(way: &Way, own: &[IpAddr]) -> WayThere {
    WayThere {
        addresses: match way.place.unix_socket() {
            Some(path) => vec![path.display().to_string()],
            None => way.place.addresses.iter().map(|a| describe(*a, way.origin.port)).collect(),
        },
        dns_ns: way.place.dns_ns,
        first_connect_ns: way.first_connect_ns,
        is_same_machine: same_machine(way.place.first().ip(), own),
    }
}

/// Returns whether an address belongs to this machine.
pub fn same_machine(address: IpAddr, own: &[IpAddr]) -> bool {
    // An IPv4 address may be mapped into an IPv6 address.
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified() || own.iter().any(|a| a.to_canonical() == address)
}
