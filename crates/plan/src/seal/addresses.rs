//! Settings of addresses that contradict each other.

use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::link::{Addresses, Dns};

/// Reports lookups during the load that could not happen.
pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let link = &draft.link;
    let route = &link.route;
    if (link.dns == Dns::EachConnection || !link.weighted.is_empty())
        && (route.proxy.is_some() || route.unix_socket.is_some())
    {
        let key = if link.weighted.is_empty() { key::DNS } else { key::ADDRESSES };
        wrong.push(Diagnostic::field(
            "P041",
            key,
            "connections through a proxy or a Unix domain socket do not choose the address of the target",
            "remove the proxy or the socket, or this setting",
        ));
        return;
    }
    if link.dns == Dns::Once {
        return;
    }
    let more = draft.more_origins.iter().map(|more| &more.target);
    let mut hosts = draft.target.iter().chain(more).map(|target| target.host.as_str());
    let (message, hint) = if link.addresses == Addresses::All {
        (
            "each connection looks up its address, so connections cannot rotate over all addresses",
            "remove `addresses`, or write `dns: once` (`--dns once`)",
        )
    } else if draft.code.is_none() && !hosts.any(|host| link.is_looked_up(host)) {
        (
            "no connection has a name to look up: every host is an IP address, or has one in `resolve`",
            "remove `dns`, or write a host name in the target",
        )
    } else {
        return;
    };
    wrong.push(Diagnostic::field("P041", key::DNS, message, hint));
}
