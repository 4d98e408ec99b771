//! The audit of published results, for reading and for quoting: gravest first, each finding with its arithmetic and
//! with the line that it is about; a page has the rows as well, as pictures and as a table.

pub(crate) mod audited_row;
mod found;
mod published;
mod rules;

use crate::Error;
use crate::document::{
    self, Block, Document, Edge, Heading, Hint, List, On, Role, Section, Sentence, Tile, Tone, Value,
    Verdict, sentence,
};
use crate::format::counted;
use crate::html::Page;
use crate::style::Look;
use audited_row::{AuditedRow, rows};
use found::{findings, missing};
use plimsoll_audit::foreign::Document as Published;
use plimsoll_audit::{Audit, Finding, Grade};
pub use rules::rules_page;

/// The audit for a terminal.
pub fn terminal(audit: &Audit, look: &Look) -> String {
    document::terminal(&report(audit, &[]), look)
}

/// The audit for a review comment. What came from the report is escaped.
pub fn markdown(audit: &Audit) -> String {
    document::markdown(&report(audit, &[]))
}

/// The page of what was found in these texts.
///
/// # Errors
/// When the audit cannot be expressed in JSON.
pub fn page(audit: &Audit, documents: &[Published]) -> Result<Page, Error> {
    let charts = crate::figure::audit::charts(audit, documents);
    let title = format!("Audit: {}", headline(audit));
    Ok(document::page("audit", title, &report(audit, documents), charts, serde_json::to_value(audit)?))
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

/// The report; `documents` are the texts whose rows a page shows.
fn report(audit: &Audit, documents: &[Published]) -> Document {
    let judged = rows(audit, documents);
    let short: Vec<&str> = audit.files.iter().map(|file| file_name(file)).collect();
    let short = short.join(", ");
    let ruled = |section: Section| section.edge(Edge::Rule);
    Document {
        // Without figures nothing was judged, which is no praise.
        tone: if audit.figures_count == 0 { Tone::Doubt } else { tone(audit.worst()) },
        head: head(audit, &judged, &short),
        name: Sentence::new(Role::Plain, short),
        sections: vec![
            Section::new(
                "picture",
                "The rows against each other",
                vec![Block::Charts(vec!["audit".into(), "audit-rows".into()])],
            ),
            ruled(Section::new("wrong", "Cannot be true", findings(audit, Grade::Impossible))),
            ruled(Section::new("doubtful", "Implausible", findings(audit, Grade::Implausible))),
            ruled(Section::new("missing", "Missing", missing(audit))),
            Section::new("sound", "Nothing found", nothing(audit)).on(On::HTML),
            Section::new("rows", "The rows as published", published::rows(audit, &judged)).on(On::HTML),
            unread(audit),
            Section::new("method", "How it was audited", method(audit)).on(On::HTML),
        ],
    }
}

fn tone(grade: Option<Grade>) -> Tone {
    match grade {
        Some(Grade::Impossible) => Tone::Fail,
        Some(Grade::Implausible) => Tone::Doubt,
        Some(Grade::Missing) => Tone::Note,
        None => Tone::Pass,
    }
}

fn grade_word(grade: Option<Grade>) -> &'static str {
    match grade {
        Some(Grade::Impossible) => "cannot be true",
        Some(Grade::Implausible) => "doubtful",
        Some(Grade::Missing) => "incomplete",
        None => "nothing found",
    }
}

fn head(audit: &Audit, judged: &[AuditedRow], short: &str) -> Vec<Block> {
    let (tone, word) = match audit.figures_count {
        0 => (Tone::Doubt, "nothing to judge"),
        _ => (tone(audit.worst()), grade_word(audit.worst())),
    };
    let about = |grade| judged.iter().filter(|row| row.grade == Some(grade)).count();
    let tile = |label, n: usize| Tile::new(label, Value::Count(n as u64));
    let mut blocks = vec![
        Block::Verdict(Verdict { tone, word: word.into(), sentence: headline(audit), form: Heading::Answer }),
        sentence(Role::Soft, read(audit)).only(On::TEXT),
        Block::Hints(hints(audit)).only(On::HTML),
    ];
    let whole = audit.files.join(", ");
    if whole != short {
        blocks.push(sentence(Role::Soft, whole).only(On::HTML));
    }
    blocks.push(Block::Tiles(vec![
        tile("rows read", audit.rows_count),
        tile("figures read", audit.figures_count),
        tile("rows that cannot be true", about(Grade::Impossible)),
        tile("doubtful rows", about(Grade::Implausible)),
        tile("findings in all", audit.findings.len()),
    ]));
    blocks
}

