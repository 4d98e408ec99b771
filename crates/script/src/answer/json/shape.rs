//! The shape of a JSON text in one number: which members there are and of what kind, whatever their values. A service
//! that begins to answer with something else (an error page as 200, a list without its items) changes the number.

use super::scan::{Scan, without_mark};

/// Longer texts have no shape: a look at their beginning would depend on how long the values in it happen to be.
pub const SHAPE_BYTES_MAX: usize = 65_536;

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// What tells an element from a member of any name: no key holds this byte.
const ELEMENT: u8 = 0xff;
/// Hashes met lately; a power of 2.
const RECENT: usize = 256;

/// Room for the hashes of one text, reused.
#[derive(Debug, Default)]
pub struct Shaper {
    /// One hash for each place and kind: kept sorted at the end, so that the order of members does not count.
    hashes: Vec<u64>,
    /// Elements of a list are alike: what was just met is not kept again. Empty until the first use.
    recent: Vec<u64>,
}

impl Shaper {
    /// `None`: no JSON, or longer than [`SHAPE_BYTES_MAX`]. Lists count as the union of their elements' shapes.
    pub fn shape(&mut self, text: &[u8]) -> Option<u64> {
        let text = without_mark(text);
        if text.len() > SHAPE_BYTES_MAX || !matches!(text.trim_ascii_start().first(), Some(b'{' | b'[')) {
            return None;
        }
        self.hashes.clear();
        self.recent.clear();
        self.recent.resize(RECENT, 0);
        let mut scan = Scan::new(text)?;
        self.walk(&mut scan, BASIS)?;
        scan.end()?;
        self.hashes.sort_unstable();
        self.hashes.dedup();
        Some(self.hashes.iter().fold(BASIS, |all, hash| (all.rotate_left(5) ^ hash).wrapping_mul(PRIME)))
    }

    fn walk(&mut self, scan: &mut Scan<'_>, place: u64) -> Option<()> {
        let kind = match scan.peek()? {
            b'-' | b'0'..=b'9' => b'0',
            b't' | b'f' => b't',
            other => other,
        };
        self.keep(mixed(byte(place, kind)));
        match kind {
            b'{' => scan.members(|scan, key| {
                let place = scan.piece(key).iter().fold(place, |hash, sign| byte(hash, *sign));
                self.walk(scan, mixed(place))
            }),
            b'[' => scan.elements(|scan, _| self.walk(scan, mixed(byte(place, ELEMENT)))),
            b'"' => scan.string().map(|_| ()),
            _ => scan.scalar(),
        }
    }

    fn keep(&mut self, hash: u64) {
        // proof: the mask keeps the index below the length.
        let slot = &mut self.recent[hash as usize & (RECENT - 1)];
        if *slot != hash {
            *slot = hash;
            self.hashes.push(hash);
        }
    }
}

fn byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(PRIME)
}

/// Ends a name, so that `a` in `b` and `ab` differ (the finaliser of MurmurHash3, half of it).
fn mixed(hash: u64) -> u64 {
    (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd)
}
