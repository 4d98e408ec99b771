//! All cells of a tree, and what several of them have to agree on.

use super::matrix::{Matrix, hint_for};
use crate::located::{Study, StudyCell};
use crate::overrides::Overrides;
use crate::own::cell;
use crate::own::reader::Reader;
use crate::own::yaml::{self, Node, Value};
use crate::sentence::quoted;
use crate::source::{Pos, Source, ordered};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Axis, Expectation, Experiment};
use std::path::{Path, PathBuf};

/// Mistakes enough: a matrix would tell the same ones a thousand times.
const ENOUGH: usize = 2_000;

/// A text with its name and its folder.
#[derive(Clone, Copy)]
pub struct File<'a> {
    pub text: &'a str,
    pub name: &'a str,
    pub folder: &'a Path,
    pub keep_to: Option<&'a [PathBuf]>,
}

impl<'a> File<'a> {
    pub fn reader(self) -> Reader<'a> {
        Reader {
            source: Source::new(self.text, self.name),
            folder: self.folder,
            keep_to: self.keep_to,
            wrong: Vec::new(),
            places: Default::default(),
            constants: Default::default(),
            secrets: Default::default(),
            settable: Vec::new(),
        }
    }

    /// The tree; what is wrong with it but does not keep it from being one goes into `wrong`.
    pub fn tree(self, wrong: &mut Vec<Diagnostic>) -> Result<Node, Vec<Diagnostic>> {
        yaml::tree(self.text, &Source::new(self.text, self.name), wrong)
            .map_err(|diagnostic| vec![diagnostic])
    }
}

/// What a tree says. `settable` are names that `--set` may have besides those of the tree.
pub fn of_tree(
    tree: Node,
    file: File<'_>,
    given: &Overrides,
    mut r: Reader<'_>,
    settable: &[String],
) -> Result<(Study, Option<Diagnostic>), Vec<Diagnostic>> {
    let matrix = Matrix::of(&tree, given, &mut r);
    r.settable.extend_from_slice(settable);
    // Of too many, one shows what else is wrong.
    let size = matrix.size(&mut r).unwrap_or(1);
    let mut study = Study::default();
    for number in 0..size {
        let (settings, own) = matrix.cell(number);
        let mut cell = file.reader();
        cell.settable = r.settable.clone();
        match cell::read(own, given, cell) {
            Err(wrong) => r.wrong.extend(wrong),
            Ok((located, experiment)) => {
                if number == 0 {
                    study.experiment = experiment;
                } else if let Some(key) = difference(&study.experiment, &experiment) {
                    let message = format!("`{key}` changes from cell to cell, and an experiment has one");
                    let hint = "leave names of axes out of it";
                    r.complain("F034", pos_of(&tree, key), message, hint);
                }
                study.cells.push(StudyCell { settings, located });
            }
        }
        if r.wrong.len() > ENOUGH {
            break;
        }
    }
    unknown_values(&study.experiment, &matrix.known, &tree, &mut r);
    if !r.wrong.is_empty() {
        return Err(ordered(without_echoes(r.wrong)));
    }
    let several = several(&study.experiment, size, &matrix, &tree, &r.source);
    let experiment = &mut study.experiment;
    experiment.axes = matrix.axes();
    if experiment.name.is_empty() {
        let stem = Path::new(file.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        experiment.name = stem.unwrap_or_default();
    }
    Ok((study, several))
}

/// A list that can span no axis is a list where one value is expected as well: said once.
fn without_echoes(wrong: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let axes: Vec<Place> = wrong.iter().filter(|d| d.code == "F034").map(|d| d.place.clone()).collect();
    wrong.into_iter().filter(|d| d.code != "F014" || !axes.contains(&d.place)).collect()
}

/// Where a key stands at the left edge; the three of a ladder stand under `load`.
fn pos_of(tree: &Node, key: &str) -> Pos {
    let field = |node: &Node, key: &str| match &node.value {
        Value::Map(entries) => {
            entries.iter().find(|entry| entry.key == key).map(|entry| (entry.pos, entry.value.clone()))
        }
        _ => None,
    };
    let ladder = || field(&field(tree, "load")?.1, "step");
    let found = field(tree, key).or_else(|| if key == "find" { ladder() } else { None });
    found.map_or(Pos::TOP, |(pos, _)| pos)
}

/// The first key in which two cells want different experiments.
fn difference(one: &Experiment, other: &Experiment) -> Option<&'static str> {
    let differ = [
        ("name", one.name != other.name),
        ("question", one.question != other.question),
        ("generators", one.generators != other.generators),
        ("seed", one.seed != other.seed),
        ("repeat", one.repeat != other.repeat),
        ("cooldown", one.cooldown_ns != other.cooldown_ns),
        ("min_duration", one.min_duration_ns != other.min_duration_ns),
        ("trim_to_steady_state", one.trim_to_steady_state != other.trim_to_steady_state),
        ("stop_on_miss", one.stop_on_miss != other.stop_on_miss),
        ("find", one.find != other.find),
        ("expect", one.expects != other.expects),
    ];
    differ.into_iter().find(|(_, differ)| *differ).map(|(key, _)| key)
}

