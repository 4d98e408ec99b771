//! Below the verdict, before any table: what made it so, where to look first, and what to do next. Each line leads to
//! what shows it.

use super::Anchors;
use crate::html::piece::prose;
use crate::next::{Hint, hints};
use maud::{Markup, html};
use plimsoll_analysis::summary::Summary;

/// Reasons and steps, each kind with its name once.
pub fn body(s: &Summary, run_file: Option<&str>, anchors: &Anchors) -> Markup {
    let all = hints(s, run_file);
    html! {
        @if !all.is_empty() {
            dl.next {
                @for (at, hint) in all.iter().enumerate() {
                    @let is_new = at == 0 || all[at - 1].is_next != hint.is_next;
                    @if is_new { dt { @if hint.is_next { "Next" } @else { "Why" } } }
                    dd { (prose(&hint.text)) (link(hint, anchors)) }
                }
            }
        }
    }
}

fn link(hint: &Hint, anchors: &Anchors) -> Markup {
    let Some(anchor) = anchors.first(hint.shown) else { return html! {} };
    html! { " " a href={ "#" (anchor.id()) } { (anchor.title()) } }
}
