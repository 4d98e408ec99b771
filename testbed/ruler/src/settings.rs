//! Everything that can be commanded; the table of its keys is in `keys`.
//!
//! Three doors lead to it: flags at the start (`--error-rate 0.1`), `/_test-server/set?error_rate=0.1` at run
//! time, and the query of any request, which overrides for that request alone. Only keys that concern a
//! single answer pass the third door.

use crate::draw::Distribution;
use crate::fault::Fault;
use crate::http2::Http2;
use crate::kept::Keep;
use crate::keys::{Door, KEYS};
use crate::pause::Pause;
use crate::pressed::{Encoding, PLAIN_MOST};
use crate::units::percent_decoded;
use std::rc::Rc;

/// How the end of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By Content-Length.
    Length,
    /// By chunks.
    Chunked,
    /// By the end of the connection.
    Close,
}

/// What happens to a request that finds the station full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// An answer with status 503.
    Status503,
    /// RST.
    Reset,
    /// FIN.
    Close,
}

/// How one request is answered.
#[derive(Debug, Clone)]
pub struct Behaviour {
    /// After the service, if there is a station; it does not occupy a worker.
    pub(crate) delay: Distribution,
    pub(crate) status: u16,
    pub(crate) error_rate: f64,
    pub(crate) error_status: u16,
    pub(crate) body_bytes: u64,
    /// Instead of the pattern of `body_bytes`.
    pub(crate) text: Option<Rc<str>>,
    /// None: `text/plain`, or what an end point of its own says.
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
    /// None: the usual one of the status.
    pub(crate) reason: Option<Rc<str>>,
    pub(crate) http10: bool,
    pub(crate) close: bool,
    pub(crate) fault: Option<Fault>,
    pub(crate) fault_rate: f64,
    pub(crate) drip_every_ns: u64,
    /// Of an RST_STREAM that is a fault.
    pub(crate) reset_code: u32,
}

/// How the server as a whole behaves.
#[derive(Debug, Clone)]
pub struct Service {
    /// 0: no station, every request is on its own.
    pub(crate) workers: u64,
    pub(crate) service: Distribution,
    /// Places to wait, the workers' own not among them.
    pub(crate) queue: u64,
    pub(crate) overflow: Overflow,
    pub(crate) pause: Option<Pause>,
    /// From the start or the command to the first pause.
    pub(crate) pause_at_ns: u64,
    /// 0: no limit, as with the two that follow.
    pub(crate) keep_alive_requests: u64,
    pub(crate) idle_close_ns: u64,
    pub(crate) max_connections: u64,
    pub(crate) accept_none_beyond: bool,
    pub(crate) backlog: u64,
    /// False closes the listener; the port stays known.
    pub(crate) listen: bool,
    /// Which requests are kept whole.
    pub(crate) keep: Keep,
    pub(crate) seed: u64,
    pub(crate) http2: Http2,
}

/// The behaviour of the server and the default behaviour of its answers.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) behaviour: Rc<Behaviour>,
    pub(crate) service: Service,
}

/// Says what was expected instead.
pub(crate) type SettingError = String;

impl Default for Settings {
    fn default() -> Self {
        let behaviour = Behaviour {
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
            accept_none_beyond: false,
            backlog: 4096,
            listen: true,
            keep: Keep::None,
            seed: 1,
            http2: Http2::default(),
        };
        Settings { behaviour: Rc::new(behaviour), service }
    }
}

impl Settings {
    /// A copy changed by `pairs`; all of them or none.
    pub(crate) fn changed(&self, pairs: &[(String, String)]) -> Result<Settings, SettingError> {
        let mut behaviour = (*self.behaviour).clone();
        let mut service = self.service.clone();
        full_rate_unless_named(&mut behaviour, pairs);
        for (name, value) in pairs {
            let row = KEYS
                .iter()
                .find(|row| row.name == name)
                .ok_or_else(|| format!("`{name}` is no key; see the table in the ruler's README"))?;
            match row.door {
                Door::Request(apply) => apply(&mut behaviour, value),
                Door::Server(apply) => apply(&mut service, value),
            }
            .map_err(|wrong| format!("{name}: {wrong}"))?;
        }
        let named = |name: &str| pairs.iter().any(|pair| pair.0 == name);
        check(&behaviour)?;
        if service.workers > 0 && service.service.is_zero() {
            return Err("`workers` needs a `service` time, for example workers=4&service=2ms".into());
        }
        if service.workers == 0
            && !named("workers")
            && ["service", "queue", "overflow"].into_iter().any(named)
        {
            return Err("`service`, `queue` and `overflow` need `workers`".into());
        }
        if named("pause_at") && service.pause.is_none() {
            return Err("`pause_at` needs a `pause`".into());
        }
        Ok(Settings { behaviour: Rc::new(behaviour), service })
    }

    /// The behaviour towards a request with this query: the server's own, unless the query names keys.
    /// Names that are no keys are the tested program's own affair and pass unseen.
    pub(crate) fn for_request(&self, query: &[u8]) -> Result<Rc<Behaviour>, SettingError> {
        let mut pairs = Vec::new();
        for (name, value) in query_parts(query) {
            let Some(row) = KEYS.iter().find(|row| row.name.as_bytes() == name) else { continue };
            if !row.per_request() {
                return Err(format!("`{}` concerns the whole server; use /_test-server/set", row.name));
            }
            pairs.push((row.name.to_owned(), percent_decoded(value)?));
        }
        if pairs.is_empty() {
            return Ok(self.behaviour.clone());
        }
        let mut behaviour = (*self.behaviour).clone();
        full_rate_unless_named(&mut behaviour, &pairs);
        for (name, value) in &pairs {
            for row in KEYS.iter().filter(|row| row.name == name) {
                if let Door::Request(apply) = row.door {
                    apply(&mut behaviour, value).map_err(|wrong| format!("{name}: {wrong}"))?;
                }
            }
        }
        check(&behaviour)?;
        if behaviour.fault == Some(Fault::AcceptThenReset) && self.behaviour.fault != behaviour.fault {
            return Err("`fault=accept_then_reset` concerns the whole server; use /_test-server/set".into());
        }
        Ok(Rc::new(behaviour))
    }
}

/// The pairs of a query, still encoded. A name without `=` has an empty value.
pub(crate) fn query_parts(query: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    query.split(|&byte| byte == b'&').filter(|part| !part.is_empty()).map(|part| {
        match part.iter().position(|&byte| byte == b'=') {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, &part[part.len()..]),
        }
    })
}

/// Naming a fault means it, even after a smaller rate was set for another one.
fn full_rate_unless_named(behaviour: &mut Behaviour, pairs: &[(String, String)]) {
    if pairs.iter().any(|pair| pair.0 == "fault") {
        behaviour.fault_rate = 1.0;
    }
}

fn check(behaviour: &Behaviour) -> Result<(), SettingError> {
    if behaviour.http10 && behaviour.framing == Framing::Chunked {
        return Err("`framing=chunked` needs `http=1.1`".into());
    }
    if behaviour.trailers && behaviour.framing != Framing::Chunked {
        return Err("`trailers` needs `framing=chunked`".into());
    }
    if behaviour.encoding.is_some() && behaviour.text.is_none() && behaviour.body_bytes > PLAIN_MOST {
        return Err("`encoding` takes a `body` of at most 16m".into());
    }
    if behaviour.fault.is_none() && behaviour.fault_rate != 1.0 {
        return Err("`fault_rate` needs a `fault`".into());
    }
    Ok(())
}
