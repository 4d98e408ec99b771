//! A message as JSON, by the table of its types: the JSON form of Protocol Buffers, with the names of the schema, with
//! numbers of 64 bits as numbers, and with the defaults of fields that cannot be absent. All work is linear in the size
//! of the message, and buffers are reused.

mod known;

use super::encode::wire_type_of;
use crate::value::escape_from;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::grpc::{EnumType, Field, Kind, Label, Message, MessageForm, Scalar, Types};
use plimsoll_plan::value::Escape;
use plimsoll_wire::proto::{DEPTH_MAX, Value, take_field, take_varint, unzigzag, wire_type};
use std::io::Write;
use std::ops::Range;

/// Why a message was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// It is not a message of its type.
    Invalid,
    /// It exceeds the limit as JSON.
    TooLong,
}

/// How the fields of a message are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// With the names of the schema, and with numbers of 64 bits as numbers. Messages that are absent are omitted.
    #[default]
    Schema,
    /// The JSON form of Protocol Buffers with all fields: with names in lower camel case, with numbers of 64 bits as
    /// texts, and with `null` for messages that are absent.
    Canonical,
}

/// Reads messages; its buffers are reused.
#[derive(Debug, Default)]
pub struct Reader {
    found: Vec<Found>,
}

/// One value in a message.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Index of its field in the type.
    field: u32,
    /// Its place among the values of its message.
    order: u32,
    value: Place,
}

/// A value, or where it is in the message.
#[derive(Debug, Clone, Copy)]
enum Place {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes { begin: u32, end: u32 },
    Group { begin: u32, end: u32 },
}

impl Reader {
    /// Appends a message of a type as JSON, at most about `most_bytes`.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a message, or if the JSON is too long; `out` has a part of it then.
    pub fn read(
        &mut self,
        types: &Types,
        message: usize,
        bytes: &[u8],
        most_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Unread> {
        self.read_as(Style::Schema, (types, message), bytes, most_bytes, out)
    }

    /// Appends a message as [`Reader::read`] does, in a style.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a message, or if the JSON is too long; `out` has a part of it then.
    pub fn read_as(
        &mut self,
        style: Style,
        (types, message): (&Types, usize),
        bytes: &[u8],
        most_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Unread> {
        self.found.clear();
        if u32::try_from(bytes.len()).is_err() {
            return Err(Unread::TooLong);
        }
        let end_max = out.len().saturating_add(most_bytes);
        let mut run =
            Run { types, base: bytes, found: &mut self.found, out, end_max, depth: 0, style, is_key: false };
        run.message(message, 0..bytes.len())
    }
}

struct Run<'a> {
    types: &'a Types,
    /// The outermost message; all places refer to it.
    base: &'a [u8],
    /// Values of the open messages, those of the innermost last.
    found: &'a mut Vec<Found>,
    out: &'a mut Vec<u8>,
    end_max: usize,
    depth: usize,
    style: Style,
    /// The key of a map is being written, between quotation marks.
    is_key: bool,
}

type Done = Result<(), Unread>;

impl<'a> Run<'a> {
    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a message in the form of its type.
    fn message(&mut self, of: usize, at: Range<usize>) -> Done {
        let types = self.types;
        let message = types.messages.get(of).ok_or(Unread::Invalid)?;
        if self.out.len() > self.end_max {
            return Err(Unread::TooLong);
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Unread::Invalid);
        }
        let mark = self.found.len();
        self.find(message, at)?;
        let done = self.write(message, mark);
        self.found.truncate(mark);
        self.depth -= 1;
        done
    }

