//! All cells of a tree, and the settings that they must share.

use super::matrix::{Matrix, hint_for};
use crate::located::{Study, StudyCell};
use crate::overrides::Overrides;
use crate::own::cell;
use crate::own::reader::Reader;
use crate::own::yaml::{self, Node, Value};
use plimsoll_build::sentence::quoted;
use plimsoll_build::source::{Pos, Source, ordered};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Axis, Expectation, Experiment};
use std::path::{Path, PathBuf};

/// Stop after this many mistakes: a matrix repeats each of them in every cell.
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

    /// Reads the tree. Mistakes that leave the tree usable go into `wrong`.
    pub fn tree(self, wrong: &mut Vec<Diagnostic>) -> Result<Node, Vec<Diagnostic>> {
        yaml::tree(self.text, &Source::new(self.text, self.name), wrong)
            .map_err(|diagnostic| vec![diagnostic])
    }
}

/// Reads a tree. `settable` are names that `--set` accepts in addition to those of the tree.
pub fn of_tree(
    tree: Node,
    file: File<'_>,
    given: &Overrides,
    mut r: Reader<'_>,
    settable: &[String],
) -> Result<(Study, Option<Diagnostic>), Vec<Diagnostic>> {
    let matrix = Matrix::of(&tree, given, &mut r);
    r.settable.extend_from_slice(settable);
    // If there are too many cells, one of them shows the other mistakes.
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
                    let message = format!("`{key}` must be the same for all runs of an experiment");
                    let hint = "remove the names of lists and variants from it";
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

/// Removes second reports of the same list: one that spans no axis is also a list in place of one value.
fn without_echoes(wrong: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let axes: Vec<Place> = wrong.iter().filter(|d| d.code == "F034").map(|d| d.place.clone()).collect();
    wrong.into_iter().filter(|d| d.code != "F014" || !axes.contains(&d.place)).collect()
}

/// Returns the place of a top-level key; the keys of a ladder are under `load`.
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

/// Returns the first key in which the experiments of two cells differ.
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

/// Reports expectations about values that no axis has. Values that `--set` removed still count, because another run
/// will use them.
fn unknown_values(experiment: &Experiment, axes: &[Axis], tree: &Node, r: &mut Reader<'_>) {
    for expectation in &experiment.expects {
        if let Err((message, hint)) = judge(expectation, axes) {
            let pos = pos_of(tree, "expect");
            let pos = r.source.within(pos, &expectation.text);
            r.complain("F035", pos, message, hint);
        }
    }
}

/// Checks that an expectation is about two values of one axis; otherwise returns the message and the help line.
fn judge(expectation: &Expectation, axes: &[Axis]) -> Result<(), (String, String)> {
    let text = &expectation.text;
    let has = |axis: &&Axis, value: &str| axis.values.iter().any(|known| known == value);
    for value in [Some(&expectation.who), expectation.against.as_ref()].into_iter().flatten() {
        if !axes.iter().any(|axis| has(&axis, value)) {
            return Err((format!("unknown value `{value}` in `{text}`"), hint_for(value, axes)));
        }
    }
    let against = expectation.against.as_deref();
    if against == Some(&expectation.who) {
        let message = format!("`{text}` compares `{}` with itself", expectation.who);
        return Err((message, "write another value".into()));
    }
    let both = |axis: &&Axis| has(axis, &expectation.who) && against.is_none_or(|other| has(axis, other));
    let names: Vec<&str> = axes.iter().filter(both).map(|axis| axis.name.as_str()).collect();
    match names.as_slice() {
        [] => {
            let message = format!("`{text}` compares values of two parameters");
            Err((message, "compare two values of the same parameter".into()))
        }
        [name] if axes.iter().any(|axis| axis.name == *name && axis.values.len() < 2) => {
            let message = format!("`{text}` has nothing to compare with: `{name}` has only one value");
            Err((message, format!("add another value to `{name}`")))
        }
        [_] => Ok(()),
        several => {
            let message = format!(
                "ambiguous value `{}` in `{text}`: it belongs to {}",
                expectation.who,
                quoted(several.iter().copied())
            );
            Err((message, "write other values for one of them, such as words".into()))
        }
    }
}

/// Returns why a text is more than one run.
fn several(
    experiment: &Experiment,
    size: usize,
    matrix: &Matrix<'_>,
    tree: &Node,
    source: &Source<'_>,
) -> Option<Diagnostic> {
    if let Some((pos, name)) = matrix.widest().filter(|_| size > 1) {
        let message = format!("expected one run, but `{name}` makes {size} of this file");
        return Some(source.wrong(
            "F033",
            pos,
            message,
            format!("keep one value, such as with `--set {name}=...`"),
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
    // The short form of a ladder has a different name.
    let is_written =
        matches!(&tree.value, Value::Map(entries) if entries.iter().any(|entry| entry.key == key));
    let name = if is_written { key } else { "step" };
    let message = format!("expected one run, but `{name}` belongs to an experiment of several runs");
    Some(source.wrong("F033", pos_of(tree, key), message, format!("remove `{name}`")))
}
