//! The table of all rules for the documentation, from the table in the code.

use plimsoll_audit::{Grade, Premise, rules};

/// Returns one table for each grade: code, checked fact, and premise. The text around it is written by hand.
pub fn rules_page() -> String {
    let mut out = String::new();
    let grades =
        [(Grade::Impossible, "Impossible"), (Grade::Implausible, "Implausible"), (Grade::Missing, "Missing")];
    for (grade, title) in grades {
        let (head, dashes) =
            if grade == Grade::Impossible { (" impossible in |", " --- |") } else { ("", "") };
        out +=
            &format!("### {title}\n\n| rule | condition of a sound result |{head}\n| --- | --- |{dashes}\n");
        for rule in rules().filter(|r| r.grade == grade) {
            let premise = match (grade, rule.premise) {
                (Grade::Impossible, Premise::Figures) => " any text |",
                (Grade::Impossible, Premise::WholeOutput) => " a whole output |",
                _ => "",
            };
            out.push_str(&format!("| `{}` | {} |{premise}\n", rule.code, rule.title.replace('|', "\\|")));
        }
        out.push('\n');
    }
    out
}
