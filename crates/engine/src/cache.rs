//! How large the buffer should be into which a worker reads.
//!
//! The kernel copies each piece of a body into it, and the next piece over that one. As long as the buffer stays in the
//! second-level cache beside what the kernel itself touches, a larger one saves calls; beyond that every piece goes to
//! the cache behind and back. On a core with 512 KiB bodies of 683 KB were read at 0.47 x wrk with a buffer of 256 KiB,
//! at 2.09 x with 64 KiB and at 1.5 x with 16 KiB (`docs/design/0004`).

use crate::clock;
use std::hint::black_box;
use std::path::Path;

/// Sizes that are tried, in bytes; others lie between them.
pub const SIZES: [usize; 3] = [65_536, 131_072, 262_144];
/// Of the cache, one part in so many.
const SHARE: usize = 8;
/// Larger than most second-level caches, so that what is copied comes from behind it, as bodies do.
const SOURCE_BYTES: usize = 4_194_304;
const ROUNDS: usize = 3;
/// A larger buffer that is slower by no more than this is as fast: it saves calls.
const AS_FAST: f64 = 1.03;

/// The size for this machine, in bytes: by the kernel's description of the cache, or tried out where there is none,
/// which takes a few milliseconds. Call it before the load: tried in the middle of it, it would delay requests.
pub fn read_buffer_bytes() -> usize {
    second_level_bytes(Path::new("/sys/devices/system/cpu/cpu0/cache")).map_or_else(tried_bytes, share_of)
}

/// The size for a core with a second-level cache of so many bytes.
pub fn share_of(cache_bytes: usize) -> usize {
    (cache_bytes / SHARE).next_multiple_of(4_096).clamp(SIZES[0], SIZES[2])
}

/// What the kernel says of the second-level cache for data, in bytes (`sysfs-devices-system-cpu`); `None` where it says
/// nothing, as in some virtual machines. `folder` holds one `indexN` for each cache.
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

/// The largest of [`SIZES`] into which copying is as fast as into any.
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
