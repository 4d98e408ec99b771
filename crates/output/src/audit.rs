//! The audit of published results, for reading and for quoting: gravest first, each finding with its arithmetic and
//! with the line that it is about, the figures underlined as compilers do.

pub(crate) mod judged;
mod page;
pub(crate) mod snippet;

use crate::Error;
use crate::line::{Line, width, wrap, write_all};
use crate::markdown::{code, prose};
use crate::style::{Ink, Look};
pub use page::rules_page;
use plimsoll_audit::{Audit, Certainty, Finding, Grade};
use plimsoll_plan::phrase::is_harmful;
use snippet::{Place, places};

/// Snippets that a finding shows; further places are named.
const SNIPPETS: usize = 3;
/// Lines of arithmetic in the terminal; the JSON has them all.
const ARITHMETIC: usize = 12;

/// `3 statements cannot be true, 5 are doubtful, 4 are missing`: a finding may be about several figures, or about one
/// that is not there.
pub fn headline(audit: &Audit) -> String {
    let of = |grade| audit.findings.iter().filter(|f| f.grade == grade).count();
    let (wrong, doubtful, missing) = (of(Grade::CannotBeTrue), of(Grade::Doubtful), of(Grade::Missing));
    if audit.figures == 0 {
        return "no figures were found to judge".into();
    }
    if wrong + doubtful + missing == 0 {
        return format!("nothing to object to in {}", figures(audit.figures));
    }
    let mut parts = vec![match wrong {
        0 => "nothing that cannot be true".to_owned(),
        n => format!("{} cannot be true", crate::format::counted(n as u64, "statement")),
    }];
    let mut also = |n: usize, what: &str| {
        if n > 0 {
            // The first count names its noun, the later ones lean on it.
            let noun = match (wrong, parts.len(), n) {
                (0, 1, 1) => " statement is",
                (0, 1, _) => " statements are",
                (_, _, 1) => " is",
                _ => " are",
            };
            parts.push(format!("{n}{noun} {what}"));
        }
    };
    also(doubtful, "doubtful");
    also(missing, "missing");
    parts.join(", ")
}

fn figures(n: usize) -> String {
    crate::format::counted(n as u64, "figure")
}

pub(crate) fn certainty(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Proved => "proved",
        Certainty::Likely => "likely",
        Certainty::Possible => "possible",
    }
}

const GRADES: [(Grade, &str, Ink); 3] = [
    (Grade::CannotBeTrue, "Cannot be true", Ink::Bad),
    (Grade::Doubtful, "Doubtful", Ink::Warn),
    (Grade::Missing, "Missing", Ink::Accent),
];

/// What was read, in a few words.
pub(crate) fn read(audit: &Audit) -> String {
    let rows = crate::format::counted(audit.rows as u64, "row");
    let what = match audit.files.as_slice() {
        [one] => one.clone(),
        all => crate::format::counted(all.len() as u64, "file"),
    };
    format!("{what}: {rows}, {}", figures(audit.figures))
}

/// The audit for a terminal.
pub fn terminal(audit: &Audit, look: &Look) -> String {
    let worst = GRADES.iter().find(|(grade, ..)| audit.worst() == Some(*grade));
    let ink = worst.map_or(Ink::Good, |(_, _, ink)| *ink);
    let columns = look.columns();
    let mut lines: Vec<Line> = wrap(&headline(audit), columns)
        .iter()
        .map(|l| Line::of(if ink == Ink::Accent { Ink::Strong } else { ink }, l))
        .collect();
    lines.extend(wrap(&read(audit), columns).iter().map(|l| Line::of(Ink::Dim, l)));
    for (grade, title, ink) in GRADES {
        let findings: Vec<&Finding> = audit.findings.iter().filter(|f| f.grade == grade).collect();
        if findings.is_empty() {
            continue;
        }
        lines.push(Line::new());
        let rest = columns.saturating_sub(width(title) + 1);
        lines.push(Line::of(Ink::Strong, title).text(" ").ink(Ink::Dim, &look.signs().rule.repeat(rest)));
        if grade == Grade::Missing {
            missing(audit, &findings, look, &mut lines);
            continue;
        }
        for finding in findings {
            lines.push(Line::new());
            detail(audit, finding, ink, look, &mut lines);
        }
    }
    unread(audit, look, &mut lines);
    write_all(&lines, look)
}

