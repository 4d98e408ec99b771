//! The matrix that the lists and the variants of a file span, and the tree of each of its cells.
//!
//! A cell is the tree with each list replaced by one of its values, and with its variant merged over it. All other
//! rules for files apply to it, and every mistake keeps its place.

use super::axes::{self, Span};
use crate::overrides::Overrides;
use crate::own::key::{OF_THE_WHOLE, Section, find};
use crate::own::reader::{Reader, is_null};
use crate::own::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::alternatives;
use plimsoll_build::source::Pos;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Axis, Setting};

/// More cells are more likely a typo than a plan.
const MOST_CELLS: usize = 1_000;

/// All cells of a file.
pub struct Matrix<'n> {
    tree: &'n Node,
    variants: Vec<&'n Entry>,
    variants_pos: Option<Pos>,
    spans: Vec<Span>,
    broken: Vec<Vec<String>>,
    /// Values of each axis before `--set` removed some: expectations may name them.
    pub known: Vec<Axis>,
}

impl<'n> Matrix<'n> {
    /// Reads axes and variants. Mistakes go into the reader, and the matrix has the valid parts.
    pub fn of(tree: &'n Node, given: &Overrides, r: &mut Reader<'_>) -> Self {
        let entry = entries(tree).iter().find(|entry| entry.key == "variants");
        let variants = entry.map_or_else(Vec::new, |entry| read_variants(&entry.value, r));
        let (spans, broken) = axes::spans(tree, r);
        for variant in &variants {
            refuse_axes(variant, &spans, r);
        }
        let mut matrix = Self {
            tree,
            variants,
            variants_pos: entry.map(|entry| entry.pos),
            spans,
            broken,
            known: Vec::new(),
        };
        matrix.known = matrix.axes();
        matrix.narrow(given, r);
        r.settable = matrix.settable();
        matrix
    }

    /// Returns the axes: variants first, then in the order of the file.
    pub fn axes(&self) -> Vec<Axis> {
        let variant = Axis {
            name: "variant".into(),
            values: self.variants.iter().map(|variant| variant.key.clone()).collect(),
            is_numeric: false,
        };
        let first = self.variants_pos.filter(|_| !self.variants.is_empty()).map(|_| variant);
        first.into_iter().chain(self.spans.iter().map(|span| span.axis.clone())).collect()
    }

    /// Returns the place and the name of the first axis with several values.
    pub fn widest(&self) -> Option<(Pos, &str)> {
        let variants = self.variants_pos.filter(|_| self.variants.len() > 1).map(|pos| (pos, "variant"));
        let span = self.spans.iter().find(|span| span.nodes.len() > 1);
        variants.or(span.map(|span| (span.pos, span.axis.name.as_str())))
    }

    /// Returns the number of cells, at least 1; reports too many and returns `None`.
    pub fn size(&self, r: &mut Reader<'_>) -> Option<usize> {
        let sizes = self.sizes();
        let size = sizes.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
        if let Some(size) = size.filter(|size| *size <= MOST_CELLS) {
            return Some(size);
        }
        let product = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let (pos, _) = self.widest()?;
        let message = format!("too many combinations: {product}, but the maximum is {MOST_CELLS}");
        r.complain("F034", pos, message, "shorten a list, or split the file");
        None
    }

    /// Returns the number of values of each axis.
    fn sizes(&self) -> Vec<usize> {
        let variants = Some(self.variants.len()).filter(|variants| *variants > 0);
        variants.into_iter().chain(self.spans.iter().map(|span| span.nodes.len())).collect()
    }

    /// Returns the settings and the tree of a cell. The last axis changes fastest.
    pub fn cell(&self, number: usize) -> (Vec<Setting>, Node) {
        let mut rest = number;
        let mut picks = self.sizes();
        for pick in picks.iter_mut().rev() {
            // proof: an axis without values is rejected, so none has the size 0.
            (rest, *pick) = (rest / (*pick).max(1), rest % (*pick).max(1));
        }
        let settings = self.axes().into_iter().zip(&picks).filter_map(|(axis, pick)| {
            Some(Setting { value: axis.values.get(*pick)?.clone(), parameter: axis.name })
        });
        let settings = settings.collect();
        let mut tree = self.tree.clone();
        if let Value::Map(entries) = &mut tree.value {
            entries.retain(|entry| entry.key != "variants");
        }
        // 1 if there are variants, whose axis comes first.
        let own = picks.len() - self.spans.len();
        for (span, pick) in self.spans.iter().zip(&picks[own..]) {
            if let (Some(place), Some(node)) = (at(&mut tree, &span.path), span.nodes.get(*pick)) {
                *place = node.clone();
            }
        }
        // Already reported: the reader of the key would report the list a second time.
        for path in &self.broken {
            if let Some(place) = at(&mut tree, path) {
                place.value = Value::Scalar(Scalar { spoiled: true, ..Scalar::default() });
            }
        }
        let variant = picks.first().filter(|_| own == 1).and_then(|pick| self.variants.get(*pick));
        if let Some(Entry { value: Node { value: Value::Map(entries), .. }, .. }) = variant {
            // Keys that apply to all variants are reported above; only they are skipped.
            merge(&mut tree, entries.iter().filter(|entry| !OF_THE_WHOLE.contains(&entry.key.as_str())));
        }
        (settings, tree)
    }

