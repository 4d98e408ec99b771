//! gRPC calls over one connection before any load: the messages of a call are sent together, and its responses are read
//! to the end.

use plimsoll_engine::link::tls::Setup;
use plimsoll_engine::probe::{Line, Peer};
use plimsoll_plan::Problem;
use plimsoll_plan::grpc::Status;
use plimsoll_wire::grpc::{decode_text, frame, next_message};
use plimsoll_wire::h2::{self, Event, Head};
use std::convert::Infallible;
use std::time::Duration;

/// Most bytes of all responses of a call, so that a server cannot fill the memory.
const BYTES_MAX: usize = 64 << 20;

/// A connection for calls, one at a time.
pub struct Caller {
    line: Line,
    session: h2::Session,
    shared: h2::Shared,
    out: Vec<u8>,
    authority: String,
    metadata: Vec<(String, String)>,
    timeout: Duration,
}

/// The end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallEnd {
    pub messages: Vec<Vec<u8>>,
    pub status: Status,
    /// The text of the status; may be empty.
    pub text: String,
}

impl CallEnd {
    /// Returns the status with its text.
    pub fn describe(&self) -> String {
        match self.text.is_empty() {
            true => self.status.name().to_owned(),
            false => format!("{}: {}", self.status.name(), self.text),
        }
    }
}

impl Caller {
    /// Connects to a server, over TLS if `tls` is set. `metadata` goes with every call.
    ///
    /// # Errors
    /// Returns an error if the connection fails, or if the server does not choose HTTP/2 over TLS.
    pub fn open(
        peer: Peer<'_>,
        tls: Option<&Setup>,
        authority: &str,
        metadata: &[(String, String)],
        timeout: Duration,
    ) -> Result<Caller, Problem> {
        let line = Line::open(peer, tls, timeout)?;
        if line.has_tls() && !line.has_chosen_http2() {
            return Err(Problem::plain("it did not choose HTTP/2 over TLS (ALPN)"));
        }
        let (mut session, mut out) = (h2::Session::new(h2::Config::default()), Vec::new());
        session.start(&mut out);
        Ok(Caller {
            line,
            session,
            shared: h2::Shared::default(),
            out,
            authority: authority.to_owned(),
            metadata: metadata.to_vec(),
            timeout,
        })
    }

    /// Sends messages to a method, such as `/shop.v1.Shop/GetItem`, and returns what it responds.
    ///
    /// # Errors
    /// Returns an error if the response is not that of a gRPC call. A status other than OK is none.
    pub fn call(&mut self, path: &str, messages: &[Vec<u8>]) -> Result<CallEnd, Problem> {
        self.line.give(self.timeout);
        let mut body = Vec::new();
        for message in messages {
            let Ok(()) = frame(false, &mut body, |out| {
                out.extend_from_slice(message);
                Ok::<(), Infallible>(())
            });
        }
        let block = self.head(path);
        let ask = h2::Ask { has_body: true, reads_head: true, reads_body: true, ..h2::Ask::default() };
        let Some(stream) = self.session.open(ask, h2::Request::Block(&block), &mut self.out) else {
            return Err(Problem::plain("it accepts no more requests on the connection"));
        };
        let mut unsent = &body[..];
        let mut response = Response::default();
        loop {
            let taken = self.session.write(stream, unsent, true, &mut self.out);
            unsent = &unsent[taken..];
            self.line.send(&self.out)?;
            self.out.clear();
            let mut received = Vec::new();
            self.line.receive(&mut received)?;
            let mut rest = &received[..];
            while !rest.is_empty() {
                let fed = self.session.feed(rest, &mut self.shared, &mut response, &mut self.out);
                let fed = fed.map_err(|why| Problem::plain(why.sentence()))?;
                rest = &rest[fed.consumed..];
                match fed.event {
                    Some(Event::Done { answer, .. }) => return response.end(answer.status),
                    Some(Event::Refused { why, .. }) => return Err(Problem::plain(why.sentence())),
                    Some(Event::Reset { .. }) => return Err(Problem::plain("it reset the call")),
                    Some(Event::GoAway { code, last_stream })
                        if code != h2::code::NO_ERROR || last_stream < stream =>
                    {
                        return Err(Problem::plain("it closed the connection during the call"));
                    }
                    Some(
                        Event::GoAway { .. }
                        | Event::Settings
                        | Event::Interim { .. }
                        | Event::Head { .. }
                        | Event::Data { .. }
                        | Event::HalfClosed { .. }
                        | Event::Writable,
                    )
                    | None => {}
                }
            }
            if response.body.len() > BYTES_MAX {
                return Err(Problem::plain("its response is longer than 64 MiB"));
            }
            self.session.settle(&mut self.out);
        }
    }

    fn head(&self, path: &str) -> Vec<u8> {
        let scheme = if self.line.has_tls() { "https" } else { "http" };
        let mut block = Vec::new();
        let mut writer = h2::Writer::new(&mut block, scheme, &self.authority);
        let Ok(_) = writer.line("POST", |out| {
            out.extend_from_slice(path.as_bytes());
            Ok::<(), Infallible>(())
        });
        writer.field("te", b"trailers");
        writer.field("content-type", b"application/grpc");
        writer.field("user-agent", concat!("plimsoll/", env!("CARGO_PKG_VERSION")).as_bytes());
        for (name, value) in &self.metadata {
            writer.field(name, value.as_bytes());
        }
        writer.end();
        block
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.session.close(h2::code::NO_ERROR, &mut self.out);
        // Whether the server reads the farewell does not matter.
        let _ = self.line.send(&self.out);
    }
}

/// What was received of a response.
#[derive(Default)]
struct Response {
    is_grpc: bool,
    status: Option<Status>,
    text: Vec<u8>,
    body: Vec<u8>,
}

impl Response {
    fn take_status(&mut self, head: &Head<'_>) {
        if let Some(status) = head.get("grpc-status") {
            self.status = Some(Status::from_text(status));
            self.text.clear();
            decode_text(head.get("grpc-message").unwrap_or_default(), &mut self.text);
        }
    }

    fn end(self, http_status: u16) -> Result<CallEnd, Problem> {
        let status = match (self.status, self.is_grpc, http_status) {
            (Some(status), true, _) => status,
            (_, _, 200) if !self.is_grpc => return Err(Problem::plain("the response is not gRPC")),
            (None, _, 200) => return Err(Problem::plain("the response has no gRPC status")),
            (_, _, status) => return Err(Problem::plain(format!("the response was {status}"))),
        };
        let mut messages = Vec::new();
        let mut rest = &self.body[..];
        loop {
            match next_message(&mut rest) {
                Ok(Some(message)) if !message.is_compressed => messages.push(message.bytes.to_vec()),
                Ok(None) => break,
                Ok(Some(_)) | Err(_) => {
                    return Err(Problem::plain("the response is not a valid gRPC message"));
                }
            }
        }
        Ok(CallEnd { messages, status, text: String::from_utf8_lossy(&self.text).into_owned() })
    }
}

impl h2::Sink for Response {
    fn head(&mut self, _: u32, head: &Head<'_>) {
        self.is_grpc = head.content_type().is_some_and(|kind| kind.starts_with(b"application/grpc"));
        self.take_status(head);
    }

    fn body(&mut self, _: u32, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }

    fn trailers(&mut self, _: u32, trailers: &Head<'_>) {
        self.take_status(trailers);
    }
}