    /// Finds the values of a message, and sorts them by field.
    fn find(&mut self, message: &Message, at: Range<usize>) -> Done {
        let base = self.base;
        let mark = self.found.len();
        let mut rest = base.get(at).ok_or(Unread::Invalid)?;
        while let Some((number, value)) = take_field(&mut rest).map_err(|_| Unread::Invalid)? {
            // Fields that the schema does not have are skipped, as everywhere.
            let Some((field, _)) = message.field(number) else { continue };
            let place = |part: &[u8]| {
                let begin = part.as_ptr() as usize - base.as_ptr() as usize;
                (begin as u32, (begin + part.len()) as u32)
            };
            let value = match value {
                Value::Varint(number) => Place::Varint(number),
                Value::Fixed64(bits) => Place::Fixed64(bits),
                Value::Fixed32(bits) => Place::Fixed32(bits),
                Value::Bytes(part) => {
                    let (begin, end) = place(part);
                    Place::Bytes { begin, end }
                }
                Value::Group(part) => {
                    let (begin, end) = place(part);
                    Place::Group { begin, end }
                }
            };
            let order = (self.found.len() - mark) as u32;
            self.found.push(Found { field: field as u32, order, value });
        }
        let own = &mut self.found[mark..];
        if !own.is_sorted_by_key(|found| found.field) {
            own.sort_unstable_by_key(|found| (found.field, found.order));
        }
        Ok(())
    }

    fn write(&mut self, message: &Message, mark: usize) -> Done {
        match message.form {
            MessageForm::Object => {
                self.push("{");
                self.members(message, mark, true)?;
                self.push("}");
                Ok(())
            }
            MessageForm::Timestamp => self.timestamp(mark),
            MessageForm::Duration => self.duration(mark),
            MessageForm::Wrapper | MessageForm::Struct | MessageForm::List => {
                let field = message.fields.first().ok_or(Unread::Invalid)?;
                self.field(field, mark..self.found.len())
            }
            MessageForm::FieldMask => self.field_mask(mark),
            MessageForm::Any => self.any(mark),
            MessageForm::Value => match self.found[mark..].iter().max_by_key(|found| found.order).copied() {
                // The first member of the choice is `null_value`.
                None | Some(Found { field: 0, .. }) => {
                    self.push("null");
                    Ok(())
                }
                Some(found) => {
                    let field = message.fields.get(found.field as usize).ok_or(Unread::Invalid)?;
                    self.value(&field.kind, found.value)
                }
            },
        }
    }

    /// Writes the fields of a message as members of an object.
    fn members(&mut self, message: &Message, mark: usize, mut is_first: bool) -> Done {
        let mut begin = mark;
        let end = self.found.len();
        for (number, field) in message.fields.iter().enumerate() {
            let mut after = begin;
            while after < end && self.found[after].field as usize == number {
                after += 1;
            }
            let values = begin..after;
            begin = after;
            let is_absent = values.is_empty() && field.label == Label::Optional;
            if is_absent && (self.style == Style::Schema || field.is_choice) {
                continue;
            }
            if !std::mem::take(&mut is_first) {
                self.push(",");
            }
            // Names of fields are identifiers.
            self.push("\"");
            self.push(match self.style {
                Style::Schema => &field.name,
                Style::Canonical => &field.json_name,
            });
            self.push("\":");
            match is_absent {
                true => self.push("null"),
                false => self.field(field, values)?,
            }
        }
        Ok(())
    }

    /// Writes the values of a field: all of a list or a map, otherwise the last.
    fn field(&mut self, field: &Field, values: Range<usize>) -> Done {
        match field.label {
            Label::Implicit | Label::Optional => {
                // Values of another wire type are those of an unknown field.
                let mut all = values.rev();
                match all.find(|at| is_of(&field.kind, self.found[*at].value)) {
                    Some(at) => self.value(&field.kind, self.found[at].value),
                    None => {
                        self.default(&field.kind);
                        Ok(())
                    }
                }
            }
            Label::List => {
                self.push("[");
                let mut is_first = true;
                for at in values {
                    let place = self.found[at].value;
                    if let (Kind::Scalar(scalar), Place::Bytes { begin, end }) = (&field.kind, place)
                        && is_packable(scalar)
                    {
                        self.packed(scalar, begin as usize..end as usize, &mut is_first)?;
                    } else if is_of(&field.kind, place) {
                        if !std::mem::take(&mut is_first) {
                            self.push(",");
                        }
                        self.value(&field.kind, place)?;
                    }
                    if self.out.len() > self.end_max {
                        return Err(Unread::TooLong);
                    }
                }
                self.push("]");
                Ok(())
            }
            Label::Map => {
                self.push("{");
                let mut is_first = true;
                for at in values {
                    let place = self.found[at].value;
                    let (Kind::Message(of), Place::Bytes { begin, end }) = (&field.kind, place) else {
                        continue;
                    };
                    if !std::mem::take(&mut is_first) {
                        self.push(",");
                    }
                    self.entry(*of, begin as usize..end as usize)?;
                }
                self.push("}");
                Ok(())
            }
        }
    }

