//! Everything that can be commanded, as one table of keys.
//!
//! Three doors lead to it: flags at the start (`--error-rate 0.1`), `/_ruler/set?error_rate=0.1` at run
//! time, and the query of any request, which overrides for that request alone. Only keys that concern a
//! single answer pass the third door.

use crate::draw::Distribution;
use crate::fault::Fault;
use crate::pause::Pause;
use crate::units::{duration_ns, percent_decoded, probability, size_bytes, switch, whole};
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
    pub(crate) seed: u64,
}

/// The behaviour of the server and the default behaviour of its answers.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(crate) behaviour: Rc<Behaviour>,
    pub(crate) service: Service,
}

type Wrong = String;

/// Which of the three doors a key passes, and what it does there.
enum Door {
    /// All of them.
    Request(fn(&mut Behaviour, &str) -> Result<(), Wrong>),
    /// Not the query of a request.
    Server(fn(&mut Service, &str) -> Result<(), Wrong>),
}

/// One thing that can be commanded.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) meaning: &'static str,
    door: Door,
}

impl Row {
    /// True when the key may stand in the query of an ordinary request.
    pub(crate) fn per_request(&self) -> bool {
        matches!(self.door, Door::Request(_))
    }
}

const fn request(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    apply: fn(&mut Behaviour, &str) -> Result<(), Wrong>,
) -> Row {
    Row { name, example, meaning, door: Door::Request(apply) }
}

const fn server(
    name: &'static str,
    example: &'static str,
    meaning: &'static str,
    apply: fn(&mut Service, &str) -> Result<(), Wrong>,
) -> Row {
    Row { name, example, meaning, door: Door::Server(apply) }
}

