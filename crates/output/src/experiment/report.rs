//! An experiment as a report: what was asked and what came out, then the search or the curves, what was expected, the
//! comparisons, and how it was made.

use super::{RunFile, cells, name, outcome, search};
use crate::document::{
    Block, Cell, Column, Document, Fact, Finding, Findings, Form, Heading, List, On, Parts,
};
use crate::document::{Role, Section, Sentence, Table, Tile, Tone, Value, Verdict, sentence};
use crate::format::{count, counted};
use crate::{compare, study};
use plimsoll_analysis::summary::Outcome;
use plimsoll_experiment::compare::Comparison;
use plimsoll_experiment::compare::expect::{Answer as Expected, Borne};
use plimsoll_experiment::conclusion::Conclusion;

/// The report; `files` are for the page, `folder` for the terminal: where the runs lie.
pub(crate) fn report(c: &Conclusion, files: &[RunFile], folder: Option<&str>) -> Document {
    // Variants without curves lead with what differs between them.
    let leads_with_difference = cells::pictures(c).is_none() && c.searches.is_empty();
    let [first, later] = if leads_with_difference { [true, false] } else { [false, true] };
    let part = |is_here: bool| is_here.then(|| comparisons(c));
    let study = c.study.as_ref();
    let told = search::search_parts(c, files);
    let mut sections = vec![
        Section::new("asked", "What was expected", vec![expectations(c)]).titled(On::HTML).on(On::TEXT),
        search::answers(c),
    ];
    sections.extend(part(first));
    sections.push(Section::new("capacity", "Capacity", cells::pictures(c).unwrap_or_default()).on(On::HTML));
    if let Some(study) = study {
        sections.push(Section::new("study", "", study::head(study)).titled(On::HTML).on(On::TEXT));
        sections.extend(study::curves(study));
    }
    sections.push(Section::new("cells", "Cells", cells::table(c, files)).on(On::HTML));
    sections.push(crate::find::curves(&told));
    sections.push(crate::find::steps(&told));
    sections.extend(study.map(study::findings));
    sections.push(Section::new("expectations", "What was expected", vec![expectations(c)]).on(On::HTML));
    sections.push(Section::new("resources", "What gave out", cells::resources(c)).on(On::HTML));
    sections.extend(part(later));
    sections.push(Section::new("runs", "Runs", runs(c, files)).on(On::HTML));
    let folder = folder.map(|folder| Block::Facts(vec![Fact::new("runs", folder)]));
    sections.push(Section::new("folder", "", folder.into_iter().collect()).titled(On::HTML).on(On::TERMINAL));
    sections.push(Section::new("method", "How it was made", vec![Block::Facts(method(c))]).on(On::HTML));
    Document { tone: tone(c), name: Sentence::new(Role::Plain, &c.name), head: head(c), sections }
}

/// Runs that nothing was asked of are neither good nor bad.
fn tone(c: &Conclusion) -> Tone {
    if c.is_judged() || c.result != Outcome::Pass { Tone::from(c.result) } else { Tone::Note }
}

/// Comparisons whose lines stand below the verdict; more would bury it.
const TOLD: usize = 3;

/// What a sentence about runs and cells leaves open, in few words: what differs.
pub(crate) fn answer(c: &Conclusion) -> Vec<String> {
    c.comparisons.iter().take(TOLD).map(|one| one.sentence.clone()).collect()
}

/// Badge, sentence and how much there is behind it.
fn head(c: &Conclusion) -> Vec<Block> {
    let mut out = Vec::new();
    if !c.question.is_empty() {
        out.push(sentence(Role::Question, &c.question));
    }
    let form = Heading::Named(c.name.clone());
    out.push(Block::Verdict(Verdict {
        tone: tone(c),
        word: outcome(c).into(),
        sentence: c.sentence.clone(),
        form,
    }));
    let left_out = c.excluded_runs.iter().map(|left| sentence(Role::Soft, format!("left out: {left}")));
    out.extend(left_out.map(|left| left.only(On::TERMINAL)));
    if c.comparisons.len() <= TOLD {
        let line = |one: &Comparison| {
            let (tone, word, sentence) = compare::line(one);
            let sentence = crate::html::piece::after_word(word, &sentence).to_owned();
            Block::Badge(tone, word.into(), sentence).only(On::HTML)
        };
        out.extend(c.comparisons.iter().map(line));
    }
    out.extend(cells::next(c).map(|hints| Block::Hints(hints).only(On::HTML)).or_else(|| search::next(c)));
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
        n => format!("{} still to be made", count(n as u64)),
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
            Borne::Inconclusive => (Tone::Doubt, "cannot tell"),
        };
        // The sentence tells the first of them already.
        let more = expected.evidence.iter().filter(|line| !expected.sentence.contains(line.as_str()));
        Finding { evidence: more.cloned().collect(), ..Finding::new(tone, word, &expected.sentence) }
    };
    Block::Findings(Findings { form: Form::Line, all: c.expectations.iter().map(finding).collect() })
}

/// Beyond so many each is a sentence, or folded: the sentences are what is read first, and the whole of one can be had
/// by `compare`.
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
            "Each file has a report of its own: `plimsoll report FILE --html OUT.html`.",
        ));
        out.push(Block::Table(table.done()));
    }
    if !c.excluded_runs.is_empty() {
        out.push(Block::Heading("Left out".into()));
        out.push(Block::List(List { items: c.excluded_runs.clone(), brief: usize::MAX, most: usize::MAX }));
    }
    out
}

fn method(c: &Conclusion) -> Vec<Fact> {
    let mut told: Vec<Fact> = Vec::new();
    for axis in &c.parameters {
        told.push(Fact::new("axis", format!("{}: {}", axis.name, axis.values.join(", "))));
    }
    told.extend(c.study.as_ref().map(|study| Fact::new("intervals", study::intervals(study))));
    for searched in &c.searches {
        let Some(answer) = &searched.answer else { continue };
        let of = name(&searched.settings);
        let of = if of.is_empty() { of } else { format!("{of}: ") };
        told.push(Fact::new("held against", format!("{of}{}", answer.thresholds.join(", "))));
    }
    let (cells, repeats) = (counted(c.combinations as u64, "cell"), counted(u64::from(c.repeat), "repeat"));
    told.push(Fact::new("asked for", format!("{cells}, {repeats} of each")));
    let (made, left) = (counted(c.runs as u64, "run"), counted(c.excluded_runs.len() as u64, "file"));
    let missing = count(c.missing_runs as u64);
    told.push(Fact::new("counted", format!("{made}, {left} left out, {missing} missing")));
    let same = "`plimsoll report FOLDER` and, with every digit, `plimsoll report FOLDER --json`";
    told.push(Fact::new("the same as text", same));
    told
}
