//! Files -> plan.

mod include;

use crate::code;
use crate::compile::{Compiled, compile};
use crate::place::{Files, Source};
use crate::plan::TestPlan;
use crate::tokens::{self, Replaced};
use crate::tree::{self, Raw};
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest file of a plan, in bytes: those of real plans have a few MB.
pub const BYTES_MAX: u64 = 64 << 20;

/// What the command line gives.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Values for user-defined variables, or else for tokens in the text.
    pub set: Vec<(String, String)>,
    /// Properties of the run.
    pub properties: BTreeMap<String, String>,
    /// Properties of Java, as far as they name a key store.
    pub system: BTreeMap<String, String>,
    /// Whether the command line has a client certificate, in place of a key store.
    pub has_certificate: bool,
    /// Whether scripts that are not recognized are left out.
    pub skips_scripts: bool,
}

/// A plan that was read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub plan: TestPlan,
    pub files: Files,
    /// What the values of [`Given::set`] replaced.
    pub replaced: Vec<Replaced>,
    /// Remarks about what runs as in JMeter, but perhaps not as intended.
    pub notes: Vec<Diagnostic>,
}

/// Reads a plan with everything that it includes.
///
/// # Errors
/// Returns every mistake with its place.
pub fn read(path: &Path, given: &Given) -> Result<Reading, Vec<Diagnostic>> {
    let mut reader =
        Reader { given, files: Files::default(), counts: vec![0; given.set.len()], variables: None };
    let elements = reader.file(path, &path.display().to_string()).map_err(|wrong| vec![wrong])?;
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let Some(plan) = elements.into_iter().find(|element| element.class == "TestPlan") else {
        let problem = Problem::new("the file has no test plan", "pass a plan, not a part of one");
        return Err(vec![Diagnostic::of(
            code::EMPTY,
            Place::Text { file: path.display().to_string(), line: 1, column: 1, excerpt: String::new() },
            problem,
        )]);
    };
    let plan = include::resolved(plan, &folder, &mut reader)?;
    let unused: Vec<Diagnostic> = reader
        .given
        .set
        .iter()
        .zip(&reader.counts)
        .filter(|((name, _), count)| **count == 0 && !defines(&plan, name))
        .map(|((name, _), _)| {
            Diagnostic::new(
                code::note::NOT_FOUND,
                Place::Flag("--set".into()),
                format!("`{name}` is neither a user-defined variable nor a word in the plan"),
                "check its name, or pass a property with `-J`",
            )
        })
        .collect();
    // Several plans can share their values, but a plan that needs none of them is a mistake.
    if !unused.is_empty() && unused.len() == given.set.len() {
        return Err(unused.into_iter().map(|one| Diagnostic { code: code::FLAG, ..one }).collect());
    }
    let Reader { files, counts, .. } = reader;
    let Compiled { plan, mut notes } = compile(&plan, folder, given, &files)?;
    notes.extend(unused);
    let replaced =
        given.set.iter().zip(counts).map(|((name, _), count)| Replaced { name: name.clone(), count });
    Ok(Reading { plan, files, replaced: replaced.collect(), notes })
}

/// Returns whether an enabled element defines a variable.
pub(crate) fn defines(element: &Raw, name: &str) -> bool {
    let own = element.properties.iter().any(|property| {
        let arguments = match property.name.as_str() {
            "TestPlan.user_defined_variables" => property.find("Arguments.arguments"),
            "Arguments.arguments" if element.class == "Arguments" => Some(property),
            _ => None,
        };
        arguments.is_some_and(|arguments| {
            arguments
                .items()
                .iter()
                .any(|one| one.find("Argument.name").is_some_and(|found| found.text() == name))
        })
    });
    own || element.children.iter().any(|child| defines(child, name))
}

pub(crate) struct Reader<'a> {
    given: &'a Given,
    files: Files,
    /// How often each value of [`Given::set`] was used in a text.
    counts: Vec<usize>,
    /// Which names of [`Given::set`] are variables of the first file.
    variables: Option<Vec<bool>>,
}

impl Reader<'_> {
    /// Reads the elements of a file.
    fn file(&mut self, path: &Path, name: &str) -> Result<Vec<Raw>, Diagnostic> {
        let unreadable = |why: String| {
            let problem = Problem::new(format!("cannot read `{name}`: {why}"), "check the name of the file");
            Diagnostic::of(code::FILE, Place::Whole, problem)
        };
        let size = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?.len();
        if size > BYTES_MAX {
            let problem = Problem::new(
                format!("`{name}` has {size} bytes: a plan may have at most {BYTES_MAX}"),
                "move large bodies to files",
            );
            return Err(Diagnostic::of(code::SIZE, Place::Whole, problem));
        }
        plimsoll_plan::inputs::note(path);
        let bytes = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(e) => {
                let problem = Problem::new(
                    format!("`{name}` is not UTF-8 (byte {})", e.utf8_error().valid_up_to()),
                    "save the plan with JMeter, which writes UTF-8",
                );
                return Err(Diagnostic::of(code::XML, Place::Whole, problem));
            }
        };
        let mut text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        let given = self.given;
        // A user-defined variable of the plan has priority: its value is set later.
        let variables = self.variables.get_or_insert_with(|| {
            given.set.iter().map(|(name, _)| text.contains(&variable(name))).collect()
        });
        for (at, (name, value)) in given.set.iter().enumerate() {
            if !name.is_empty() && !variables.get(at).is_some_and(|is| *is) {
                self.counts[at] += tokens::replace(&mut text, name, value);
            }
        }
        let file = self.files.all.len() as u16;
        let source = Source::new(name.to_owned(), text, file);
        let elements = tree::parse(&source);
        self.files.all.push(source);
        elements
    }

    fn place(&self, pos: crate::text::Pos) -> Place {
        self.files.place(pos)
    }
}

/// Returns how the file writes the name of a variable.
fn variable(name: &str) -> String {
    format!("<stringProp name=\"Argument.name\">{name}</stringProp>")
}
