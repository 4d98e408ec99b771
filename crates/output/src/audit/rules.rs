//! The table of all rules for the documentation, from the table in the code.

use plimsoll_audit::{Grade, rules};

/// Returns one table for each grade: the code, and the checked fact with its formula. The text around it is written
/// by hand.
pub fn rules_page() -> String {
    let mut out = String::new();
    let grades =
        [(Grade::Impossible, "Impossible"), (Grade::Implausible, "Implausible"), (Grade::Missing, "Missing")];
    for (grade, title) in grades {
        out.push_str(&format!("### {title}\n\n| rule | what is true of a valid result |\n| --- | --- |\n"));
        for rule in rules().filter(|r| r.grade == grade) {
            out.push_str(&format!("| `{}` | {} |\n", rule.code, rule.title.replace('|', "\\|")));
        }
        out.push('\n');
    }
    out
}
