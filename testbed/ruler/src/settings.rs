//! The settings; the table of their keys is in `keys`.
//!
//! They change in three ways: by flags at the start (`--error-rate 0.1`), by `/_test-server/set?error_rate=0.1`
//! at run time, and by the query of any request, for that request alone. A query may only contain keys of a
//! single response.

use crate::draw::Distribution;
use crate::fault::Fault;
use crate::http2::Http2;
use crate::kept::Keep;
use crate::keys::{Door, KEYS};
use crate::pause::Pause;
use crate::pressed::{Encoding, PLAIN_MOST};
use crate::units::percent_decoded;
use std::rc::Rc;

/// How a client recognizes the end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By Content-Length.
    Length,
    /// By chunks.
    Chunked,
    /// By the end of the connection.
    Close,
}

/// Response to a head with `Expect: 100-continue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExpect {
    /// `100 Continue`.
    Continue,
    /// None: the client must send the body without it.
    Ignore,
    /// 417, and over HTTP/1 the end of the connection; the body is not read.
    Refuse,
}

/// Response to a request that arrives when the queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// A response with status 503.
    Status503,
    /// RST.
    Reset,
    /// FIN.
    Close,
}

/// The response to one request.
#[derive(Debug, Clone)]
pub struct Behavior {
    /// After the service, if there is a station; it does not occupy a worker.
    pub(crate) delay: Distribution,
    pub(crate) status: u16,
    pub(crate) error_rate: f64,
    pub(crate) error_status: u16,
    pub(crate) body_bytes: u64,
    /// Instead of the pattern of `body_bytes`.
    pub(crate) text: Option<Rc<str>>,
    /// None: `text/plain`, or the default of a special endpoint.
    pub(crate) content_type: Option<Rc<str>>,
    pub(crate) encoding: Option<Encoding>,
    /// Further header lines, each with its line end.
    pub(crate) lines: String,
    pub(crate) location: Option<Rc<str>>,
    /// Without its quotes.
    pub(crate) etag: Option<Rc<str>>,
    pub(crate) framing: Framing,
    pub(crate) chunk_bytes: u64,
    pub(crate) trailers: bool,
    /// 0, or less than the head has anyway: no padding.
    pub(crate) head_bytes: u64,
    pub(crate) informational: u64,
    /// None: the standard one of the status.
    pub(crate) reason: Option<Rc<str>>,
    pub(crate) http10: bool,
    pub(crate) close: bool,
    pub(crate) fault: Option<Fault>,
    pub(crate) fault_rate: f64,
    pub(crate) drip_every_ns: u64,
    /// Of an RST_STREAM that is a fault.
    pub(crate) reset_code: u32,
    pub(crate) on_expect: OnExpect,
}

/// Settings of the whole server.
#[derive(Debug, Clone)]
pub struct Service {
    /// 0: no queue model; requests do not wait for each other.
    pub(crate) workers: u64,
    pub(crate) service: Distribution,
    /// Places in the queue, without the requests in service.
    pub(crate) queue: u64,
    pub(crate) overflow: Overflow,
    pub(crate) pause: Option<Pause>,
    /// From the start or the command to the first pause.
    pub(crate) pause_at_ns: u64,
    /// 0: no limit, as with the two that follow.
    pub(crate) keep_alive_requests: u64,
    pub(crate) idle_close_ns: u64,
    pub(crate) max_connections: u64,
    pub(crate) leave_in_backlog: bool,
    pub(crate) backlog: u64,
    /// False closes the listener; the server remembers the port.
    pub(crate) listen: bool,
    /// Which complete requests are kept.
    pub(crate) keep: Keep,
    pub(crate) seed: u64,
    pub(crate) http2: Http2,
}

/// The settings of the server, and the defaults of its responses.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) behavior: Rc<Behavior>,
    pub(crate) service: Service,
}

/// Says what is expected.
pub(crate) type SettingError = String;

impl Default for Settings {
    fn default() -> Self {
        let behavior = Behavior {
            delay: Distribution::Constant(0),
            status: 200,
            error_rate: 0.0,
            error_status: 500,
            body_bytes: 76,
            text: None,
            content_type: None,
            encoding: None,
            lines: String::new(),
            location: None,
            etag: None,
            framing: Framing::Length,
            chunk_bytes: 4096,
            trailers: false,
            head_bytes: 0,
            informational: 0,
            reason: None,
            http10: false,
            close: false,
            fault: None,
            fault_rate: 1.0,
            drip_every_ns: 100_000_000,
            reset_code: 2,
            on_expect: OnExpect::Continue,
        };
        let service = Service {
            workers: 0,
            service: Distribution::Constant(0),
            queue: 100,
            overflow: Overflow::Status503,
            pause: None,
            pause_at_ns: 0,
            keep_alive_requests: 0,
            idle_close_ns: 0,
            max_connections: 0,
            leave_in_backlog: false,
            backlog: 4096,
            listen: true,
            keep: Keep::None,
            seed: 1,
            http2: Http2::default(),
        };
        Settings { behavior: Rc::new(behavior), service }
    }
}

