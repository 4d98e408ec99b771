//! Short names of texts and files: FNV-1a, which needs no key and never changes.

/// Returns the 64-bit FNV-1a hash as text.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", fnv(bytes, OFFSET))
}

/// Offset basis and prime of 64-bit FNV-1a (Fowler, Noll, Vo).
pub const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

pub fn fnv(bytes: &[u8], from: u64) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
