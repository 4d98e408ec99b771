//! What other load generators print is read to the last figure, wherever it stands: the audit judges by these.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a test may stop and talk")]

use plimsoll_record::foreign::{self, Document};
use std::path::Path;

#[test]
fn reports_given_by_the_environment_are_read_wholly() {
    let Ok(folder) = std::env::var("PLIMSOLL_REPORTS") else {
        println!("skipped: PLIMSOLL_REPORTS names no folder of reports");
        return;
    };
    for entry in std::fs::read_dir(folder).expect("the folder of reports is there") {
        let path = entry.expect("a folder's entry").path();
        let document = read(&path);
        println!("{}: {} rows, {} unread", document.name, document.rows.len(), document.unread.len());
        for unread in &document.unread {
            println!("  line {}: {}: {}", unread.line, unread.what, unread.why);
        }
    }
}

fn read(path: &Path) -> Document {
    let text = std::fs::read(path).expect("a readable file");
    let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    foreign::read(&name, &String::from_utf8_lossy(&text))
}
