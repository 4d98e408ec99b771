//! gRPC, and gRPC-Web: the frames of messages and trailers, and the texts of statuses (gRPC's "PROTOCOL-HTTP2"
//! and "PROTOCOL-WEB").

pub mod reflection;

use crate::sse::Spares;

/// Length of the prefix of a message: a flag, and the length of the message.
pub const PREFIX_BYTES: usize = 5;

/// Appends a message with its prefix; `put` appends the message itself.
///
/// # Errors
/// Returns the error of `put`; bytes appended before it stay.
pub fn frame<E>(
    is_compressed: bool,
    out: &mut Vec<u8>,
    put: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let begin = out.len();
    out.extend_from_slice(&[u8::from(is_compressed), 0, 0, 0, 0]);
    put(out)?;
    // Messages are far below 4 GiB: the buffers of requests are limited.
    let len = (out.len() - begin - PREFIX_BYTES) as u32;
    out[begin + 1..begin + PREFIX_BYTES].copy_from_slice(&len.to_be_bytes());
    Ok(())
}

/// The flag of a frame with the trailers of gRPC-Web; the other flag says that they are compressed.
const TRAILERS: u8 = 0x80;

/// A message in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    pub is_compressed: bool,
    pub bytes: &'a [u8],
}

/// Why a body is not a sequence of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// The flag is not one of the protocol.
    Flag(u8),
    /// The body ends within a message.
    Cut,
    /// The trailers are not the last frame.
    AfterTrailers,
}

/// Splits the first message off a body. `None` at its end.
///
/// # Errors
/// Returns an error if the body continues with something else.
pub fn next_message<'a>(body: &mut &'a [u8]) -> Result<Option<Message<'a>>, Invalid> {
    if body.is_empty() {
        return Ok(None);
    }
    let (flag, bytes, rest) = first_frame(body, |flag| flag <= 1)?;
    *body = rest;
    Ok(Some(Message { is_compressed: flag == 1, bytes }))
}

/// Splits a body of gRPC-Web: its messages with their prefixes, and the frame with the trailers, which is the last one.
/// Without such a frame, all of the body are messages.
///
/// # Errors
/// Returns an error if the body is not a sequence of frames, or continues after the trailers.
pub fn split_trailers(body: &[u8]) -> Result<(&[u8], Option<Message<'_>>), Invalid> {
    let mut rest = body;
    while !rest.is_empty() {
        let (flag, bytes, after) = first_frame(rest, |flag| flag & !TRAILERS <= 1)?;
        if flag & TRAILERS == 0 {
            rest = after;
        } else if after.is_empty() {
            let messages = &body[..body.len() - rest.len()];
            return Ok((messages, Some(Message { is_compressed: flag & 1 == 1, bytes })));
        } else {
            return Err(Invalid::AfterTrailers);
        }
    }
    Ok((body, None))
}

/// Returns the flag and the content of the first frame, and what follows it. The length after an invalid flag means
/// nothing.
fn first_frame(body: &[u8], is_valid: impl Fn(u8) -> bool) -> Result<(u8, &[u8], &[u8]), Invalid> {
    let (&[flag, a, b, c, d], rest) = body.split_first_chunk::<PREFIX_BYTES>().ok_or(Invalid::Cut)?;
    if !is_valid(flag) {
        return Err(Invalid::Flag(flag));
    }
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    let (bytes, rest) = rest.split_at_checked(len).ok_or(Invalid::Cut)?;
    Ok((flag, bytes, rest))
}

/// The state of one stream of messages. Between two messages, it has no memory.
#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of a message that is not complete.
    held: Vec<u8>,
    messages: u64,
}

/// Why a stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A message is longer than the limit.
    TooLong,
    /// The flag of a message is neither 0 nor 1.
    Flag,
}

impl Parser {
    /// Reads `bytes` and calls `message` for each message that ends in them.
    ///
    /// # Errors
    /// Returns an error as soon as a message has more than `limit_bytes`, or has an invalid flag.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        spares: &mut Spares,
        limit_bytes: usize,
        message: &mut dyn FnMut(Message<'_>),
    ) -> Result<(), Unreadable> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.held.is_empty() {
                let whole = wanted(rest, limit_bytes)?;
                if whole <= rest.len() && rest.len() >= PREFIX_BYTES {
                    let (now, after) = rest.split_at(whole);
                    self.messages += 1;
                    message(Message { is_compressed: now[0] == 1, bytes: &now[PREFIX_BYTES..] });
                    rest = after;
                } else {
                    self.held = spares.take();
                    self.held.extend_from_slice(rest);
                    return Ok(());
                }
                continue;
            }
            let missing = wanted(&self.held, limit_bytes)? - self.held.len();
            let (now, after) = rest.split_at(missing.min(rest.len()));
            self.held.extend_from_slice(now);
            rest = after;
            if self.held.len() >= PREFIX_BYTES && wanted(&self.held, limit_bytes)? == self.held.len() {
                let held = std::mem::take(&mut self.held);
                self.messages += 1;
                message(Message { is_compressed: held[0] == 1, bytes: &held[PREFIX_BYTES..] });
                spares.give_back(held);
            }
        }
        Ok(())
    }

    /// Returns the number of complete messages if the stream is in the middle of another one.
    pub fn unfinished(&self) -> Option<u64> {
        (!self.held.is_empty()).then_some(self.messages)
    }

    /// Returns the memory of an incomplete message.
    pub fn reset(&mut self, spares: &mut Spares) {
        spares.give_back(std::mem::take(&mut self.held));
        self.messages = 0;
    }
}

