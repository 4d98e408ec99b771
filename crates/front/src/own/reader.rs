//! Values out of the tree: each either what its key expects, or a diagnostic that says what was found instead.

use super::json::is_yaml_number;
use super::key::{self, Key, Row, Section};
use super::yaml::{Entry, Node, Scalar, Value};
use crate::body::from_file;
use crate::build::expression::{Expression, Piece};
use crate::located::Places;
use crate::nearest::nearest;
use crate::sentence::quoted;
use crate::sentence::short;
use crate::source::{Complaint, Pos, Source};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Field;
use plimsoll_plan::value::Function;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The mend for what a text of the console may not name.
const CONFINED: &str = "whoever runs the console may permit it with `plimsoll serve --allow-commands`";

/// A value of `vars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    pub text: String,
    /// A number or a truth value: also what stands alone in quotes may be one, `"${n}"`.
    pub plain: bool,
}

/// What all parts of the reading share: the text, where its files are, and what was wrong so far.
pub struct Reader<'a> {
    pub source: Source<'a>,
    /// Where relative file names start.
    pub folder: &'a Path,
    /// See [`crate::Overrides::keep_to`].
    pub keep_to: Option<&'a [PathBuf]>,
    pub wrong: Vec<Diagnostic>,
    pub places: Places,
    /// What `vars` defines, resolved.
    pub constants: BTreeMap<String, Constant>,
    /// The values of `${secret.X}`, by X.
    pub secrets: BTreeMap<String, String>,
    /// What `--set` may name beside the `vars` of this cell: axes, and the `vars` of other cells.
    pub settable: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn complain(
        &mut self,
        code: &'static str,
        pos: Pos,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.wrong.push(self.source.wrong(code, pos, message, hint));
    }

    /// What was found by whoever knows no files.
    pub fn take(&mut self, complaint: Complaint) {
        let Complaint { code, pos, message, hint } = complaint;
        self.complain(code, pos, message, hint);
    }

    /// Where a file lies that the text names.
    pub fn path(&mut self, name: &str, pos: Pos) -> Option<PathBuf> {
        self.within_folders(name, pos).map_err(|complaint| self.take(complaint)).ok()
    }

    /// As [`Reader::path`], for whoever complains later.
    pub fn within_folders(&self, name: &str, pos: Pos) -> Result<PathBuf, Complaint> {
        let path = self.folder.join(name);
        let Some(folders) = self.keep_to else { return Ok(path) };
        // What is not there yet is made in a folder that is.
        let whole = path.canonicalize().or_else(|_| {
            let folder = path.parent().unwrap_or(Path::new("")).canonicalize();
            folder.map(|folder| folder.join(path.file_name().unwrap_or_default()))
        });
        if whole.is_ok_and(|whole| folders.iter().any(|folder| whole.starts_with(folder))) {
            return Ok(path);
        }
        let message = format!("`{name}` does not lie in a folder of the console");
        Err(Complaint::new("F037", pos, message, CONFINED))
    }

    /// What is in a file that the text names; a relative name starts at the text's own folder.
    pub fn content(&mut self, name: &str, pos: Pos) -> Option<Vec<u8>> {
        let path = self.path(name, pos)?;
        from_file(&path).map_err(|problem| self.complain_of(pos, problem)).ok()
    }

    /// Whether programs may be run for the text.
    pub fn may_run(&mut self, program: &str, pos: Pos) -> bool {
        self.is_free(pos, format!("`{program}` would be run on this machine"))
    }

    /// Whether the text may read variables of the environment: it could send their values to any server.
    pub fn may_know(&mut self, variable: &str, pos: Pos) -> bool {
        self.is_free(pos, format!("`{variable}` would be read from the environment of the console"))
    }

    /// Whether the text may do as its reader; if not, the message says what it would have done.
    fn is_free(&mut self, pos: Pos, message: String) -> bool {
        if self.keep_to.is_some() {
            self.complain("F037", pos, message, CONFINED);
        }
        self.keep_to.is_none()
    }

    /// What is wrong with a value.
    pub fn complain_of(&mut self, pos: Pos, problem: Problem) {
        self.take(Complaint::of(pos, problem));
    }

    pub fn expected(&mut self, node: &Node, row: &Row, hint: &str) {
        let is_right_kind = match &node.value {
            Value::Map(_) => row.expects.contains("a mapping"),
            Value::List(_) => row.expects.starts_with("a list"),
            Value::Scalar(_) => false,
        };
        if is_right_kind && !hint.is_empty() {
            let message = format!("`{}` is not complete; it expects {}", row.name, row.expects);
            return self.complain("F016", node.pos, message, hint);
        }
        let message = format!("found {}; `{}` expects {}", found(node), row.name, row.expects);
        self.complain("F014", node.pos, message, hint);
    }

    /// Remembers where a field of the draft was written.
    pub fn mark(&mut self, field: Field, pos: Pos) {
        self.places.insert(field, self.source.place(pos));
    }

    /// A single value without anything that only the load knows; for everything else it has complained.
    fn fixed<'n>(&mut self, node: &'n Node, name: &str) -> Option<Option<&'n Scalar>> {
        let Value::Scalar(scalar) = &node.value else { return Some(None) };
        if scalar.spoiled {
            return None;
        }
        let mut is_fixed = true;
        for piece in &scalar.pieces {
            let Piece::Expression { written, means } = piece else { continue };
            is_fixed = false;
            let at = self.source.within(node.pos, written);
            let shown = short(written);
            let (message, hint) = match means {
                Expression::Field(front, _) if front == "secret" => (
                    format!("`{shown}` is a secret, which cannot stand in `{name}`: it would be shown"),
                    "secrets may stand in requests: in paths, headers, bodies and `auth`".to_owned(),
                ),
                Expression::Name(word) if !Function::NAMES.contains(&word.as_str()) => {
                    let hint = match nearest(word, self.constants.keys().map(String::as_str)) {
                        Some(right) => format!("did you mean `${{{right}}}`?"),
                        None => format!(
                            "define `{word}` under `vars`, or write `${{env.{}}}`",
                            word.to_uppercase()
                        ),
                    };
                    (format!("`{shown}` is not known before the load, and `{name}` has to be"), hint)
                }
                _ => (
                    format!("`{shown}` changes from request to request, and `{name}` cannot"),
                    "write a fixed value, a name from `vars` or `${env.NAME}`".to_owned(),
                ),
            };
            self.complain("F030", at, message, hint);
        }
        is_fixed.then_some(Some(scalar))
    }

    /// Text: in quotes, or something that YAML does not take for a number, a truth value or nothing.
    pub fn text<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        let Some(Scalar { text, plain, filled, .. }) = self.fixed(node, row.name)? else {
            self.expected(node, row, "");
            return None;
        };
        if !plain || *filled || !is_special(text) {
            return Some(text);
        }
        let hint = match text.is_empty() {
            true => "write it behind the colon".to_owned(),
            false => format!("put it in quotes: `\"{text}\"`"),
        };
        self.expected(node, row, &hint);
        None
    }

    /// A scalar as it is written, quotes or not: for values with a grammar of their own, such as times.
    pub fn written<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        match self.fixed(node, row.name)? {
            Some(Scalar { text, plain, .. }) if !(text.is_empty() || *plain && is_null(text)) => Some(text),
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// A scalar with a grammar of its own.
    pub fn parsed<T>(
        &mut self,
        node: &Node,
        row: &Row,
        parse: impl FnOnce(&str) -> Result<T, Problem>,
    ) -> Option<T> {
        let text = self.written(node, row)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.complain_of(node.pos, problem);
                None
            }
        }
    }

    /// A whole number in plain digits.
    pub fn whole(&mut self, node: &Node, row: &Row) -> Option<u64> {
        let scalar = self.fixed(node, row.name)?;
        match scalar {
            Some(Scalar { text, plain, filled, .. })
                if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() =>
            {
                if !plain && !filled {
                    self.expected(node, row, "leave out the quotes");
                    return None;
                }
                let number = text.parse().ok();
                if number.is_none() {
                    self.complain(
                        "F015",
                        node.pos,
                        format!("`{text}` is too large"),
                        "expected at most 2^64 - 1",
                    );
                }
                number
            }
            Some(Scalar { plain: true, .. } | Scalar { filled: true, .. }) => {
                let digits: String =
                    scalar.map_or("", |s| s.text.as_str()).replace([',', '_', ' ', '\''], "");
                let hint = match !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
                    true => format!("write `{digits}`"),
                    false => "write plain digits, without sign, point or unit".to_owned(),
                };
                self.expected(node, row, &hint);
                None
            }
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// A whole number of things that are counted in 32 bits.
    pub fn count(&mut self, node: &Node, row: &Row) -> Option<u32> {
        let number = self.whole(node, row)?;
        let fits = u32::try_from(number).ok();
        if fits.is_none() {
            self.complain(
                "F015",
                node.pos,
                format!("`{number}` is too large"),
                format!("expected {}", row.expects),
            );
        }
        fits
    }

    /// A number that may have a fraction.
    pub fn number(&mut self, node: &Node, row: &Row) -> Option<f64> {
        let text = self.written(node, row)?;
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && is_yaml_number(text.trim()) => Some(number),
            _ => {
                self.expected(node, row, "write plain digits, without a unit");
                None
            }
        }
    }

    pub fn truth(&mut self, node: &Node, row: &Row) -> Option<bool> {
        let scalar = self.fixed(node, row.name)?;
        let word = match scalar {
            Some(Scalar { text, plain, filled, .. }) if *plain || *filled => text.as_str(),
            _ => "",
        };
        match word {
            "true" | "True" | "TRUE" => return Some(true),
            "false" | "False" | "FALSE" => return Some(false),
            _ => {}
        }
        // Older YAML took these words for truth values; what their author means is plain.
        let hint = match scalar.map(|scalar| scalar.text.to_ascii_lowercase()).as_deref() {
            Some("yes" | "on" | "true" | "1") => "write `true`",
            Some("no" | "off" | "false" | "0") => "write `false`",
            _ => "",
        };
        self.expected(node, row, hint);
        None
    }

    /// One of several words.
    pub fn choice<T: Copy>(&mut self, node: &Node, row: &Row, words: &[(&str, T)]) -> Option<T> {
        let text = self.written(node, row)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let hint = match nearest(text, words.iter().map(|(word, _)| *word)) {
                Some(right) => format!("did you mean `{right}`?"),
                None => String::new(),
            };
            self.expected(node, row, &hint);
        }
        found
    }

    pub fn list<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n [Node]> {
        match &node.value {
            Value::List(list) => Some(list),
            Value::Scalar(Scalar { spoiled: true, .. }) => None,
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    pub fn map<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            Value::Scalar(Scalar { spoiled: true, .. }) => None,
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// The row of a key and which of its section it is, or what is wrong with it.
    pub fn key<K: Key>(&mut self, entry: &Entry) -> Option<(&'static Row, K)> {
        self.key_in(K::SECTION, entry)
    }

    /// As [`Reader::key`], of a section that has keys of another.
    pub fn key_in<K: Key>(&mut self, section: Section, entry: &Entry) -> Option<(&'static Row, K)> {
        let row = self.row(section, entry)?;
        Some((row, K::of(row.name)?))
    }

    /// The row of a key, or what is wrong with it: not yet, elsewhere, or unknown.
    pub fn row(&mut self, section: Section, entry: &Entry) -> Option<&'static Row> {
        let name = entry.key.as_str();
        if let Some(row) = key::find(section, name) {
            return Some(row);
        }
        let later = |(s, n): &&(Section, &str)| *n == name && *s == section;
        let (code, message, hint) = if key::LATER.iter().any(|row| later(&row)) {
            let hint = match name {
                "allow" => "permit the host on the command line: `--allow HOST`",
                _ => "leave it out",
            };
            ("F012", format!("`{name}` is not supported yet"), hint.to_owned())
        } else if let Some((_, _, mend)) = key::MENDS.iter().find(|(s, n, _)| *s == section && *n == name) {
            ("F011", format!("there is no key `{name}` {}", section.name()), (*mend).to_owned())
        } else if let Some(step) = name.strip_prefix('-').filter(|_| section == Section::Scenario) {
            let message = format!("the `-` in front of `{step}` has no blank behind it");
            ("F011", message, format!("write `- {step}: ...`"))
        } else if let Some((_, _, ours)) = key::SYNONYMS.iter().find(|(s, n, _)| *s == section && *n == name)
        {
            ("F011", format!("there is no key `{name}` {}", section.name()), synonym_hint(section, ours))
        } else if let Some(home) = [Section::Top, Section::Load]
            .into_iter()
            .find(|home| key::find(*home, name).is_some() && section != Section::ScenarioLoad)
        {
            let hint = match home {
                Section::Load => format!("move it {}: `load: {{ {name}: ... }}`", home.name()),
                _ => format!("move it out to the left edge: `{name}: ...`"),
            };
            ("F018", format!("`{name}` stands {}, not {}", home.name(), section.name()), hint)
        } else {
            let message = format!("there is no key `{name}` {}", section.name());
            // A step may be meant where a request is the best guess.
            let steps = key::STEPS.iter().map(|(word, _)| *word).filter(|_| section == Section::Request);
            let hint = match nearest(name, key::names(section).chain(steps)) {
                Some(right) => format!("did you mean `{right}`?"),
                None => format!("there are {}", quoted(key::names(section))),
            };
            ("F011", message, hint)
        };
        self.complain(code, entry.pos, message, hint);
        None
    }
}

fn synonym_hint(section: Section, ours: &str) -> String {
    match (section, ours) {
        (Section::Request, "get") => "write the method as the key: `get: /pick`".to_owned(),
        (Section::Request, "repeat" | "if" | "group") => format!("write a step of its own: `- {ours}: ...`"),
        _ => format!("it is called `{ours}` here"),
    }
}

/// Whether YAML takes an unquoted scalar for something else than text.
pub fn is_special(text: &str) -> bool {
    is_null(text)
        || matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
        || is_yaml_number(text)
}

pub fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// What stands there, as it follows behind the word "found".
fn found(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => {
            let text = &scalar.text;
            match scalar.plain || scalar.filled {
                true if is_null(text) => "nothing".into(),
                true if is_yaml_number(text) => format!("the number `{}`", short(text)),
                true if is_special(text) => format!("`{text}`"),
                _ => format!("the text `{}`", short(text)),
            }
        }
        Value::List(_) => "a list".into(),
        Value::Map(_) => "a mapping".into(),
    }
}
