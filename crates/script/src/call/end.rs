//! The end of a call: its status, or why the response is not the end of a call.

use plimsoll_plan::Fault;
use plimsoll_plan::grpc::{Protocol, Status};
use plimsoll_plan::head::Head;
use plimsoll_plan::program::Reply;

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    pub status: Status,
    /// The text of the status, percent-encoded.
    pub message: &'a [u8],
    /// The details of the status (`google.rpc.Status`), in Base64; usually empty.
    pub details: &'a [u8],
    /// The fields after the body; empty if the status is in the head.
    pub trailers: Head<'a>,
}

/// Reads the end of a call from a complete response.
///
/// # Errors
/// Returns the fault of a response that is not the end of a call. A response of another status than 200 that has a
/// gRPC status is one.
pub fn end_of<'a>(reply: &Reply<'a>, protocol: Protocol) -> Result<End<'a>, Fault> {
    // A response without a body has its status in the head.
    let found = status_in(reply.trailers).or_else(|| status_in(reply.head));
    match (found, begin_of(reply.status, reply.head, protocol)) {
        // An error of a proxy may have a status, too.
        (Some(end), Ok(()) | Err(Fault::Status)) if is_of(protocol, reply.head) => {
            Ok(End { trailers: reply.trailers, ..end })
        }
        (_, Err(fault)) => Err(fault),
        (Some(_), Ok(())) => Err(Fault::GrpcContentType),
        (None, Ok(())) => Err(Fault::GrpcNoStatus),
    }
}

/// Returns the status that a head or trailers have; `None` without one.
pub fn status_in(fields: Head<'_>) -> Option<End<'_>> {
    let status = Status::from_text(fields.field("grpc-status")?);
    let text = |name: &str| fields.field(name).unwrap_or_default();
    let (message, details) = (text("grpc-message"), text("grpc-status-details-bin"));
    Some(End { status, message, details, trailers: fields })
}

/// Checks that a head begins the response to a call.
///
/// # Errors
/// Returns the fault of a head that does not.
pub fn begin_of(status: u16, head: Head<'_>, protocol: Protocol) -> Result<(), Fault> {
    match (status, is_of(protocol, head)) {
        (200, true) => Ok(()),
        (200, false) => Err(Fault::GrpcContentType),
        _ => Err(Fault::Status),
    }
}

/// Returns whether the content type is that of a protocol, such as `application/grpc`, alone or with a format or
/// parameters.
pub fn is_of(protocol: Protocol, head: Head<'_>) -> bool {
    let name = protocol.media_type().as_bytes();
    head.field("content-type").is_some_and(|value| {
        value.len() >= name.len()
            && value[..name.len()].eq_ignore_ascii_case(name)
            && matches!(value.get(name.len()), None | Some(b'+' | b';' | b' '))
    })
}
