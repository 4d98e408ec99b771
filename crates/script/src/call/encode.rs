//! A message as a template: everything fixed is encoded once, and each value with placeholders as it is sent.

use super::gzip;
use crate::value::{Scope, Unfilled, fill};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::grpc::{Call, Coded, Piece, Protocol, Scalar};
use plimsoll_plan::value::Text;
use plimsoll_wire::grpc::frame;
use plimsoll_wire::proto::{put_key, put_nested, put_varint, wire_type};
use std::convert::Infallible;

/// Messages of a call, ready to render. They may contain secrets, so this has no `Debug`.
pub struct Encoder {
    messages: Vec<Vec<Part>>,
    rounds: u32,
    is_compressed: bool,
    /// The whole body is in Base64.
    is_text: bool,
}

enum Part {
    Fixed(Vec<u8>),
    Field {
        key: Vec<u8>,
        scalar: Scalar,
        text: Text,
        path: String,
    },
    /// A message whose length depends on its values.
    Message {
        key: Vec<u8>,
        parts: Vec<Part>,
    },
}

impl Encoder {
    /// Compiles the messages that are sent with a call.
    ///
    /// # Errors
    /// Returns an error for a fixed value that its field cannot have.
    pub fn compile(call: &Call) -> Result<Encoder, String> {
        Encoder::of(&call.messages, call.rounds, call)
    }

    /// Compiles a message that a step sends.
    ///
    /// # Errors
    /// Returns an error for a fixed value that its field cannot have.
    pub fn later(message: &[Piece], call: &Call) -> Result<Encoder, String> {
        Encoder::of(std::slice::from_ref(&message), 1, call)
    }

    /// Appends a message without placeholders, with its prefix.
    ///
    /// # Errors
    /// Returns an error for a value that its field cannot have.
    pub fn put_fixed(message: &[Piece], out: &mut Vec<u8>) -> Result<(), String> {
        let mut parts = Vec::new();
        add_all(message, &mut parts)?;
        frame(false, out, |out| {
            for part in &parts {
                match part {
                    Part::Fixed(bytes) => out.extend_from_slice(bytes),
                    Part::Field { path, .. } => return Err(format!("the value of `{path}` is not fixed")),
                    Part::Message { .. } => return Err("a value of the message is not fixed".to_owned()),
                }
            }
            Ok(())
        })
    }

    fn of<M: AsRef<[Piece]>>(messages: &[M], rounds: u32, call: &Call) -> Result<Encoder, String> {
        let compile = |message: &M| {
            let mut parts = Vec::new();
            add_all(message.as_ref(), &mut parts)?;
            Ok(parts)
        };
        let messages = messages.iter().map(compile).collect::<Result<_, String>>()?;
        let is_text = call.protocol == Protocol::WebText;
        Ok(Encoder { messages, rounds, is_compressed: call.is_compressed, is_text })
    }

    /// Returns the body of the call if it never changes.
    pub fn fixed(&self) -> Option<Vec<u8>> {
        let mut round = Vec::new();
        for parts in &self.messages {
            let message = match parts.as_slice() {
                [] => &[][..],
                [Part::Fixed(bytes)] => bytes,
                _ => return None,
            };
            let copy = |out: &mut Vec<u8>| {
                out.extend_from_slice(message);
                Ok::<(), Infallible>(())
            };
            let Ok(()) = frame(self.is_compressed, &mut round, |out| match self.is_compressed {
                true => gzip::compress(out, copy),
                false => copy(out),
            });
        }
        let mut body = round.repeat(self.rounds as usize);
        if self.is_text {
            to_base64(0, &mut body);
        }
        Some(body)
    }

    /// Appends the body of the call: its messages, each with its prefix.
    ///
    /// # Errors
    /// Returns an error for a placeholder without a value, or with one that its field cannot have.
    pub fn put(&self, scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
        let begin = out.len();
        for _ in 0..self.rounds {
            for parts in &self.messages {
                frame(self.is_compressed, out, |out| match self.is_compressed {
                    false => put_all(parts, scope, out),
                    true => gzip::compress(out, |plain| put_all(parts, scope, plain)),
                })?;
            }
        }
        if self.is_text {
            to_base64(begin, out);
        }
        Ok(())
    }
}

/// Replaces the bytes from `begin` by their Base64, and allocates nothing once the buffer is long enough.
fn to_base64(begin: usize, out: &mut Vec<u8>) {
    let end = out.len();
    out.resize(end + (end - begin).div_ceil(3) * 4, 0);
    let (bytes, room) = out.split_at_mut(end);
    // proof: the room is that of the padded text, which is all that can fail.
    let len = STANDARD.encode_slice(&bytes[begin..], room).unwrap_or_default();
    out.copy_within(end..end + len, begin);
    out.truncate(begin + len);
}

fn add_all(pieces: &[Piece], parts: &mut Vec<Part>) -> Result<(), String> {
    pieces.iter().try_for_each(|piece| add(piece, parts))
}

/// Calls `put` with the fixed bytes at the end of the parts.
fn at_end<R>(parts: &mut Vec<Part>, put: impl FnOnce(&mut Vec<u8>) -> R) -> R {
    let mut bytes = match parts.pop() {
        Some(Part::Fixed(bytes)) => bytes,
        other => {
            parts.extend(other);
            Vec::new()
        }
    };
    let result = put(&mut bytes);
    parts.push(Part::Fixed(bytes));
    result
}

