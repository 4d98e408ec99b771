//! Builds gRPC calls: the texts of messages, and the fields that gRPC adds to a request.

use crate::draft::{CallDraft, NameDraft, PieceDraft, SendMessageDraft};
use crate::source::Pos;
use crate::work::Work;
use plimsoll_plan::grpc::{Call, Piece, Protocol};
use plimsoll_plan::script::Node;
use plimsoll_plan::value::Text;

impl Work {
    /// Builds a call. Values with mistakes are reported and left out.
    pub fn grpc(&mut self, draft: &CallDraft) -> Call {
        Call {
            protocol: draft.protocol,
            messages: draft.messages.iter().map(|message| self.message(message)).collect(),
            rounds: draft.rounds,
            later: Vec::new(),
            is_compressed: draft.is_compressed,
            types: draft.types.clone(),
            request: draft.request,
            response: draft.response,
            has_one_response: draft.has_one_response,
            expect: draft.expect,
        }
    }

    /// Adds a message to the call that sends it later.
    pub fn send_message(&mut self, draft: &SendMessageDraft) -> Option<Node> {
        let socket = self.socket_of(draft.call.as_ref(), draft.pos);
        let pieces = self.message(&draft.message);
        let call = socket?;
        let later = &mut self.script.asks[call as usize].grpc.as_mut()?.later;
        let message = u32::try_from(later.len()).ok()?;
        later.push(pieces);
        Some(Node::SendMessage { call, message })
    }

    pub fn complete(&mut self, call: Option<&NameDraft>, pos: Pos) -> Option<Node> {
        self.socket_of(call, pos).map(|call| Node::Complete { call })
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

/// Adds the fields of a call: that trailers are understood, or that it is gRPC-Web; the compression; and the deadline.
pub fn add_fields(call: &Call, deadline_ns: Option<u64>, headers: &mut Vec<(String, Text)>) {
    let has_accept = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept"));
    let mut add = |name: &str, value: &str| headers.push((name.to_owned(), Text::literal(value)));
    match call.protocol {
        Protocol::Grpc => add("te", "trailers"),
        web => {
            // A proxy may choose the mode of its response by this field.
            if !has_accept {
                add("accept", web.request_type());
            }
            add("x-grpc-web", "1");
        }
    }
    if call.is_compressed {
        add("grpc-encoding", "gzip");
    }
    add("grpc-accept-encoding", "gzip");
    if let Some(ns) = deadline_ns {
        add("grpc-timeout", &plimsoll_plan::grpc::timeout(ns));
    }
}
