//! Small relays between plimsoll and a server: an HTTP proxy, a SOCKS5 proxy, a server of the PROXY protocol, and a
//! Unix domain socket. They are written from the RFCs, import nothing of plimsoll, and count what they see.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The protocol that a relay speaks before it passes on bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// Forwards requests in their absolute form, and opens tunnels.
    Http,
    /// The same, but answers every `CONNECT` with this status.
    Status(u16),
    Socks5,
    /// Answers every SOCKS5 request with this reply.
    Reply(u8),
    /// The same, after this many requests that it has passed on.
    ReplyAfter(u8, usize),
    /// Reads the header of the PROXY protocol.
    ProxyHeader,
    /// Accepts connections and never says anything.
    Nothing,
}

/// What a relay has seen.
#[derive(Debug, Clone, Default)]
pub struct Log {
    /// Connections that were passed on, and to which host and port, or the client that the header names.
    pub passed: Vec<String>,
    /// Request lines that were forwarded.
    pub requests: Vec<String>,
    /// Connections without valid credentials.
    pub denied: u64,
}

/// A running relay; its threads end with the process.
pub struct Relay {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
}

#[derive(Clone)]
struct Job {
    speaks: Speaks,
    login: Option<(&'static str, &'static str)>,
    /// Every destination is this server.
    server: SocketAddr,
    log: Arc<Mutex<Log>>,
}

impl Relay {
    /// Starts a relay that ignores which server the client asks for.
    pub fn start(speaks: Speaks, login: Option<(&'static str, &'static str)>, server: SocketAddr) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let log = Arc::new(Mutex::new(Log::default()));
        let job = Job { speaks, login, server, log: Arc::clone(&log) };
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let job = job.clone();
                // A client that disappears ends its connection, and nothing else.
                std::thread::spawn(move || job.serve(client).unwrap_or_default());
            }
        });
        Relay { address, log }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn log(&self) -> Log {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Passes on the connections of a Unix domain socket to a server.
pub fn unix_relay(path: &Path, server: SocketAddr) {
    let listener = UnixListener::bind(path).expect("the path is free");
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(server) else { continue };
            let (Ok(mut from), Ok(mut to)) = (client.try_clone(), server.try_clone()) else { continue };
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
            let (mut from, mut to) = (server, client);
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    });
}

