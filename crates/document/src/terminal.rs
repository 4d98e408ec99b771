//! A document for a terminal: lines that are wrapped between words, signs, and aligned columns.

mod columns;
mod course;
mod health;
mod room;
mod spread;

use super::examples::ON_SCREEN;
use super::finding::ARITHMETIC;
use super::{
    Block, Document, Edge, Example, Fact, Finding, Findings, Folded, Form, Heading, Hint, Inner, List,
};
use super::{On, Parts, Role, Section, Setting, Tone, Value, Verdict, more};
use crate::line::{Line, command_lines, flow, width, wrap, write_all};
use crate::style::{Look, TextStyle};

/// Returns the document with all details, with no line wider than [`Look::columns`].
pub fn write(document: &Document, look: &Look) -> String {
    write_view(document, look, On::DETAIL)
}

/// Returns the document's default view, with no line wider than [`Look::columns`].
pub fn screen(document: &Document, look: &Look) -> String {
    write_view(document, look, On::SCREEN)
}

fn write_view(document: &Document, look: &Look, view: On) -> String {
    let mut pen = Pen { look, view, columns: look.columns(), label: 0, lines: Vec::new() };
    pen.document(document);
    write_all(&pen.lines, look)
}

/// The content below a heading.
const INDENT: usize = 2;

struct Pen<'a> {
    look: &'a Look,
    /// [`On::SCREEN`] or [`On::DETAIL`].
    view: On,
    columns: usize,
    /// Width of the labels of a section's facts.
    label: usize,
    lines: Vec<Line>,
}

/// A longer label is a foreign name and is truncated.
const LABEL: usize = 14;

/// The labels of one section have the same width.
fn label_of(blocks: &[Block], view: On) -> usize {
    let facts = |block: &Block| match block {
        Block::Facts(facts) => {
            let shown = facts.iter().filter(|fact| fact.on.has(view));
            shown.map(|fact| width(&fact.label).min(LABEL)).max().unwrap_or(0)
        }
        Block::Only(on, inner) if on.has(view) => label_of(std::slice::from_ref(inner), view),
        _ => 0,
    };
    blocks.iter().map(facts).max().unwrap_or(0)
}

