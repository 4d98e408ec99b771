//! Values out of the tree: each either what its key expects, or a diagnostic that says what was found instead.

use super::json::is_yaml_number;
use super::key::{self, Row, Section};
use super::yaml::{Entry, Node, Pos, Source, Value};
use crate::nearest::nearest;
use crate::{Places, message_and_hint};
use plimsoll_plan::Diagnostic;
use std::path::Path;

/// What all parts of the reading share: the text, where its files are, and what was wrong so far.
pub struct Reader<'a> {
    pub source: Source<'a>,
    /// Where relative file names start.
    pub folder: &'a Path,
    pub wrong: Vec<Diagnostic>,
    pub places: Places,
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

    /// A sentence of `plan` about a value.
    pub fn complain_sentence(&mut self, pos: Pos, sentence: &str) {
        let (message, hint) = message_and_hint(sentence);
        self.complain("F015", pos, message, hint);
    }

    fn expected(&mut self, node: &Node, row: &Row, hint: &str) {
        let message = format!("found {}; `{}` expects {}", found(node), row.name, row.expects);
        self.complain("F014", node.pos, message, hint);
    }

    /// Remembers where a field of the draft was written.
    pub fn mark(&mut self, field: &'static str, pos: Pos) {
        self.places.insert(field, self.source.place(pos));
    }

    /// Text: in quotes, or something that YAML does not take for a number, a truth value or nothing.
    pub fn text<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        match &node.value {
            Value::Scalar { text, plain: false } => Some(text),
            Value::Scalar { text, plain: true } if !is_special(text) => Some(text),
            Value::Scalar { text, .. } if text.is_empty() => {
                self.expected(node, row, "write it behind the colon");
                None
            }
            Value::Scalar { text, .. } => {
                self.expected(node, row, &format!("put it in quotes: `\"{text}\"`"));
                None
            }
            _ => {
                self.expected(node, row, "");
                None
            }
        }
    }

    /// A scalar as it is written, quotes or not: for values with a grammar of their own, such as times.
    pub fn written<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n str> {
        match &node.value {
            Value::Scalar { text, plain } if !(text.is_empty() || *plain && is_null(text)) => Some(text),
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
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.written(node, row)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(sentence) => {
                self.complain_sentence(node.pos, &sentence);
                None
            }
        }
    }

    /// A whole number in plain digits.
    pub fn whole(&mut self, node: &Node, row: &Row) -> Option<u64> {
        match &node.value {
            Value::Scalar { text, plain } if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() => {
                if !plain {
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
            Value::Scalar { plain: true, .. } => {
                self.expected(node, row, "write plain digits, without sign, point or unit");
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

    pub fn truth(&mut self, node: &Node, row: &Row) -> Option<bool> {
        match &node.value {
            Value::Scalar { text, plain: true } if matches!(text.as_str(), "true" | "True" | "TRUE") => {
                Some(true)
            }
            Value::Scalar { text, plain: true } if matches!(text.as_str(), "false" | "False" | "FALSE") => {
                Some(false)
            }
            _ => {
                // Older YAML took these words for truth values; what their author means is plain.
                let hint = match &node.value {
                    Value::Scalar { text, .. } => match text.to_ascii_lowercase().as_str() {
                        "yes" | "on" | "true" | "1" => "write `true`",
                        "no" | "off" | "false" | "0" => "write `false`",
                        _ => "",
                    },
                    _ => "",
                };
                self.expected(node, row, hint);
                None
            }
        }
    }

    pub fn map<'n>(&mut self, node: &'n Node, row: &Row) -> Option<&'n [Entry]> {
        match &node.value {
            Value::Map(entries) => Some(entries),
            _ => {
                self.expected(node, row, "");
                None
            }
        }
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
        } else if let Some((_, _, ours)) = key::SYNONYMS.iter().find(|(s, n, _)| *s == section && *n == name)
        {
            ("F011", format!("there is no key `{name}` {}", section.name()), synonym_hint(section, ours))
        } else if let Some(home) =
            [Section::Top, Section::Load].into_iter().find(|home| key::find(*home, name).is_some())
        {
            let hint = match home {
                Section::Load => format!("move it {}: `load: {{ {name}: ... }}`", home.name()),
                _ => format!("move it out to the left edge: `{name}: ...`"),
            };
            ("F018", format!("`{name}` stands {}, not {}", home.name(), section.name()), hint)
        } else {
            let message = format!("there is no key `{name}` {}", section.name());
            let hint = match nearest(name, key::names(section)) {
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
        _ => format!("it is called `{ours}` here"),
    }
}

/// `a`, `b` and `c`, each in backticks.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// Whether YAML takes an unquoted scalar for something else than text.
fn is_special(text: &str) -> bool {
    is_null(text)
        || matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
        || is_yaml_number(text)
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// What stands there, as it follows behind the word "found".
fn found(node: &Node) -> String {
    // A long or many-lined text would drown the sentence.
    let short = |text: &str| -> String {
        match text.char_indices().nth(40) {
            Some((end, _)) => format!("{}...", text[..end].escape_debug()),
            None => text.escape_debug().to_string(),
        }
    };
    match &node.value {
        Value::Scalar { text, plain: true } if is_null(text) => "nothing".into(),
        Value::Scalar { text, plain: true } if is_yaml_number(text) => {
            format!("the number `{}`", short(text))
        }
        Value::Scalar { text, plain: true } if is_special(text) => format!("`{text}`"),
        Value::Scalar { text, .. } => format!("the text `{}`", short(text)),
        Value::List(_) => "a list".into(),
        Value::Map(_) => "a mapping".into(),
    }
}
