//! A file that claims to be a run is read and summed up, or refused with a sentence.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_analysis::summarise;
use plimsoll_record::run_file;

fuzz_target!(|bytes: &[u8]| {
    let path = std::env::temp_dir().join(format!("plimsoll-fuzz-run-{}", std::process::id()));
    std::fs::write(&path, bytes).expect("the folder for temporary files is writable");
    match run_file::read(&path) {
        Ok(record) => drop(summarise(&record)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = std::fs::remove_file(path);
});
