//! Responses of gRPC-Web: the trailers are the last frame of the body, so that browsers see them. Once they are split
//! off, a response is read as that of gRPC.

use super::end::is_of;
use super::gzip::{Broken, Gzip};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::Fault;
use plimsoll_plan::grpc::Protocol;
use plimsoll_plan::head::Head;
use plimsoll_plan::program::Reply;
use plimsoll_wire::grpc::split_trailers;

/// The buffers of a thread for responses of gRPC-Web.
#[derive(Debug, Default)]
pub struct Web {
    /// The body, decoded from Base64.
    bytes: Vec<u8>,
    /// The trailers as the text of a [`Head`].
    trailers: Vec<u8>,
}

impl Web {
    /// Returns a response as gRPC has it: with its messages as the body, and with the trailers. A response of another
    /// content type stays as it is.
    ///
    /// # Errors
    /// Returns the fault of a body that is not a sequence of frames, or that was not kept as a whole.
    pub fn open<'a>(
        &'a mut self,
        reply: &Reply<'a>,
        protocol: Protocol,
        gzip: &mut Gzip,
        most_bytes: usize,
    ) -> Result<Reply<'a>, Fault> {
        if !is_of(protocol, reply.head) {
            return Ok(*reply);
        }
        if (reply.body.len() as u64) < reply.body_bytes {
            return Err(Fault::ClientLimit);
        }
        let Web { bytes, trailers } = self;
        trailers.clear();
        let whole = match protocol {
            Protocol::WebText => decode(reply.body, bytes).map(|()| &bytes[..]),
            Protocol::Grpc | Protocol::Web => Ok(reply.body),
        };
        let Ok((body, frame)) = whole.and_then(|whole| split_trailers(whole).map_err(drop)) else {
            // The status of a page that a proxy made says more than its bytes.
            return if reply.status == 200 { Err(Fault::GrpcInvalidMessage) } else { Ok(*reply) };
        };
        if let Some(frame) = frame {
            let block = match frame.is_compressed {
                false => frame.bytes,
                true => gzip.decode(frame.bytes, most_bytes).map_err(|why| match why {
                    Broken::Invalid => Fault::DecodeFailed,
                    Broken::TooLong => Fault::ClientLimit,
                })?,
            };
            trailers.push(b'\n');
            trailers.extend_from_slice(block);
        }
        Ok(Reply { body, body_bytes: body.len() as u64, trailers: Head::new(trailers), ..*reply })
    }
}

/// Decodes a body. A server may have encoded each of its parts alone, so there may be padding before the end.
fn decode(text: &[u8], bytes: &mut Vec<u8>) -> Result<(), ()> {
    bytes.clear();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'=').map_or(rest.len(), |at| (at / 4 + 1) * 4);
        let (part, after) = rest.split_at_checked(end).ok_or(())?;
        let begin = bytes.len();
        bytes.resize(begin + part.len().div_ceil(4) * 3, 0);
        let len = STANDARD.decode_slice(part, &mut bytes[begin..]).map_err(drop)?;
        bytes.truncate(begin + len);
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
