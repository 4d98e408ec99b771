//! The encoder of requests (RFC 7541 section 6): literals that fit any connection, and fields that requests repeat.

use super::integer;
use super::table::{ENTRY_OVERHEAD, STATIC, STATIC_FIELDS};

/// Table size that the encoder uses at most: the initial one (RFC 9113 section 6.5.2), even if the peer allows more.
const TABLE_BYTES: u32 = 4096;

/// First byte of a literal without indexing, of one with indexing, of an indexed field, and of a new table size.
const LITERAL: u8 = 0x00;
const INSERTED: u8 = 0x40;
const INDEXED: u8 = 0x80;
const RESIZED: u8 = 0x20;

/// Number of a field in [`Fields`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldId(u8);

/// Fields that many requests of a plan repeat, with a number each. All of them together fit into a table of 4,096
/// bytes, so a connection inserts each once, and none is evicted.
#[derive(Debug, Default)]
pub struct Fields {
    fields: Vec<Constant>,
    size: u32,
}

#[derive(Debug)]
struct Constant {
    name: Box<[u8]>,
    value: Box<[u8]>,
    /// The field as a literal without indexing. With indexing, only its first byte differs, or the index of its name.
    literal: Box<[u8]>,
    inserted: Box<[u8]>,
    size: u32,
}

impl Fields {
    /// Creates an empty list.
    pub fn new() -> Fields {
        Fields::default()
    }

    /// Returns the number of the field; `None` if the table has no room for it, or if the field is one of the constant
    /// table, whose index is as short. The name must be in lower case.
    pub fn add(&mut self, name: &[u8], value: &[u8]) -> Option<FieldId> {
        if static_field(name, value).is_some() {
            return None;
        }
        let is_same = |field: &Constant| *field.name == *name && *field.value == *value;
        if let Some(at) = self.fields.iter().position(is_same) {
            return Some(FieldId(at as u8));
        }
        // A table of 4,096 bytes has at most 128 entries, so the number fits.
        let size = (name.len() + value.len() + ENTRY_OVERHEAD).min(TABLE_BYTES as usize + 1) as u32;
        if self.size + size > TABLE_BYTES {
            return None;
        }
        self.size += size;
        let mut form = Vec::new();
        representation(&mut form, LITERAL, 4, name, value);
        let literal = form.as_slice().into();
        form.clear();
        representation(&mut form, INSERTED, 6, name, value);
        let inserted = form.into();
        self.fields.push(Constant { name: name.into(), value: value.into(), literal, inserted, size });
        Some(FieldId((self.fields.len() - 1) as u8))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

/// The encoder's view of the table that one peer keeps for it.
#[derive(Debug)]
pub struct Encoder {
    inserted: Serials,
    count: u8,
    /// Whether the peer's settings are known: before, nothing is inserted, because its table may be smaller.
    is_settled: bool,
    used: u32,
    capacity: u32,
    /// Size changes that the next block must begin with (section 4.2): to 0 first, and to `capacity`.
    empties: bool,
    resizes: bool,
}

/// Number of fields whose serials are held inline: nearly every plan has fewer.
const SERIALS: usize = 15;

/// For each field of the list: how many were inserted up to it, or 0 if it was not.
#[derive(Debug)]
enum Serials {
    Few([u8; SERIALS]),
    #[allow(clippy::box_collection)] // Half the size, and rare.
    Many(Box<Vec<u8>>),
}

impl Serials {
    #[inline]
    fn get(&self, field: usize) -> u8 {
        let all = match self {
            Serials::Few(all) => &all[..],
            Serials::Many(all) => all,
        };
        all.get(field).copied().unwrap_or(0)
    }

    fn set(&mut self, field: usize, serial: u8, fields: usize) {
        if let Serials::Few(all) = self
            && field >= SERIALS
        {
            let mut many = Vec::with_capacity(fields);
            many.extend_from_slice(all);
            *self = Serials::Many(Box::new(many));
        }
        match self {
            Serials::Few(all) => all[field] = serial,
            Serials::Many(all) => {
                all.resize(all.len().max(fields), 0);
                all[field] = serial;
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Serials::Few(all) => all.fill(0),
            Serials::Many(all) => all.fill(0),
        }
    }
}

impl Encoder {
    /// Creates the encoder of a new connection.
    pub const fn new() -> Encoder {
        Encoder {
            inserted: Serials::Few([0; SERIALS]),
            count: 0,
            is_settled: false,
            used: 0,
            capacity: TABLE_BYTES,
            empties: false,
            resizes: false,
        }
    }

    /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE, or its default. The table never becomes larger again.
    pub fn settle(&mut self, table_bytes: u32) {
        self.is_settled = true;
        if table_bytes >= self.capacity {
            return;
        }
        (self.capacity, self.resizes) = (table_bytes, true);
        if self.used > table_bytes {
            self.empties = true;
            (self.used, self.count) = (0, 0);
            self.inserted.clear();
        }
    }

    /// Begins a block.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if self.resizes {
            if self.empties {
                out.push(RESIZED);
            }
            integer::write(out, 5, RESIZED, self.capacity as usize);
            (self.empties, self.resizes) = (false, false);
        }
    }

    /// Appends a field of the list: its index, or a literal that inserts it if the table has room. One connection must
    /// always be given the same list.
    #[inline]
    pub fn put(&mut self, field: FieldId, fields: &Fields, out: &mut Vec<u8>) {
        match self.inserted.get(usize::from(field.0)) {
            0 => self.put_literal(field, fields, out),
            serial => {
                let newer = usize::from(self.count - serial);
                integer::write(out, 7, INDEXED, STATIC_FIELDS + 1 + newer);
            }
        }
    }

    #[inline(never)]
    fn put_literal(&mut self, field: FieldId, fields: &Fields, out: &mut Vec<u8>) {
        let Some(constant) = fields.fields.get(usize::from(field.0)) else { return };
        if !self.is_settled || self.used + constant.size > self.capacity {
            return out.extend_from_slice(&constant.literal);
        }
        self.used += constant.size;
        self.count += 1;
        self.inserted.set(usize::from(field.0), self.count, fields.len());
        out.extend_from_slice(&constant.inserted);
    }
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder::new()
    }
}

