//! Reads values out of the tree. Each is either what its key expects, or a diagnostic that says what was found instead.

use super::json::is_yaml_number;
use super::key::{self, Key, Row, Section};
use super::yaml::{Entry, Node, Scalar, Value};
use crate::located::Places;
use plimsoll_build::body::from_file;
use plimsoll_build::expression::{Expression, Piece};
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::{alternatives, short};
use plimsoll_build::source::{Complaint, Pos, Source};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::Problem;
use plimsoll_plan::diag::Field;
use plimsoll_plan::value::Function;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The help line for what the console does not allow in an experiment.
const CONFINED: &str = "to allow this, start the console with `plimsoll serve --allow-commands`";

/// A value of `vars`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    pub text: String,
    /// A number or a Boolean. `"${n}"` can be one too, despite its quotes.
    pub plain: bool,
}

/// State that all readers share: the text, the directory of its files, and the mistakes so far.
pub struct Reader<'a> {
    pub source: Source<'a>,
    /// The directory that relative file names start from.
    pub folder: &'a Path,
    /// See [`crate::Overrides::keep_to`].
    pub keep_to: Option<&'a [PathBuf]>,
    pub wrong: Vec<Diagnostic>,
    pub places: Places,
    /// The resolved values of `vars`.
    pub constants: BTreeMap<String, Constant>,
    /// The values of `${secret.X}`, by X.
    pub secrets: BTreeMap<String, String>,
    /// What `--set` may name in addition to the `vars` of this cell: axes, and the `vars` of other cells.
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

    /// Adds the place of a complaint that was made without knowledge of the file.
    pub fn take(&mut self, complaint: Complaint) {
        let Complaint { code, pos, message, hint } = complaint;
        self.complain(code, pos, message, hint);
    }

    /// Returns the path of a file that the text names.
    pub fn path(&mut self, name: &str, pos: Pos) -> Option<PathBuf> {
        self.within_folders(name, pos).map_err(|complaint| self.take(complaint)).ok()
    }

    /// Like [`Reader::path`], but leaves it to the caller to report the complaint.
    pub fn within_folders(&self, name: &str, pos: Pos) -> Result<PathBuf, Complaint> {
        let path = self.folder.join(name);
        let Some(folders) = self.keep_to else { return Ok(path) };
        // A file that does not exist yet is created in a directory that does.
        let whole = path.canonicalize().or_else(|_| {
            let folder = path.parent().unwrap_or(Path::new("")).canonicalize();
            folder.map(|folder| folder.join(path.file_name().unwrap_or_default()))
        });
        if whole.is_ok_and(|whole| folders.iter().any(|folder| whole.starts_with(folder))) {
            return Ok(path);
        }
        let message = format!("file `{name}` is outside the console's directories");
        Err(Complaint::new("F037", pos, message, CONFINED))
    }

    /// Returns the content of a file that the text names. A relative name starts at the text's directory.
    pub fn content(&mut self, name: &str, pos: Pos) -> Option<Vec<u8>> {
        let path = self.path(name, pos)?;
        from_file(&path).map_err(|problem| self.complain_of(pos, problem)).ok()
    }

    /// Returns whether the text may run programs.
    pub fn may_run(&mut self, program: &str, pos: Pos) -> bool {
        self.is_free(pos, format!("`{program}` runs a program, which the console does not allow"))
    }

    /// Returns whether the text may read environment variables: it could send their values to any server.
    pub fn may_know(&mut self, variable: &str, pos: Pos) -> bool {
        let message = format!("`{variable}` is an environment variable, which the console does not allow");
        self.is_free(pos, message)
    }

    /// Returns whether the text is unrestricted; if it is not, reports `message`.
    fn is_free(&mut self, pos: Pos, message: String) -> bool {
        if self.keep_to.is_some() {
            self.complain("F037", pos, message, CONFINED);
        }
        self.keep_to.is_none()
    }

    /// Reports a problem with a value.
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
            let message = format!("incomplete `{}`: expected {}", row.name, row.expects);
            return self.complain("F016", node.pos, message, hint);
        }
        let message = format!("invalid `{}`: expected {}, found {}", row.name, row.expects, found(node));
        self.complain("F014", node.pos, message, hint);
    }

    /// Records where a field of the draft was written.
    pub fn mark(&mut self, field: Field, pos: Pos) {
        self.places.insert(field, self.source.place(pos));
    }

    /// Returns a single value that is known before the load starts; reports everything else.
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
                    format!("secret `{shown}` is not allowed in `{name}`: it would be visible"),
                    "use secrets only in the paths, headers, bodies, and `auth` of requests".to_owned(),
                ),
                Expression::Name(word) if !Function::NAMES.contains(&word.as_str()) => {
                    let hint = match nearest(word, self.constants.keys().map(String::as_str)) {
                        Some(right) => format!("did you mean `${{{right}}}`?"),
                        None => format!(
                            "define it at the top level, such as `vars: {{ {word}: 42 }}`, or write `${{env.{}}}`",
                            word.to_uppercase()
                        ),
                    };
                    (format!("`{name}` must be known before the load starts, but `{shown}` is not"), hint)
                }
                _ => (
                    format!("`{name}` must be fixed, but `{shown}` changes with every request"),
                    "write a fixed value, a name from `vars`, or `${env.NAME}`".to_owned(),
                ),
            };
            self.complain("F030", at, message, hint);
        }
        is_fixed.then_some(Some(scalar))
    }

    /// Returns text: quoted, or anything that YAML does not read as a number, a Boolean, or null.
    pub fn text<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        let Some(Scalar { text, plain, filled, .. }) = self.fixed(node, row.name)? else {
            self.expected(node, row, "");
            return None;
        };
        if !plain || *filled || !is_special(text) {
            return Some(text);
        }
        let hint = match text.is_empty() {
            true => "add a value after the colon".to_owned(),
            false => format!("put it in quotes: `\"{text}\"`"),
        };
        self.expected(node, row, &hint);
        None
    }

    /// Returns a scalar as written, with or without quotes, for values with their own grammar, such as durations.
    pub fn written<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        match self.fixed(node, row.name)? {
            Some(Scalar { text, plain, .. }) if !(text.is_empty() || *plain && is_null(text)) => Some(text),
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// Returns a scalar that has its own grammar.
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

    /// Returns a whole number written in digits.
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
                        format!("invalid `{}`: `{text}` is larger than 2^64 - 1", row.name),
                        "write a smaller number",
                    );
                }
                number
            }
            Some(Scalar { plain: true, .. } | Scalar { filled: true, .. }) => {
                let digits: String =
                    scalar.map_or("", |s| s.text.as_str()).replace([',', '_', ' ', '\''], "");
                let hint = match !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
                    true => format!("write `{digits}`"),
                    false => "write only digits, without sign, decimal point, or unit".to_owned(),
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

    /// Returns a whole number that fits 32 bits.
    pub fn count(&mut self, node: &Node, row: &Row) -> Option<u32> {
        let number = self.whole(node, row)?;
        let fits = u32::try_from(number).ok();
        if fits.is_none() {
            self.complain(
                "F015",
                node.pos,
                format!("invalid `{}`: `{number}` is larger than {}", row.name, u32::MAX),
                format!("write {}", row.expects),
            );
        }
        fits
    }

    /// Returns a number that may have a fraction.
    pub fn number(&mut self, node: &Node, row: &Row) -> Option<f64> {
        let text = self.written(node, row)?;
        match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && is_yaml_number(text.trim()) => Some(number),
            _ => {
                self.expected(node, row, "write only digits, without a unit");
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
        // YAML 1.1 read these words as Booleans, so their meaning is clear.
        let hint = match scalar.map(|scalar| scalar.text.to_ascii_lowercase()).as_deref() {
            Some("yes" | "on" | "true" | "1") => "write `true`",
            Some("no" | "off" | "false" | "0") => "write `false`",
            _ => "",
        };
        self.expected(node, row, hint);
        None
    }

    /// Returns the value of one of several words.
    pub fn choice<T: Copy>(&mut self, node: &Node, row: &Row, words: &[(&str, T)]) -> Option<T> {
        self.choice_or(node, row, words, "")
    }

    /// Like [`Reader::choice`], with a help line for a text that is close to none of the words.
    pub fn choice_or<T: Copy>(
        &mut self,
        node: &Node,
        row: &Row,
        words: &[(&str, T)],
        help: &str,
    ) -> Option<T> {
        let text = self.written(node, row)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let hint = match nearest(text, words.iter().map(|(word, _)| *word)) {
                Some(right) => format!("did you mean `{right}`?"),
                None => help.to_owned(),
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

    /// Returns the row of a key and its name in its section; reports a key that the section does not have.
    pub fn key<K: Key>(&mut self, entry: &Entry) -> Option<(&'static Row, K)> {
        self.key_in(K::SECTION, entry)
    }

    /// Like [`Reader::key`], for a section whose keys belong to another one.
    pub fn key_in<K: Key>(&mut self, section: Section, entry: &Entry) -> Option<(&'static Row, K)> {
        let row = self.row(section, entry)?;
        Some((row, K::of(row.name)?))
    }

    /// Returns the row of a key; reports one that is unsupported, in the wrong place, or unknown.
    pub fn row(&mut self, section: Section, entry: &Entry) -> Option<&'static Row> {
        let name = entry.key.as_str();
        if let Some(row) = key::find(section, name) {
            return Some(row);
        }
        let later = |(s, n): &&(Section, &str)| *n == name && *s == section;
        let (code, message, hint) = if key::LATER.iter().any(|row| later(&row)) {
            let hint = match name {
                "allow" => "allow the host on the command line: `--allow HOST`",
                "ntlm" | "negotiate" => "use `basic`, `digest`, `bearer`, `jwt`, `oauth2`, or `aws_sigv4`",
                _ => "remove it",
            };
            ("F012", format!("`{name}` is not supported yet"), hint.to_owned())
        } else if let Some((_, _, fix)) = key::FIXES.iter().find(|(s, n, _)| *s == section && *n == name) {
            ("F011", unknown(name, section), (*fix).to_owned())
        } else if let Some(step) = name.strip_prefix('-').filter(|_| section == Section::Scenario) {
            let message = format!("missing space between `-` and `{step}`");
            ("F011", message, format!("write `- {step}: ...`"))
        } else if let Some((_, _, ours)) = key::SYNONYMS.iter().find(|(s, n, _)| *s == section && *n == name)
        {
            ("F011", unknown(name, section), synonym_hint(section, ours))
        } else if let Some(home) = [Section::Top, Section::Load]
            .into_iter()
            .find(|home| key::find(*home, name).is_some() && section != Section::ScenarioLoad)
        {
            let hint = match home {
                Section::Load => format!("move it {}: `load: {{ {name}: ... }}`", home.name()),
                _ => format!("move it to the top level: `{name}: ...`"),
            };
            ("F018", format!("`{name}` belongs {}, not {}", home.name(), section.name()), hint)
        } else {
            // The key may be that of a step even if the mapping looks like a request.
            let steps = key::STEPS.iter().map(|(word, _)| *word).filter(|_| section == Section::Request);
            let hint = match nearest(name, key::names(section).chain(steps)) {
                Some(right) => format!("did you mean `{right}`?"),
                None if section == Section::Check => {
                    let path = format!("$.{}", name.trim_start_matches(['$', '.']));
                    let value = match &entry.value.value {
                        Value::Scalar(scalar) => short(&scalar.text),
                        _ => "...".to_owned(),
                    };
                    format!(
                        "for a field of a JSON response, write `json: {{ {path}: {value} }}`; otherwise use one of {}",
                        alternatives(key::names(section))
                    )
                }
                None => format!("use one of {}", alternatives(key::names(section))),
            };
            ("F011", unknown(name, section), hint)
        };
        self.complain(code, entry.pos, message, hint);
        None
    }
}

fn unknown(name: &str, section: Section) -> String {
    format!("unknown key `{name}` {}", section.name())
}

fn synonym_hint(section: Section, key: &str) -> String {
    match (section, key) {
        (Section::Request, "get") => "write the method as the key: `get: /pick`".to_owned(),
        (Section::Request, "repeat" | "if" | "group") => format!("write a separate step: `- {key}: ...`"),
        _ => format!("use `{key}` instead"),
    }
}

/// Returns whether YAML reads an unquoted scalar as something other than text.
pub fn is_special(text: &str) -> bool {
    is_null(text)
        || matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
        || is_yaml_number(text)
}

pub fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Returns what a node holds, as it follows the word "found".
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
