//! gRPC over HTTP/2: the frames of messages, and the texts of statuses (gRPC's "PROTOCOL-HTTP2").

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

/// A message in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    pub is_compressed: bool,
    pub bytes: &'a [u8],
}

/// Why a body is not a sequence of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// The flag is neither 0 nor 1.
    Flag(u8),
    /// The body ends within a message.
    Cut,
}

/// Splits the first message off a body. `None` at its end.
///
/// # Errors
/// Returns an error if the body continues with something else.
pub fn next_message<'a>(body: &mut &'a [u8]) -> Result<Option<Message<'a>>, Invalid> {
    if body.is_empty() {
        return Ok(None);
    }
    let Some((&[flag, a, b, c, d], rest)) = body.split_first_chunk::<PREFIX_BYTES>() else {
        return Err(Invalid::Cut);
    };
    if flag > 1 {
        return Err(Invalid::Flag(flag));
    }
    let len = u32::from_be_bytes([a, b, c, d]) as usize;
    let Some((bytes, rest)) = rest.split_at_checked(len) else { return Err(Invalid::Cut) };
    *body = rest;
    Ok(Some(Message { is_compressed: flag == 1, bytes }))
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
    use super::{Invalid, Message, decode_text, frame, next_message};

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
    fn a_body_that_ends_within_a_message_is_refused() {
        for cut in 1..8 {
            assert_eq!(next_message(&mut &b"\0\0\0\0\x03one"[..cut]), Err(Invalid::Cut), "{cut} bytes");
        }
        assert_eq!(next_message(&mut &b"<html>"[..]), Err(Invalid::Flag(b'<')));
    }

    #[test]
    fn the_text_of_a_status_is_decoded() {
        let mut out = Vec::new();
        decode_text(b"no such user %C3%A4%", &mut out);
        assert_eq!(out, "no such user ä%".as_bytes());
    }
}
