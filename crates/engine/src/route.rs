//! The route of connections that do not simply go to an address: a Unix domain socket, a network interface, the header
//! of the PROXY protocol, the handshake of a proxy. A place without any of these has no route, and pays for none.

use crate::link::tls::Setup;
use plimsoll_plan::Outline;
use plimsoll_plan::origin::{Origin, OriginId};
use plimsoll_plan::route::{Login, ProxyKind, ProxyProtocolVersion};
use plimsoll_wire::proxy::{
    Destination, Handshake, SocksRequest, Version, basic, connect, forwarded, preface,
};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// How connections to an origin are opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The socket that is connected instead of an address.
    pub unix_socket: Option<PathBuf>,
    /// The network interface that carries the connections.
    pub interface: Option<String>,
    pub preface: Option<Preface>,
    /// TLS with the proxy, in which everything else happens.
    pub outer: Option<Setup>,
    pub tunnel: Option<Tunnel>,
    /// Requests are sent to the proxy in their absolute form.
    pub forward: Option<Forward>,
}

/// The header of the PROXY protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preface {
    pub version: Version,
    /// Client addresses to claim, in rotation; if empty, those of the connection.
    pub sources: Vec<IpAddr>,
}

/// The handshake of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tunnel {
    /// The whole `CONNECT` request, with a login.
    Connect(Secret),
    Socks(SocksRequest),
}

/// Bytes that contain a login.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub Box<[u8]>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("***")
    }
}

/// The head of a request to a proxy that forwards it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Scheme and authority before the path.
    pub prefix: String,
    /// The lines that the proxy requires, each with its line end.
    pub fields: Secret,
}

impl Forward {
    /// Appends a request for the server as the proxy must receive it.
    pub(crate) fn put(&self, request: &[u8], out: &mut Vec<u8>) {
        forwarded(request, &self.prefix, &self.fields.0, out);
    }
}

impl Route {
    /// Returns the route of a plan to one of its origins, or `None` if connections go directly to its address.
    /// `resolved` is the address of an origin whose name the proxy must not resolve, and `outer` is TLS with the proxy.
    pub fn of(
        outline: &Outline,
        number: OriginId,
        origin: &Origin,
        resolved: Option<IpAddr>,
        outer: Option<Setup>,
    ) -> Option<Route> {
        let of = &outline.link.route;
        if of.is_direct() {
            return None;
        }
        let preface = of.proxy_protocol.as_ref().map(|header| Preface {
            version: match header.version {
                ProxyProtocolVersion::V1 => Version::V1,
                ProxyProtocolVersion::V2 => Version::V2,
            },
            sources: header.source_addresses.clone(),
        });
        let mut route = Route {
            unix_socket: of.unix_socket.as_ref().map(PathBuf::from),
            interface: of.interface.clone(),
            preface,
            outer,
            ..Route::default()
        };
        let Some(proxy) = &of.proxy else { return Some(route) };
        let words = |login: &Login| basic(login.user.reveal(), login.password.reveal());
        let authorization = proxy.login.as_ref().map(words);
        match proxy.kind {
            ProxyKind::Http | ProxyKind::Https if outline.forwarding_proxy(number, origin).is_some() => {
                let fields = authorization.map(|value| format!("Proxy-Authorization: {value}\r\n"));
                let fields = Secret(fields.unwrap_or_default().into_bytes().into());
                route.forward = Some(Forward { prefix: origin.url(), fields });
            }
            ProxyKind::Http | ProxyKind::Https => {
                let user_agent = concat!("plimsoll/", env!("CARGO_PKG_VERSION"));
                let request = connect(&origin.host_and_port(), authorization.as_deref(), user_agent);
                route.tunnel = Some(Tunnel::Connect(Secret(request)));
            }
            ProxyKind::Socks5 | ProxyKind::Socks5h => {
                let literal = origin.host.parse::<IpAddr>().ok();
                let to = match literal.or(resolved) {
                    Some(address) => Destination::Address(address),
                    None => Destination::Name(origin.host.clone()),
                };
                let login = proxy.login.as_ref().map(|login| (login.user.reveal(), login.password.reveal()));
                route.tunnel = Some(Tunnel::Socks(SocksRequest::new(&to, origin.port, login)));
            }
        }
        Some(route)
    }

    /// Returns whether the kernel can discard received bytes: those of a Unix domain socket, or inside TLS, it cannot.
    pub fn may_discard(&self) -> bool {
        self.unix_socket.is_none() && self.outer.is_none()
    }

    /// Returns whether something is exchanged before the connection belongs to the server.
    pub fn has_opening(&self) -> bool {
        self.preface.is_some() || self.outer.is_some() || self.tunnel.is_some()
    }

    /// Begins the opening of connection number `turn`, after TLS with the proxy: appends the first bytes, and returns
    /// the handshake if there is one. `local` and `remote` are the ends of the socket.
    pub(crate) fn begin(
        &self,
        turn: usize,
        (local, remote): (Option<SocketAddr>, SocketAddr),
        out: &mut Vec<u8>,
    ) -> Option<Handshake> {
        if let Some(preface) = &self.preface {
            preface.write(turn, (local, remote), out);
        }
        self.tunnel.as_ref().map(|tunnel| match tunnel {
            Tunnel::Connect(request) => Handshake::connect(&request.0, out),
            Tunnel::Socks(request) => Handshake::socks(request, out),
        })
    }
}

impl Preface {
    /// A Unix domain socket has no addresses: only claimed ones can be written, with a port that was not assigned.
    fn write(&self, turn: usize, (local, remote): (Option<SocketAddr>, SocketAddr), out: &mut Vec<u8>) {
        /// The first port that programs may use (IANA: registered ports).
        const FIRST_PORT: usize = 1_024;
        let claimed = match self.sources.len() {
            0 => None,
            count => Some(self.sources[turn % count]),
        };
        let port = local.map_or((FIRST_PORT + turn % (65_536 - FIRST_PORT)) as u16, |local| local.port());
        let from = match (claimed, local) {
            (Some(address), _) => Some(SocketAddr::new(address, port)),
            (None, local) => local,
        };
        preface(self.version, from.map(|from| (from, remote)), out);
    }
}

/// Returns an address in place of that of a Unix domain socket, which has none: the engine counts addresses.
pub fn address_of_unix_socket(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}
