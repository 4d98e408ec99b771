//! The machine that makes the load and its way to the target, as the record keeps them.

use crate::Resolved;
use plimsoll_engine::machine;
use plimsoll_record::event::Environment;
use std::net::IpAddr;

/// Looks at the machine, and sets the soft limit of descriptors on the way: to the hard one (which is never
/// changed), or to the plan's own, lower one.
///
/// `first_connect_ns` is the time of the trial connection.
pub fn environment(
    place: &Resolved,
    tool_version: &str,
    first_connect_ns: u64,
    descriptors: u64,
) -> Environment {
    let nofile = machine::set_nofile(descriptors);
    let (port_low, port_high) = machine::port_range();
    Environment {
        tool_version: tool_version.to_owned(),
        host: machine::host(),
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
        addresses: place.addresses.iter().map(|a| a.ip().to_string()).collect(),
        dns_ns: place.dns_ns,
        first_connect_ns,
        same_machine: same_machine(place.first().ip(), &machine::local_addresses()),
    }
}

/// Whether an address is this machine's own.
pub fn same_machine(address: IpAddr, own: &[IpAddr]) -> bool {
    // An IPv4 address may come written inside an IPv6 one.
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified() || own.iter().any(|a| a.to_canonical() == address)
}