/// What is missing in several files is said once: sentence and advice, with the files if there is a choice.
pub(crate) fn gaps(audit: &Audit, findings: &[&Finding]) -> Vec<(String, String)> {
    let mut all: Vec<(&Finding, Vec<&str>)> = Vec::new();
    for finding in findings {
        let file = finding.quotes.first().map(|quote| quote.file.as_str());
        match all.iter_mut().find(|(f, _)| f.sentence == finding.sentence && f.advice == finding.advice) {
            Some((_, files)) => files.extend(file),
            None => all.push((finding, file.into_iter().collect())),
        }
    }
    let named = |(finding, mut files): (&Finding, Vec<&str>)| {
        files.dedup();
        let of = if audit.files.len() > 1 && !files.is_empty() {
            format!(" ({})", files.join(", "))
        } else {
            String::new()
        };
        (finding.sentence.clone() + &of, finding.advice.clone())
    };
    all.into_iter().map(named).collect()
}

/// One line each: what is not there needs no snippet.
fn missing(audit: &Audit, findings: &[&Finding], look: &Look, lines: &mut Vec<Line>) {
    for (sentence, advice) in gaps(audit, findings) {
        hanging_in(Ink::Accent, "- ", Ink::Strong, &sentence, 2, look, lines);
        hanging(Ink::Dim, look.signs().arrow, &advice, 4, look, lines);
    }
}

fn detail(audit: &Audit, finding: &Finding, ink: Ink, look: &Look, lines: &mut Vec<Line>) {
    let signs = look.signs();
    let sign = if ink == Ink::Bad { signs.bad } else { signs.warn };
    hanging_in(ink, sign, Ink::Strong, &finding.sentence, 0, look, lines);
    let arithmetic = aligned(&finding.arithmetic);
    for line in arithmetic.iter().take(ARITHMETIC) {
        calculation(line, look, lines);
    }
    if arithmetic.len() > ARITHMETIC {
        let more = format!("and {} more lines", arithmetic.len() - ARITHMETIC);
        lines.push(Line::new().text("      ").ink(Ink::Dim, &more));
    }
    let places = places(audit, finding);
    for place in places.iter().take(SNIPPETS) {
        place.show(ink, look, lines);
    }
    if places.len() > SNIPPETS {
        hanging(Ink::Dim, "also at ", &shortened(&places[SNIPPETS..]), 2, look, lines);
    }
    hanging(Ink::Dim, "why?    ", &finding.explanation, 2, look, lines);
    hanging(Ink::Accent, "instead ", &finding.advice, 2, look, lines);
    let tag = format!("{}{}{}", certainty(finding.certainty), signs.between, finding.rule);
    lines.push(Line::new().text("  ").ink(Ink::Dim, &tag));
}

/// `report.md:210, 222 and 230`: a file is named once.
fn shortened(places: &[Place]) -> String {
    const SHOWN: usize = 8;
    let mut out = String::new();
    let mut file = "";
    for place in places.iter().take(SHOWN) {
        let between = if out.is_empty() { "" } else { ", " };
        if place.file == file {
            out.push_str(&format!("{between}{}", place.line));
        } else {
            out.push_str(&format!("{between}{}", place.name()));
        }
        file = place.file;
    }
    let more = places.len().saturating_sub(SHOWN);
    if more > 0 { format!("{out} and {more} more") } else { out }
}

/// A line of arithmetic: its row's name is dim, what is calculated is plain.
fn calculation((label, text): &(String, String), look: &Look, lines: &mut Vec<Line>) {
    let front = 6 + width(label);
    let room = look.columns().saturating_sub(front);
    let narrow = room < 30;
    let room = if narrow { look.columns().saturating_sub(8) } else { room };
    if narrow && !label.trim().is_empty() {
        lines.push(Line::new().text("      ").ink(Ink::Dim, label.trim_end()));
    }
    for (at, part) in wrap(text, room).iter().enumerate() {
        let line = match (narrow, at) {
            (true, _) => Line::new().text("        "),
            (false, 0) => Line::new().text("      ").ink(Ink::Dim, label),
            (false, _) => Line::new().pad(front),
        };
        lines.push(line.text(part));
    }
}

/// Names of rows in a column of their own, each said once: `(label, calculation)`.
pub(crate) fn aligned(arithmetic: &[String]) -> Vec<(String, String)> {
    const LABEL: usize = 28;
    let split = |line: &String| {
        let (label, text) = line.split_once(": ")?;
        // A name has no equals sign: a calculation may hold a colon too.
        (!label.contains('=')).then(|| (label.to_owned(), text.to_owned()))
    };
    let pairs: Vec<_> = arithmetic.iter().map(split).collect();
    if arithmetic.len() < 2 || pairs.iter().any(Option::is_none) {
        return arithmetic.iter().map(|line| (String::new(), line.clone())).collect();
    }
    let pairs: Vec<(String, String)> = pairs.into_iter().flatten().collect();
    let longest = pairs.iter().map(|(label, _)| width(label)).max().unwrap_or(0).min(LABEL);
    let mut last = "";
    let mut out = Vec::new();
    for (label, text) in &pairs {
        let shown = if label == last { "" } else { label };
        let cut: String = if width(shown) > longest {
            shown.chars().take(longest - 1).chain(['~']).collect()
        } else {
            shown.into()
        };
        let pad = " ".repeat((longest + 2).saturating_sub(width(&cut)));
        out.push((cut + &pad, text.clone()));
        last = label;
    }
    out
}

