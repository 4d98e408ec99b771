//! SOCKS5 (RFC 1928) with user name and password (RFC 1929), for `CONNECT` only.

use super::{Fed, Refused};
use std::net::IpAddr;

const VERSION: u8 = 5;
/// Version of the negotiation of user name and password.
const PASSWORD_VERSION: u8 = 1;
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// The server to connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    Address(IpAddr),
    /// The proxy resolves it; at most 255 bytes.
    Name(String),
}

/// The bytes of a handshake, made once for all connections to an origin.
#[derive(Clone, PartialEq, Eq)]
pub struct SocksRequest {
    /// The negotiation of user name and password, if there are any.
    login: Option<Box<[u8]>>,
    connect: Box<[u8]>,
}

/// The login is a secret.
impl std::fmt::Debug for SocksRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SocksRequest").field("has_login", &self.login.is_some()).finish_non_exhaustive()
    }
}

impl SocksRequest {
    /// Creates the request for a tunnel; user name and password have at most 255 bytes each, as has a name. Longer
    /// ones are cut off, because their length is one byte.
    pub fn new(to: &Destination, port: u16, login: Option<(&str, &str)>) -> SocksRequest {
        let mut connect = vec![VERSION, CONNECT, 0];
        match to {
            Destination::Address(IpAddr::V4(address)) => {
                connect.push(IPV4);
                connect.extend_from_slice(&address.octets());
            }
            Destination::Address(IpAddr::V6(address)) => {
                connect.push(IPV6);
                connect.extend_from_slice(&address.octets());
            }
            Destination::Name(name) => {
                connect.push(NAME);
                counted(name, &mut connect);
            }
        }
        connect.extend_from_slice(&port.to_be_bytes());
        let login = login.map(|(user, password)| {
            let mut bytes = vec![PASSWORD_VERSION];
            counted(user, &mut bytes);
            counted(password, &mut bytes);
            bytes.into()
        });
        SocksRequest { login, connect: connect.into() }
    }
}

/// Appends a text after its length.
fn counted(text: &str, out: &mut Vec<u8>) {
    let bytes = &text.as_bytes()[..text.len().min(usize::from(u8::MAX))];
    out.push(bytes.len() as u8);
    out.extend_from_slice(bytes);
}

/// The message of the proxy that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaits {
    Method,
    LoginResult,
    Reply,
}

/// A handshake in progress.
#[derive(Debug)]
pub(super) struct Socks {
    request: SocksRequest,
    awaits: Awaits,
    /// The message so far: at most 262 bytes.
    got: Vec<u8>,
}

impl Socks {
    pub fn new(request: &SocksRequest, out: &mut Vec<u8>) -> Socks {
        match request.login {
            None => out.extend_from_slice(&[VERSION, 1, NO_LOGIN]),
            Some(_) => out.extend_from_slice(&[VERSION, 2, NO_LOGIN, PASSWORD]),
        }
        Socks { request: request.clone(), awaits: Awaits::Method, got: Vec::new() }
    }

    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<Fed, Refused> {
        let mut consumed = 0;
        loop {
            let wanted = self.length()?;
            if self.got.len() < wanted {
                let Some(next) = bytes.get(consumed) else { return Ok(Fed { consumed, is_done: false }) };
                self.got.push(*next);
                consumed += 1;
                continue;
            }
            if self.awaits == Awaits::Reply {
                return Ok(Fed { consumed, is_done: true });
            }
            self.proceed(out)?;
            self.got.clear();
        }
    }

    /// Returns the length of the awaited message as far as it is known, and refuses it as soon as possible: some
    /// proxies send less than a whole message if they refuse.
    fn length(&self) -> Result<usize, Refused> {
        match (self.awaits, &self.got[..]) {
            (_, []) => Ok(1),
            (Awaits::Method | Awaits::Reply, [version, ..]) if *version != VERSION => Err(Refused::NotSocks),
            // Some servers say 5 here as well.
            (Awaits::LoginResult, [version, ..]) if ![PASSWORD_VERSION, VERSION].contains(version) => {
                Err(Refused::NotSocks)
            }
            (Awaits::Method | Awaits::LoginResult, _) => Ok(2),
            (Awaits::Reply, [_]) => Ok(2),
            (Awaits::Reply, [_, reply, ..]) if *reply != 0 => Err(Refused::Reply(*reply)),
            (Awaits::Reply, [_, _, _, IPV4, ..]) => Ok(4 + 4 + 2),
            (Awaits::Reply, [_, _, _, IPV6, ..]) => Ok(4 + 16 + 2),
            (Awaits::Reply, [_, _, _, NAME, length, ..]) => Ok(4 + 1 + usize::from(*length) + 2),
            (Awaits::Reply, [_, _, _, NAME]) => Ok(5),
            (Awaits::Reply, [_, _, _, _, ..]) => Err(Refused::NotSocks),
            (Awaits::Reply, _) => Ok(4),
        }
    }

    /// Answers a complete message.
    fn proceed(&mut self, out: &mut Vec<u8>) -> Result<(), Refused> {
        let second = self.got.get(1).copied().unwrap_or_default();
        match (self.awaits, second, &self.request.login) {
            (Awaits::Method, NO_LOGIN, _) | (Awaits::LoginResult, 0, _) => {
                out.extend_from_slice(&self.request.connect);
                self.awaits = Awaits::Reply;
                Ok(())
            }
            (Awaits::Method, PASSWORD, Some(login)) => {
                out.extend_from_slice(login);
                self.awaits = Awaits::LoginResult;
                Ok(())
            }
            (Awaits::Method, 0xff, login) => Err(Refused::NoMethod { had_password: login.is_some() }),
            (Awaits::LoginResult, _, _) => Err(Refused::Password),
            (Awaits::Method | Awaits::Reply, _, _) => Err(Refused::NotSocks),
        }
    }
}

/// Returns the meaning of a reply (RFC 1928, section 6).
pub(super) fn meaning(reply: u8) -> &'static str {
    match reply {
        1 => "general failure",
        2 => "not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "unknown",
    }
}
