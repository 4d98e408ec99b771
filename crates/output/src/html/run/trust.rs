//! The trust box: what the load generator says of itself, so that nobody takes a limit of the client for one of the
//! server.

use crate::html::piece::{Tone, meter, sign};
use crate::trust::{Row, rows};
use crate::words;
use maud::{Markup, html};
use plimsoll_analysis::summary::Summary;

/// What is marked stands in the open; all else, which is most of it in most runs, behind one line.
pub fn body(s: &Summary) -> Markup {
    let (marked, fine): (Vec<Row>, Vec<Row>) = rows(s).into_iter().partition(|row| row.weight.is_some());
    html! {
        p.lead {
            "What the machine that made the load says of itself. "
            @if !marked.is_empty() { "A mark repeats the heaviest caution about its line." }
        }
        @if !marked.is_empty() { ul.trust { @for row in &marked { (line(row)) } } }
        @if !fine.is_empty() {
            details.fine {
                summary { (all_fine(&fine, marked.is_empty())) }
                ul.trust { @for row in &fine { (line(row)) } }
            }
        }
    }
}

/// How many checks found nothing, and which.
fn all_fine(fine: &[Row], is_all: bool) -> Markup {
    let labels: Vec<&str> = fine.iter().map(|row| row.label.as_str()).collect();
    let count = match (fine.len(), is_all) {
        (1, false) => "1 other check is ok".to_owned(),
        (n, false) => format!("{n} other checks are ok"),
        (n, true) => format!("All {n} checks are ok"),
    };
    html! { (sign(Tone::Pass)) " " b { (count) } ": " (labels.join(", ")) }
}

fn line(row: &Row) -> Markup {
    let tone = row.weight.map_or(Tone::Pass, Tone::from);
    html! {
        li.{(tone.class())} {
            (sign(tone))
            b { (row.label) " " span.word { (row.weight.map_or("ok", words::weight)) } }
            div {
                (row.facts.join("; "))
                @if let Some(share) = row.bar { (meter(share)) }
            }
        }
    }
}
