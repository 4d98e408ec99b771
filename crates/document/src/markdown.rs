//! A document as CommonMark with tables, for READMEs and pull requests. What came from outside is escaped, so that a
//! name can neither break a table nor become a link or a tag.

use super::examples::IN_TABLE;
use super::table::Row;
use super::{Block, Cell, Document, Fact, Finding, Findings, Form, Heading, Hint, On, Parts, Role, Sentence};
use super::{Examples, Folded, Inner, Section, Setting, Table, Tone, Value, Verdict, Vital, more};
use crate::escape::{code, escape, prose};
use plimsoll_plan::phrase::is_harmful;

/// The document; between two blocks stands an empty line.
pub fn write(document: &Document) -> String {
    whole(document).join("\n")
}

fn whole(document: &Document) -> Vec<String> {
    blocks(&document.head).into_iter().chain(document.sections.iter().flat_map(section)).collect()
}

fn section(section: &Section) -> Vec<String> {
    let body = if section.on.has(On::MARKDOWN) { blocks(&section.blocks) } else { Vec::new() };
    let is_titled = !body.is_empty() && section.titled.has(On::MARKDOWN);
    let title = is_titled.then(|| format!("### {}\n", escape(&section.title)));
    title.into_iter().chain(body).collect()
}

/// Each ended by a line feed.
fn blocks(all: &[Block]) -> Vec<String> {
    all.iter().flat_map(block).filter(|text| !text.is_empty()).collect()
}

fn block(block: &Block) -> Vec<String> {
    match block {
        Block::Only(on, inner) if on.has(On::MARKDOWN) => self::block(inner),
        Block::Indented(all) => blocks(all),
        Block::Heading(title) => vec![format!("#### {}\n", escape(title))],
        Block::Verdict(verdict) => vec![self::verdict(verdict)],
        Block::Setting(setting) => vec![self::setting(setting)],
        Block::Sentence(said) => vec![sentence(said)],
        Block::Badge(_, word, text) if text.is_empty() => vec![format!("{}\n", prose(word))],
        Block::Badge(_, word, text) => vec![format!("**{word}** {}\n", prose(text))],
        Block::Reasons(all) => vec![all.iter().map(|hint| format!("- {}\n", prose(&hint.text))).collect()],
        Block::Steps(all) => vec![(1..).zip(all).map(step).collect()],
        Block::Overruling(_, all) => blocks(all),
        Block::Pair(_, all) => all.iter().flat_map(|one| blocks(one)).collect(),
        Block::Command(text) => vec![format!("`{}`\n", code(text))],
        Block::Folded(Folded { inner: Inner::Blocks(all), .. }) => blocks(all),
        Block::Facts(all) => vec![facts(all)],
        Block::Findings(all) => findings(all),
        Block::Health(all) => vec![health(all)],
        Block::Examples(all) => examples(all),
        Block::List(list) => vec![list.items.iter().map(|text| format!("- {}\n", prose(text))).collect()],
        Block::Table(table) => vec![self::table(table)],
        Block::Parts(all) => parts(all),
        // What only a page has room for, and what letters draw.
        Block::Only(..) | Block::Tiles(_) | Block::Charts(_) | Block::Courses(..) => Vec::new(),
        Block::Folded(Folded { inner: Inner::Source(_), .. }) => Vec::new(),
    }
}

fn verdict(verdict: &Verdict) -> String {
    let sentence = prose(&verdict.sentence);
    let sign = match verdict.tone {
        Tone::Pass => ":white_check_mark:",
        Tone::Fail => ":x:",
        Tone::Doubt | Tone::Note => ":warning:",
    };
    match &verdict.form {
        Heading::Lead => format!("## {}: {sentence}\n", verdict.word),
        Heading::Answer => format!("## {sentence}\n"),
        Heading::Badge => format!("{sign} **{}**: {sentence}\n", verdict.word),
    }
}

fn setting(setting: &Setting) -> String {
    format!(
        "`{}` ({})\n",
        code(&setting.name),
        escape(&[setting.facts.as_slice(), &setting.details].concat().join(", "))
    )
}

fn sentence(said: &Sentence) -> String {
    let front = match said.role {
        Role::Title => "## ",
        Role::Question => "> ",
        Role::Plain | Role::Strong | Role::Lead | Role::Soft | Role::Faint | Role::Quiet => "",
    };
    format!("{front}{}\n", prose(&said.text()))
}

fn step((number, hint): (usize, &Hint)) -> String {
    let command = hint.command.as_ref().map_or(String::new(), |text| format!(" `{}`", code(text)));
    format!("{number}. {}{command}\n", prose(&hint.text))
}

fn facts(all: &[Fact]) -> String {
    let told = all.iter().filter(|fact| fact.on.has(On::MARKDOWN));
    told.map(|fact| format!("- {}: {}\n", fact.label, text(&fact.value))).collect()
}

fn parts(parts: &Parts) -> Vec<String> {
    let title = (!parts.all.is_empty()).then(|| format!("## {}\n", parts.title));
    title.into_iter().chain(parts.all.iter().flat_map(|(part, _)| whole(part))).collect()
}

