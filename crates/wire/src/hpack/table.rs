//! The table of fields: 61 constant ones, then those that the peer inserted (RFC 7541 section 2.3 and appendix A).

use std::collections::VecDeque;

/// Number of constant fields; the newest inserted field has the index after it.
pub(super) const STATIC_FIELDS: usize = 61;

#[rustfmt::skip]
pub(super) const STATIC: [(&str, &str); STATIC_FIELDS] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Added to the length of name and value: the size of an entry (section 4.1).
pub(super) const ENTRY_OVERHEAD: usize = 32;

/// Largest table: the lengths of a field that fits have 16 bits.
pub(super) const TABLE_BYTES_MAX: u32 = 65_536;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u32,
    name: u16,
    value: u16,
}

impl Entry {
    fn text(self) -> usize {
        usize::from(self.name) + usize::from(self.value)
    }
}

/// The table of one connection.
#[derive(Debug)]
pub(super) struct Table {
    /// `None` until the peer inserts a field, which many servers never do.
    inserted: Option<Box<Inserted>>,
    max: u32,
    /// Number of changes that a later block could notice.
    changes: u64,
}

/// The inserted fields. Their texts follow each other in one buffer, from the oldest to the newest.
#[derive(Debug, Default)]
struct Inserted {
    text: Vec<u8>,
    entries: VecDeque<Entry>,
    /// Position of the oldest text; the bytes before it are free.
    oldest: u32,
    size: u32,
}

impl Table {
    pub(super) const fn new(max: u32) -> Table {
        Table { inserted: None, max, changes: 0 }
    }

    /// Notes a change that is made later.
    #[inline]
    pub(super) fn note_change(&mut self) {
        self.changes += 1;
    }

    #[inline]
    pub(super) fn max(&self) -> u32 {
        self.max
    }

    #[inline]
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns name and value of the field with this index, from 1.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if index <= STATIC_FIELDS {
            let (name, value) = STATIC.get(index.checked_sub(1)?)?;
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let newest_first = index - STATIC_FIELDS - 1;
        let inserted = self.inserted.as_ref()?;
        let at = inserted.entries.len().checked_sub(newest_first + 1)?;
        let entry = *inserted.entries.get(at)?;
        let text = &inserted.text[entry.at as usize..][..entry.text()];
        Some(text.split_at(usize::from(entry.name)))
    }

    /// Changes the maximum, and evicts what exceeds it.
    pub(super) fn set_max(&mut self, max: u32) {
        if max != self.max {
            self.max = max;
            self.changes += 1;
            if let Some(inserted) = &mut self.inserted {
                inserted.evict_to(max);
            }
        }
    }

    /// Inserts a field. One that is larger than the table empties it (section 4.4); if the table is empty already,
    /// nothing changes. Servers that do not use the table set its size to 0 and continue to insert.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + ENTRY_OVERHEAD;
        if size > self.max as usize {
            if let Some(inserted) = &mut self.inserted
                && !inserted.entries.is_empty()
            {
                self.changes += 1;
                inserted.evict_to(0);
            }
            return;
        }
        self.changes += 1;
        let inserted = self.inserted.get_or_insert_default();
        inserted.evict_to(self.max - size as u32);
        inserted.make_room(name.len() + value.len());
        let at = inserted.text.len() as u32;
        inserted.text.extend_from_slice(name);
        inserted.text.extend_from_slice(value);
        inserted.entries.push_back(Entry { at, name: name.len() as u16, value: value.len() as u16 });
        inserted.size += size as u32;
    }
}

impl Inserted {
    fn evict_to(&mut self, size: u32) {
        while self.size > size
            && let Some(entry) = self.entries.pop_front()
        {
            self.size -= (entry.text() + ENTRY_OVERHEAD) as u32;
            self.oldest = entry.at + entry.text() as u32;
        }
        if self.entries.is_empty() {
            self.text.clear();
            self.oldest = 0;
        }
    }

    /// Moves the texts to the front instead of growing the buffer, if at least half of it is free.
    fn make_room(&mut self, bytes: usize) {
        let free = self.oldest as usize;
        if self.text.len() + bytes > self.text.capacity() && free > 0 && free >= self.text.len() / 2 {
            self.text.drain(..free);
            self.entries.iter_mut().for_each(|entry| entry.at -= free as u32);
            self.oldest = 0;
        }
    }
}
