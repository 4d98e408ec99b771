//! Reads the flags of a tool by a table, in the style of the parser that the tool uses.
//!
//! Each of these command lines also accepts the flags of [`Own`], which no tool has.

use plimsoll_build::nearest::nearest;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};

/// How a tool reads its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `-c5`, `-kq`, `--name value`, `--name=value`; flags and other words in any order.
    Gnu,
    /// The same, but the first other word ends the flags.
    FlagsFirst,
    /// The package `flag` of Go: `-name value`, `-name=value`; the first other word ends the flags.
    Go,
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Value,
    Nothing,
}

/// What a flag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does<D> {
    Apply(D),
    /// Accepted, because it does not affect the load; the reason is for readers of the table.
    Nothing(&'static str),
    /// Rejected, with the message and the help line.
    Refused(&'static str, &'static str),
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct Row<D: 'static> {
    /// Its names with their dashes. A name of Go has one dash and is accepted with two.
    pub names: &'static [&'static str],
    pub takes: Takes,
    pub does: Does<D>,
}

/// Returns a row of a flag with a value.
pub const fn with<D>(names: &'static [&'static str], does: Does<D>) -> Row<D> {
    Row { names, takes: Takes::Value, does }
}

/// Returns a row of a flag without a value.
pub const fn bare<D>(names: &'static [&'static str], does: Does<D>) -> Row<D> {
    Row { names, takes: Takes::Nothing, does }
}

/// Flags of plimsoll in addition to those of the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// `--save FILE`: the run file.
    pub save: Option<String>,
    /// `--allow HOST`, repeatable.
    pub allow: Vec<String>,
    /// `--report FILE`: the report of plimsoll.
    pub report: Option<String>,
    /// `--verdict`: exit with the code of the verdict.
    pub has_verdict: bool,
}

/// The names of the flags of [`Own`].
pub const OWN: [&str; 4] = ["--save", "--allow", "--report", "--verdict"];

/// One flag as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<D> {
    pub does: D,
    /// As typed, for diagnostics.
    pub flag: String,
    /// Empty if the flag takes nothing; `false` for a switch that Go turns off.
    pub value: String,
}

/// The words of a command line.
#[derive(Debug, Clone)]
pub struct Words<D> {
    pub flags: Vec<Given<D>>,
    /// The words that are not flags, in their order.
    pub others: Vec<String>,
    pub own: Own,
}

/// The code of a mistake that the tool itself refuses with its usage.
pub const USAGE: &str = "C005";

/// The mistakes of a command line.
#[derive(Debug, Default)]
pub struct Mistakes(pub Vec<Diagnostic>);

impl Mistakes {
    /// Adds a mistake; without a flag, it is about the whole line.
    pub fn add(&mut self, flag: &str, problem: Problem) {
        self.push("C004", flag, problem);
    }

    /// Adds a mistake that the tool itself refuses with its usage: an unknown flag, a missing value, or the wrong
    /// number of arguments.
    pub fn usage(&mut self, flag: &str, problem: Problem) {
        self.push(USAGE, flag, problem);
    }

    fn push(&mut self, code: &'static str, flag: &str, problem: Problem) {
        let place = if flag.is_empty() { Place::Whole } else { Place::Flag(flag.to_owned()) };
        self.0.push(Diagnostic::of(code, place, problem));
    }

    /// Returns the value, or adds the mistake.
    pub fn taken<T>(&mut self, flag: &str, read: Result<T, Problem>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(problem) => {
                self.add(flag, problem);
                None
            }
        }
    }
}

/// Reads the words after the name of a tool.
pub fn read<D: Copy>(
    tool: &'static str,
    args: &[String],
    style: Style,
    table: &'static [Row<D>],
    wrong: &mut Mistakes,
) -> Words<D> {
    let words = Words { flags: Vec::new(), others: Vec::new(), own: Own::default() };
    let mut reader = Reader { tool, style, table, wrong, words };
    reader.all(args);
    reader.words
}

struct Reader<'a, D: 'static> {
    tool: &'static str,
    style: Style,
    table: &'static [Row<D>],
    wrong: &'a mut Mistakes,
    words: Words<D>,
}

