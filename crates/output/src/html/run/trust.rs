//! The trust box: what the load generator says of itself, so that nobody takes a limit of the client for one of the
//! server.

use crate::html::piece::{Tone, sign};
use crate::trust::{Row, rows};
use crate::words;
use maud::{Markup, html};
use plimsoll_record::summary::Summary;

pub fn body(s: &Summary) -> Markup {
    html! {
        p.lead {
            "What the machine that made the load says of itself. "
            "A mark repeats the heaviest caution about its line."
        }
        ul.trust { @for row in rows(s) { (line(&row)) } }
    }
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

/// A share as a bar; the number stands beside it.
pub fn meter(share: f64) -> Markup {
    let wide = (share.clamp(0.0, 1.0) * 1000.0).round() / 10.0;
    html! {
        svg.meter viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.ground width="100" height="4" {}
            rect.part width=(wide) height="4" {}
        }
    }
}
