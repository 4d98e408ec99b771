//! Findings of an audit, one below the other: the sentence, its arithmetic, the published lines, their figures marked.

use super::super::bits::finding as listed;
use super::super::piece::{Tone, prose};
use crate::audit::snippet::{Place, places};
use crate::audit::{aligned, certainty, gaps};
use crate::format::count;
use maud::{Markup, html};
use plimsoll_audit::{Audit, Finding, Grade};

/// Lines that are quoted; further places are named.
const QUOTES: usize = 4;
/// Lines of arithmetic that stand open.
const ARITHMETIC: usize = 12;

/// All findings of a grade.
pub fn section(audit: &Audit, grade: Grade) -> Option<Markup> {
    let all: Vec<(usize, &Finding)> =
        audit.findings.iter().enumerate().filter(|(_, finding)| finding.grade == grade).collect();
    if all.is_empty() {
        return None;
    }
    Some(html! { ul.findings { @for (at, finding) in all { (item(audit, at, finding)) } } })
}

fn item(audit: &Audit, at: usize, finding: &Finding) -> Markup {
    let tone = super::tone(Some(finding.grade));
    let lines: Vec<String> =
        aligned(&finding.arithmetic).iter().map(|(label, text)| format!("{label}{text}")).collect();
    let places = places(audit, finding);
    let id = format!("finding-{}", at + 1);
    listed(
        tone,
        Some(&id),
        &html! {
                p.what { b { (prose(&finding.sentence)) } " " span.word { (certainty(finding.certainty)) } " "
                    code { (finding.rule) } }
                @if !lines.is_empty() {
                    pre.arithmetic { (prose(&lines[..lines.len().min(ARITHMETIC)].join("\n"))) }
                    @if lines.len() > ARITHMETIC {
                        details { summary { "and " (count((lines.len() - ARITHMETIC) as u64)) " more lines" }
                            pre.arithmetic { (prose(&lines[ARITHMETIC..].join("\n"))) } }
                    }
                }
                @for place in places.iter().take(QUOTES) { (quote(place, tone)) }
                @if places.len() > QUOTES { p.soft { "also: " (others(&places[QUOTES..])) } }
                @if !finding.explanation.is_empty() { p { (prose(&finding.explanation)) } }
                @if !finding.advice.is_empty() { p.advice { span.word { "To do: " } (prose(&finding.advice)) } }
        },
    )
}

/// The line as it was published.
fn quote(place: &Place, tone: Tone) -> Markup {
    html! {
        figure.quote {
            figcaption { (place.name()) }
            blockquote { @for (is_meant, text) in place.stretches() {
                @if is_meant { mark class=(tone.class()) { (text) } } @else { (text) }
            } }
        }
    }
}

/// Places beyond these are counted.
const NAMED: usize = 12;

fn others(places: &[Place]) -> String {
    let mut names: Vec<String> = places.iter().take(NAMED).map(Place::name).collect();
    if places.len() > NAMED {
        names.push(format!("{} more", places.len() - NAMED));
    }
    names.join(", ")
}

/// What is not there needs no quote.
pub fn missing(audit: &Audit) -> Option<Markup> {
    let all: Vec<&Finding> = audit.findings.iter().filter(|f| f.grade == Grade::Missing).collect();
    if all.is_empty() {
        return None;
    }
    Some(html! {
        ul.findings { @for (sentence, advice) in gaps(audit, &all) {
            (listed(Tone::Note, None, &html! {
                p.what { b { (prose(&sentence)) } }
                @if !advice.is_empty() { p.advice { span.word { "To do: " } (prose(&advice)) } }
            }))
        } }
    })
}