impl<D: Copy> Reader<'_, D> {
    fn all(&mut self, args: &[String]) {
        let mut args = args.iter();
        while let Some(word) = args.next() {
            if word == "--" {
                self.words.others.extend(args.by_ref().cloned());
            } else if word == "-" || !word.starts_with('-') {
                self.words.others.push(word.clone());
                if self.style != Style::Gnu {
                    self.words.others.extend(args.by_ref().cloned());
                }
            } else if self.style == Style::Go || word.starts_with("--") {
                self.long(word, &mut args);
            } else {
                self.cluster(word, &mut args);
            }
        }
    }

    fn long<'a>(&mut self, word: &str, args: &mut impl Iterator<Item = &'a String>) {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if OWN.contains(&name) {
            return self.own(name, inline, args);
        }
        let short = if self.style == Style::Go { name.strip_prefix('-') } else { None };
        let is_named = |row: &&Row<D>| row.names.iter().any(|own| *own == name || Some(*own) == short);
        let Some(row) = self.table.iter().find(is_named) else { return self.unknown(name) };
        match (row.takes, inline) {
            (Takes::Nothing, None) => self.apply(row, name, ""),
            // The only flags of Go without a value are switches, and those may be turned off.
            (Takes::Nothing, Some(value @ ("true" | "false"))) if self.style == Style::Go => {
                self.apply(row, name, if value == "true" { "" } else { value });
            }
            (Takes::Nothing, Some(_)) => {
                let message = format!("`{name}` takes no value");
                self.wrong.usage(name, Problem::new(message, format!("write `{name}` without `=`")));
            }
            (Takes::Value, Some(value)) => self.apply(row, name, value),
            (Takes::Value, None) => self.with_next(row, name, args),
        }
    }

    fn own<'a>(&mut self, name: &str, inline: Option<&str>, args: &mut impl Iterator<Item = &'a String>) {
        if name == "--verdict" {
            self.words.own.has_verdict = true;
            return;
        }
        let Some(value) = inline.map(str::to_owned).or_else(|| args.next().cloned()) else {
            return self.missing(name);
        };
        let own = &mut self.words.own;
        match name {
            "--allow" => own.allow.push(value),
            "--save" => own.save = Some(value),
            _ => own.report = Some(value),
        }
    }

    /// Reads a cluster such as `-kq` or `-c5`: the first flag with a value takes the rest of the word, or the next
    /// word.
    fn cluster<'a>(&mut self, word: &str, args: &mut impl Iterator<Item = &'a String>) {
        let letters = &word[1..];
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            let Some(row) = self.table.iter().find(|row| row.names.contains(&name.as_str())) else {
                return self.unknown(if at == 0 && letters.len() > 1 { word } else { &name });
            };
            let rest = &letters[at + letter.len_utf8()..];
            match (row.takes, rest) {
                (Takes::Nothing, _) => self.apply(row, &name, ""),
                (Takes::Value, "") => return self.with_next(row, &name, args),
                (Takes::Value, rest) => return self.apply(row, &name, rest),
            }
        }
    }

    fn with_next<'a>(&mut self, row: &Row<D>, name: &str, args: &mut impl Iterator<Item = &'a String>) {
        match args.next() {
            Some(value) => self.apply(row, name, value),
            None => self.missing(name),
        }
    }

    fn apply(&mut self, row: &Row<D>, name: &str, value: &str) {
        match row.does {
            Does::Apply(does) => {
                self.words.flags.push(Given { does, flag: name.to_owned(), value: value.to_owned() });
            }
            Does::Nothing(_) => {}
            Does::Refused(message, hint) => self.wrong.add(name, Problem::new(message, hint)),
        }
    }

    fn missing(&mut self, name: &str) {
        let hint = format!("write `{name} VALUE`");
        self.wrong.usage(name, Problem::new(format!("missing value of `{name}`"), hint));
    }

    fn unknown(&mut self, name: &str) {
        let names = self.table.iter().flat_map(|row| row.names.iter().copied()).chain(OWN);
        let hint = match nearest(name, names.filter(|name| name.len() > 2)) {
            Some(right) => format!("did you mean `{right}`?"),
            None => format!("`plimsoll help {}` describes the command", self.tool),
        };
        self.wrong.usage(name, Problem::new(format!("unknown flag `{name}` of {}", self.tool), hint));
    }
}
