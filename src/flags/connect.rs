//! Flags of connections: TLS and addresses. Values stay text here; they are those of `connection` and `tls` in a file.

use super::draft::{PEM_BYTES_MAX, diagnostic};
use clap::Args;
use plimsoll_build::body;
use plimsoll_front::Places;
use plimsoll_plan::address::addresses;
use plimsoll_plan::cipher::ciphers;
use plimsoll_plan::diag::{Field, Place};
use plimsoll_plan::draft::key;
use plimsoll_plan::link::{ClientFiles, Dns, resumption, versions};
use plimsoll_plan::phrase::counted;
use plimsoll_plan::{Diagnostic, Draft, Problem};
use std::net::IpAddr;
use std::path::Path;

const CONNECTION: &str = "Connection";

#[derive(Debug, Clone, Default, Args)]
pub struct ConnectFlags {
    /// Addresses: `first`, `all`, or a list `IP:PORT=WEIGHT,IP:PORT` [default: first]
    #[arg(long, value_name = "ADDRESSES", help_heading = CONNECTION)]
    pub addresses: Option<String>,

    /// Look up the host `once`, or for `each_connection` [default: once]
    #[arg(long, value_name = "WHEN", help_heading = CONNECTION)]
    pub dns: Option<String>,

    /// Use this address for a host instead of resolving it [repeatable]
    #[arg(long = "resolve", value_name = "HOST=ADDRESS", help_heading = CONNECTION)]
    pub resolve: Vec<String>,

    /// TLS versions to offer: `1.2`, `1.3`, or `1.2-1.3` [default: 1.2-1.3]
    #[arg(long, value_name = "VERSIONS", help_heading = CONNECTION)]
    pub tls_versions: Option<String>,

    /// Offer only these cipher suites, in this order: `NAME:NAME`, in OpenSSL or IANA names
    #[arg(long, value_name = "LIST", help_heading = CONNECTION)]
    pub ciphers: Option<String>,

    /// Client certificate (PEM); user N uses the Nth, in rotation [repeatable]
    #[arg(long = "cert", value_name = "FILE", help_heading = CONNECTION)]
    pub certificates: Vec<String>,

    /// Key of a client certificate (PEM), in the order of `--cert` [repeatable]
    #[arg(long = "key", value_name = "FILE", help_heading = CONNECTION)]
    pub keys: Vec<String>,

    /// Write the keys of TLS connections to this new file, in NSS key log format
    #[arg(long, value_name = "FILE", help_heading = CONNECTION)]
    pub tls_key_log: Option<String>,

    /// Resume sessions: `true`, `false`, or `session_id` (no tickets) [default: false]
    #[arg(long, value_name = "KIND", help_heading = CONNECTION)]
    pub session_resumption: Option<String>,
}

impl ConnectFlags {
    /// Returns the flags that have a value, by name.
    pub fn single(&self) -> Vec<(&'static str, &String)> {
        // Destructured, so that a new flag does not compile until it is listed here.
        let ConnectFlags {
            addresses,
            dns,
            resolve,
            tls_versions,
            ciphers,
            certificates,
            keys,
            tls_key_log,
            session_resumption,
        } = self;
        let all = [
            ("addresses", addresses),
            ("dns", dns),
            ("tls-versions", tls_versions),
            ("ciphers", ciphers),
            ("session-resumption", session_resumption),
            ("tls-key-log", tls_key_log),
        ];
        let all = all.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        let lists = [("resolve", resolve), ("cert", certificates), ("key", keys)];
        let lists =
            lists.into_iter().flat_map(|(name, values)| values.iter().map(move |value| (name, value)));
        all.chain(lists).collect()
    }