/// The name of a file without its folders: the whole path stands small below.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// `3 statements cannot be true, 5 are doubtful, 4 are missing`: a finding may be about several figures, or about one
/// that is not there.
pub fn headline(audit: &Audit) -> String {
    let of = |grade| audit.findings.iter().filter(|f| f.grade == grade).count();
    let (wrong, doubtful, missing) = (of(Grade::Impossible), of(Grade::Implausible), of(Grade::Missing));
    if audit.figures_count == 0 {
        return "no figures were found to judge".into();
    }
    if wrong + doubtful + missing == 0 {
        return format!("nothing to object to in {}", figures(audit.figures_count));
    }
    let mut parts = vec![match wrong {
        0 => "nothing that cannot be true".to_owned(),
        n => format!("{} cannot be true", counted(n as u64, "statement")),
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
    counted(n as u64, "figure")
}

/// What was read, in a few words.
fn read(audit: &Audit) -> String {
    let rows = counted(audit.rows_count as u64, "row");
    let what = match audit.files.as_slice() {
        [one] => one.clone(),
        all => counted(all.len() as u64, "file"),
    };
    format!("{what}: {rows}, {}", figures(audit.figures_count))
}

/// Findings that are told as reasons.
const REASONS: usize = 2;

/// The gravest findings with the arithmetic that proves them, and what to do about them: a reader of the first screen
/// needs no other.
fn hints(audit: &Audit) -> Vec<Hint> {
    let gravest = audit.worst();
    let told: Vec<(usize, &Finding)> =
        audit.findings.iter().enumerate().filter(|(_, f)| Some(f.grade) == gravest).take(REASONS).collect();
    let why = |(at, finding): &(usize, &Finding)| {
        let shown = finding.arithmetic.first().map(|line| format!(" ({line})")).unwrap_or_default();
        // What is missing has no place of its own among the findings.
        let link = (gravest != Some(Grade::Missing)).then(|| (found::anchor(*at), "The lines"));
        Hint { is_next: false, text: format!("{}{shown}.", finding.sentence), command: None, link }
    };
    let mut advice: Vec<&str> = Vec::new();
    for (_, finding) in &told {
        if !finding.advice.is_empty() && !advice.contains(&finding.advice.as_str()) {
            advice.push(&finding.advice);
        }
    }
    let next =
        advice.iter().map(|text| Hint { is_next: true, text: format!("{text}."), command: None, link: None });
    told.iter().map(why).chain(next).collect()
}

fn nothing(audit: &Audit) -> Vec<Block> {
    let text = match (audit.findings.len(), audit.figures_count) {
        (0, 0) => {
            "No figures were found to judge: neither output of a known tool nor a table with recognisable columns."
        }
        (0, _) => {
            "The figures agree with each other, with arithmetic and with what a sound result says. That does not make \
             them right: an audit sees contradictions, not mistakes that fit together."
        }
        _ => return Vec::new(),
    };
    vec![sentence(Role::Plain, text)]
}

fn unread(audit: &Audit) -> Section {
    if audit.unread.is_empty() {
        return Section::new("unread", "Not read", Vec::new());
    }
    let lead = "Passages that look like a result and could not be read: nothing is said of them.";
    let list = List { items: audit.unread.clone(), brief: 5, most: 20 };
    let blocks = vec![sentence(Role::Lead, lead).only(On::HTML), Block::List(list)];
    let brief = format!("Not read: {}", counted(audit.unread.len() as u64, "passage"));
    Section::new("unread", "Not read", blocks).brief(brief).indented()
}

fn method(audit: &Audit) -> Vec<Block> {
    let checked = counted(plimsoll_audit::rules().count() as u64, "rule");
    let text = format!(
        "{}. {checked} looked at them; a figure counts with what its rounding leaves open. A finding is ",
        read(audit)
    );
    let files = audit.files.join(" ");
    vec![
        Block::Sentence(
            Sentence::new(Role::Plain, text)
                .strong("proved", " by arithmetic alone, ")
                .strong("likely", " in every usual set-up, or ")
                .strong("possible", " and worth a look."),
        ),
        sentence(
            Role::Plain,
            format!("The same as text: `plimsoll audit {files}`, and with every digit `--json`."),
        ),
    ]
}
