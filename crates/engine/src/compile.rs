//! Converts a plan to a worker's input: bytes ready to send, tables of numbers. The last allocation of a request
//! happens here.

use plimsoll_plan::origin::Origin;
use plimsoll_plan::program::RequestId;
use plimsoll_plan::{Plan, limit};
use plimsoll_wire::h1;

/// A request as it is sent.
#[derive(Debug)]
pub struct Prepared {
    pub bytes: Box<[u8]>,
    pub ask: h1::Ask,
}

#[derive(Debug)]
pub struct Compiled {
    /// Empty if programs render their own requests.
    pub requests: Box<[Prepared]>,
    /// For the table program: requests in this order, then from the start again.
    pub sequence: Box<[RequestId]>,
    pub wire_limits: h1::Limits,
}

/// Renders every request once.
pub fn compile(plan: &Plan) -> Compiled {
    let outline = &plan.outline;
    let hosts: Vec<String> = outline.all_origins().iter().map(Origin::authority).collect();
    let requests = plan.requests.iter().map(|r| {
        let close = !outline.keep_alive;
        let request = h1::Request {
            method: &r.method,
            target: &r.path,
            host: &hosts[usize::from(r.origin)],
            headers: &r.headers,
            body: r.body.as_deref(),
            http10: outline.link.http10,
            close,
            user_agent: concat!("plimsoll/", env!("CARGO_PKG_VERSION")),
        };
        let mut bytes = Vec::new();
        h1::render(&request, &mut bytes);
        Prepared { bytes: bytes.into(), ask: request.ask() }
    });
    Compiled {
        requests: requests.collect(),
        sequence: (0..plan.requests.len() as RequestId).collect(),
        wire_limits: wire_limits(&outline.limits),
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
