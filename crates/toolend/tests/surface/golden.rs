//! Committed texts: a change shows up in review. `UPDATE_GOLDEN=1` rewrites the files.

use std::path::Path;

pub fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/surface/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "{name} differs: look at it with UPDATE_GOLDEN=1 and `git diff`");
}