/// Words instead of colored signs: there is neither color nor a fixed width.
fn health(all: &[Vital]) -> String {
    let row = |one: &Vital| {
        let sign = match one.tone {
            Tone::Pass => "ok",
            Tone::Note => "note",
            Tone::Doubt => "**!**",
            Tone::Fail => "**x**",
        };
        format!("| {sign} | {} | {} |\n", escape(&one.label), escape(&one.facts.join("; ")))
    };
    format!("|  |  |  |\n|---|---|---|\n{}", all.iter().map(row).collect::<String>())
}

fn examples(all: &Examples) -> Vec<String> {
    let more = more(all.all.len(), IN_TABLE).map(|text| format!("{text}\n"));
    [table(&all.table())].into_iter().chain(more).collect()
}

/// Numbers end at one edge.
fn table(table: &Table) -> String {
    let shown: Vec<_> = table.columns.iter().enumerate().filter(|(_, c)| c.on.has(On::MARKDOWN)).collect();
    let all: Vec<&Row> = table.rows.iter().filter(|row| row.on.has(On::MARKDOWN)).collect();
    if all.is_empty() || shown.is_empty() {
        return String::new();
    }
    let heads: Vec<String> = shown.iter().map(|(_, column)| escape(&column.head)).collect();
    let rule: String = shown.iter().map(|(_, c)| if c.is_right { "|--:" } else { "|---" }).collect();
    let row = |row: &&Row| {
        let cells: Vec<String> = shown.iter().filter_map(|(at, _)| row.cells.get(*at)).map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = all.iter().map(row).collect();
    format!("| {} |\n{rule}|\n{rows}", heads.join(" | "))
}

fn cell(cell: &Cell) -> String {
    let text = text(&cell.value);
    let text = if cell.is_bold { format!("**{text}**") } else { text };
    match &cell.tail {
        Some((_, tail)) => format!("{text} {}", escape(tail)),
        None => text,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Prose(text) => prose(text),
        Value::Code(text) => format!("`{}`", code(text)),
        other => escape(&other.text()),
    }
}

fn findings(findings: &Findings) -> Vec<String> {
    let all = &findings.all;
    match findings.form {
        Form::Proof => all.iter().map(proof).collect(),
        Form::Gap => vec![all.iter().map(gap).collect()],
        Form::Line => vec![all.iter().map(line).collect()],
        Form::Named => vec![all.iter().map(named).collect()],
        Form::Doubt => vec![all.iter().map(doubt).collect()],
    }
}

fn gap(finding: &Finding) -> String {
    let advice = match finding.advice.as_str() {
        "" => String::new(),
        advice => format!(": {}", prose(advice)),
    };
    format!("- **{}**{advice}\n", prose(&finding.title))
}

fn line(finding: &Finding) -> String {
    let code = if finding.code.is_empty() { String::new() } else { format!(" (`{}`)", code(&finding.code)) };
    let bold = if finding.tone == Tone::Note { "" } else { "**" };
    format!("- {bold}{}{bold}: {}{code}\n", finding.word, prose(&finding.title))
}

fn named(finding: &Finding) -> String {
    format!("- {}: {}\n", escape(&finding.word), prose(&finding.title))
}

/// `- **title** (word, `code`): evidence. *Advice:* what to do`
fn doubt(finding: &Finding) -> String {
    let word = if finding.word.is_empty() { String::new() } else { format!("{}, ", finding.word) };
    let said = prose(&finding.evidence.join("; "));
    let advice = match finding.advice.as_str() {
        "" => String::new(),
        advice => format!(". *Advice:* {}", prose(advice)),
    };
    format!("- **{}** ({word}`{}`): {said}{advice}\n", prose(&finding.title), code(&finding.code))
}

/// An item with its arithmetic and its quotes in a block of code, and paragraphs below.
fn proof(finding: &Finding) -> String {
    let tag = format!("{}, `{}`", finding.word, finding.code);
    let mut out = vec![format!("- **{}** ({tag})\n", prose(&finding.title))];
    let mut lines: Vec<String> =
        finding.arithmetic.iter().map(|(label, text)| format!("{label}{text}")).collect();
    let (quotes, rest) = finding.quoted();
    for quote in quotes {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(quote.plain());
    }
    if !lines.is_empty() {
        out.push(fenced(&lines));
    }
    out.extend(rest.map(|rest| format!("  Also at `{}`.\n", code(&rest))));
    for (head, text) in [("Why?", &finding.explanation), ("Instead:", &finding.advice)] {
        if !text.is_empty() {
            out.push(format!("  *{head}* {}\n", prose(text)));
        }
    }
    out.join("\n")
}

fn fenced(lines: &[String]) -> String {
    // Longer than any fence that a quoted line may hold.
    let ticks = lines.iter().map(|l| l.chars().filter(|c| *c == '`').count()).max().unwrap_or(0).max(2) + 1;
    let fence = "`".repeat(ticks);
    let clean = |line: &String| {
        let clean: String = line.chars().map(|c| if is_harmful(c) { ' ' } else { c }).collect();
        format!("{}\n", format!("  {clean}").trim_end())
    };
    let lines: String = lines.iter().map(clean).collect();
    format!("  {fence}text\n{lines}  {fence}\n")
}
