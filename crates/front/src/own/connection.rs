//! `connection:` and `tls:`: how connections are opened, kept, and secured.

use super::key::{Row, of};
use super::reader::Reader;
use super::yaml::{Node, Value, one_or_more};
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::address::{self, WeightedAddress};
use plimsoll_plan::cipher::ciphers;
use plimsoll_plan::draft::key;
use plimsoll_plan::link::{
    Addresses, ClientFiles, Dns, Http, Link, Reuse, Tls, TlsFiles, pipeline, resumption, streams, versions,
    window,
};
use plimsoll_plan::phrase::counted;
use plimsoll_plan::route::{self, ProxyProtocol, ProxyProtocolVersion};
use std::net::{IpAddr, Ipv4Addr};

/// Reads `connection:`. Returns the place of `reuse`, if it is set.
pub fn read(node: &Node, row: &Row, link: &mut Link, r: &mut Reader<'_>) -> Option<Pos> {
    let mut reuse = None;
    let (mut streams_at, mut pipeline_at) = (None, None);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Connection::Reuse => {
                let words = [
                    ("user", Reuse::User),
                    ("pool", Reuse::Pool),
                    ("iteration", Reuse::Iteration),
                    ("request", Reuse::Request),
                ];
                link.reuse = r.choice(node, row, &words).unwrap_or_default();
                reuse = Some(entry.pos);
            }
            of::Connection::MaxRequests => {
                link.requests_per_connection = r.count(node, row);
                if link.requests_per_connection == Some(0) {
                    r.complain(
                        "F015",
                        node.pos,
                        "`max_requests` must be at least 1",
                        "write a number such as `100`, or remove `max_requests`",
                    );
                }
            }
            of::Connection::Http => {
                let words = [("auto", Http::Auto), ("1.0", Http::V10), ("1.1", Http::V11), ("2", Http::V2)];
                let text = if let Value::Scalar(scalar) = &node.value { scalar.text.as_str() } else { "" };
                let is_http3 = ["3", "h3"].contains(&text);
                if is_http3 {
                    let hint = "write `http: 2`, or remove `http`";
                    r.complain("F012", node.pos, "HTTP/3 (`http: 3`) is not supported yet", hint);
                } else {
                    link.http = r.choice(node, row, &words).unwrap_or_default();
                }
            }
            of::Connection::Streams => {
                streams_at = Some((entry.pos, r.parsed(node, row, streams).unwrap_or(1)))
            }
            of::Connection::Pipeline => {
                pipeline_at = Some((entry.pos, r.parsed(node, row, pipeline).unwrap_or(2)))
            }
            of::Connection::Window => link.window = r.parsed(node, row, window).unwrap_or_default(),
            of::Connection::Resolve => {
                for host in r.map(node, row).unwrap_or_default() {
                    let address = r.parsed(&host.value, row, ip);
                    link.resolve.extend(address.map(|address| (host.key.to_ascii_lowercase(), address)));
                }
            }
            of::Connection::Addresses => match &node.value {
                Value::List(items) => {
                    r.mark(key::ADDRESSES, entry.pos);
                    link.addresses = Addresses::All;
                    link.weighted = items.iter().filter_map(|item| weighted(item, row, r)).collect();
                    if let Err(problem) = address::check(&link.weighted) {
                        r.complain_of(node.pos, problem);
                    }
                }
                _ => {
                    let words = [("first", Addresses::First), ("all", Addresses::All)];
                    link.addresses = r.choice(node, row, &words).unwrap_or_default();
                }
            },
            of::Connection::Dns => {
                r.mark(key::DNS, entry.pos);
                let words = [("once", Dns::Once), ("each_connection", Dns::EachConnection)];
                link.dns = r.choice(node, row, &words).unwrap_or_default();
            }
            of::Connection::SourceAddresses => {
                link.source_addresses = source_addresses(node, row, r);
            }
            of::Connection::Proxy => {
                r.mark(key::PROXY, node.pos);
                link.route.proxy = r.parsed(node, row, route::proxy);
            }
            of::Connection::UnixSocket => {
                r.mark(key::UNIX_SOCKET, node.pos);
                // As for files, a relative path starts at the folder of the experiment.
                let path = r.text(node, row).and_then(|path| r.path(path, node.pos));
                let checked = path.map(|path| route::unix_socket(&path.to_string_lossy()));
                link.route.unix_socket = checked
                    .and_then(|checked| checked.map_err(|problem| r.complain_of(node.pos, problem)).ok());
            }
            of::Connection::ProxyProtocol => {
                r.mark(key::PROXY_PROTOCOL, node.pos);
                link.route.proxy_protocol = proxy_protocol(node, row, r);
            }
            of::Connection::Interface => {
                r.mark(key::INTERFACE, node.pos);
                link.route.interface = r.parsed(node, row, route::interface);
            }
        }
    }
    if let (Some(_), Some((pos, _))) = (streams_at, pipeline_at) {
        let message = "`streams` and `pipeline` contradict each other";
        r.complain("F017", pos, message, "keep `streams` for HTTP/2, or `pipeline` for HTTP/1.1");
    }
    if let Some((_, number)) = pipeline_at.or(streams_at) {
        (link.streams, link.is_pipelined) = (number, pipeline_at.is_some());
    }
    if link.reuse == Reuse::Request && link.requests_per_connection.is_some_and(|requests| requests != 1) {
        let message = "`max_requests` contradicts `reuse: request`, which closes connections after 1 request";
        r.complain("F017", node.pos, message, "remove `max_requests`, or choose another `reuse`");
    }
    reuse
}