impl Pen<'_> {
    fn document(&mut self, document: &Document) {
        let (mut rest, mut indent) = (document.head.as_slice(), 0);
        if let [Block::Verdict(verdict @ Verdict { form: Heading::Lead | Heading::Badge, .. }), below @ ..] =
            rest
        {
            self.verdict(verdict);
            (rest, indent) = (below, width(&verdict.word) + INDENT);
        }
        self.moved_in(indent, rest);
        let mut groups: Vec<Vec<Vec<Line>>> = Vec::new();
        for section in &document.sections {
            match (self.section(section), groups.last_mut()) {
                (lines, _) if lines.is_empty() => {}
                (lines, Some(group)) if section.is_adjacent => group.push(lines),
                (lines, _) => groups.push(vec![lines]),
            }
        }
        let columns = self.columns;
        for lines in groups.into_iter().flat_map(|group| room::arranged(group, columns)) {
            self.gap();
            self.lines.extend(lines);
        }
    }

    /// Returns the section with its heading; nothing if it has no content.
    fn section(&self, section: &Section) -> Vec<Line> {
        let columns = self.columns.saturating_sub(section.indent);
        let mut body =
            Pen { lines: Vec::new(), columns, label: label_of(&section.blocks, self.view), ..*self };
        if section.on.has(self.view) {
            section.blocks.iter().for_each(|block| body.block(block));
        }
        if body.lines.is_empty() && !(section.is_alone && section.on.has(self.view)) {
            return Vec::new();
        }
        let heading = section.titled.has(self.view).then(|| self.heading(section)).flatten();
        let lines = body.lines.into_iter().map(|line| Line::new().pad(section.indent).line(line));
        heading.into_iter().chain(lines).collect()
    }

    /// Returns the lines with an indentation.
    fn moved_in(&mut self, indent: usize, blocks: &[Block]) {
        let columns = self.columns.saturating_sub(indent);
        let mut body = Pen { lines: Vec::new(), columns, label: label_of(blocks, self.view), ..*self };
        blocks.iter().for_each(|block| body.block(block));
        self.lines.extend(body.lines.into_iter().map(|line| Line::new().pad(indent).line(line)));
    }

    /// Adds an empty line between two parts.
    fn gap(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(Line::new());
        }
    }

    fn heading(&self, section: &Section) -> Option<Line> {
        let title = section.brief.as_deref().unwrap_or(&section.title);
        let aside = if section.aside.is_empty() { "" } else { "  " };
        let line = Line::of(TextStyle::Strong, title).text(aside).ink(TextStyle::Dim, &section.aside);
        let line = line.cut(self.columns, self.look);
        let rest = self.columns.saturating_sub(line.width() + 1);
        let line = match section.edge {
            Edge::Rule => line.text(" ").ink(TextStyle::Dim, &self.look.signs().rule.repeat(rest)),
            Edge::None => line,
        };
        (!title.is_empty()).then_some(line)
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Only(on, block) if on.has(self.view) => self.block(block),
            Block::Indented(blocks) => self.moved_in(INDENT, blocks),
            Block::Heading(title) => {
                self.gap();
                self.wrapped(TextStyle::Strong, title);
            }
            Block::Verdict(verdict) => self.verdict(verdict),
            Block::Setting(setting) => self.setting(setting),
            Block::Sentence(said) => self.wrapped(ink_of(said.role), &said.text()),
            Block::Badge(tone, word, text) if text.is_empty() => self.wrapped(ink_of_tone(*tone), word),
            Block::Badge(tone, word, text) => {
                self.wrap_beside(Line::of(ink_of_tone(*tone), word), width(word) + 1, TextStyle::Plain, text);
            }
            Block::Reasons(hints) => hints.iter().for_each(|hint| self.reason(hint)),
            Block::Steps(hints) => {
                (1..).zip(hints).for_each(|(number, hint)| self.step(number, hint));
            }
            Block::Overruling(_, blocks) => blocks.iter().for_each(|block| self.block(block)),
            Block::Facts(facts) => self.facts(facts),
            Block::Health(all) => {
                all.iter().for_each(|one| self.lines.extend(health::lines(one, self.columns, self.look)));
            }
            Block::Examples(examples) => self.examples(&examples.all),
            Block::Findings(findings) => self.findings(findings),
            Block::List(list) => self.list(list),
            Block::Table(table) => {
                let lines =
                    columns::lines(table, self.columns.saturating_sub(table.indent), self.look, self.view);
                self.lines.extend(lines.into_iter().map(|line| Line::new().pad(table.indent).line(line)));
            }
            Block::Courses(all, axis) => {
                self.lines.extend(course::lines(all, axis.as_ref(), self.columns, self.look));
            }
            Block::Pair(_, all) => all.iter().flatten().for_each(|block| self.block(block)),
            Block::Command(text) => self.wrapped(TextStyle::Plain, text),
            Block::Folded(Folded { inner: Inner::Blocks(all), .. }) => {
                all.iter().for_each(|block| self.block(block));
            }
            Block::Folded(Folded { inner: Inner::Source(_), .. }) => {}
            Block::Parts(parts) => self.parts(parts),
            // Only a page has room for this.
            Block::Only(..) | Block::Tiles(_) | Block::Charts(_) => {}
        }
    }

    fn verdict(&mut self, verdict: &Verdict) {
        let badge = match verdict.tone {
            Tone::Pass => TextStyle::BadgeGood,
            Tone::Fail => TextStyle::BadgeBad,
            Tone::Doubt => TextStyle::BadgeWarn,
            Tone::Note => TextStyle::Strong,
        };
        let word = Line::of(badge, &verdict.word);
        match &verdict.form {
            Heading::Lead | Heading::Badge => {
                let from = word.width() + INDENT;
                self.wrap_beside(word, from, TextStyle::Strong, &verdict.sentence);
            }
            Heading::Answer if verdict.tone == Tone::Note => {
                self.wrapped(TextStyle::Strong, &verdict.sentence)
            }
            Heading::Answer => self.wrapped(ink_of_tone(verdict.tone), &verdict.sentence),
        }
    }

    /// Returns the name, the target if the name does not contain it, and the facts.
    fn setting(&mut self, setting: &Setting) {
        let mut all = vec![Line::of(TextStyle::Accent, &setting.name)];
        if !setting.name.contains(&setting.target) {
            all.push(Line::new().text(&setting.target));
        }
        let details = setting.details.iter().filter(|_| self.view == On::DETAIL);
        all.extend(setting.facts.iter().chain(details).map(|fact| Line::of(TextStyle::Dim, fact)));
        self.lines.extend(flow(all, self.columns, self.look));
    }

    fn reason(&mut self, hint: &Hint) {
        self.hanging(0, (TextStyle::Plain, ""), TextStyle::Plain, &hint.text);
    }

    /// Appends the command to the last line of its step if it fits, and otherwise on its own lines.
    fn step(&mut self, number: usize, hint: &Hint) {
        const BETWEEN: usize = 2;
        let label = format!("{number}. ");
        let from = width(&label);
        self.hanging(0, (TextStyle::Accent, &label), TextStyle::Plain, &hint.text);
        let Some(command) = &hint.command else { return };
        let parts = command_lines(command, self.columns.saturating_sub(from));
        match (parts.as_slice(), self.lines.pop()) {
            ([one], Some(last)) if last.width() + BETWEEN + width(one) <= self.columns => {
                self.lines.push(last.text("  ").ink(TextStyle::Accent, one));
            }
            (parts, last) => {
                self.lines.extend(last);
                let line = |part: &String| Line::new().pad(from).ink(TextStyle::Accent, part);
                self.lines.extend(parts.iter().map(line));
            }
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let (view, from) = (self.view, self.label + 2);
        for fact in facts.iter().filter(|fact| fact.on.has(view)) {
            let label = Line::of(TextStyle::Dim, &fact.label).cut(self.label + 1, self.look);
            let plain = |text: &str| columns::plain(text, self.look);
            match &fact.value {
                Value::Facts(all) => {
                    let first = match fact.tone {
                        None => TextStyle::Plain,
                        Some(Tone::Note) => TextStyle::Strong,
                        Some(tone) => ink_of_tone(tone),
                    };
                    let inks = [first].into_iter().chain(std::iter::repeat(TextStyle::Plain));
                    self.flowing(
                        label,
                        inks.zip(all).map(|(ink, fact)| Line::of(ink, &plain(fact))).collect(),
                    );
                }
                Value::Judged(all) => {
                    let one = |(tone, text): &(Option<Tone>, String)| match tone {
                        Some(tone) => {
                            Line::of(ink_of_tone(*tone), &format!("{}{text}", sign(*tone, self.look)))
                        }
                        None => Line::new().text(text),
                    };
                    self.flowing(label, all.iter().map(one).collect());
                }
                value => self.wrap_beside(label, from, TextStyle::Plain, &value.text()),
            }
        }
    }

    /// Appends blocks in sequence.
    fn flowing(&mut self, label: Line, facts: Vec<Line>) {
        let from = self.label + 2;
        let mut label = Some(label);
        for line in flow(facts, self.columns.saturating_sub(from), self.look) {
            self.lines.push(label.take().unwrap_or_default().pad(from).line(line));
        }
    }

    fn list(&mut self, list: &List) {
        for item in list.items.iter().take(list.brief) {
            self.labelled(0, (TextStyle::Dim, "- "), item);
        }
        if list.items.len() > list.brief {
            self.wrapped(TextStyle::Dim, &format!("and {} more", list.items.len() - list.brief));
        }
    }

    /// Returns the first example of each kind, with the beginning of the response.
    fn examples(&mut self, all: &[Example]) {
        let first: Vec<&Example> = all.iter().filter(|one| one.is_first).collect();
        for one in first.iter().take(ON_SCREEN) {
            let status = if one.status > 0 { format!(" {}", one.status) } else { String::new() };
            let head = Line::of(TextStyle::Bad, &one.failure).text("  ").text(&one.request);
            let head = head.ink(TextStyle::Dim, &format!("{status}  at {}", one.at));
            self.lines.push(head.cut(self.columns, self.look));
            self.hanging(INDENT, (TextStyle::Plain, ""), TextStyle::Plain, &one.found);
            self.excerpt(&one.excerpt);
        }
        let more = more(first.len(), ON_SCREEN).unwrap_or_default();
        self.wrapped(TextStyle::Dim, &more);
    }

    fn excerpt(&mut self, text: &str) {
        const LINES: usize = 2;
        let signs = self.look.signs();
        let room = self.columns.saturating_sub(INDENT);
        // Line breaks are normal in a response; other control characters are marked as everywhere.
        let parts = wrap(&text.replace(['\n', '\r', '\t'], " "), room.saturating_sub(2));
        for (at, part) in parts.iter().take(LINES).enumerate().filter(|(_, part)| !part.is_empty()) {
            let is_cut = at + 1 == LINES && parts.len() > LINES;
            let line = Line::of(TextStyle::Dim, signs.side).text(" ").ink(TextStyle::Dim, part);
            let line = line.ink(TextStyle::Dim, if is_cut { signs.cut } else { "" });
            self.lines.push(Line::new().pad(INDENT).line(line.cut(room, self.look)));
        }
    }

    /// Returns few reports completely, and only the sentences of many.
    fn parts(&mut self, parts: &Parts) {
        for (part, (_, _, sentence)) in &parts.all {
            if parts.all.len() > parts.brief {
                self.labelled(0, (TextStyle::Dim, "- "), sentence);
            } else {
                self.gap();
                self.document(part);
            }
        }
    }

    fn findings(&mut self, findings: &Findings) {
        for finding in &findings.all {
            match findings.form {
                Form::Gap => {
                    self.hanging(2, (TextStyle::Accent, "- "), TextStyle::Strong, &finding.title);
                    self.labelled(4, (TextStyle::Dim, self.look.signs().arrow), &finding.advice);
                }
                Form::Line => self.line(finding, &finding.title),
                Form::Named => self.line(finding, &format!("{}: {}", finding.word, finding.title)),
                Form::Doubt => self.doubt(finding),
                Form::Proof => {
                    self.lines.push(Line::new());
                    self.proof(finding);
                }
            }
        }
    }

    /// Returns a rating: its sign, the sentence or the rule, and its evidence.
    fn line(&mut self, finding: &Finding, title: &str) {
        let sign = sign(finding.tone, self.look);
        let ink = if finding.tone == Tone::Note { TextStyle::Dim } else { ink_of_tone(finding.tone) };
        let blank = if sign.ends_with(' ') { "" } else { " " };
        let said = if title.is_empty() { &finding.code } else { title };
        self.wrap_beside(Line::of(ink, sign).text(blank), 2, TextStyle::Plain, said);
        for line in &finding.evidence {
            self.wrap_beside(Line::new(), 4, TextStyle::Dim, line);
        }
    }

    /// Returns a finding with its code, evidence, and advice.
    fn doubt(&mut self, finding: &Finding) {
        const TITLE: usize = 3;
        let ink = ink_of_tone(finding.tone);
        let first = Line::of(ink, sign(finding.tone, self.look));
        self.wrap_beside(first, TITLE, TextStyle::Strong, &finding.title);
        let code = Line::new().text("  ").ink(TextStyle::Dim, &finding.code);
        match self.lines.pop() {
            Some(last) if last.width() + code.width() <= self.columns => self.lines.push(last.line(code)),
            last => self.lines.extend(last.into_iter().chain([Line::new().text(" ").line(code)])),
        }
        // In the default view, a note is short.
        let is_brief = finding.tone == Tone::Note && self.view == On::SCREEN;
        for line in finding.evidence.iter().filter(|_| !is_brief) {
            self.labelled(TITLE, (TextStyle::Plain, ""), line);
        }
        self.labelled(TITLE, (TextStyle::Accent, self.look.signs().arrow), &finding.advice);
    }

    /// Returns a finding with its arithmetic and the quoted lines.
    fn proof(&mut self, finding: &Finding) {
        let signs = self.look.signs();
        let ink = ink_of_tone(finding.tone);
        let sign = if finding.tone == Tone::Fail { signs.bad } else { signs.warn };
        self.hanging(0, (ink, sign), TextStyle::Strong, &finding.title);
        for line in finding.arithmetic.iter().take(ARITHMETIC) {
            self.calculation(line);
        }
        let more = finding.arithmetic.len().saturating_sub(ARITHMETIC);
        if more > 0 {
            self.lines.push(Line::new().pad(6).ink(TextStyle::Dim, &format!("and {more} more lines")));
        }
        let (quotes, rest) = finding.quoted();
        for quote in quotes {
            quote.show(ink, self.look, &mut self.lines);
        }
        self.labelled(2, (TextStyle::Dim, "also at "), &rest.unwrap_or_default());
        self.labelled(2, (TextStyle::Dim, "why?    "), &finding.explanation);
        self.labelled(2, (TextStyle::Accent, "instead "), &finding.advice);
        let tag = format!("{}{}{}", finding.word, signs.between, finding.code);
        self.lines.push(Line::new().pad(2).ink(TextStyle::Dim, &tag));
    }

    /// Returns a line of arithmetic: the name of its row is dim, and the calculation is plain.
    fn calculation(&mut self, (label, text): &(String, String)) {
        let front = 6 + width(label);
        if self.columns.saturating_sub(front) >= 30 {
            return self.hanging(6, (TextStyle::Dim, label), TextStyle::Plain, text);
        }
        if !label.trim().is_empty() {
            self.lines.push(Line::new().pad(6).ink(TextStyle::Dim, label.trim_end()));
        }
        self.wrap_beside(Line::new(), 8, TextStyle::Plain, text);
    }

    fn wrapped(&mut self, ink: TextStyle, text: &str) {
        let text = columns::plain(text, self.look);
        let parts = wrap(&text, self.columns).into_iter().filter(|part| !part.is_empty());
        self.lines.extend(parts.map(|part| Line::of(ink, &part)));
    }

    fn labelled(&mut self, indent: usize, head: (TextStyle, &str), text: &str) {
        if !text.is_empty() {
            self.hanging(indent, head, TextStyle::Plain, text);
        }
    }

    /// Returns `head` and the text, wrapped in the column after it.
    fn hanging(&mut self, indent: usize, (ink, head): (TextStyle, &str), body: TextStyle, text: &str) {
        self.wrap_beside(Line::new().pad(indent).ink(ink, head), indent + width(head), body, text);
    }

    /// Returns the first line, and the text starting at a column.
    fn wrap_beside(&mut self, first: Line, from: usize, ink: TextStyle, text: &str) {
        let mut first = Some(first);
        let text = columns::plain(text, self.look);
        for part in wrap(&text, self.columns.saturating_sub(from)) {
            self.lines.push(first.take().unwrap_or_default().pad(from).ink(ink, &part));
        }
    }
}

fn sign(tone: Tone, look: &Look) -> &'static str {
    let signs = look.signs();
    match tone {
        Tone::Pass => signs.ok,
        Tone::Fail => signs.bad,
        Tone::Doubt => signs.warn,
        Tone::Note => signs.note,
    }
}

fn ink_of(role: Role) -> TextStyle {
    match role {
        Role::Plain => TextStyle::Plain,
        Role::Strong | Role::Title | Role::Question => TextStyle::Strong,
        Role::Lead | Role::Soft | Role::Faint | Role::Quiet => TextStyle::Dim,
    }
}

fn ink_of_tone(tone: Tone) -> TextStyle {
    match tone {
        Tone::Pass => TextStyle::Good,
        Tone::Fail => TextStyle::Bad,
        Tone::Doubt => TextStyle::Warn,
        Tone::Note => TextStyle::Accent,
    }
}
