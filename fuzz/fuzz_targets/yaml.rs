//! An experiment file is a plan that can be shown, or a list of mistakes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_front::{Overrides, own, show};
use plimsoll_plan::seal::{Machine, seal};
use std::path::Path;

fuzz_target!(|text: &str| {
    let given = Overrides { env: Box::new(|_| Some("value".to_owned())), ..Overrides::default() };
    match own::study(text, "f", Path::new("/nowhere"), &given) {
        Ok(study) => {
            for cell in study.cells {
                if let Ok(plan) = seal(cell.located.draft, Machine { cpus: 2, seed: 1 }) {
                    assert!(show(&plan).ends_with('\n'));
                }
            }
        }
        Err(mistakes) => assert!(!mistakes.is_empty()),
    }
});