    fn entry(&mut self, of: usize, at: Range<usize>) -> Done {
        let types = self.types;
        let entry = types.messages.get(of).ok_or(Unread::Invalid)?;
        let (Some((_, key)), Some((_, value))) = (entry.field(1), entry.field(2)) else {
            return Err(Unread::Invalid);
        };
        if self.out.len() > self.end_max {
            return Err(Unread::TooLong);
        }
        let mark = self.found.len();
        self.find(entry, at)?;
        let split = mark + self.found[mark..].partition_point(|found| found.field == 0);
        let is_text = matches!(key.kind, Kind::Scalar(Scalar::String));
        if !is_text {
            self.push("\"");
        }
        self.is_key = true;
        self.field(key, mark..split)?;
        self.is_key = false;
        self.push(if is_text { ":" } else { "\":" });
        match (&value.kind, split == self.found.len()) {
            // An entry without a value has the default of its type, also of a message.
            (Kind::Message(of) | Kind::Group(of), true) => self.message(*of, 0..0)?,
            _ => self.field(value, split..self.found.len())?,
        }
        self.found.truncate(mark);
        Ok(())
    }

    fn packed(&mut self, scalar: &Scalar, at: Range<usize>, is_first: &mut bool) -> Done {
        let mut rest = self.base.get(at).ok_or(Unread::Invalid)?;
        while !rest.is_empty() {
            let place = match wire_type_of(scalar) {
                wire_type::VARINT => Place::Varint(take_varint(&mut rest).map_err(|_| Unread::Invalid)?),
                wire_type::FIXED64 => {
                    let (chunk, after) = rest.split_first_chunk().ok_or(Unread::Invalid)?;
                    rest = after;
                    Place::Fixed64(u64::from_le_bytes(*chunk))
                }
                wire_type::FIXED32 => {
                    let (chunk, after) = rest.split_first_chunk().ok_or(Unread::Invalid)?;
                    rest = after;
                    Place::Fixed32(u32::from_le_bytes(*chunk))
                }
                _ => return Err(Unread::Invalid),
            };
            if !std::mem::take(is_first) {
                self.push(",");
            }
            self.scalar(scalar, place)?;
            if self.out.len() > self.end_max {
                return Err(Unread::TooLong);
            }
        }
        Ok(())
    }

    fn value(&mut self, kind: &Kind, place: Place) -> Done {
        match (kind, place) {
            (Kind::Scalar(scalar), place) => self.scalar(scalar, place),
            (Kind::Message(of), Place::Bytes { begin, end })
            | (Kind::Group(of), Place::Group { begin, end }) => {
                self.message(*of, begin as usize..end as usize)
            }
            _ => Err(Unread::Invalid),
        }
    }

    /// Returns whether values of a type are written as texts although they are numbers.
    fn is_quoted(&self, scalar: &Scalar) -> bool {
        let is_wide = matches!(
            scalar,
            Scalar::Int64 | Scalar::Uint64 | Scalar::Sint64 | Scalar::Fixed64 | Scalar::Sfixed64
        );
        is_wide && self.style == Style::Canonical && !self.is_key
    }

    fn scalar(&mut self, scalar: &Scalar, place: Place) -> Done {
        if !self.is_quoted(scalar) {
            return self.bare_scalar(scalar, place);
        }
        self.push("\"");
        self.bare_scalar(scalar, place)?;
        self.push("\"");
        Ok(())
    }