const VERSIONS: [(&str, ProxyProtocolVersion); 2] =
    [("v1", ProxyProtocolVersion::V1), ("v2", ProxyProtocolVersion::V2)];

/// Reads a version, or a mapping with it.
fn proxy_protocol(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<ProxyProtocol> {
    let Value::Map(_) = &node.value else {
        let version = r.choice(node, row, &VERSIONS)?;
        return Some(ProxyProtocol { version, source_addresses: Vec::new() });
    };
    let (mut version, mut source_addresses) = (None, Vec::new());
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::ProxyProtocol::Version => version = Some(r.choice(node, row, &VERSIONS)),
            of::ProxyProtocol::SourceAddresses => source_addresses = self::source_addresses(node, row, r),
        }
    }
    if version.is_none() {
        r.complain("F016", node.pos, "missing `version` under `proxy_protocol`", "add `version: v2`");
    }
    Some(ProxyProtocol { version: version??, source_addresses })
}

/// Reads addresses and ranges, each address at most once.
fn source_addresses(node: &Node, row: &Row, r: &mut Reader<'_>) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = Vec::new();
    for item in one_or_more(node) {
        all.extend(r.parsed(item, row, addresses).unwrap_or_default());
    }
    if let Some(double) = all.iter().enumerate().find(|(i, a)| all[..*i].contains(a)) {
        r.complain("F013", node.pos, format!("duplicate address `{}`", double.1), "keep one of them");
    }
    all
}

/// Reads an address of the target with its weight.
fn weighted(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<WeightedAddress> {
    if !matches!(node.value, Value::Map(_)) {
        return r.parsed(node, row, address::address);
    }
    let (mut is_named, mut found, mut weight) = (false, None, None);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Address::Address => {
                is_named = true;
                found = r.parsed(node, row, address::address);
            }
            of::Address::Weight => weight = r.parsed(node, row, address::weight),
        }
    }
    if !is_named {
        r.complain("F016", node.pos, "missing `address`", "add `address: 127.0.0.1:8080`");
    }
    Some(WeightedAddress { weight: weight.unwrap_or(1), ..found? })
}

fn ip(text: &str) -> Result<IpAddr, Problem> {
    text.trim_matches(['[', ']']).parse().map_err(|_| {
        let message = format!("invalid IP address `{text}`");
        Problem::new(message, "write an address such as `127.0.0.2` or `::1`")
    })
}

/// Reads one address, or a range of IPv4 addresses, including both ends.
fn addresses(text: &str) -> Result<Vec<IpAddr>, Problem> {
    /// A machine has fewer addresses, so a longer range is a typo.
    const MOST: u32 = 4096;
    let Some((first, last)) = text.split_once('-') else {
        return ip(text.trim()).map(|address| vec![address]);
    };
    let end = |text: &str| {
        text.trim().parse::<Ipv4Addr>().map(u32::from).map_err(|_| {
            Problem::new(
                format!("invalid IPv4 address `{}`", text.trim()),
                "write a range such as `127.0.0.2-127.0.0.9`",
            )
        })
    };
    let (first, last) = (end(first)?, end(last)?);
    if first > last {
        let message = format!("invalid range `{text}`: its first address is above its last");
        return Err(Problem::new(message, "write the lower address first"));
    }
    if last - first >= MOST {
        return Err(Problem::new(
            format!("invalid range `{text}`: it has more than {MOST} addresses"),
            "write a shorter range",
        ));
    }
    Ok((first..=last).map(|n| IpAddr::V4(Ipv4Addr::from(n))).collect())
}

