//! Routes that exclude each other, and settings that a route would ignore.

use crate::diag::{Diagnostic, Field};
use crate::draft::{Draft, key};
use crate::link::Addresses;
use crate::route::ProxyKind;

/// Reports contradictions of the route.
pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let (link, route) = (&draft.link, &draft.link.route);
    let mut refuse = |is_wrong: bool, field: Field, message: &str, hint: &str| {
        if is_wrong {
            wrong.push(Diagnostic::field("P034", field, message, hint));
        }
    };
    let kind = route.proxy.as_ref().map(|proxy| proxy.kind);
    let (is_proxied, is_unix) = (kind.is_some(), route.unix_socket.is_some());
    refuse(
        is_proxied && is_unix,
        key::UNIX_SOCKET,
        "a proxy and a Unix socket contradict each other: both say where connections go",
        "keep one of them",
    );
    refuse(
        is_proxied && route.proxy_protocol.is_some(),
        key::PROXY_PROTOCOL,
        "the PROXY protocol cannot be combined with a proxy, which would be its reader",
        "keep one of them",
    );
    refuse(
        is_unix && route.interface.is_some(),
        key::INTERFACE,
        "a Unix socket has no network interface",
        "keep one of them",
    );
    refuse(
        is_unix && !link.source_addresses.is_empty(),
        key::UNIX_SOCKET,
        "a Unix socket has no source addresses",
        "remove `source_addresses`, or set those of `proxy_protocol`",
    );
    refuse(
        (is_proxied || is_unix) && link.addresses == Addresses::All,
        if is_unix { key::UNIX_SOCKET } else { key::PROXY },
        "`addresses: all` contradicts a route that leads to one place",
        "remove `addresses`",
    );
    let resolves_elsewhere =
        is_unix || matches!(kind, Some(ProxyKind::Http | ProxyKind::Https | ProxyKind::Socks5h));
    refuse(
        resolves_elsewhere && !link.resolve.is_empty(),
        if is_unix { key::UNIX_SOCKET } else { key::PROXY },
        "`resolve` has no effect: the load generator does not resolve the host on this route",
        "remove `resolve`, or use a `socks5://` proxy",
    );
    /// Longest name in a SOCKS5 request (RFC 1928, section 4).
    const NAME_BYTES_MAX: usize = 255;
    let hosts = draft.target.iter().chain(draft.more_origins.iter().map(|more| &more.target));
    let has_long_name = hosts.into_iter().any(|target| target.host.len() > NAME_BYTES_MAX);
    refuse(
        kind == Some(ProxyKind::Socks5h) && has_long_name,
        key::PROXY,
        "a host name has more than 255 bytes, which SOCKS5 does not allow",
        "use a shorter name, or a `socks5://` proxy",
    );
}