    /// Narrows the axes that `--set` names.
    fn narrow(&mut self, given: &Overrides, r: &mut Reader<'_>) {
        // The last of a name counts, as it does for `vars`.
        let is_last = |i: usize, name: &str| given.set[i + 1..].iter().all(|(other, _)| other != name);
        for (i, (name, text)) in given.set.iter().enumerate() {
            if !is_last(i, name) {
                continue;
            }
            let done = if name == "variant" && !self.variants.is_empty() {
                let names = alternatives(self.variants.iter().map(|variant| variant.key.as_str()));
                let kept: Vec<&Entry> = self.variants.iter().copied().filter(|v| v.key == *text).collect();
                match kept.is_empty() {
                    true => Err(names),
                    false => {
                        self.variants = kept;
                        Ok(())
                    }
                }
            } else {
                let span = self.spans.iter_mut().find(|span| span.axis.name == *name);
                span.map_or(Ok(()), |span| axes::narrow(span, text))
            };
            if let Err(values) = done {
                let message = format!("unknown value for `{name}`");
                let hint = format!("use one of {values}");
                r.wrong.push(Diagnostic::new(
                    "F029",
                    Place::Flag(format!("--set {name}=...")),
                    message,
                    hint,
                ));
            }
        }
    }

    /// Returns the names for [`Reader::settable`]. A name that only another cell knows is valid.
    fn settable(&self) -> Vec<String> {
        let mut names: Vec<String> = self.known.iter().map(|axis| axis.name.clone()).collect();
        let variants = self.variants.iter().map(|variant| &variant.value);
        for tree in variants.chain([self.tree]) {
            let vars = entries(tree).iter().filter(|entry| entry.key == "vars");
            names.extend(vars.flat_map(|vars| entries(&vars.value)).map(|var| var.key.clone()));
        }
        names
    }
}

pub fn entries(node: &Node) -> &[Entry] {
    match &node.value {
        Value::Map(entries) => entries,
        _ => &[],
    }
}

fn at<'n>(tree: &'n mut Node, path: &[String]) -> Option<&'n mut Node> {
    let Some((key, rest)) = path.split_first() else { return Some(tree) };
    let Value::Map(entries) = &mut tree.value else { return None };
    at(&mut entries.iter_mut().find(|entry| entry.key == *key)?.value, rest)
}

/// Merges `over` into `under`: mappings merge, everything else replaces.
pub fn merge<'n>(under: &mut Node, over: impl IntoIterator<Item = &'n Entry>) {
    let Value::Map(entries) = &mut under.value else { return };
    for entry in over {
        let Some(old) = entries.iter_mut().find(|old| old.key == entry.key) else {
            entries.push((*entry).clone());
            continue;
        };
        match (&old.value.value, &entry.value.value) {
            (Value::Map(_), Value::Map(fields)) => merge(&mut old.value, fields),
            // The place of the key moves with its value, because a mistake is fixed there.
            _ => *old = entry.clone(),
        }
    }
}

fn read_variants<'n>(node: &'n Node, r: &mut Reader<'_>) -> Vec<&'n Entry> {
    let Some(all) = find(Section::Top, "variants").and_then(|row| r.map(node, row)) else {
        return Vec::new();
    };
    if all.is_empty() {
        r.complain("F016", node.pos, "`variants` is empty", "add at least one variant, or remove `variants`");
    }
    all.iter().filter(|variant| is_right(variant, r)).collect()
}

fn is_right(variant: &Entry, r: &mut Reader<'_>) -> bool {
    match &variant.value.value {
        Value::Map(entries) => {
            for entry in entries.iter().filter(|entry| OF_THE_WHOLE.contains(&entry.key.as_str())) {
                let message = format!("`{}` applies to all variants", entry.key);
                r.complain(
                    "F018",
                    entry.pos,
                    message,
                    format!("move it to the top level: `{}: ...`", entry.key),
                );
            }
            true
        }
        // The file without changes.
        Value::Scalar(scalar) if scalar.plain && is_null(&scalar.text) => true,
        _ => {
            let message = format!("invalid variant `{}`: expected a mapping", variant.key);
            let hint = "write its overrides, such as `{ target: http://127.0.0.1:3001 }`, or nothing";
            r.complain("F014", variant.value.pos, message, hint);
            false
        }
    }
}

/// Reports axes of variants: the matrix is full, so an axis must be the same in all variants.
fn refuse_axes(variant: &Entry, spans: &[Span], r: &mut Reader<'_>) {
    for list in axes::lists(&variant.value) {
        let name = list.path.last().map(String::as_str).unwrap_or_default();
        let message = format!("the list `{name}` must not be inside the variant `{}`", variant.key);
        let hint = format!("move the list `{name}` out of `variants`, so that it applies to all of them");
        r.complain("F034", list.pos, message, hint);
    }
    for span in spans {
        let mut level = entries(&variant.value);
        for (depth, key) in span.path.iter().enumerate() {
            let Some(entry) = level.iter().find(|entry| entry.key == *key) else { break };
            let is_list = matches!(entry.value.value, Value::List(_));
            let replaces = depth + 1 == span.path.len() || !matches!(entry.value.value, Value::Map(_));
            // A list is reported above.
            if replaces && !is_list {
                let message =
                    format!("`{}` is a list, but the variant `{}` sets it", span.axis.name, variant.key);
                r.complain("F034", entry.pos, message, "remove it here, or replace the list with one value");
            }
            level = entries(&entry.value);
        }
    }
}

/// Suggests the closest value, or lists all values.
pub fn hint_for(name: &str, axes: &[Axis]) -> String {
    let values = || axes.iter().flat_map(|axis| axis.values.iter().map(String::as_str));
    match nearest(name, values()) {
        Some(right) => format!("did you mean `{right}`?"),
        None if axes.is_empty() => "add `variants`, or a list of values such as `users: [1, 10]`".to_owned(),
        None => format!("use one of {}", alternatives(values())),
    }
}