/// Reads `tls:` and the files that it names.
pub fn tls(node: &Node, row: &Row, files: &mut TlsFiles, r: &mut Reader<'_>) -> Option<Tls> {
    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";
    // `BEGIN PRIVATE KEY`, `BEGIN RSA PRIVATE KEY`, `BEGIN EC PRIVATE KEY`
    const KEY: &str = "PRIVATE KEY-----";
    let mut tls = Tls::default();
    let (mut certificate, mut secret, mut ca) = (None, None, None);
    let (mut certificates, mut keys): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for entry in r.map(node, row)? {
        let (node, Some((row, which))) = (&entry.value, r.key(entry)) else { continue };
        match which {
            of::Tls::Ca => {
                ca = Some(entry.pos);
                for item in one_or_more(node) {
                    files.ca.extend(pem(item, row, CERTIFICATE, r));
                }
            }
            of::Tls::Certificate => {
                certificate = Some(entry.pos);
                certificates = one_or_more(node).iter().map(|item| pem(item, row, CERTIFICATE, r)).collect();
            }
            of::Tls::Key => {
                secret = Some(entry.pos);
                keys = one_or_more(node).iter().map(|item| pem(item, row, KEY, r)).collect();
            }
            of::Tls::Insecure => tls.insecure = r.truth(node, row).unwrap_or_default(),
            of::Tls::Versions => tls.versions = r.parsed(node, row, versions).unwrap_or_default(),
            of::Tls::Ciphers => {
                r.mark(key::CIPHERS, entry.pos);
                let items = one_or_more(node).iter();
                let texts: Vec<&str> = items.filter_map(|item| r.text(item, row)).collect();
                match ciphers(&texts.join(":")) {
                    Ok(names) => tls.ciphers = names,
                    Err(problem) => r.complain_of(node.pos, problem),
                }
            }
            of::Tls::ServerName => {
                let name = r.parsed(node, row, |text| {
                    let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
                    match text.chars().all(is_host) {
                        true => Ok(text.to_owned()),
                        false => Err(Problem::new(
                            format!("invalid host name `{text}`"),
                            "remove scheme, port, and path",
                        )),
                    }
                });
                tls.server_name = name.unwrap_or_default();
            }
            of::Tls::SessionResumption => {
                r.mark(key::SESSION_RESUMPTION, entry.pos);
                if let Some(resumption) = r.parsed(node, row, resumption) {
                    tls.set_resumption(resumption);
                }
            }
        }
    }
    for (pos, other, name, missing) in
        [(certificate, secret, "certificate", "key"), (secret, certificate, "key", "certificate")]
    {
        if let (Some(pos), None) = (pos, other) {
            let message = format!("missing `{missing}`: `{name}` requires it");
            r.complain("F016", pos, message, format!("add `{missing}: {missing}.pem`"));
        }
    }
    if let (Some(_), Some(pos), true) = (certificate, secret, certificates.len() != keys.len()) {
        let (all, own) =
            (counted(certificates.len() as u64, "certificate"), counted(keys.len() as u64, "key"));
        let message = format!("{all} but {own}: the first key belongs to the first certificate, and so on");
        r.complain("F016", pos, message, "list as many files under `key` as under `certificate`");
    }
    let pairs = certificates.into_iter().zip(keys);
    files.clients =
        pairs.filter_map(|(one, key)| Some(ClientFiles { certificate: one?, key: key? })).collect();
    if let (Some(pos), true) = (ca, tls.insecure) {
        let message = "`ca` and `insecure` contradict each other: `insecure` trusts every certificate";
        r.complain("F017", pos, message, "keep one of them");
    }
    Some(tls)
}

/// Reads a file that must contain PEM of a kind. Only the handshake shows whether it is valid.
fn pem(node: &Node, row: &Row, mark: &str, r: &mut Reader<'_>) -> Option<Vec<u8>> {
    let name = r.text(node, row)?;
    match r.content(name, node.pos)? {
        bytes if String::from_utf8_lossy(&bytes).contains(mark) => Some(bytes),
        _ => {
            let message = format!(
                "missing `{}` in PEM file `{name}`",
                mark.trim_matches('-').trim_start_matches("BEGIN ")
            );
            r.complain(
                "F032",
                node.pos,
                message,
                "name a file with text between `-----BEGIN ...-----` and `-----END ...-----`",
            );
            None
        }
    }
}