fn add(piece: &Piece, parts: &mut Vec<Part>) -> Result<(), String> {
    match piece {
        Piece::Field { number, path, scalar, text } => {
            let mut key = Vec::new();
            put_key(*number, wire_type_of(scalar), &mut key);
            match text.fixed() {
                Some(value) => at_end(parts, |out| {
                    out.extend_from_slice(&key);
                    let begin = out.len();
                    out.extend_from_slice(&value);
                    convert(scalar, begin, out)
                        .map_err(|()| format!("invalid value of `{path}`: expected {}", scalar.expects()))
                })?,
                None => parts.push(Part::Field {
                    key,
                    scalar: scalar.clone(),
                    text: text.clone(),
                    path: path.clone(),
                }),
            }
        }
        Piece::Message { number, is_group: true, pieces } => {
            at_end(parts, |out| put_key(*number, wire_type::GROUP, out));
            add_all(pieces, parts)?;
            at_end(parts, |out| put_key(*number, wire_type::GROUP_END, out));
        }
        Piece::Message { number, is_group: false, pieces } => {
            let mut inner = Vec::new();
            add_all(pieces, &mut inner)?;
            let fixed = match inner.as_slice() {
                [] => Some(&[][..]),
                [Part::Fixed(bytes)] => Some(&bytes[..]),
                _ => None,
            };
            match fixed {
                Some(bytes) => at_end(parts, |out| {
                    put_key(*number, wire_type::BYTES, out);
                    put_varint(bytes.len() as u64, out);
                    out.extend_from_slice(bytes);
                }),
                None => {
                    let mut key = Vec::new();
                    put_key(*number, wire_type::BYTES, &mut key);
                    parts.push(Part::Message { key, parts: inner });
                }
            }
        }
    }
    Ok(())
}

/// Returns how a value is written: as a varint, in 4 or 8 bytes, or with its length.
pub(super) fn wire_type_of(scalar: &Scalar) -> u32 {
    match scalar {
        Scalar::Double | Scalar::Fixed64 | Scalar::Sfixed64 => wire_type::FIXED64,
        Scalar::Float | Scalar::Fixed32 | Scalar::Sfixed32 => wire_type::FIXED32,
        Scalar::String | Scalar::Bytes | Scalar::Timestamp | Scalar::Duration => wire_type::BYTES,
        Scalar::Int32
        | Scalar::Int64
        | Scalar::Uint32
        | Scalar::Uint64
        | Scalar::Sint32
        | Scalar::Sint64
        | Scalar::Bool
        | Scalar::Enum(_) => wire_type::VARINT,
    }
}

fn put_all(parts: &[Part], scope: &mut Scope<'_>, out: &mut Vec<u8>) -> Result<(), Unfilled> {
    for part in parts {
        match part {
            Part::Fixed(bytes) => out.extend_from_slice(bytes),
            Part::Field { key, scalar, text, path } => {
                out.extend_from_slice(key);
                let begin = out.len();
                fill(text, scope, out)?;
                convert(scalar, begin, out)
                    .map_err(|()| Unfilled::Unfit { path: path.clone(), expects: scalar.expects() })?;
            }
            Part::Message { key, parts } => {
                out.extend_from_slice(key);
                put_nested(out, |out| put_all(parts, scope, out))?;
            }
        }
    }
    Ok(())
}

/// Replaces the text from `begin` by the value that it means, as it follows a key.
fn convert(scalar: &Scalar, begin: usize, out: &mut Vec<u8>) -> Result<(), ()> {
    let coded = scalar.read(&out[begin..]).map_err(|_| ())?;
    match coded {
        Coded::Text => prefix(begin, out),
        Coded::Base64 => {
            // Decoded after the text, and then moved to its place, so that nothing is allocated.
            let end = out.len();
            out.resize(end + (end - begin), 0);
            let (text, room) = out.split_at_mut(end);
            let len = STANDARD.decode_slice(text[begin..].trim_ascii(), room).map_err(|_| ())?;
            out.copy_within(end..end + len, begin);
            out.truncate(begin + len);
            prefix(begin, out);
        }
        Coded::Varint(number) => {
            out.truncate(begin);
            put_varint(number, out);
        }
        Coded::Fixed64(bits) => {
            out.truncate(begin);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Coded::Fixed32(bits) => {
            out.truncate(begin);
            out.extend_from_slice(&bits.to_le_bytes());
        }
        Coded::Time { s, ns } => {
            out.truncate(begin);
            for (number, value) in [(1, s), (2, i64::from(ns))] {
                if value != 0 {
                    put_key(number, wire_type::VARINT, out);
                    put_varint(value as u64, out);
                }
            }
            prefix(begin, out);
        }
    }
    Ok(())
}

/// Inserts the length of the bytes from `begin` before them.
fn prefix(begin: usize, out: &mut Vec<u8>) {
    let end = out.len();
    let len = end - begin;
    put_varint(len as u64, out);
    let coded = out.len() - end;
    out[begin..].rotate_right(coded);
}
