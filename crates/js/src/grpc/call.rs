//! A call with one message and one response.

use super::connection::Connection;
use super::ended::Called;
use super::params::CallParams;
use super::pieces::pieces;
use crate::host::Host;
use crate::known::RequestKey;
use crate::vu::Vu;
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{Method, Schemas, Status, timeout};
use plimsoll_plan::program::{BodyUse, Reply, Step, StepId};
use plimsoll_plan::series::{Family, label};
use plimsoll_script::call::Encoder;
use plimsoll_wire::grpc::PREFIX_BYTES;
use plimsoll_wire::h1::Writer;
use std::convert::Infallible;
use std::sync::Arc;

/// A call that is ready to be sent.
pub struct Unary<'a> {
    pub connection: &'a Connection,
    pub schemas: Arc<Schemas>,
    pub method: Method,
    /// The message with its prefix.
    pub body: Vec<u8>,
    pub params: CallParams,
}

/// What is known of a call in flight.
pub struct PendingCall {
    pub schemas: Arc<Schemas>,
    /// The type of the response.
    pub response: usize,
    pub discards_message: bool,
    pub receive_bytes_max: u64,
    /// Whether the messages of the response are kept as bytes.
    pub keeps_bytes: bool,
    /// For single samples: the tags of the script, and the tags that k6 adds.
    pub tags: Vec<(String, String)>,
    pub system: [(&'static str, String); 4],
}

/// What became of the start of a call.
pub enum Started {
    Waiting(StepId),
    /// It has ended without being sent.
    Failed(Called),
}

/// Encodes a message, with its prefix.
///
/// # Errors
/// Returns a message that names the field.
pub fn encoded(schemas: &Schemas, of: usize, json: &str) -> Result<Vec<u8>, String> {
    let value = serde_json::from_str(json).map_err(|e| format!("the message is not JSON: {e}"))?;
    let mut body = Vec::new();
    Encoder::put_fixed(&pieces(&schemas.types, of, &value)?, &mut body)?;
    Ok(body)
}

/// Appends a request: its head, and the body as sent.
pub fn put_request(
    out: &mut Vec<u8>,
    (path, authority, agent): (&str, &str, &str),
    timeout_ns: u64,
    metadata: &[(String, String)],
    body: &[u8],
) {
    let mut writer = Writer::new(out);
    let Ok(_) = writer.line("POST", false, |out| {
        out.extend_from_slice(path.as_bytes());
        Ok::<(), Infallible>(())
    });
    writer.field("Host", authority.as_bytes());
    writer.field("Content-Type", b"application/grpc");
    writer.field("TE", b"trailers");
    if !metadata.iter().any(|(name, _)| name == "user-agent") {
        writer.field("User-Agent", agent.as_bytes());
    }
    if timeout_ns > 0 {
        writer.field("Grpc-Timeout", timeout(timeout_ns).as_bytes());
    }
    for (name, value) in metadata {
        writer.field(name, value.as_bytes());
    }
    writer.end();
    writer.body(body);
}

impl Unary<'_> {
    /// Puts the call into the outbox.
    ///
    /// # Errors
    /// Returns a message if there are too many series.
    pub fn start(self, host: &Host, vu: &Vu) -> Result<Started, String> {
        let Unary { connection, schemas, method, body, params } = self;
        let series = series(host, vu, connection, &method, &params, label::UNARY)?;
        let pending = PendingCall {
            response: method.response,
            discards_message: params.discards_message,
            receive_bytes_max: connection.receive_bytes_max,
            keeps_bytes: false,
            system: system_tags(connection, &method, &params),
            tags: params.tags.clone(),
            schemas,
        };
        let message_bytes = (body.len() - PREFIX_BYTES) as u64;
        if message_bytes > connection.send_bytes_max {
            host.count_fault(series, Fault::InvalidRequest);
            let limit = connection.send_bytes_max;
            return Ok(Started::Failed(
                pending
                    .unsent(format!("the message has {message_bytes} bytes, and `maxSendSize` is {limit}")),
            ));
        }
        let sent = (method.path.as_str(), &body[..]);
        Ok(Started::Waiting(push(host, vu, connection, &params, series, sent, pending)))
    }
}

/// Puts a request into the outbox; returns its step.
pub fn push(
    host: &Host,
    vu: &Vu,
    connection: &Connection,
    params: &CallParams,
    series: u32,
    (path, body): (&str, &[u8]),
    pending: PendingCall,
) -> StepId {
    let timeout_ns = params.unary_timeout_ns();
    let step = Step {
        id: vu.step(),
        request: series,
        origin: connection.origin,
        body: BodyUse::Keep,
        timeout_ns,
        judged: true,
        ..Step::default()
    };
    host.shared.note_sent();
    let names = (path, connection.authority.as_str(), &*host.shared.settings.user_agent);
    host.out
        .borrow_mut()
        .push_rendered(step, |out| put_request(out, names, timeout_ns, &params.metadata, body));
    vu.calls.borrow_mut().push((step.id, pending));
    step.id
}

impl PendingCall {
    /// Takes the end of the call: judges and counts it.
    pub fn finish(self, host: &Host, vu: &Vu, reply: &Reply<'_>) -> Called {
        let called = Called::of(&self, reply);
        if let Some(fault) = called.fault.filter(|_| reply.fault.is_none()) {
            host.out.borrow_mut().fail(fault);
        }
        let ms = reply.phases.service_ns() as f64 / 1e6;
        self.sample(host, vu, "grpc_req_duration", ms, Some(called.status));
        called
    }

