//! Converts a plan to a worker's input: bytes ready to send, tables of numbers. The last allocation of a request
//! happens here.

use plimsoll_plan::link::Http;
use plimsoll_plan::origin::Origin;
use plimsoll_plan::program::RequestId;
use plimsoll_plan::{Plan, limit};
use plimsoll_wire::hpack::Fields;
use plimsoll_wire::{h1, h2};

/// A request as it is sent.
#[derive(Debug)]
pub struct Prepared {
    /// As HTTP/1 sends it.
    pub bytes: Box<[u8]>,
    pub ask: h1::Ask,
    /// For an origin with HTTP/2; the body is the end of `bytes`.
    pub h2: Option<h2::Prepared>,
    pub body_bytes: usize,
}

#[derive(Debug)]
pub struct Compiled {
    /// Empty if programs render their own requests.
    pub requests: Box<[Prepared]>,
    /// For the table program: requests in this order, then from the start again.
    pub sequence: Box<[RequestId]>,
    pub wire_limits: h1::Limits,
    /// Fields of HTTP/2 requests that servers may keep in their tables.
    pub fields: Fields,
    pub h2_limits: h2::Limits,
}

/// Renders every request once.
pub fn compile(plan: &Plan) -> Compiled {
    let outline = &plan.outline;
    let origins = outline.all_origins();
    let hosts: Vec<String> = origins.iter().map(Origin::authority).collect();
    let mut fields = Fields::new();
    let requests = plan.requests.iter().map(|r| {
        let close = !outline.keep_alive;
        let request = h1::Request {
            method: &r.method,
            target: &r.path,
            host: &hosts[usize::from(r.origin)],
            headers: &r.headers,
            body: r.body.as_deref(),
            http10: outline.link.http == Http::V10,
            close,
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
        };
        let mut bytes = Vec::new();
        h1::render(&request, &mut bytes);
        let origin = &origins[usize::from(r.origin)];
        let scheme = if origin.tls.is_some() { "https" } else { "http" };
        let h2 = origin.is_http2.then(|| h2::Prepared::new(&request, scheme, None, &mut fields));
        let body_bytes = request.body.map_or(0, <[u8]>::len);
        Prepared { bytes: bytes.into(), ask: request.ask(), h2, body_bytes }
    });
    let requests = requests.collect();
    Compiled {
        requests,
        sequence: (0..plan.requests.len() as RequestId).collect(),
        wire_limits: wire_limits(&outline.limits),
        fields,
        h2_limits: h2_limits(&outline.limits),
    }
}

fn wire_limits(l: &limit::Limits) -> h1::Limits {
    h1::Limits {
        head_bytes_max: l.head_bytes as usize,
        headers_max: l.headers as usize,
        informational_max: l.informational.min(255) as u8,
        chunk_line_bytes_max: l.chunk_line_bytes as usize,
        trailer_bytes_max: l.trailer_bytes as usize,
    }
}

fn h2_limits(l: &limit::Limits) -> h2::Limits {
    h2::Limits {
        head_bytes_max: l.head_bytes as usize,
        fields_max: l.headers as usize,
        informational_max: l.informational.min(255) as u8,
        trailer_bytes_max: l.trailer_bytes as usize,
        ..h2::Limits::default()
    }
}