    fn bare_scalar(&mut self, scalar: &Scalar, place: Place) -> Done {
        // Writing to memory cannot fail, here and below.
        let _ = match (scalar, place) {
            // Numbers of 32 bits are the low half of their varint.
            (Scalar::Int32, Place::Varint(number)) => write!(self.out, "{}", number as i32),
            (Scalar::Int64, Place::Varint(number)) => write!(self.out, "{}", number as i64),
            (Scalar::Uint32, Place::Varint(number)) => write!(self.out, "{}", number as u32),
            (Scalar::Uint64, Place::Varint(number)) => write!(self.out, "{number}"),
            (Scalar::Sint32, Place::Varint(number)) => {
                write!(self.out, "{}", unzigzag(u64::from(number as u32)) as i32)
            }
            (Scalar::Sint64, Place::Varint(number)) => write!(self.out, "{}", unzigzag(number)),
            (Scalar::Bool, Place::Varint(number)) => write!(self.out, "{}", number != 0),
            (Scalar::Enum(of), Place::Varint(number)) => {
                self.enumerated(of, number as i32);
                Ok(())
            }
            (Scalar::Fixed32, Place::Fixed32(bits)) => write!(self.out, "{bits}"),
            (Scalar::Sfixed32, Place::Fixed32(bits)) => write!(self.out, "{}", bits as i32),
            (Scalar::Fixed64, Place::Fixed64(bits)) => write!(self.out, "{bits}"),
            (Scalar::Sfixed64, Place::Fixed64(bits)) => write!(self.out, "{}", bits as i64),
            (Scalar::Float, Place::Fixed32(bits)) => match f32::from_bits(bits) {
                number if number.is_finite() => write!(self.out, "{number}"),
                number => write!(self.out, "\"{}\"", not_finite(number.into())),
            },
            (Scalar::Double, Place::Fixed64(bits)) => match f64::from_bits(bits) {
                number if number.is_finite() => write!(self.out, "{number}"),
                number => write!(self.out, "\"{}\"", not_finite(number)),
            },
            (Scalar::String, Place::Bytes { begin, end }) => {
                return self.string(begin as usize..end as usize);
            }
            (Scalar::Bytes, Place::Bytes { begin, end }) => {
                self.base64(begin as usize..end as usize);
                Ok(())
            }
            _ => return Err(Unread::Invalid),
        };
        Ok(())
    }

    fn string(&mut self, at: Range<usize>) -> Done {
        let bytes = self.base.get(at).ok_or(Unread::Invalid)?;
        std::str::from_utf8(bytes).map_err(|_| Unread::Invalid)?;
        self.push("\"");
        let begin = self.out.len();
        self.out.extend_from_slice(bytes);
        escape_from(self.out, begin, Escape::Json);
        self.push("\"");
        Ok(())
    }

    fn base64(&mut self, at: Range<usize>) {
        let bytes = self.base.get(at).unwrap_or_default();
        self.push("\"");
        let begin = self.out.len();
        self.out.resize(begin + bytes.len().div_ceil(3) * 4, b'=');
        // The room is what the encoding of this many bytes needs.
        let _ = STANDARD.encode_slice(bytes, &mut self.out[begin..]);
        self.push("\"");
    }

    fn enumerated(&mut self, of: &EnumType, number: i32) {
        match of.name_of(number) {
            Some(name) => {
                self.push("\"");
                self.push(name);
                self.push("\"");
            }
            None => {
                let _ = write!(self.out, "{number}");
            }
        }
    }

    fn default(&mut self, kind: &Kind) {
        match kind {
            Kind::Scalar(Scalar::String | Scalar::Bytes) => self.push("\"\""),
            Kind::Scalar(Scalar::Bool) => self.push("false"),
            Kind::Scalar(Scalar::Enum(of)) => match of.values.first() {
                Some((_, number)) => self.enumerated(of, *number),
                None => self.push("0"),
            },
            Kind::Scalar(scalar) if self.is_quoted(scalar) => self.push("\"0\""),
            Kind::Scalar(_) => self.push("0"),
            Kind::Message(_) | Kind::Group(_) => self.push("null"),
        }
    }
}

/// Returns whether a value has the wire type of its field.
fn is_of(kind: &Kind, place: Place) -> bool {
    match (kind, place) {
        (Kind::Scalar(scalar), place) => matches!(
            (wire_type_of(scalar), place),
            (wire_type::VARINT, Place::Varint(_))
                | (wire_type::FIXED64, Place::Fixed64(_))
                | (wire_type::FIXED32, Place::Fixed32(_))
                | (wire_type::BYTES, Place::Bytes { .. })
        ),
        (Kind::Message(_), Place::Bytes { .. }) | (Kind::Group(_), Place::Group { .. }) => true,
        _ => false,
    }
}

fn is_packable(scalar: &Scalar) -> bool {
    wire_type_of(scalar) != wire_type::BYTES
}

fn not_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}