impl Job {
    fn note(&self, change: impl FnOnce(&mut Log)) {
        change(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn serve(&self, client: TcpStream) -> std::io::Result<()> {
        client.set_nodelay(true)?;
        let mut reader = BufReader::new(client.try_clone()?);
        match self.speaks {
            Speaks::Nothing => {
                let mut all = Vec::new();
                reader.read_to_end(&mut all).map(drop)
            }
            Speaks::Http | Speaks::Status(_) => self.http(reader, client),
            Speaks::Socks5 | Speaks::Reply(_) | Speaks::ReplyAfter(..) => self.socks(reader, client),
            Speaks::ProxyHeader => {
                let from = proxy_header(&mut reader)?;
                self.note(|log| log.passed.push(from));
                self.pass_on(reader, client)
            }
        }
    }

    /// Passes on everything, in both directions.
    fn pass_on(&self, mut reader: BufReader<TcpStream>, mut client: TcpStream) -> std::io::Result<()> {
        let server = TcpStream::connect(self.server)?;
        server.set_nodelay(true)?;
        let mut to = server.try_clone()?;
        let mut from = server;
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut client);
            let _ = client.shutdown(Shutdown::Both);
        });
        std::io::copy(&mut reader, &mut to)?;
        to.shutdown(Shutdown::Write)
    }

    fn http(&self, mut reader: BufReader<TcpStream>, mut client: TcpStream) -> std::io::Result<()> {
        let mut server: Option<TcpStream> = None;
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                if reader.read_until(b'\n', &mut head)? == 0 {
                    return Ok(());
                }
            }
            let text = String::from_utf8_lossy(&head).into_owned();
            let line = text.lines().next().unwrap_or_default().to_owned();
            let words: Vec<&str> = line.split(' ').collect();
            let field = |name: &str| {
                let lines = text.lines().skip(1).filter_map(|line| line.split_once(": "));
                lines
                    .filter(|(is, _)| is.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.to_owned())
                    .next()
            };
            if self.login.is_some_and(|login| field("Proxy-Authorization") != Some(basic(login))) {
                self.note(|log| log.denied += 1);
                client.write_all(b"HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n")?;
                continue;
            }
            if words[0] == "CONNECT" {
                if let Speaks::Status(status) = self.speaks {
                    let answer = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n");
                    client.write_all(answer.as_bytes())?;
                    return client.shutdown(Shutdown::Both);
                }
                self.note(|log| log.passed.push(words[1].to_owned()));
                client.write_all(b"HTTP/1.1 200 Open\r\n\r\n")?;
                return self.pass_on(reader, client);
            }
            let url = words[1].strip_prefix("http://");
            let Some((host, path)) = url.map(|url| url.split_at(url.find('/').unwrap_or(url.len()))) else {
                client.write_all(b"HTTP/1.1 400 Not for a proxy\r\nContent-Length: 0\r\n\r\n")?;
                continue;
            };
            if host.ends_with(".invalid") {
                client.write_all(b"HTTP/1.1 502 Unknown host\r\nContent-Length: 0\r\n\r\n")?;
                continue;
            }
            let to = match &mut server {
                Some(to) => to,
                None => {
                    self.note(|log| log.passed.push(host.to_owned()));
                    let opened = TcpStream::connect(self.server)?;
                    opened.set_nodelay(true)?;
                    let (mut from, mut back) = (opened.try_clone()?, client.try_clone()?);
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut back);
                        let _ = back.shutdown(Shutdown::Both);
                    });
                    server.insert(opened)
                }
            };
            self.note(|log| log.requests.push(line.clone()));
            let mut out = format!("{} {path} {}\r\n", words[0], words[2]).into_bytes();
            for line in text.lines().skip(1).filter(|line| !line.starts_with("Proxy-Authorization: ")) {
                out.extend_from_slice(line.as_bytes());
                out.extend_from_slice(b"\r\n");
            }
            let length = field("Content-Length").and_then(|text| text.parse().ok()).unwrap_or(0);
            let begin = out.len();
            out.resize(begin + length, 0);
            reader.read_exact(&mut out[begin..])?;
            to.write_all(&out)?;
        }
    }

    fn socks(&self, mut reader: BufReader<TcpStream>, mut client: TcpStream) -> std::io::Result<()> {
        let mut take = |n: usize| {
            let mut bytes = vec![0; n];
            reader.read_exact(&mut bytes).map(|()| bytes)
        };
        let methods = take(2)?[1];
        let offered = take(usize::from(methods))?;
        match self.login {
            None => client.write_all(&[5, 0])?,
            Some(_) if !offered.contains(&2) => {
                self.note(|log| log.denied += 1);
                return client.write_all(&[5, 0xff]);
            }
            Some((user, password)) => {
                client.write_all(&[5, 2])?;
                let length = take(2)?[1];
                let own_user = take(usize::from(length))?;
                let length = take(1)?[0];
                let own_password = take(usize::from(length))?;
                if own_user != user.as_bytes() || own_password != password.as_bytes() {
                    self.note(|log| log.denied += 1);
                    return client.write_all(&[1, 1]);
                }
                client.write_all(&[1, 0])?;
            }
        }
        let to = match take(4)?[3] {
            1 => {
                let octets: [u8; 4] = take(4)?.try_into().unwrap_or_default();
                Ipv4Addr::from(octets).to_string()
            }
            3 => {
                let length = take(1)?[0];
                String::from_utf8_lossy(&take(usize::from(length))?).into_owned()
            }
            other => format!("type {other}"),
        };
        let port = take(2)?;
        let port = u16::from_be_bytes([port[0], port[1]]);
        let passed = self.log.lock().unwrap_or_else(PoisonError::into_inner).passed.len();
        let refusal = match self.speaks {
            Speaks::Reply(reply) => Some(reply),
            Speaks::ReplyAfter(reply, after) if passed >= after => Some(reply),
            _ => None,
        };
        if let Some(reply) = refusal {
            client.write_all(&[5, reply, 0, 1, 0, 0, 0, 0, 0, 0])?;
            return client.shutdown(Shutdown::Both);
        }
        self.note(|log| log.passed.push(format!("{to}:{port}")));
        // In two pieces, and with a name as the address: a client must know where the reply ends.
        client.write_all(&[5, 0, 0, 3, 4, b'h'])?;
        client.write_all(b"ere\0\0")?;
        self.pass_on(reader, client)
    }
}

fn basic((user, password): (&str, &str)) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = format!("{user}:{password}");
    let mut out = String::from("Basic ");
    for three in text.as_bytes().chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// Reads either version of the header, and returns the client that it names.
fn proxy_header(reader: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut begin = [0; 6];
    reader.read_exact(&mut begin)?;
    if &begin == b"PROXY " {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let words: Vec<&str> = line.trim_end().split(' ').collect();
        return Ok(words.get(1).unwrap_or(&words[0]).to_string());
    }
    let mut rest = [0; 10];
    reader.read_exact(&mut rest)?;
    assert_eq!([&begin[..], &rest[..6]].concat(), b"\r\n\r\n\0\r\nQUIT\n", "the signature of version 2");
    let mut body = vec![0; usize::from(u16::from_be_bytes([rest[8], rest[9]]))];
    reader.read_exact(&mut body)?;
    Ok(match (rest[6], rest[7]) {
        (0x21, 0x11) => Ipv4Addr::new(body[0], body[1], body[2], body[3]).to_string(),
        (command, family) => format!("{command:#x} {family:#x}"),
    })
}
