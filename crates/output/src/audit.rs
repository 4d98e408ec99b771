//! The report of an audit: the gravest finding first, each with its arithmetic and the line in question. A page also
//! has the rows, as charts and as a table.

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
use crate::next::linked_sections;
use crate::style::Look;
use audited_row::{AuditedRow, rows};
use found::{findings, missing};
use plimsoll_audit::foreign::Document as Published;
use plimsoll_audit::{Audit, Finding, Grade};
pub use rules::rules_page;

/// Returns the audit for a terminal.
pub fn terminal(audit: &Audit, look: &Look) -> String {
    document::terminal(&report(audit, &[]), look)
}

/// Returns the audit as Markdown. Text of the audited report is escaped.
pub fn markdown(audit: &Audit) -> String {
    document::markdown(&report(audit, &[]))
}

/// Returns the page about these texts.
///
/// # Errors
/// Returns an error if the audit contains a value that JSON cannot express.
pub fn page(audit: &Audit, documents: &[Published]) -> Result<Page, Error> {
    let charts = crate::figure::audit::charts(audit, documents);
    let title = format!("Audit: {}", headline(audit));
    Ok(document::page("audit", title, &report(audit, documents), charts, serde_json::to_value(audit)?))
}

/// Returns the audit as one JSON document, every finding with all of its arithmetic.
///
/// # Errors
/// Returns an error if the audit contains a value that JSON cannot express.
pub fn json(audit: &Audit) -> Result<String, Error> {
    let mut text = serde_json::to_string_pretty(audit)?;
    text.push('\n');
    Ok(text)
}

