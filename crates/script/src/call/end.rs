//! The end of a call: its status, or why the response is not the end of a call.

use plimsoll_plan::Fault;
use plimsoll_plan::grpc::Status;
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
pub fn end_of<'a>(reply: &Reply<'a>) -> Result<End<'a>, Fault> {
    // A response without a body has its status in the head.
    let from = [reply.trailers, reply.head].into_iter().find(|head| head.field("grpc-status").is_some());
    let Some(from) = from else {
        return Err(match (reply.status, is_grpc(reply.head)) {
            (200, true) => Fault::GrpcNoStatus,
            (200, false) => Fault::GrpcContentType,
            _ => Fault::Status,
        });
    };
    if !is_grpc(reply.head) {
        return Err(Fault::GrpcContentType);
    }
    let text = |name: &str| from.field(name).unwrap_or_default();
    Ok(End {
        status: Status::from_text(text("grpc-status")),
        message: text("grpc-message"),
        details: text("grpc-status-details-bin"),
        trailers: reply.trailers,
    })
}

/// Returns whether the content type is that of gRPC: `application/grpc`, alone or with a format or parameters.
fn is_grpc(head: Head<'_>) -> bool {
    const NAME: &[u8] = b"application/grpc";
    head.field("content-type").is_some_and(|value| {
        value.len() >= NAME.len()
            && value[..NAME.len()].eq_ignore_ascii_case(NAME)
            && matches!(value.get(NAME.len()), None | Some(b'+' | b';' | b' '))
    })
}
