//! A document as the head and the sections of a page: the same blocks with anchors, charts, and sortable tables.

mod health;
mod table;

use super::examples::ON_PAGE;
use super::finding::{ARITHMETIC, Finding, Findings, Form};
use super::{
    Block, Document, Example, Fact, Folded, Heading, Hint, Inner, List, On, Parts, Quote, Role, Room, more,
};
use super::{Section, Sentence, Setting, Tile, Tone, Value, Verdict, VerdictParts};
use crate::format::count;
use crate::web::bits::{At, status};
use crate::web::page::{Page, Section as Part};
use crate::web::piece::{after_word, badge, figure, grid, prose, sign};
use maud::{Markup, html};
use plimsoll_chart::Chart;
use serde_json::Value as Json;

/// Returns a page of one report. `charts` are those that it may show; `document` is the output of `--json`.
pub fn page(
    kind: &'static str,
    title: String,
    report: &Document,
    charts: Vec<Chart>,
    document: Json,
) -> Page {
    let at = At::default();
    let head = html! {
        div.head.{(report.tone.class())} {
            h1 { (stretches(&report.name)) }
            (head(report, &charts, &at))
        }
    };
    Page { kind, title, head, sections: sections(report, &charts, &at), charts, document, bar: None }
}

/// Returns the content above the sections, except for the name.
pub fn head(report: &Document, charts: &[Chart], at: &At) -> Markup {
    blocks(&report.head, &Around { charts, at })
}

/// Returns the sections that have something to show.
pub fn sections(report: &Document, charts: &[Chart], at: &At) -> Vec<Part> {
    describe(report, charts, at)
        .map(|(one, body)| Part { id: one.id, title: one.title.clone(), body })
        .collect()
}

/// Returns a verdict on one line, for lists of reports.
pub fn line((tone, word, sentence): &VerdictParts) -> Markup {
    html! { (status(*tone, word)) " " (prose(after_word(word, sentence))) }
}

fn describe<'a>(
    report: &'a Document,
    charts: &'a [Chart],
    at: &'a At,
) -> impl Iterator<Item = (&'a Section, Markup)> {
    let all = report.sections.iter().filter(|section| section.on.has(On::HTML));
    let body = move |one: &'a Section| (one, blocks(&one.blocks, &Around { charts, at }));
    all.map(body).filter(|(_, body)| !body.0.is_empty())
}

/// The place on a page where a block is written.
struct Around<'a> {
    charts: &'a [Chart],
    at: &'a At,
}

fn blocks(all: &[Block], place: &Around) -> Markup {
    html! { @for one in all { (block(one, place)) } }
}

fn block(block: &Block, place: &Around) -> Markup {
    match block {
        Block::Only(on, inner) if on.has(On::HTML) => self::block(inner, place),
        Block::Only(..) => html! {},
        Block::Indented(all) => blocks(all, place),
        Block::Heading(title) => place.at.heading(title),
        Block::Verdict(verdict) => self::verdict(verdict),
        Block::Setting(setting) => self::setting(setting),
        Block::Sentence(said) => sentence(said),
        Block::Badge(tone, word, text) if text.is_empty() => html! { p { (status(*tone, word)) } },
        Block::Badge(tone, word, text) => html! { p { (status(*tone, word)) " " (prose(text)) } },
        Block::Reasons(all) => html! { @if !all.is_empty() {
            ul.reasons { @for one in all { li { (hint(one, place.at)) } } }
        } },
        Block::Steps(all) => html! { @if !all.is_empty() {
            ol.steps { @for one in all { li { (hint(one, place.at)) } } }
        } },
        Block::Overruling(title, all) => html! { div.overrule { h2 { (title) } (blocks(all, place)) } },
        Block::Tiles(tiles) => self::tiles(tiles),
        Block::Facts(facts) => self::facts(facts),
        Block::Findings(found) => findings(found),
        Block::Health(all) => health::markup(all),
        Block::Examples(all) => examples(&all.all),
        Block::List(list) => self::list(list),
        Block::Table(one) => table::markup(one, place.at),
        Block::Charts(ids) => charts(ids, place),
        // A chart shows this better.
        Block::Courses(..) => html! {},
        Block::Pair(room, all) => pair(*room, all, place),
        Block::Command(text) => html! { code.command { (text) } },
        Block::Folded(folded) => self::folded(folded, place),
        Block::Parts(parts) => self::parts(parts, place),
    }
}