/// Returns the report; `documents` are the texts whose rows a page shows.
fn report(audit: &Audit, documents: &[Published]) -> Document {
    let judged = rows(audit, documents);
    let short: Vec<&str> = audit.files.iter().map(|file| file_name(file)).collect();
    let short = short.join(", ");
    let ruled = |section: Section| section.edge(Edge::Rule);
    let [why, next] = hints(audit);
    let [why, next] = linked_sections(why, next).map(|section| section.on(On::HTML));
    Document {
        // Without figures, nothing was judged, which is not a pass.
        tone: if audit.figures_count == 0 { Tone::Doubt } else { tone(audit.worst()) },
        head: head(audit, &judged, &short),
        name: Sentence::new(Role::Plain, short),
        sections: vec![
            why,
            next,
            Section::new(
                "picture",
                "Comparison of the rows",
                vec![Block::Charts(vec!["audit".into(), "audit-rows".into()])],
            ),
            ruled(Section::new("wrong", "Impossible", findings(audit, Grade::Impossible))),
            ruled(Section::new("doubtful", "Implausible", findings(audit, Grade::Implausible))),
            ruled(Section::new("missing", "Missing", missing(audit))),
            Section::new("sound", "No findings", nothing(audit)).on(On::HTML),
            Section::new("rows", "Rows as published", published::rows(audit, &judged)).on(On::HTML),
            unread(audit),
            Section::new("read", "Read", read_of_files(audit)).indented(),
            Section::new("method", "Method", method(audit)).on(On::HTML),
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
        Some(Grade::Impossible) => "impossible",
        Some(Grade::Implausible) => "implausible",
        Some(Grade::Missing) => "incomplete",
        None => "no findings",
    }
}

fn head(audit: &Audit, judged: &[AuditedRow], short: &str) -> Vec<Block> {
    let (tone, word) = match audit.figures_count {
        0 => (Tone::Doubt, "no numbers"),
        _ => (tone(audit.worst()), grade_word(audit.worst())),
    };
    let about = |grade| judged.iter().filter(|row| row.grade == Some(grade)).count();
    let tile = |label, n: usize| Tile::new(label, Value::Count(n as u64));
    let mut blocks = vec![
        Block::Verdict(Verdict { tone, word: word.into(), sentence: headline(audit), form: Heading::Answer }),
        sentence(Role::Soft, read(audit)).only(On::TEXT),
    ];
    let whole = audit.files.join(", ");
    if whole != short {
        blocks.push(sentence(Role::Soft, whole).only(On::HTML));
    }
    blocks.push(Block::Tiles(vec![
        tile("rows read", audit.rows_count),
        tile("numbers read", audit.figures_count),
        tile("impossible rows", about(Grade::Impossible)),
        tile("implausible rows", about(Grade::Implausible)),
        tile("findings", audit.findings.len()),
    ]));
    blocks
}

/// Returns the file name without its folders; the whole path is shown below.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// `3 statements are impossible, 5 are implausible, 4 are missing`: a finding may concern several
/// figures, or a missing one.
pub fn headline(audit: &Audit) -> String {
    let of = |grade| audit.findings.iter().filter(|f| f.grade == grade).count();
    let (wrong, implausible, missing) = (of(Grade::Impossible), of(Grade::Implausible), of(Grade::Missing));
    if audit.figures_count == 0 && audit.findings.is_empty() {
        return "no numbers found".into();
    }
    if wrong + implausible + missing == 0 {
        return format!("no contradictions in {}", figures(audit.figures_count));
    }
    let mut parts = vec![match wrong {
        0 => "no impossible statements".to_owned(),
        1 => "1 statement is impossible".to_owned(),
        n => format!("{} are impossible", counted(n as u64, "statement")),
    }];
    let mut also = |n: usize, what: &str| {
        if n > 0 {
            // Only the first count names the noun.
            let noun = match (wrong, parts.len(), n) {
                (0, 1, 1) => " statement is",
                (0, 1, _) => " statements are",
                (_, _, 1) => " is",
                _ => " are",
            };
            parts.push(format!("{n}{noun} {what}"));
        }
    };
    also(implausible, "implausible");
    also(missing, "missing");
    parts.join(", ")
}

fn figures(n: usize) -> String {
    counted(n as u64, "number")
}

/// Returns the number of rows and figures read.
fn read(audit: &Audit) -> String {
    let rows = counted(audit.rows_count as u64, "row");
    let what = match audit.files.as_slice() {
        [one] => one.clone(),
        all => counted(all.len() as u64, "file"),
    };
    format!("{what}: {rows}, {}", figures(audit.figures_count))
}

/// Number of findings that become reasons.
const REASONS: usize = 2;

/// Returns the gravest findings with the arithmetic that proves them, and the advice on them.
fn hints(audit: &Audit) -> [Block; 2] {
    let gravest = audit.worst();
    let first: Vec<(usize, &Finding)> =
        audit.findings.iter().enumerate().filter(|(_, f)| Some(f.grade) == gravest).take(REASONS).collect();
    let why = |(at, finding): &(usize, &Finding)| {
        let shown = finding.arithmetic.first().map(|line| format!(" ({line})")).unwrap_or_default();
        // A missing figure has no anchor among the findings.
        let link = (gravest != Some(Grade::Missing)).then(|| (found::anchor(*at), "Lines"));
        Hint { text: format!("{}{shown}.", finding.sentence), command: None, link }
    };
    let mut advice: Vec<&str> = Vec::new();
    for (_, finding) in &first {
        if !finding.advice.is_empty() && !advice.contains(&finding.advice.as_str()) {
            advice.push(&finding.advice);
        }
    }
    let next = advice.iter().map(|text| Hint { text: format!("{text}."), command: None, link: None });
    [Block::Reasons(first.iter().map(why).collect()), Block::Steps(next.collect())]
}

fn nothing(audit: &Audit) -> Vec<Block> {
    let text = match (audit.findings.len(), audit.figures_count) {
        (0, 0) => {
            "No numbers found: the text contains neither output of a known tool nor a table with recognizable columns."
        }
        (0, _) => {
            "The numbers are consistent with each other and with arithmetic, and no required number is missing. That \
             does not prove them right: an audit finds contradictions, not consistent mistakes."
        }
        _ => return Vec::new(),
    };
    vec![sentence(Role::Plain, text)]
}

/// `report.md: 18 numbers in 45 lines; not read: 2 passages`, for each file.
fn read_of_files(audit: &Audit) -> Vec<Block> {
    let of = |file: &plimsoll_audit::FileRead| {
        let lines =
            file.lines_count.map_or_else(String::new, |n| format!(" in {}", counted(n as u64, "line")));
        let unread = match file.unread_count {
            0 => "nothing".to_owned(),
            n => counted(n as u64, "passage"),
        };
        format!("{}: {}{lines}; not read: {unread}", file.file, figures(file.figures_count))
    };
    let items: Vec<String> = audit.reads.iter().map(of).collect();
    match items.is_empty() {
        true => Vec::new(),
        false => vec![Block::List(List { items, brief: 5, most: 20 })],
    }
}

fn unread(audit: &Audit) -> Section {
    if audit.unread.is_empty() {
        return Section::new("unread", "Not read", Vec::new());
    }
    let lead = "Passages that look like results but could not be read; they are not judged.";
    let list = List { items: audit.unread.clone(), brief: 5, most: 20 };
    let blocks = vec![sentence(Role::Lead, lead).only(On::HTML), Block::List(list)];
    let brief = format!("Not read: {}", counted(audit.unread.len() as u64, "passage"));
    Section::new("unread", "Not read", blocks).brief(brief).indented()
}

fn method(audit: &Audit) -> Vec<Block> {
    let checked = counted(plimsoll_audit::rules().count() as u64, "rule");
    let text = format!(
        "{}. {checked} checked them, with each number as the interval that its rounding allows. A finding is ",
        read(audit)
    );
    let files = audit.files.join(" ");
    vec![
        Block::Sentence(
            Sentence::new(Role::Plain, text)
                .strong("proved", " by arithmetic alone, ")
                .strong("likely", " in every usual setup, or ")
                .strong("possible", " and worth checking."),
        ),
        sentence(Role::Plain, format!("As text: `plimsoll audit {files}`; with all digits: `--json`.")),
    ]
}