/// Returns how many bytes a message that begins here has with its prefix, or the bytes of a prefix.
fn wanted(begun: &[u8], limit_bytes: usize) -> Result<usize, Unreadable> {
    if begun.first().is_some_and(|flag| *flag > 1) {
        return Err(Unreadable::Flag);
    }
    let Some(&[_, a, b, c, d]) = begun.first_chunk::<PREFIX_BYTES>() else { return Ok(PREFIX_BYTES) };
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    if len > limit_bytes { Err(Unreadable::TooLong) } else { Ok(PREFIX_BYTES + len) }
}

/// Appends a `grpc-message`, whose bytes outside ASCII are percent-encoded. Invalid escapes stay as they are.
pub fn decode_text(coded: &[u8], out: &mut Vec<u8>) {
    let mut rest = coded;
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Invalid, Message, Parser, Unreadable, decode_text, frame, next_message, split_trailers};
    use crate::sse::Spares;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let mut body = Vec::new();
        for (is_compressed, text) in [(false, &b"one"[..]), (true, b"")] {
            let put = |out: &mut Vec<u8>| {
                out.extend_from_slice(text);
                Ok::<(), ()>(())
            };
            assert_eq!(frame(is_compressed, &mut body, put), Ok(()));
        }
        assert_eq!(body, b"\0\0\0\0\x03one\x01\0\0\0\0");
        let mut rest = &body[..];
        assert_eq!(next_message(&mut rest), Ok(Some(Message { is_compressed: false, bytes: b"one" })));
        assert_eq!(next_message(&mut rest), Ok(Some(Message { is_compressed: true, bytes: b"" })));
        assert_eq!(next_message(&mut rest), Ok(None));
    }

    #[test]
    fn trailers_are_the_last_frame_of_a_body() {
        let (message, trailers) = (b"\0\0\0\0\x03one", b"\x80\0\0\0\x0fgrpc-status: 0\n");
        let block = Message { is_compressed: false, bytes: &trailers[5..] };
        let both = [&message[..], trailers].concat();
        assert_eq!(split_trailers(&both), Ok((&message[..], Some(block))));
        assert_eq!(split_trailers(trailers), Ok((&b""[..], Some(block))));
        assert_eq!(split_trailers(message), Ok((&message[..], None)));
        assert_eq!(split_trailers(b""), Ok((&b""[..], None)));
        assert_eq!(split_trailers(&[&both[..], message].concat()), Err(Invalid::AfterTrailers));
        assert_eq!(split_trailers(b"<html>"), Err(Invalid::Flag(b'<')));
        assert_eq!(split_trailers(b"\x40\0\0\0\0"), Err(Invalid::Flag(0x40)));
        for cut in (1..both.len()).filter(|cut| *cut != message.len()) {
            assert_eq!(split_trailers(&both[..cut]), Err(Invalid::Cut), "{cut}");
        }
    }

    #[test]
    fn a_body_that_ends_within_a_message_is_refused() {
        for cut in 1..8 {
            assert_eq!(next_message(&mut &b"\0\0\0\0\x03one"[..cut]), Err(Invalid::Cut), "{cut} bytes");
        }
        assert_eq!(next_message(&mut &b"<html>"[..]), Err(Invalid::Flag(b'<')));
    }

    #[test]
    fn messages_are_the_same_wherever_their_bytes_are_split() {
        let stream = b"\0\0\0\0\x03one\x01\0\0\0\0\0\0\0\0\x01x";
        let expected = [(false, b"one".to_vec()), (true, Vec::new()), (false, b"x".to_vec())];
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let (mut parser, mut spares, mut seen) = (Parser::default(), Spares::new(), Vec::new());
                for part in [&stream[..first], &stream[first..second], &stream[second..]] {
                    let mut note =
                        |message: Message<'_>| seen.push((message.is_compressed, message.bytes.to_vec()));
                    assert_eq!(parser.feed(part, &mut spares, 3, &mut note), Ok(()));
                }
                assert_eq!((&seen[..], parser.unfinished()), (&expected[..], None), "{first}, {second}");
            }
        }
    }

    #[test]
    fn a_stream_is_refused_at_a_long_message_and_at_an_invalid_flag() {
        let mut spares = Spares::new();
        let mut parser = Parser::default();
        let mut none = |message: Message<'_>| panic!("{message:?}");
        assert_eq!(parser.feed(b"\0\0\0\0", &mut spares, 9, &mut none), Ok(()));
        assert_eq!(parser.unfinished(), Some(0));
        assert_eq!(parser.feed(b"\x0a", &mut spares, 9, &mut none), Err(Unreadable::TooLong));
        assert_eq!(Parser::default().feed(b"<", &mut spares, 9, &mut none), Err(Unreadable::Flag));
    }

    #[test]
    fn the_text_of_a_status_is_decoded() {
        let mut out = Vec::new();
        decode_text(b"no such user %C3%A4%", &mut out);
        assert_eq!(out, "no such user ä%".as_bytes());
    }
}
