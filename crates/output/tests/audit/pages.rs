//! The pages about the audit agree with the code.

use plimsoll_audit::{row, rules};
use plimsoll_output::audit::rules_page;
use std::path::{Path, PathBuf};

const BEGIN: &str =
    "<!-- rules: written by UPDATE_GOLDEN=1 cargo test -p plimsoll-output --test surface audit:: -->\n";
const END: &str = "<!-- end of rules -->";

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[test]
fn the_page_of_rules_lists_them_all_with_their_formulas() {
    let path = docs("concepts/audit-rules.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).expect("the page marks where the rules begin");
    let (_, tail) = rest.split_once(END).expect("the page marks where they end");
    let now = format!("{head}{BEGIN}\n{}{END}{tail}", rules_page());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    assert!(
        now == std::fs::read_to_string(&path).unwrap(),
        "run with UPDATE_GOLDEN=1 and look at `git diff`"
    );
    for rule in rules() {
        assert!(page.contains(&format!("`{}`", rule.code)), "{} is not on the page", rule.code);
    }
}

#[test]
fn each_rule_of_a_single_row_is_explained_with_its_source() {
    let page = std::fs::read_to_string(docs("concepts/audit-rules.md")).unwrap();
    let (by_hand, _) = page.split_once(BEGIN).expect("the explanations are above the table");
    for rule in row::RULES {
        assert!(by_hand.contains(&format!("`{}`", rule.code)), "{} is not explained", rule.code);
    }
}

#[test]
fn codes_are_unique_and_machine_readable() {
    let mut codes: Vec<&str> = rules().map(|r| r.code).collect();
    assert!(codes.iter().all(|c| c.chars().all(|c| c.is_ascii_lowercase() || c == '_')), "{codes:?}");
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), all, "a code is used twice");
}
