//! Builds gRPC calls: the texts of messages, and the fields that gRPC adds to a request.

use super::draft::{CallDraft, PieceDraft};
use super::work::Work;
use plimsoll_plan::grpc::{Call, Piece};
use plimsoll_plan::value::Text;

impl Work {
    /// Builds a call. Values with mistakes are reported and left out.
    pub fn grpc(&mut self, draft: &CallDraft) -> Call {
        Call {
            message: self.message(&draft.message),
            is_compressed: draft.is_compressed,
            types: draft.types.clone(),
            response: draft.response,
            expect: draft.expect,
        }
    }

    fn message(&mut self, drafts: &[PieceDraft]) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(drafts.len());
        for draft in drafts {
            pieces.extend(match draft {
                PieceDraft::Field { number, path, scalar, text } => self.text(text).map(|text| {
                    let (path, scalar) = (path.clone(), scalar.clone());
                    Piece::Field { number: *number, path, scalar, text }
                }),
                PieceDraft::Message { number, is_group, pieces } => Some(Piece::Message {
                    number: *number,
                    is_group: *is_group,
                    pieces: self.message(pieces),
                }),
            });
        }
        pieces
    }
}

/// Adds the fields of a call: that trailers are understood, the compression, and the deadline.
pub fn add_fields(call: &Call, deadline_ns: Option<u64>, headers: &mut Vec<(String, Text)>) {
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), Text::literal(value)));
    add("te", "trailers");
    if call.is_compressed {
        add("grpc-encoding", "gzip");
    }
    add("grpc-accept-encoding", "gzip");
    if let Some(ns) = deadline_ns {
        add("grpc-timeout", &plimsoll_plan::grpc::timeout(ns));
    }
}
