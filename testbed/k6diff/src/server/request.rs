//! A request as the server has read it.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

/// A request, or a message of a WebSocket.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// The virtual user: the header `X-Vu`, or `vu` in the query; empty if there is neither.
    pub vu: String,
    /// The connection, in the order of their opening.
    pub connection: usize,
    pub method: String,
    pub target: String,
    /// In their order, names as sent.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Seen {
    /// Returns the first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the path without the query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// Returns the pairs of the query, decoded.
    pub fn query(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(a, b)| (plain(a), plain(b)))
            .collect()
    }

    /// Returns a value of the query.
    pub fn value(&self, name: &str) -> Option<String> {
        self.query().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// Decodes percent signs and `+`.
fn plain(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let pair = [bytes.next(), bytes.next()].into_iter().flatten().collect::<Vec<u8>>();
                let number = std::str::from_utf8(&pair).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
                out.extend(number);
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads the requests of a connection.
pub struct Reader {
    input: BufReader<TcpStream>,
}

impl Reader {
    pub fn new(stream: TcpStream) -> Reader {
        Reader { input: BufReader::new(stream) }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.input.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn bytes(&mut self, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Reads the next request; `None` at the end, or if it is not one of HTTP/1.1.
    pub fn next(&mut self, connection: usize) -> Option<Seen> {
        let line = self.line()?;
        let mut words = line.split(' ');
        let mut seen = Seen { connection, ..Seen::default() };
        (seen.method, seen.target) = (words.next()?.to_owned(), words.next()?.to_owned());
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            seen.headers.push((name.to_owned(), value.trim().to_owned()));
        }
        if let Some(length) = seen.header("content-length").and_then(|value| value.parse().ok()) {
            seen.body = self.bytes(length)?;
        } else if seen.header("transfer-encoding").is_some() {
            seen.body = self.chunks()?;
        }
        let of_header = seen.header("x-vu").map(str::to_owned);
        seen.vu = of_header.or_else(|| seen.value("vu")).unwrap_or_default();
        Some(seen)
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let length = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
            body.extend(self.bytes(length)?);
            self.line()?;
            if length == 0 {
                return Some(body);
            }
        }
    }
}