    /// Returns the first flag that has no meaning without TLS.
    pub fn first_of_tls(&self) -> Option<&'static str> {
        let flags = [
            ("--tls-versions", self.tls_versions.is_some()),
            ("--ciphers", self.ciphers.is_some()),
            ("--cert", !self.certificates.is_empty()),
            ("--key", !self.keys.is_empty()),
            ("--tls-key-log", self.tls_key_log.is_some()),
            ("--session-resumption", self.session_resumption.is_some()),
        ];
        flags.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
    }

    /// Applies the flags of addresses to a draft.
    pub fn apply_addresses(&self, draft: &mut Draft, places: &mut Places, wrong: &mut Vec<Diagnostic>) {
        let mut reader = Reader { places, wrong };
        if let Some((which, weighted)) =
            reader.value(Some(key::ADDRESSES), "--addresses", self.addresses.as_ref(), addresses)
        {
            (draft.link.addresses, draft.link.weighted) = (which, weighted);
        }
        if let Some(dns) = reader.value(Some(key::DNS), "--dns", self.dns.as_ref(), dns) {
            draft.link.dns = dns;
        }
        for text in &self.resolve {
            let Some((host, address)) = reader.value(None, "--resolve", Some(text), resolve) else {
                continue;
            };
            draft.link.resolve.retain(|(own, _)| *own != host);
            draft.link.resolve.push((host, address));
        }
    }

    /// Applies the flags of TLS to a draft whose target uses it.
    pub fn apply_tls(&self, draft: &mut Draft, places: &mut Places, wrong: &mut Vec<Diagnostic>) {
        let tls = draft.link.tls.get_or_insert_default();
        let mut reader = Reader { places, wrong };
        if let Some(versions) = reader.value(None, "--tls-versions", self.tls_versions.as_ref(), versions) {
            tls.versions = versions;
        }
        if let Some(names) = reader.value(Some(key::CIPHERS), "--ciphers", self.ciphers.as_ref(), ciphers) {
            tls.ciphers = names;
        }
        let field = Some(key::SESSION_RESUMPTION);
        if let Some(kind) =
            reader.value(field, "--session-resumption", self.session_resumption.as_ref(), resumption)
        {
            tls.set_resumption(kind);
        }
        let mut files = |flag: &str, names: &[String]| -> Vec<Vec<u8>> {
            let read = |name: &String| reader.value(None, flag, Some(name), pem);
            names.iter().filter_map(read).collect()
        };
        let (certificates, keys) = (files("--cert", &self.certificates), files("--key", &self.keys));
        if self.certificates.len() != self.keys.len() {
            let (all, own) = (self.certificates.len() as u64, self.keys.len() as u64);
            let message = format!("{} but {}", counted(all, "client certificate"), counted(own, "key"));
            let hint = "write `--key` for each `--cert`, in the same order";
            wrong.push(diagnostic("U011", "--key", Problem::new(message, hint)));
        } else if !certificates.is_empty() {
            let pairs = certificates.into_iter().zip(keys);
            draft.tls_files.clients =
                pairs.map(|(certificate, key)| ClientFiles { certificate, key }).collect();
        }
        if let Some(name) = &self.tls_key_log {
            draft.tls_files.key_log = Some(name.into());
        }
    }

    /// Returns an error if the file of `--tls-key-log` exists.
    pub fn refuse_taken_key_log(&self) -> Option<Diagnostic> {
        let name = self.tls_key_log.as_ref()?;
        let problem = Problem::new(
            format!("cannot write `{name}`: it exists already"),
            "choose another name, or move the existing file",
        );
        Path::new(name).symlink_metadata().is_ok().then(|| diagnostic("U020", "--tls-key-log", problem))
    }
}

fn pem(name: &str) -> Result<Vec<u8>, Problem> {
    body::content(Path::new(name), PEM_BYTES_MAX)
        .map_err(|e| Problem::plain(format!("cannot read `{name}`: {e}")))
}

fn dns(text: &str) -> Result<Dns, Problem> {
    match text {
        "once" => Ok(Dns::Once),
        "each_connection" => Ok(Dns::EachConnection),
        _ => Err(Problem::plain(format!("invalid `--dns {text}`: expected `once` or `each_connection`"))),
    }
}

/// Parses `HOST=ADDRESS`, or `HOST:PORT:ADDRESS` as in curl.
fn resolve(text: &str) -> Result<(String, IpAddr), Problem> {
    let curl = || {
        let (host, rest) = text.split_once(':')?;
        let (port, address) = rest.split_once(':')?;
        port.parse::<u16>().ok().map(|_| (host, address))
    };
    let parts = text.split_once('=').or_else(curl);
    let address = parts.and_then(|(_, address)| address.trim().trim_matches(['[', ']']).parse().ok());
    match (parts, address) {
        (Some((host, _)), Some(address)) if !host.trim().is_empty() => {
            Ok((host.trim().to_ascii_lowercase(), address))
        }
        _ => Err(Problem::new(
            format!("invalid address of a host `{text}`"),
            "write a host and an IP address, such as `shop.test=127.0.0.1`",
        )),
    }
}

struct Reader<'a> {
    places: &'a mut Places,
    wrong: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn value<T>(
        &mut self,
        field: Option<Field>,
        flag: &str,
        text: Option<&String>,
        parse: impl Fn(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        match parse(text?) {
            Ok(value) => {
                if let Some(field) = field {
                    self.places.insert(field, Place::Flag(flag.to_owned()));
                }
                Some(value)
            }
            Err(problem) => {
                self.wrong.push(diagnostic("U011", flag, problem));
                None
            }
        }
    }
}
