//! The report of an experiment: the verdict, the search or the curves, expectations, comparisons, and the method.

use super::{RunFile, cells, name, outcome, search};
use crate::document::{
    Block, Cell, Column, Document, Fact, Finding, Findings, Form, Heading, List, On, Parts,
};
use crate::document::{Role, Section, Sentence, Table, Tile, Tone, Value, Verdict, sentence};
use crate::format::{count, counted};
use crate::next::linked_sections;
use crate::{compare, study};
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::compare::Comparison;
use plimsoll_experiment::compare::expect::{Answer as Expected, Borne};
use plimsoll_experiment::conclusion::Conclusion;

/// Returns the report; `files` are for the page, `folder` (which contains the runs) for the terminal.
pub(crate) fn report(c: &Conclusion, files: &[RunFile], folder: Option<&str>) -> Document {
    // Variants without curves start with their differences.
    let leads_with_difference = cells::pictures(c).is_none() && c.searches.is_empty();
    let [first, later] = if leads_with_difference { [true, false] } else { [false, true] };
    let part = |is_here: bool| is_here.then(|| comparisons(c));
    let study = c.study.as_ref();
    let finished = search::search_parts(c, files);
    let mut sections: Vec<Section> = next_sections(c).into_iter().flatten().collect();
    sections.push(Section::new("asked", "Expectations", vec![expectations(c)]).titled(On::HTML).on(On::TEXT));
    sections.push(search::answers(c));
    sections.extend(part(first));
    sections.push(Section::new("capacity", "Capacity", cells::pictures(c).unwrap_or_default()).on(On::HTML));
    if let Some(study) = study {
        sections.push(Section::new("study", "", study::head(study)).titled(On::HTML).on(On::TEXT));
        sections.extend(study::curves(study));
    }
    sections.push(Section::new("cells", "Cells", cells::table(c, files)).on(On::HTML));
    sections.push(crate::find::curves(&finished));
    sections.push(crate::find::steps(&finished));
    sections.extend(study.map(study::findings));
    sections.push(Section::new("expectations", "Expectations", vec![expectations(c)]).on(On::HTML));
    sections.push(Section::new("resources", "Saturated resources", cells::resources(c)).on(On::HTML));
    sections.extend(part(later));
    sections.push(Section::new("runs", "Runs", runs(c, files)).on(On::HTML));
    let folder = folder.map(|folder| Block::Facts(vec![Fact::new("runs", folder)]));
    sections.push(Section::new("folder", "", folder.into_iter().collect()).titled(On::HTML).on(On::TERMINAL));
    sections.push(Section::new("method", "Method", vec![Block::Facts(method(c))]).on(On::HTML));
    Document { tone: tone(c), name: Sentence::new(Role::Plain, &c.name), head: head(c), sections }
}

/// Runs without thresholds are neither good nor bad.
fn tone(c: &Conclusion) -> Tone {
    if c.is_judged() || c.result != Outcome::Pass { Tone::from(c.result) } else { Tone::Note }
}

/// Most comparisons whose lines follow the verdict; more would bury it.
const LINES: usize = 3;

/// The sentences of the first comparisons, which the verdict on runs and cells leaves out.
pub(crate) fn answer(c: &Conclusion) -> Vec<String> {
    c.comparisons.iter().take(LINES).map(|one| one.sentence.clone()).collect()
}

/// Why and next steps. The text of a sweep has its findings instead.
fn next_sections(c: &Conclusion) -> Option<[Section; 2]> {
    let (blocks, on) = match cells::next(c) {
        Some(blocks) => (blocks, On::HTML),
        None => (search::next(c)?, On::ALL),
    };
    let [why, next] = blocks;
    Some(linked_sections(why, next).map(|section| section.on(on)))
}

/// The verdict, the name, the question, and the main figures.
fn head(c: &Conclusion) -> Vec<Block> {
    let (word, sentence_text) = (outcome(c).into(), c.sentence.clone());
    let verdict = Verdict { tone: tone(c), word, sentence: sentence_text, form: Heading::Lead };
    let mut out = vec![Block::Verdict(verdict), sentence(Role::Soft, &c.name).only(On::TEXT)];
    if !c.question.is_empty() {
        out.push(sentence(Role::Question, &c.question));
    }
    let left_out = c.excluded_runs.iter().map(|left| sentence(Role::Soft, format!("excluded: {left}")));
    out.extend(left_out.map(|left| left.only(On::TERMINAL)));
    if c.comparisons.len() <= LINES {
        let line = |one: &Comparison| {
            let (tone, word, sentence) = compare::line(one);
            let sentence = crate::html::piece::after_word(word, &sentence).to_owned();
            Block::Badge(tone, word.into(), sentence).only(On::HTML)
        };
        out.extend(c.comparisons.iter().map(line));
    }
    out.extend(cells::answer(c).into_iter().map(|block| block.only(On::HTML)));
    out.push(Block::Tiles(tiles(c)));
    out
}

