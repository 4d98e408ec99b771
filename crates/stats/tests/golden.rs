//! The stored form must not change: old run files must stay readable. A change here requires a new version.
//!
//! `PLIMSOLL_BLESS=1 cargo test -p plimsoll-stats --test surface golden` rewrites the file.

use std::path::PathBuf;

use crate::common::encoded;
use plimsoll_stats::{Layout, Tally};

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tally-v1.bin")
}

/// Contains one of everything: empty cells between used ones, one-byte and wide numbers, gaps, a value beyond the
/// layout.
fn fixed_tally() -> Tally {
    let mut tally = Tally::new(Layout { sums: 600, peaks: 3, floors: 3, hists: 4, lasts: 0 });
    tally.add(0, 1);
    tally.add(200, 123_456_789);
    tally.add(404, 17);
    tally.add(599, u64::MAX);
    tally.peak(1, 1_000_000);
    tally.floor(2, 0);
    for i in 0..1_000u64 {
        tally.record(0, 250_000 + i * i);
    }
    tally.record(2, 0);
    tally.hists[2].record_n(10_000_000_000, 5_000);
    tally.record(2, u64::MAX);
    tally
}

#[test]
fn version_1_of_a_tally_is_written_and_read_as_ever() -> std::io::Result<()> {
    let bytes = encoded(|out| fixed_tally().encode(out));
    if std::env::var_os("PLIMSOLL_BLESS").is_some() {
        std::fs::write(path(), &bytes)?;
    }
    let golden = std::fs::read(path())?;
    assert_eq!(bytes, golden, "the encoder changed");
    let mut rest = &golden[..];
    assert_eq!((Tally::decode(&mut rest), rest.len()), (Ok(fixed_tally()), 0), "the decoder changed");
    Ok(())
}