/// Sentences about values that no axis has. Those that `--set` took away still count: they will be run another time.
fn unknown_values(experiment: &Experiment, axes: &[Axis], tree: &Node, r: &mut Reader<'_>) {
    for expectation in &experiment.expects {
        if let Err((message, hint)) = judge(expectation, axes) {
            let pos = pos_of(tree, "expect");
            let pos = r.source.within(pos, &expectation.text);
            r.complain("F035", pos, message, hint);
        }
    }
}

/// Whether a sentence is about two values of one axis; else what is wrong, and the mend.
fn judge(expectation: &Expectation, axes: &[Axis]) -> Result<(), (String, String)> {
    let text = &expectation.text;
    let has = |axis: &&Axis, value: &str| axis.values.iter().any(|known| known == value);
    for value in [Some(&expectation.who), expectation.against.as_ref()].into_iter().flatten() {
        if !axes.iter().any(|axis| has(&axis, value)) {
            return Err((format!("`{value}` in `{text}` is no value of an axis"), hint_for(value, axes)));
        }
    }
    let against = expectation.against.as_deref();
    if against == Some(&expectation.who) {
        return Err((format!("`{text}` holds `{}` against itself", expectation.who), "name another".into()));
    }
    let both = |axis: &&Axis| has(axis, &expectation.who) && against.is_none_or(|other| has(axis, other));
    let names: Vec<&str> = axes.iter().filter(both).map(|axis| axis.name.as_str()).collect();
    match names.as_slice() {
        [] => {
            let message = format!("`{text}` is about values of two axes");
            Err((message, "hold a value against another of the same axis".into()))
        }
        [name] if axes.iter().any(|axis| axis.name == *name && axis.values.len() < 2) => {
            let message = format!("`{text}` has nothing to be held against: `{name}` has one value");
            Err((message, "give the axis another value".into()))
        }
        [_] => Ok(()),
        several => {
            let message = format!(
                "`{}` in `{text}` is a value of {}",
                expectation.who,
                quoted(several.iter().copied())
            );
            Err((message, "give one of the axes other values, such as words".into()))
        }
    }
}

/// Why a text is more than one run.
fn several(
    experiment: &Experiment,
    size: usize,
    matrix: &Matrix<'_>,
    tree: &Node,
    source: &Source<'_>,
) -> Option<Diagnostic> {
    if let Some((pos, name)) = matrix.widest().filter(|_| size > 1) {
        let message = format!("`{name}` spans an axis: the file is {size} runs, and one is asked for");
        return Some(source.wrong(
            "F033",
            pos,
            message,
            format!("keep one value, such as by `--set {name}=...`"),
        ));
    }
    let asked = [
        ("find", experiment.find.is_some()),
        ("repeat", experiment.repeat > 1),
        ("generators", experiment.generators > 1),
        ("expect", !experiment.expects.is_empty()),
        ("cooldown", experiment.cooldown_ns > 0),
        ("min_duration", experiment.min_duration_ns > 0),
        ("trim_to_steady_state", experiment.trim_to_steady_state),
        ("stop_on_miss", experiment.stop_on_miss),
    ];
    let (key, _) = asked.into_iter().find(|(_, is_asked)| *is_asked)?;
    // The short form of a ladder has another name.
    let is_written =
        matches!(&tree.value, Value::Map(entries) if entries.iter().any(|entry| entry.key == key));
    let name = if is_written { key } else { "step" };
    let message = format!("`{name}` is about an experiment of several runs, and one run is asked for");
    Some(source.wrong("F033", pos_of(tree, key), message, "leave it out for a single run"))
}
