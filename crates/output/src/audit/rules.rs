//! The table of all rules for the documentation, from the table in the code.

use plimsoll_audit::{Grade, Premise, rules};

/// Returns one table for each grade: the code, the checked fact with its formula, and where a contradiction is certain.
/// The text around it is written by hand.
pub fn rules_page() -> String {
    let mut out = String::new();
    let grades =
        [(Grade::Impossible, "Impossible"), (Grade::Implausible, "Implausible"), (Grade::Missing, "Missing")];
    for (grade, title) in grades {
        // Only what is called impossible has a premise beyond its figures.
        let is_strict = grade == Grade::Impossible;
        let (head, dashes) = if is_strict { (" impossible in |", " --- |") } else { ("", "") };
        out.push_str(&format!(
            "### {title}\n\n| rule | condition of a sound result |{head}\n| --- | --- |{dashes}\n"
        ));
        for rule in rules().filter(|r| r.grade == grade) {
            let premise = match rule.premise {
                _ if !is_strict => "",
                Premise::Figures => " any text |",
                Premise::WholeOutput => " a whole output |",
            };
            out.push_str(&format!("| `{}` | {} |{premise}\n", rule.code, rule.title.replace('|', "\\|")));
        }
        out.push('\n');
    }
    out
}
