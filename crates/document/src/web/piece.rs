//! Small elements of several pages: signs, the badge of a verdict, values that can be copied, sentences.

use maud::{Markup, html};
use plimsoll_analysis::summary::{Outcome, Severity};
use plimsoll_chart::Chart;

pub use crate::Tone;

impl Tone {
    pub const fn class(self) -> &'static str {
        match self {
            Tone::Pass => "pass",
            Tone::Fail => "fail",
            Tone::Doubt => "doubt",
            Tone::Note => "note",
        }
    }
}

impl From<Outcome> for Tone {
    fn from(outcome: Outcome) -> Tone {
        match outcome {
            Outcome::Pass => Tone::Pass,
            Outcome::Fail => Tone::Fail,
            Outcome::Inconclusive | Outcome::Interrupted => Tone::Doubt,
        }
    }
}

impl From<Severity> for Tone {
    fn from(weight: Severity) -> Tone {
        match weight {
            Severity::Inconclusive => Tone::Fail,
            Severity::Warning => Tone::Doubt,
            Severity::Note => Tone::Note,
        }
    }
}

/// A different shape for each tone, because some readers cannot distinguish the colors: a disc with a tick, a square
/// with a cross, a triangle with an exclamation mark, a ring with an i.
pub fn sign(tone: Tone) -> Markup {
    const DISC: &str = "M8 0a8 8 0 1 0 0 16A8 8 0 1 0 8 0z";
    const SQUARE: &str = "M2 0h12a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H2a2 2 0 0 1-2-2V2a2 2 0 0 1 2-2z";
    let (ground, mark) = match tone {
        Tone::Pass => (DISC, "M4.2 8.4l2.6 2.6 5-5.6"),
        Tone::Fail => (SQUARE, "M4.8 4.8l6.4 6.4M11.2 4.8l-6.4 6.4"),
        Tone::Doubt => ("M8 .6L16 15.4H0z", "M8 5.6v4.6M8 12.2v1.4"),
        Tone::Note => (DISC, "M8 3v2M8 7v6"),
    };
    html! {
        svg.sign.{(tone.class())} viewBox="0 0 16 16" aria-hidden="true" focusable="false" {
            path.ground d=(ground) {}
            path.mark d=(mark) {}
        }
    }
}

/// Returns the word of a verdict with its shape.
pub fn badge(tone: Tone, word: &str) -> Markup {
    html! { span.badge.{(tone.class())} { (sign(tone)) (word) } }
}

/// Returns a value: its text, and its raw value in base units for copying.
pub fn figure(text: &str, raw: Option<f64>) -> Markup {
    match raw.filter(|raw| raw.is_finite()) {
        Some(raw) => html! { data.figure value=(raw) { (text) } },
        None => html! { span { (text) } },
    }
}

/// Returns a sentence whose commands in backticks become code.
pub fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // A name with a backtick makes their number odd: then none of them is markup.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// Removes the verdict's word from the beginning of a sentence that follows that word.
pub fn after_word<'a>(word: &str, sentence: &'a str) -> &'a str {
    let begins = sentence.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    if begins { sentence[word.len()..].trim_start_matches([' ', ':']) } else { sentence }
}

/// Returns charts alongside each other if the window is wide.
pub fn grid(charts: &[&Chart]) -> Markup {
    html! { div.charts { @for chart in charts { (super::chart::figure(chart)) } } }
}

/// Returns a share as a bar, next to its number.
pub fn meter(share: f64) -> Markup {
    let wide = (share.clamp(0.0, 1.0) * 1000.0).round() / 10.0;
    html! {
        svg.meter viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect.ground width="100" height="4" {}
            rect.part width=(wide) height="4" {}
        }
    }
}
