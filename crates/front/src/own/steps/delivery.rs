//! How a request is sent and its response is read: `expect_continue`, `chunked`, and `throttle`.

use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_plan::delivery::{self, CONTINUE_NS, Delivery};

/// `expect_continue: true`, or how long to wait.
pub fn expect_continue(node: &Node, row: &Row, to: &mut Delivery, r: &mut Reader<'_>) {
    to.continue_ns = match switch(node) {
        Some(is_on) => is_on.then_some(CONTINUE_NS),
        None => r.parsed(node, row, delivery::continue_ns),
    };
}

/// `chunked: true`, or the size of a chunk.
pub fn chunked(node: &Node, row: &Row, to: &mut Delivery, r: &mut Reader<'_>) {
    let size = match switch(node) {
        Some(is_on) => {
            to.is_chunked = is_on;
            return;
        }
        None => r.parsed(node, row, delivery::chunk_bytes),
    };
    to.is_chunked |= size.is_some();
    to.chunk_bytes = size;
}

/// `throttle: { head: 10B/s, body: 100KB/s, response: 1KB/s }`.
pub fn throttle(node: &Node, row: &Row, to: &mut Delivery, r: &mut Reader<'_>) {
    let Some(entries) = r.map(node, row) else { return };
    if entries.is_empty() {
        r.expected(node, row, "add `head`, `body`, or `response`");
    }
    for entry in entries {
        let Some((row, key)) = r.key(entry) else { continue };
        let rate = r.parsed(&entry.value, row, delivery::bytes_per_s);
        match key {
            of::Throttle::Head => to.head_bytes_per_s = rate,
            of::Throttle::Body => to.body_bytes_per_s = rate,
            of::Throttle::Response => to.read_bytes_per_s = rate,
        }
    }
}

/// Returns the value of `true` and `false`; `None` for anything else.
fn switch(node: &Node) -> Option<bool> {
    let Value::Scalar(Scalar { text, plain: true, .. }) = &node.value else { return None };
    match text.as_str() {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}