fn charts(ids: &[String], place: &Around) -> Markup {
    let is_meant = |id: &str, chart: &Chart| {
        let own = chart.id.strip_prefix(&place.at.part);
        own.is_some_and(|own| own == id || id.ends_with('-') && own.starts_with(id))
    };
    let found: Vec<&Chart> =
        ids.iter().flat_map(|id| place.charts.iter().filter(move |chart| is_meant(id, chart))).collect();
    html! { @if !found.is_empty() { (grid(&found)) } }
}

fn verdict(verdict: &Verdict) -> Markup {
    let sentence = match &verdict.form {
        Heading::Lead => &verdict.sentence,
        Heading::Answer | Heading::Badge => after_word(&verdict.word, &verdict.sentence),
    };
    html! {
        div.verdict { (badge(verdict.tone, &verdict.word)) }
        p.sentence { (prose(sentence)) }
    }
}

fn setting(setting: &Setting) -> Markup {
    let facts =
        [&setting.target].into_iter().chain(&setting.facts).chain(&setting.details).chain(&setting.more);
    html! { ul.setting { @for fact in facts { li { (fact) } } } }
}

fn pair(room: Room, all: &[Vec<Block>], place: &Around) -> Markup {
    html! { div.pair.broad[room == Room::Broad] { @for one in all { div { (blocks(one, place)) } } } }
}

fn folded(folded: &Folded, place: &Around) -> Markup {
    match &folded.inner {
        Inner::Blocks(all) => html! { details { summary { (folded.title) } (blocks(all, place)) } },
        Inner::Source(text) => {
            html! { details.whole { summary { (folded.title) } pre.excerpt { (text) } } }
        }
    }
}

fn sentence(said: &Sentence) -> Markup {
    let class = match said.role {
        Role::Plain | Role::Quiet | Role::Title => None,
        Role::Strong => Some("sentence"),
        Role::Question => Some("question"),
        Role::Lead => Some("lead"),
        Role::Soft => Some("soft"),
        Role::Faint => Some("faint"),
    };
    html! { p class=[class] { (stretches(said)) } }
}

fn stretches(said: &Sentence) -> Markup {
    html! { @for (role, text) in &said.parts {
        @match role {
            Role::Plain | Role::Quiet | Role::Faint | Role::Lead | Role::Title | Role::Question => (prose(text)),
            Role::Strong => b { (prose(text)) },
            Role::Soft => span.soft { (prose(text)) },
        }
    } }
}

fn hint(hint: &Hint, at: &At) -> Markup {
    html! {
        (prose(&hint.text))
        @if let Some(command) = &hint.command { " " code.command { (command) } }
        @if let Some((anchor, name)) = &hint.link { " " a href={ "#" (at.id(anchor)) } { (name) } }
    }
}

fn tiles(all: &[Tile]) -> Markup {
    let is = |tile: &Tile, tone| tile.tone == Some(tone);
    html! { dl.tiles { @for tile in all {
        div.tile.fail[is(tile, Tone::Fail)].doubt[is(tile, Tone::Doubt)] {
            dt { (tile.label) }
            dd { (value(&tile.value)) @for aside in &tile.asides { small { (aside) } } }
        }
    } } }
}

/// A number that can be copied with all of its digits.
fn value(value: &Value) -> Markup {
    match value {
        Value::Text(text) => html! { (text) },
        Value::Prose(text) => prose(text),
        value => figure(&value.text(), value.raw()),
    }
}

fn facts(all: &[Fact]) -> Markup {
    let shown: Vec<&Fact> = all.iter().filter(|fact| fact.on.has(On::HTML)).collect();
    html! { @if !shown.is_empty() {
        dl.facts { @for fact in shown { div { dt { (fact.label) } dd { (value(&fact.value)) } } } }
    } }
}

fn list(list: &List) -> Markup {
    html! { @if !list.items.is_empty() {
        ul.lines { @for text in list.items.iter().take(list.most) { li { (prose(text)) } } }
        @if list.items.len() > list.most { p.soft { "and " (list.items.len() - list.most) " more" } }
    } }
}