    /// Passes on a sample of the call to the output that takes them.
    pub fn sample(&self, host: &Host, vu: &Vu, metric: &str, value: f64, status: Option<Status>) {
        if !host.takes_samples() {
            return;
        }
        let status = status.map(|status| (status as u8).to_string());
        let own = self.system.iter().map(|(name, value)| (*name, value.as_str()));
        let system: Vec<(&str, &str)> = own.chain(status.as_deref().map(|text| ("status", text))).collect();
        host.sample(vu, &[(metric, value)], &self.tags, &system);
    }
}

/// Returns the tags that k6 adds to the samples of a call.
pub fn system_tags(
    connection: &Connection,
    method: &Method,
    params: &CallParams,
) -> [(&'static str, String); 4] {
    let path = method.path.as_str();
    [
        ("url", format!("{}{path}", connection.target.authority())),
        (label::SERVICE, service(path).to_owned()),
        (label::METHOD, method.name.clone()),
        ("name", params.name.clone().unwrap_or_else(|| path.to_owned())),
    ]
}

/// Returns the full name of the service in a path.
fn service(path: &str) -> &str {
    path.trim_start_matches('/').split('/').next().unwrap_or_default()
}

/// Returns the series of calls of a method.
///
/// # Errors
/// Returns a message if there are too many series.
pub fn series(
    host: &Host,
    vu: &Vu,
    connection: &Connection,
    method: &Method,
    params: &CallParams,
    kind: &str,
) -> Result<u32, String> {
    let name = params.name.as_deref().unwrap_or(&method.path);
    let key = RequestKey { scope: host.scope(vu), origin: connection.origin, method: &method.path, name };
    let is_plain = params.tags.is_empty() && kind == label::UNARY;
    if let Some(series) = host.known.borrow().request(key).filter(|_| is_plain) {
        return Ok(series);
    }
    let before = host.out.borrow().book.refused();
    let mut tags = params.tags.clone();
    tags.push((label::RPC_TYPE.to_owned(), kind.to_owned()));
    tags.push((label::SERVICE.to_owned(), service(&method.path).to_owned()));
    let family = if kind == label::UNARY { Family::Request } else { Family::WebSocket };
    let series = host.series_to(vu, family, name, &tags, Some(&method.name), &connection.target)?;
    if is_plain && host.out.borrow().book.refused() == before {
        host.known.borrow_mut().keep_request(key, series);
    }
    Ok(series)
}
