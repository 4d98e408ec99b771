//! The shape of a JSON text as one number: its members and their types, without their values. The number changes if a
//! service begins to respond with something else, such as an error page with status 200, or a list without items.

use super::scan::{Scan, without_mark};

/// Longest text with a shape: the shape of the beginning of a longer text would depend on the lengths of its values.
pub const SHAPE_BYTES_MAX: usize = 65_536;

/// The basis of 64-bit FNV-1a (Fowler, Noll, Vo).
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// Distinguishes an element from a member: keys never contain this byte.
const ELEMENT: u8 = 0xff;
/// Number of recent hashes; a power of 2.
const RECENT: usize = 256;

/// Buffers for the hashes of one text, reused.
#[derive(Debug, Default)]
pub struct Shaper {
    /// One hash for each place and type, finally sorted, so that the order of members does not matter.
    hashes: Vec<u64>,
    /// Recent hashes, which are not added again, because elements of a list are similar. Empty until the first use.
    recent: Vec<u64>,
}

impl Shaper {
    /// Returns the shape of a text; `None` if it is not JSON, or longer than [`SHAPE_BYTES_MAX`]. The shape of a list
    /// is the union of the shapes of its elements.
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

/// Ends a name, so that `a` in `b` differs from `ab` (half of the finalizer of MurmurHash3).
fn mixed(hash: u64) -> u64 {
    (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd)
}
