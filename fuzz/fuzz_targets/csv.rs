//! A file of rows is rows with a value in each column, or a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_plan::data::{AtEnd, Feeder, Format, RowOrder, Sharing};
use plimsoll_plan::load::Share;
use plimsoll_plan::program::UserSlot;
use plimsoll_script::feed::{Feeds, Rows};
use std::sync::Arc;

fuzz_target!(|data: &[u8]| {
    let [how, bytes @ ..] = data else { return };
    let path = std::env::temp_dir().join(format!("plimsoll-fuzz-csv-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("the folder for temporary files is writable");
    let columns: Vec<String> = ["a", "b"].map(String::from).into();
    let header = (how & 1 != 0).then(|| columns.clone());
    let format = if how & 2 != 0 { Format::JsonLines } else { Format::Csv { delimiter: b',', header } };
    let feeder = Feeder {
        name: "rows".into(),
        path: path.clone(),
        format,
        columns: columns.clone(),
        share: Sharing::All,
        order: RowOrder::Sequential,
        at_end: AtEnd::Recycle,
        made_by_setup: false,
    };
    if let Ok(feeds) = Feeds::open(std::slice::from_ref(&feeder), 1, Share::default()) {
        let feeds = Arc::new(feeds);
        let mut rows = Rows::new(&feeds, UserSlot { workload: 0, user: 0, id: 0, users: 1 });
        for _ in 0..feeds.row_count(0).expect("it is open") {
            rows.new_iteration();
            for column in 0..columns.len() {
                rows.value(0, column as u16, &mut Vec::new()).expect("each row has each column");
            }
        }
    }
    let _ = std::fs::remove_file(path);
});
