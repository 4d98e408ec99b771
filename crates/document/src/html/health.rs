//! Health on a page: marked lines are open, and all others, which are most lines of most runs, are folded into one
//! line.

use crate::web::piece::sign;
use crate::{Tone, Vital};
use maud::{Markup, html};

pub fn markup(all: &[Vital]) -> Markup {
    let (fine, marked): (Vec<&Vital>, Vec<&Vital>) = all.iter().partition(|one| one.tone == Tone::Pass);
    html! {
        @if !marked.is_empty() { (list(&marked)) }
        @if !fine.is_empty() {
            details.fine { summary { (summary(&fine, marked.is_empty())) } (list(&fine)) }
        }
    }
}

/// Returns the number of checks without findings, and their names.
fn summary(fine: &[&Vital], is_all: bool) -> Markup {
    let labels: Vec<&str> = fine.iter().map(|one| one.label.as_str()).collect();
    let count = match (fine.len(), is_all) {
        (1, false) => "1 other check is ok".to_owned(),
        (n, false) => format!("{n} other checks are ok"),
        (n, true) => format!("All {n} checks are ok"),
    };
    html! { (sign(Tone::Pass)) " " b { (count) } ": " (labels.join(", ")) }
}

fn list(all: &[&Vital]) -> Markup {
    html! { ul.trust { @for one in all {
        li.{(one.tone.class())} {
            (sign(one.tone))
            b { (one.label) " " span.word { (one.word) } }
            div { (one.facts.join("; ")) }
        }
    } } }
}
