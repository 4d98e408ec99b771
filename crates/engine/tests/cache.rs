//! The size of a worker's read buffer: derived from the cache that the kernel describes, otherwise measured.

use crate::support::*;
use plimsoll_engine::cache::{SIZES, second_level_bytes, share_of, tried_bytes};
use plimsoll_plan::Draft;
use plimsoll_plan::draft::LoadDraft;
use std::path::PathBuf;

/// A folder as the kernel provides it for a CPU: (level, type, size) by cache.
fn described(name: &str, caches: &[(&str, &str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("plimsoll-cache-{name}-{}", std::process::id()));
    for (n, (level, kind, size)) in caches.iter().enumerate() {
        let index = folder.join(format!("index{n}"));
        std::fs::create_dir_all(&index).unwrap();
        for (file, text) in [("level", level), ("type", kind), ("size", size)] {
            std::fs::write(index.join(file), format!("{text}\n")).unwrap();
        }
    }
    folder
}

#[test]
fn the_second_level_cache_is_read_from_the_kernels_description() {
    let first = [("1", "Data", "32K"), ("1", "Instruction", "32K")];
    for (name, second, bytes) in [
        ("half", Some(("2", "Unified", "512K")), Some(524_288)),
        ("whole", Some(("2", "Unified", "1M")), Some(1_048_576)),
        ("odd", Some(("2", "Data", "1280K")), Some(1_310_720)),
        ("code", Some(("2", "Instruction", "512K")), None),
        ("none", None, None),
        ("empty", Some(("2", "Unified", "")), None),
        ("zero", Some(("2", "Unified", "0K")), None),
    ] {
        let caches: Vec<_> = first.into_iter().chain(second).collect();
        let folder = described(name, &caches);
        assert_eq!(second_level_bytes(&folder), bytes, "{name}");
        std::fs::remove_dir_all(folder).unwrap();
    }
    assert_eq!(second_level_bytes(&std::env::temp_dir().join("plimsoll-cache-nowhere")), None);
}

#[test]
fn the_buffer_is_an_eighth_of_it_within_bounds() {
    let cases = [(262_144, 65_536), (524_288, 65_536), (1_048_576, 131_072), (1_310_720, 163_840)];
    for (cache, buffer) in cases.into_iter().chain([(2_097_152, 262_144), (16_777_216, 262_144)]) {
        assert_eq!(share_of(cache), buffer, "{cache}");
    }
}

#[test]
fn where_the_kernel_says_nothing_a_size_is_tried_out() {
    assert!(SIZES.contains(&tried_bytes()));
}

#[test]
fn a_smaller_read_buffer_takes_more_reads() {
    let reads = |buffer_bytes: u64| {
        let mut draft = Draft {
            load: LoadDraft { requests_total: Some(4), ..closed(1, 10.0).load },
            read_bodies: Some(true),
            ..closed(1, 10.0)
        };
        draft.limits.read_buffer_bytes = buffer_bytes;
        let out = Lab::new(draft).run(|_: &SimRequest<'_>| {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
            Answer::silence().piece(MS, &[&head[..], &[b'x'; 1_000_000]].concat())
        });
        assert_eq!(out.status(200), 4);
        out.calls.recv
    };
    let (small, large) = (reads(16_384), reads(262_144));
    assert!(small > 10 * large, "{small} reads of 16 KiB, {large} of 256 KiB");
}