/// Appends a field that fits any connection: an index of the constant table, or a literal. The name must be in lower
/// case.
pub fn literal(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    match static_field(name, value) {
        Some(index) => integer::write(out, 7, INDEXED, index),
        None => representation(out, LITERAL, 4, name, value),
    }
}

fn representation(out: &mut Vec<u8>, flags: u8, prefix: u32, name: &[u8], value: &[u8]) {
    match static_name(name) {
        Some(index) => integer::write(out, prefix, flags, index),
        None => {
            out.push(flags);
            integer::write(out, 7, 0, name.len());
            out.extend_from_slice(name);
        }
    }
    integer::write(out, 7, 0, value.len());
    out.extend_from_slice(value);
}

/// Appends the name of a literal, which it changes to lower case, and a length of 0. The value follows, and then
/// [`set_length`]. Returns the position of the value.
pub(crate) fn literal_name(out: &mut Vec<u8>, name: &[u8]) -> usize {
    let begin = out.len();
    out.push(LITERAL);
    integer::write(out, 7, 0, name.len());
    let name_at = out.len();
    out.extend(name.iter().map(u8::to_ascii_lowercase));
    if let Some(index) = static_name(&out[name_at..]) {
        out.truncate(begin);
        integer::write(out, 4, LITERAL, index);
    }
    out.push(0);
    out.len()
}

/// Sets the length of the value that begins at `value_at` and ends with `out`; returns where it begins afterwards.
pub(crate) fn set_length(out: &mut Vec<u8>, value_at: usize) -> usize {
    let len = out.len() - value_at;
    if len < 0x7f {
        out[value_at - 1] = len as u8;
        return value_at;
    }
    let mut length = Vec::with_capacity(6);
    integer::write(&mut length, 7, 0, len);
    let moved = value_at + length.len() - 1;
    out.splice(value_at - 1..value_at, length);
    moved
}

/// Returns the index of a field in the constant table.
fn static_field(name: &[u8], value: &[u8]) -> Option<usize> {
    let first = static_name(name)?;
    // Fields of one name are consecutive.
    let same_name = STATIC[first - 1..].iter().take_while(|(constant, _)| constant.as_bytes() == name);
    let at = same_name.into_iter().position(|(_, constant)| constant.as_bytes() == value)?;
    (!value.is_empty()).then_some(first + at)
}

/// Returns the first index of a name in the constant table.
fn static_name(name: &[u8]) -> Option<usize> {
    Some(match name {
        b":authority" => 1,
        b":method" => 2,
        b":path" => 4,
        b":scheme" => 6,
        b":status" => 8,
        b"accept-charset" => 15,
        b"accept-encoding" => 16,
        b"accept-language" => 17,
        b"accept-ranges" => 18,
        b"accept" => 19,
        b"access-control-allow-origin" => 20,
        b"age" => 21,
        b"allow" => 22,
        b"authorization" => 23,
        b"cache-control" => 24,
        b"content-disposition" => 25,
        b"content-encoding" => 26,
        b"content-language" => 27,
        b"content-length" => 28,
        b"content-location" => 29,
        b"content-range" => 30,
        b"content-type" => 31,
        b"cookie" => 32,
        b"date" => 33,
        b"etag" => 34,
        b"expect" => 35,
        b"expires" => 36,
        b"from" => 37,
        b"host" => 38,
        b"if-match" => 39,
        b"if-modified-since" => 40,
        b"if-none-match" => 41,
        b"if-range" => 42,
        b"if-unmodified-since" => 43,
        b"last-modified" => 44,
        b"link" => 45,
        b"location" => 46,
        b"max-forwards" => 47,
        b"proxy-authenticate" => 48,
        b"proxy-authorization" => 49,
        b"range" => 50,
        b"referer" => 51,
        b"refresh" => 52,
        b"retry-after" => 53,
        b"server" => 54,
        b"set-cookie" => 55,
        b"strict-transport-security" => 56,
        b"transfer-encoding" => 57,
        b"user-agent" => 58,
        b"vary" => 59,
        b"via" => 60,
        b"www-authenticate" => 61,
        _ => return None,
    })
}
