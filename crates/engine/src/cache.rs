//! The best size of a worker's read buffer.
//!
//! The kernel copies each piece of a body into this buffer, over the previous piece. A larger buffer saves calls as
//! long as the buffer and the kernel's own data fit into the second-level cache; beyond that, every piece goes to the
//! next cache level and back. On a core with 512 KiB of it, bodies of 683 KB were read at 0.47 × wrk with a buffer of
//! 256 KiB, at 2.09 × with 64 KiB, and at 1.5 × with 16 KiB (`docs/design/0004`).

use crate::clock;
use std::hint::black_box;
use std::path::Path;

/// Sizes to measure, in bytes; a computed size may lie between them.
pub const SIZES: [usize; 3] = [65_536, 131_072, 262_144];
/// The buffer takes this fraction of the cache.
const SHARE: usize = 8;
/// Larger than most second-level caches, so that copied data comes from beyond the cache, as bodies do.
const SOURCE_BYTES: usize = 4_194_304;
const ROUNDS: usize = 3;
/// A larger buffer counts as equally fast if it is slower by at most this factor, because it saves calls.
const AS_FAST: f64 = 1.03;

/// Returns the size for this machine, in bytes: from the kernel's description of the cache, or else measured, which
/// takes a few milliseconds. Call it before the load starts: a measurement during the load would delay requests.
pub fn read_buffer_bytes() -> usize {
    second_level_bytes(Path::new("/sys/devices/system/cpu/cpu0/cache")).map_or_else(tried_bytes, share_of)
}

/// Returns the size for a core with a second-level cache of `cache_bytes`.
pub fn share_of(cache_bytes: usize) -> usize {
    (cache_bytes / SHARE).next_multiple_of(4_096).clamp(SIZES[0], SIZES[2])
}

/// Returns the size of the second-level data cache as the kernel reports it, in bytes (`sysfs-devices-system-cpu`), or
/// `None` if it does not, as in some virtual machines. `folder` contains one `indexN` for each cache.
pub fn second_level_bytes(folder: &Path) -> Option<usize> {
    let text = |index: &Path, name: &str| std::fs::read_to_string(index.join(name)).unwrap_or_default();
    let caches = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut second = caches.filter(|cache| text(cache, "level").trim() == "2");
    let second = second.find(|cache| matches!(text(cache, "type").trim(), "Unified" | "Data"))?;
    let size = text(&second, "size");
    let size = size.trim();
    let (digits, scale) = match size.strip_suffix('K') {
        Some(digits) => (digits, 1_024),
        None => (size.strip_suffix('M')?, 1_048_576),
    };
    digits.parse::<usize>().ok().filter(|n| *n > 0).and_then(|n| n.checked_mul(scale))
}

/// Returns the largest of [`SIZES`] into which copying is as fast as into any other.
pub fn tried_bytes() -> usize {
    let source = vec![1u8; SOURCE_BYTES];
    let mut buffer = vec![0u8; SIZES[SIZES.len() - 1]];
    let mut best_ns = [u64::MAX; SIZES.len()];
    for _ in 0..ROUNDS {
        for (size, best_ns) in SIZES.iter().zip(&mut best_ns) {
            let begin_ns = clock::now_ns();
            for piece in source.chunks(*size) {
                buffer[..piece.len()].copy_from_slice(piece);
                black_box(&mut buffer);
            }
            *best_ns = (*best_ns).min(clock::now_ns().saturating_sub(begin_ns));
        }
    }
    let least_ns = best_ns.iter().copied().min().unwrap_or(0) as f64;
    let fast = SIZES.iter().zip(best_ns).filter(|(_, ns)| *ns as f64 <= least_ns * AS_FAST);
    fast.map(|(size, _)| *size).max().unwrap_or(SIZES[0])
}