/// Returns the reports, each folded below its verdict, and open if there are few.
fn parts(parts: &Parts, place: &Around) -> Markup {
    let is_open = parts.all.len() <= parts.open;
    html! { @for (number, (part, said)) in (1..).zip(&parts.all) {
        @let at = place.at.below(&format!("c{number}-"));
        details.comparison #{ (place.at.id(&format!("c{number}"))) } open[is_open || number == 1] {
            summary { (line(said)) }
            @for (at_least, (one, body)) in describe(part, place.charts, &at).enumerate() {
                div #{ (at.id(one.id)) } { @if at_least > 0 { (at.heading(&one.title)) } (body) }
            }
        }
    } }
}

fn findings(found: &Findings) -> Markup {
    html! { @if !found.all.is_empty() { @match found.form {
        Form::Named => ul.doubts { @for one in &found.all { li {
            (status(one.tone, &one.word)) ": " (prose(&one.title))
        } } },
        form => ul.findings { @for one in &found.all { (finding(one, form)) } },
    } } }
}

/// Returns a finding; a rating begins with its word, and everything else with its sentence.
fn what(found: &Finding, form: Form) -> Markup {
    let code = html! { @if !found.code.is_empty() { " " code { (found.code) } } };
    html! { p.what {
        @if form == Form::Line {
            b { (found.word) } @if !found.title.is_empty() { " " (prose(&found.title)) } (code)
        } @else {
            b { (prose(&found.title)) } @if !found.word.is_empty() { " " span.word { (found.word) } } (code)
        }
    } }
}

fn finding(found: &Finding, form: Form) -> Markup {
    let lines: Vec<String> = found.arithmetic.iter().map(|(label, text)| format!("{label}{text}")).collect();
    let (open, folded) = lines.split_at(lines.len().min(ARITHMETIC));
    let (quotes, rest) = found.quoted();
    html! { li.{(found.tone.class())} id=[found.id.as_ref()] { (sign(found.tone)) div {
        (what(found, form))
        @if !open.is_empty() { pre.arithmetic { (prose(&open.join("\n"))) } }
        @if !folded.is_empty() {
            details { summary { "and " (count(folded.len() as u64)) " more lines" }
                pre.arithmetic { (prose(&folded.join("\n"))) } }
        }
        @for one in quotes { (quote(one, found.tone)) }
        @if let Some(rest) = rest { p.soft { "also at " (rest) } }
        @let class = (form == Form::Line && !found.title.is_empty()).then_some("soft");
        @for line in &found.evidence { p class=[class] { (prose(line)) } }
        @if !found.explanation.is_empty() { p { (prose(&found.explanation)) } }
        @if !found.advice.is_empty() || found.link.is_some() { p.advice {
            @if !found.advice.is_empty() { span.word { "Action: " } (prose(&found.advice)) }
            @if let Some((anchor, name)) = &found.link { " " a href={ "#" (anchor) } { "See " (name) } }
        } }
    } } }
}

fn examples(all: &[Example]) -> Markup {
    html! {
        ul.samples { @for one in all.iter().take(ON_PAGE) { li {
            p {
                b { (one.failure) } " in " b { (one.request) } " at " (one.at)
                @if one.status > 0 { ", status " (one.status) }
                @if !one.host.is_empty() { ", " (one.host) }
                @if let Some(alike) = one.repeats() { span.word { (alike) } }
            }
            @if !one.found.is_empty() { p { (prose(&one.found)) } }
            @if !one.excerpt.trim().is_empty() {
                details open { summary { "Beginning of the response" } pre.excerpt { (one.excerpt) } }
            }
        } } }
        @if let Some(more) = more(all.len(), ON_PAGE) { p.faint { (more) } }
    }
}

/// Returns a line as it was published.
fn quote(quote: &Quote, tone: Tone) -> Markup {
    html! { figure.quote {
        figcaption { (quote.name()) }
        blockquote { @for (is_meant, text) in quote.stretches() {
            @if is_meant { mark class=(tone.class()) { (text) } } @else { (text) }
        } }
    } }
}