fn tiles(c: &Conclusion) -> Vec<Tile> {
    let axis =
        |axis: &plimsoll_plan::experiment::Axis| Tile::new(&axis.name, Value::Text(axis.values.join(", ")));
    let mut out: Vec<Tile> = c.parameters.iter().map(axis).collect();
    if let [one] = c.searches.as_slice() {
        out.extend(search::tiles(one));
    }
    out.extend(cells::tiles(c));
    let missing = match c.missing_runs {
        0 => String::new(),
        n => format!("{} missing", count(n as u64)),
    };
    out.push(Tile::new("runs", Value::Count(c.runs as u64)).with(missing));
    if c.combinations > 1 {
        out.push(Tile::new("cells", Value::Count(c.combinations as u64)));
    }
    if c.repeat > 1 {
        out.push(Tile::new("repeats", Value::Count(u64::from(c.repeat))));
    }
    out
}

fn expectations(c: &Conclusion) -> Block {
    let finding = |expected: &Expected| {
        let (tone, word) = match expected.verdict {
            Borne::Confirmed => (Tone::Pass, "holds"),
            Borne::Refuted => (Tone::Fail, "does not hold"),
            Borne::Inconclusive => (Tone::Doubt, "inconclusive"),
        };
        // The sentence already contains the first of them.
        let more = expected.evidence.iter().filter(|line| !expected.sentence.contains(line.as_str()));
        Finding { evidence: more.cloned().collect(), ..Finding::new(tone, word, &expected.sentence) }
    };
    Block::Findings(Findings { form: Form::Line, all: c.expectations.iter().map(finding).collect() })
}

/// With more comparisons, the terminal shows one sentence each and the page folds them; `compare` shows one whole.
const OPEN: usize = 4;

fn comparisons(c: &Conclusion) -> Section {
    let part = |(number, one): (usize, &Comparison)| {
        let suffix = if c.comparisons.len() > 1 { format!("-{number}") } else { String::new() };
        (compare::report(one, None, &suffix), compare::line(one))
    };
    let all = (1..).zip(&c.comparisons).map(part).collect();
    let parts = Parts { all, brief: OPEN, open: OPEN, title: "Comparison" };
    Section::new("comparisons", "Comparisons", vec![Block::Parts(parts)]).titled(On::HTML)
}

fn runs(c: &Conclusion, files: &[RunFile]) -> Vec<Block> {
    let mut out = Vec::new();
    if !files.is_empty() {
        let table = Table::of("runs", "Run files", files)
            .column(Column::text("file"), RunFile::cell)
            .column(Column::text("settings"), |file| Cell::text(name(&file.settings)))
            .column(Column::number("repeat"), |file| Cell::count(u64::from(file.repeat) + 1));
        out.push(sentence(
            Role::Lead,
            "Each file has its own report: `plimsoll report FILE --html OUT.html`.",
        ));
        out.push(Block::Table(table.done()));
    }
    if !c.excluded_runs.is_empty() {
        out.push(Block::Heading("Excluded".into()));
        out.push(Block::List(List { items: c.excluded_runs.clone(), brief: usize::MAX, most: usize::MAX }));
    }
    out
}

fn method(c: &Conclusion) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for axis in &c.parameters {
        facts.push(Fact::new("variable", format!("{}: {}", axis.name, axis.values.join(", "))));
    }
    facts.extend(c.study.as_ref().map(|study| Fact::new("intervals", study::intervals(study))));
    for searched in &c.searches {
        let Some(answer) = &searched.answer else { continue };
        let of = name(&searched.settings);
        let of = if of.is_empty() { of } else { format!("{of}: ") };
        facts.push(Fact::new("thresholds", format!("{of}{}", answer.thresholds.join(", "))));
    }
    let (cells, repeats) = (counted(c.combinations as u64, "cell"), counted(u64::from(c.repeat), "repeat"));
    facts.push(Fact::new("planned", format!("{cells}, {repeats} each")));
    let (made, left) = (counted(c.runs as u64, "run"), counted(c.excluded_runs.len() as u64, "file"));
    let missing = count(c.missing_runs as u64);
    facts.push(Fact::new("counted", format!("{made}, {left} excluded, {missing} missing")));
    let same = "`plimsoll report FOLDER`; with all digits: `plimsoll report FOLDER --json`";
    facts.push(Fact::new("as text", same));
    facts
}