fn hanging(ink: Ink, head: &str, text: &str, indent: usize, look: &Look, lines: &mut Vec<Line>) {
    if !text.is_empty() {
        hanging_in(ink, head, Ink::Plain, text, indent, look, lines);
    }
}

/// `head` and then the text, broken beside it.
fn hanging_in(
    ink: Ink,
    head: &str,
    body: Ink,
    text: &str,
    indent: usize,
    look: &Look,
    lines: &mut Vec<Line>,
) {
    let front = indent + width(head);
    for (at, part) in wrap(text, look.columns().saturating_sub(front)).iter().enumerate() {
        let line = match at {
            0 => Line::new().pad(indent).ink(ink, head),
            _ => Line::new().pad(front),
        };
        lines.push(line.ink(body, part));
    }
}

fn unread(audit: &Audit, look: &Look, lines: &mut Vec<Line>) {
    const SHOWN: usize = 5;
    if audit.unread.is_empty() {
        return;
    }
    lines.push(Line::new());
    let n = crate::format::counted(audit.unread.len() as u64, "passage");
    lines.push(Line::of(Ink::Strong, &format!("Not read: {n}")));
    for text in audit.unread.iter().take(SHOWN) {
        hanging(Ink::Dim, "- ", text, 2, look, lines);
    }
    if audit.unread.len() > SHOWN {
        lines.push(Line::new().text("  ").ink(Ink::Dim, &format!("and {} more", audit.unread.len() - SHOWN)));
    }
}

/// The audit for a review comment. What came from the report is escaped.
pub fn markdown(audit: &Audit) -> String {
    let mut out = format!("## {}\n\n{}\n", prose(&headline(audit)), prose(&read(audit)));
    for (grade, title, _) in GRADES {
        let findings: Vec<&Finding> = audit.findings.iter().filter(|f| f.grade == grade).collect();
        if findings.is_empty() {
            continue;
        }
        out.push_str(&format!("\n### {title}\n\n"));
        if grade == Grade::Missing {
            for (sentence, advice) in gaps(audit, &findings) {
                let advice = if advice.is_empty() { advice } else { format!(": {}", prose(&advice)) };
                out.push_str(&format!("- **{}**{advice}\n", prose(&sentence)));
            }
            continue;
        }
        for finding in findings {
            item(audit, finding, &mut out);
        }
    }
    if !audit.unread.is_empty() {
        out.push_str("\n### Not read\n\n");
        out.extend(audit.unread.iter().map(|text| format!("- {}\n", prose(text))));
    }
    out
}

fn item(audit: &Audit, finding: &Finding, out: &mut String) {
    let tag = format!("{}, `{}`", certainty(finding.certainty), finding.rule);
    out.push_str(&format!("- **{}** ({tag})\n\n", prose(&finding.sentence)));
    let mut block: Vec<String> =
        aligned(&finding.arithmetic).iter().map(|(label, text)| format!("{label}{text}")).collect();
    let places = places(audit, finding);
    for place in places.iter().take(SNIPPETS) {
        if !block.is_empty() {
            block.push(String::new());
        }
        block.extend(place.plain());
    }
    if !block.is_empty() {
        // Longer than any fence that a quoted line may hold.
        let ticks =
            block.iter().map(|l| l.chars().filter(|c| *c == '`').count()).max().unwrap_or(0).max(2) + 1;
        let fence = "`".repeat(ticks);
        out.push_str(&format!("  {fence}text\n"));
        for line in block {
            let clean: String = line.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
            out.push_str(format!("  {clean}").trim_end());
            out.push('\n');
        }
        out.push_str(&format!("  {fence}\n\n"));
    }
    if places.len() > SNIPPETS {
        out.push_str(&format!("  Also at `{}`.\n\n", code(&shortened(&places[SNIPPETS..]))));
    }
    for (head, text) in [("Why?", &finding.explanation), ("Instead:", &finding.advice)] {
        if !text.is_empty() {
            out.push_str(&format!("  *{head}* {}\n\n", prose(text)));
        }
    }
}

/// The audit as one JSON document, every finding with all of its arithmetic.
///
/// # Errors
/// When the audit holds something that JSON cannot express.
pub fn json(audit: &Audit) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(audit)?;
    text.push('\n');
    Ok(text)
}
