//! What really runs: without disabled elements, and with the targets of Include and Module Controllers in their place.

use super::Reader;
use crate::code;
use crate::text::Pos;
use crate::tree::Raw;
use plimsoll_plan::{Diagnostic, Problem};
use std::path::{Path, PathBuf};

/// Levels of Include and Module Controllers within each other.
const MOST_LEVELS: usize = 20;

/// The most elements of a plan with everything that its modules repeat.
const MOST_ELEMENTS: usize = 500_000;

/// Returns the plan with everything resolved.
pub(super) fn resolved(plan: Raw, folder: &Path, reader: &mut Reader<'_>) -> Result<Raw, Vec<Diagnostic>> {
    let whole = plan.clone();
    let mut resolver = Resolver { whole: &whole, folder, reader, wrong: Vec::new(), elements: 0 };
    let mut plan = plan;
    plan.children = resolver.children(plan.children, 0);
    if resolver.wrong.is_empty() { Ok(plan) } else { Err(resolver.wrong) }
}

struct Resolver<'a, 'b> {
    /// The plan as written: the targets of Module Controllers, which may be disabled.
    whole: &'a Raw,
    folder: &'a Path,
    reader: &'a mut Reader<'b>,
    wrong: Vec<Diagnostic>,
    elements: usize,
}

impl Resolver<'_, '_> {
    fn wrong(&mut self, pos: Pos, message: String, hint: &str) {
        let place = self.reader.place(pos);
        self.wrong.push(Diagnostic::of(code::REFERENCE, place, Problem::new(message, hint)));
    }

    fn children(&mut self, children: Vec<Raw>, level: usize) -> Vec<Raw> {
        let enabled = children.into_iter().filter(|child| child.is_enabled);
        let mut all = Vec::new();
        for mut child in enabled.collect::<Vec<_>>() {
            self.elements += 1;
            if self.elements > MOST_ELEMENTS {
                if self.elements == MOST_ELEMENTS + 1 {
                    self.wrong(
                        child.pos,
                        format!("the plan has more than {MOST_ELEMENTS} elements with all its modules"),
                        "use fewer Module Controllers",
                    );
                }
                return all;
            }
            match child.class.as_str() {
                // Runs only where a Module or Include Controller refers to it.
                "TestFragmentController" => continue,
                "ModuleController" => child.children = self.module(&child, level),
                "IncludeController" => child.children = self.include(&child, level),
                _ => child.children = self.children(std::mem::take(&mut child.children), level),
            }
            all.push(child);
        }
        all
    }

    /// Returns whether controllers refer to each other without an end.
    fn is_too_deep(&mut self, child: &Raw, level: usize) -> bool {
        if level < MOST_LEVELS {
            return false;
        }
        self.wrong(
            child.pos,
            format!("`{}` refers to itself, or is nested too deeply", child.name),
            "remove one of the controllers",
        );
        true
    }

    fn module(&mut self, child: &Raw, level: usize) -> Vec<Raw> {
        if self.is_too_deep(child, level) {
            return Vec::new();
        }
        let path: Vec<String> = child
            .find("ModuleController.node_path")
            .map(|path| path.items().iter().map(|name| name.text().to_owned()).collect())
            .unwrap_or_default();
        // The first name is that of the root, which has no element in the file.
        let mut target = None;
        if let [_, plan, rest @ ..] = path.as_slice()
            && *plan == self.whole.name
        {
            find(self.whole, rest, &mut target);
        }
        let Some(target) = target.cloned() else {
            self.wrong(
                child.pos,
                format!("the target `{}` of `{}` does not exist", path.join(" > "), child.name),
                "select its controller again in JMeter",
            );
            return Vec::new();
        };
        let children = self.children(target.children.clone(), level + 1);
        if target.class == "TestFragmentController" {
            return children;
        }
        vec![Raw { children, is_enabled: true, ..target }]
    }

    fn include(&mut self, child: &Raw, level: usize) -> Vec<Raw> {
        if self.is_too_deep(child, level) {
            return Vec::new();
        }
        let written = child.text("IncludeController.includepath").trim().to_owned();
        if written.is_empty() {
            self.wrong(child.pos, format!("`{}` names no file", child.name), "select a file, or remove it");
            return Vec::new();
        }
        let prefix =
            self.reader.given.properties.get("includecontroller.prefix").cloned().unwrap_or_default();
        let direct = PathBuf::from(format!("{prefix}{written}"));
        let path = if direct.exists() || direct.is_absolute() { direct } else { self.folder.join(&written) };
        let elements = match self.reader.file(&path, &path.display().to_string()) {
            Ok(elements) => elements,
            Err(wrong) => {
                let place = match wrong.place {
                    plimsoll_plan::diag::Place::Whole => self.reader.place(child.pos),
                    place => place,
                };
                self.wrong.push(Diagnostic { place, ..wrong });
                return Vec::new();
            }
        };
        let Some(fragment) = fragment(elements) else {
            self.wrong(
                child.pos,
                format!("`{written}` has no enabled Test Fragment"),
                "put its elements into a Test Fragment: JMeter includes only those",
            );
            return Vec::new();
        };
        self.children(fragment.children, level + 1)
    }
}

/// Finds the last element at a path of names, as JMeter does.
fn find<'a>(element: &'a Raw, path: &[String], found: &mut Option<&'a Raw>) {
    let [name, rest @ ..] = path else { return };
    for child in
        element.children.iter().filter(|child| child.class != "ModuleController" && child.name == *name)
    {
        if rest.is_empty() {
            *found = Some(child);
        }
        find(child, rest, found);
    }
}

/// Returns the Test Fragment of an included file.
fn fragment(elements: Vec<Raw>) -> Option<Raw> {
    let plan =
        elements.into_iter().find(|one| one.class == "TestPlan" || one.class == "TestFragmentController")?;
    if plan.class == "TestFragmentController" {
        return Some(plan);
    }
    fragment(plan.children)
}