/// Every key there is.
pub(crate) const KEYS: [Row; 29] = [
    request("delay", "5ms", "time until an answer begins, also a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.delay = value)
    }),
    request("status", "404", "status of an answer", |to, text| {
        whole(text, 100, 999).map(|value| to.status = value as u16)
    }),
    request("error_rate", "0.1", "share of answers that carry `error_status` instead", |to, text| {
        probability(text).map(|value| to.error_rate = value)
    }),
    request("error_status", "500", "the status of those", |to, text| {
        whole(text, 100, 999).map(|value| to.error_status = value as u16)
    }),
    request("body", "683481", "bytes of body", |to, text| {
        size_bytes(text).map(|value| to.body_bytes = value)
    }),
    request("framing", "chunked", "how the end of the body is told: length, chunked or close", |to, text| {
        to.framing = match text {
            "length" => Framing::Length,
            "chunked" => Framing::Chunked,
            "close" => Framing::Close,
            _ => return Err(format!("`{text}` is no framing; write length, chunked or close")),
        };
        Ok(())
    }),
    request("chunk", "4096", "bytes in a chunk (1 to 1m)", |to, text| match size_bytes(text)? {
        bytes @ 1..=0x10_0000 => {
            to.chunk_bytes = bytes;
            Ok(())
        }
        _ => Err(format!("`{text}` is no size for a chunk; write 1 to 1m")),
    }),
    request("trailers", "1", "a trailer after the last chunk", |to, text| {
        switch(text).map(|value| to.trailers = value)
    }),
    request("head_bytes", "32k", "pads the head to this size with X-Pad (at most 16m)", |to, text| {
        match size_bytes(text)? {
            bytes @ 0..=0x100_0000 => {
                to.head_bytes = bytes;
                Ok(())
            }
            _ => Err(format!("`{text}` is too long for a head; write at most 16m")),
        }
    }),
    request("informational", "2", "so many 103 and 100 in turn before the answer", |to, text| {
        whole(text, 0, 1000).map(|value| to.informational = value)
    }),
    request("reason", "Fine", "the reason phrase", |to, text| {
        if text.bytes().any(|byte| byte < b' ' && byte != b'\t') {
            return Err("a reason phrase has no control characters".into());
        }
        to.reason = Some(text.into());
        Ok(())
    }),
    request("http", "1.0", "version of the answer: 1.0 or 1.1", |to, text| {
        to.http10 = match text {
            "1.0" => true,
            "1.1" => false,
            _ => return Err(format!("`{text}` is no version; write 1.0 or 1.1")),
        };
        Ok(())
    }),
    request("close", "1", "`Connection: close`, and close after the answer", |to, text| {
        switch(text).map(|value| to.close = value)
    }),
    request("fault", "reset_before", "a fault from the list below, or none", |to, text| {
        to.fault = if text == "none" { None } else { Some(Fault::parse(text)?) };
        Ok(())
    }),
    request(
        "fault_rate",
        "0.01",
        "share of requests that suffer it (1 unless named with the fault)",
        |to, text| probability(text).map(|value| to.fault_rate = value),
    ),
    request("drip_every", "100ms", "time between two bytes of a dripping answer", |to, text| {
        duration_ns(text).map(|value| to.drip_every_ns = value)
    }),
    server("workers", "4", "requests in service at once; 0: no such limit", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.workers = value)
    }),
    server("service", "2ms", "time a worker needs for one, also a distribution", |to, text| {
        Distribution::parse(text).map(|value| to.service = value)
    }),
    server("queue", "100", "places to wait for a worker", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.queue = value)
    }),
    server("overflow", "reset", "what happens beyond them: 503, reset or close", |to, text| {
        to.overflow = match text {
            "503" => Overflow::Status503,
            "reset" => Overflow::Reset,
            "close" => Overflow::Close,
            _ => return Err(format!("`{text}` is no overflow; write 503, reset or close")),
        };
        Ok(())
    }),
    server("pause", "1s/10s", "nothing is answered in the first 1 s of every 10 s; off", |to, text| {
        to.pause = if text == "off" { None } else { Some(Pause::parse(text)?) };
        Ok(())
    }),
    server("pause_at", "3s", "the first pause begins so long after the command", |to, text| {
        duration_ns(text).map(|value| to.pause_at_ns = value)
    }),
    server(
        "keep_alive_requests",
        "100",
        "closes a connection with its 100th answer; 0: never",
        |to, text| whole(text, 0, u64::from(u32::MAX)).map(|value| to.keep_alive_requests = value),
    ),
    server("idle_close", "5s", "closes a connection idle for so long; 0: never", |to, text| {
        duration_ns(text).map(|value| to.idle_close_ns = value)
    }),
    server("max_connections", "256", "resets connections beyond; 0: no limit", |to, text| {
        whole(text, 0, 100_000_000).map(|value| to.max_connections = value)
    }),
    server("accept_none_beyond", "1", "leaves those in the backlog instead", |to, text| {
        switch(text).map(|value| to.accept_none_beyond = value)
    }),
    server("backlog", "4096", "length of the listen queue, from the next `listen=on`", |to, text| {
        whole(text, 0, 1_000_000).map(|value| to.backlog = value)
    }),
    server("listen", "off", "closes the listener, or opens it again on the same port", |to, text| {
        switch(text).map(|value| to.listen = value)
    }),
    server("seed", "7", "begins all random streams anew", |to, text| {
        whole(text, 0, u64::MAX).map(|value| to.seed = value)
    }),
];

impl Default for Settings {
    fn default() -> Self {
        let behaviour = Behaviour {
            delay: Distribution::Constant(0),
            status: 200,
            error_rate: 0.0,
            error_status: 500,
            body_bytes: 76,
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
            seed: 1,
        };
        Settings { behaviour: Rc::new(behaviour), service }
    }
}

impl Settings {
    /// A copy changed by `pairs`; all of them or none.
    pub(crate) fn changed(&self, pairs: &[(String, String)]) -> Result<Settings, Wrong> {
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
    pub(crate) fn for_request(&self, query: &[u8]) -> Result<Rc<Behaviour>, Wrong> {
        let mut pairs = Vec::new();
        for (name, value) in query_parts(query) {
            let Some(row) = KEYS.iter().find(|row| row.name.as_bytes() == name) else { continue };
            if !row.per_request() {
                return Err(format!("`{}` concerns the whole server; use /_ruler/set", row.name));
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
            return Err("`fault=accept_then_reset` concerns the whole server; use /_ruler/set".into());
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

fn check(behaviour: &Behaviour) -> Result<(), Wrong> {
    if behaviour.http10 && behaviour.framing == Framing::Chunked {
        return Err("`framing=chunked` needs `http=1.1`".into());
    }
    if behaviour.trailers && behaviour.framing != Framing::Chunked {
        return Err("`trailers` needs `framing=chunked`".into());
    }
    if behaviour.fault.is_none() && behaviour.fault_rate != 1.0 {
        return Err("`fault_rate` needs a `fault`".into());
    }
    Ok(())
}