impl Settings {
    /// Returns a copy with all changes of `pairs`, or an error and no change.
    pub(crate) fn changed(&self, pairs: &[(String, String)]) -> Result<Settings, SettingError> {
        let mut behavior = (*self.behavior).clone();
        let mut service = self.service.clone();
        full_rate_unless_named(&mut behavior, pairs);
        for (name, value) in pairs {
            let row = KEYS.iter().find(|row| row.name == name).ok_or_else(|| {
                format!("unknown key `{name}`; `plimsoll test-server --help` lists the keys")
            })?;
            match row.door {
                Door::Request(apply) => apply(&mut behavior, value),
                Door::Server(apply) => apply(&mut service, value),
            }
            .map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        let named = |name: &str| pairs.iter().any(|pair| pair.0 == name);
        check(&behavior)?;
        if service.workers > 0 && service.service.is_zero() {
            return Err("`workers` requires a `service` time, for example workers=4&service=2ms".into());
        }
        if service.workers == 0
            && !named("workers")
            && ["service", "queue", "overflow"].into_iter().any(named)
        {
            return Err("`service`, `queue`, and `overflow` require `workers`".into());
        }
        if named("pause_at") && service.pause.is_none() {
            return Err("`pause_at` requires a `pause`".into());
        }
        Ok(Settings { behavior: Rc::new(behavior), service })
    }

    /// Returns the response settings for a request with this query: those of the server, with the keys of the
    /// query applied. Names that are not keys are ignored: they belong to the tested program.
    pub(crate) fn for_request(&self, query: &[u8]) -> Result<Rc<Behavior>, SettingError> {
        let mut pairs = Vec::new();
        for (name, value) in query_parts(query) {
            let Some(row) = KEYS.iter().find(|row| row.name.as_bytes() == name) else { continue };
            if !row.per_request() {
                return Err(format!("`{}` applies to the whole server; use /_test-server/set", row.name));
            }
            pairs.push((row.name.to_owned(), percent_decoded(value)?));
        }
        if pairs.is_empty() {
            return Ok(self.behavior.clone());
        }
        let mut behavior = (*self.behavior).clone();
        full_rate_unless_named(&mut behavior, &pairs);
        for (name, value) in &pairs {
            for row in KEYS.iter().filter(|row| row.name == name) {
                if let Door::Request(apply) = row.door {
                    apply(&mut behavior, value).map_err(|wrong| format!("{name}: {wrong}"))?;
                }
            }
        }
        check(&behavior)?;
        if behavior.fault == Some(Fault::AcceptThenReset) && self.behavior.fault != behavior.fault {
            return Err("`fault=accept_then_reset` applies to the whole server; use /_test-server/set".into());
        }
        Ok(Rc::new(behavior))
    }
}

/// Returns the pairs of a query, still encoded. A name without `=` has an empty value.
pub(crate) fn query_parts(query: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    query.split(|&byte| byte == b'&').filter(|part| !part.is_empty()).map(|part| {
        match part.iter().position(|&byte| byte == b'=') {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, &part[part.len()..]),
        }
    })
}

/// A fault without a rate applies to every request, even after a smaller rate was set for another fault.
fn full_rate_unless_named(behavior: &mut Behavior, pairs: &[(String, String)]) {
    if pairs.iter().any(|pair| pair.0 == "fault") {
        behavior.fault_rate = 1.0;
    }
}

fn check(behavior: &Behavior) -> Result<(), SettingError> {
    if behavior.http10 && behavior.framing == Framing::Chunked {
        return Err("`framing=chunked` requires `http=1.1`".into());
    }
    if behavior.trailers && behavior.framing != Framing::Chunked {
        return Err("`trailers` requires `framing=chunked`".into());
    }
    if behavior.encoding.is_some() && behavior.text.is_none() && behavior.body_bytes > PLAIN_MOST {
        return Err("`encoding` requires a `body` of at most 16m".into());
    }
    if behavior.fault.is_none() && behavior.fault_rate != 1.0 {
        return Err("`fault_rate` requires a `fault`".into());
    }
    Ok(())
}
