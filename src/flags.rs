//! The command line: which command is meant, and the flags of each. One definition (the clap structs) makes
//! the parser, the help and the reference page.
//!
//! Flags may stand before or after the command's name (`plimsoll -c 10 run a.yaml`), except for `curl`,
//! behind which everything belongs to the pasted line. Values stay text here; [`draft`] reads them, so that
//! all mistakes come at once and in the words of the tool.

pub mod draft;
pub mod judge;
pub mod load;
pub mod page;
pub mod tool;
pub mod verbs;
pub mod whole;
mod wrong;

use crate::exit::Failure;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use judge::{Audit, Compare, Find, Size};
use load::LoadFlags;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::ffi::OsString;
use std::path::Path;
use tool::{Completions, Examples, Man, Runs, Version};
use verbs::{Check, Demo, Doctor, Explain, Group, Merge, Report, Run, Schema, Serve, Verb};

/// What the command line asks for.
pub enum Asked {
    Load(Box<Load>),
    Run(Box<Run>),
    Curl(Box<Curl>),
    Check(Box<Check>),
    Schema,
    Explain(Explain),
    Find(Box<Find>),
    Compare(Compare),
    Audit(Audit),
    Size(Size),
    Report(Report),
    Merge(Merge),
    #[cfg_attr(not(feature = "console"), allow(dead_code, reason = "the flags are read all the same"))]
    Serve(Serve),
    Demo(Demo),
    Doctor(Doctor),
    Examples(Examples),
    Completions(Completions),
    Runs(Runs),
    /// For tests and the demo: the server whose behaviour is commanded.
    Ruler(Vec<String>),
    /// For `cargo xtask docs`.
    DocsDump,
    /// A text that was asked for: help or the version.
    Text(String),
    /// Nothing at all was typed.
    Nothing,
}

/// `plimsoll URL`.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    about = "Loads an HTTP service and says whether the numbers can be believed.",
    override_usage = "plimsoll [FLAGS] URL ...\n       plimsoll [FLAGS] COMMAND ...",
    after_help = verbs::after_help(),
    disable_help_subcommand = true
)]
pub struct Load {
    /// Where to send the requests: `http://host:port/path`, or `https://`. Several of one origin are sent in turn
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Send the requests of this file in turn: lines `METHOD URL`, then headers, then `@body`
    #[arg(long = "urls", value_name = "FILE", help_heading = "Request")]
    pub list: Option<String>,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// `plimsoll curl`: the words of the pasted line are not ours to parse.
#[derive(Debug)]
pub struct Curl {
    pub flags: LoadFlags,
    pub words: Vec<String>,
}

/// Reads the arguments after the program's name.
///
/// # Errors
/// What is wrong with them, as diagnostics.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Asked, Failure> {
    let mut words = Vec::new();
    for arg in args {
        let word = arg.into_string().map_err(|raw| {
            let shown = raw.to_string_lossy().into_owned();
            Diagnostic::new(
                "U009",
                Place::Whole,
                format!("`{shown}` is no UTF-8"),
                "rename the file, or retype the word",
            )
        })?;
        words.push(word);
    }
    if words.is_empty() {
        return Ok(Asked::Nothing);
    }
    let verb_at = first_word(&words);
    if let Some((at, diagnostic)) = verb_at.and_then(|at| Some((at, misspelt(&words[at])?))) {
        // The word may be the value of an unknown flag before it; then the flag is the mistake.
        return Err(one::<Load>(words[..at].to_vec()).err().unwrap_or_else(|| diagnostic.into()));
    }
    match verb_at.and_then(|at| Verb::named(&words[at]).map(|verb| (at, verb))) {
        None => one::<Load>(words)
            .map(|parsed| parsed.map_or_else(Asked::Text, |load| Asked::Load(Box::new(load)))),
        Some((at, verb)) => command(verb, words, at),
    }
}

/// `versoin` is a mistyped command before it is a host: a word without a dot, a colon or a slash that names no file.
fn misspelt(word: &str) -> Option<Diagnostic> {
    let bare =
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let is_meant = Verb::named(word).is_some() || word.eq_ignore_ascii_case("localhost");
    (bare && !is_meant && !Path::new(word).exists()).then(|| no_command(word))
}

/// With the nearest command, or how a host of that name is written.
fn no_command(word: &str) -> Diagnostic {
    let names = verbs::VERBS.iter().filter(|row| row.group != Group::Hidden).map(|row| row.name);
    let hint = match plimsoll_front::nearest(word, names) {
        Some(right) => format!("did you mean `plimsoll {right}`?"),
        None => format!(
            "`plimsoll --help` lists all commands; to load a host of this name, write `http://{word}/`"
        ),
    };
    Diagnostic::new("U007", Place::Whole, format!("there is no command `{word}`"), hint)
}

fn version() -> String {
    format!("plimsoll {}\n", env!("CARGO_PKG_VERSION"))
}

fn command(verb: Verb, mut words: Vec<String>, at: usize) -> Result<Asked, Failure> {
    let after = words.split_off(at + 1);
    words.pop();
    let mut all = words.clone();
    all.extend(after.iter().cloned());
    Ok(match verb {
        Verb::Run => one::<Run>(all)?.map_or_else(Asked::Text, |run| Asked::Run(Box::new(run))),
        Verb::Check => one::<Check>(all)?.map_or_else(Asked::Text, |check| Asked::Check(Box::new(check))),
        Verb::Schema => one::<Schema>(all)?.map_or_else(Asked::Text, |_| Asked::Schema),
        Verb::Explain => one::<Explain>(all)?.map_or_else(Asked::Text, Asked::Explain),
        Verb::Find => one::<Find>(all)?.map_or_else(Asked::Text, |find| Asked::Find(Box::new(find))),
        Verb::Compare => one::<Compare>(all)?.map_or_else(Asked::Text, Asked::Compare),
        Verb::Audit => one::<Audit>(all)?.map_or_else(Asked::Text, Asked::Audit),
        Verb::Size => one::<Size>(all)?.map_or_else(Asked::Text, Asked::Size),
        Verb::Report => one::<Report>(all)?.map_or_else(Asked::Text, Asked::Report),
        Verb::Merge => one::<Merge>(all)?.map_or_else(Asked::Text, Asked::Merge),
        Verb::Serve => one::<Serve>(all)?.map_or_else(Asked::Text, Asked::Serve),
        Verb::Demo => one::<Demo>(all)?.map_or_else(Asked::Text, Asked::Demo),
        Verb::Doctor => one::<Doctor>(all)?.map_or_else(Asked::Text, Asked::Doctor),
        // Behind `curl`, `--help` belongs to the pasted line; alone it asks us.
        Verb::Curl if matches!(after.as_slice(), [only] if only == "--help" || only == "-h") => {
            Asked::Text(verbs::curl_help())
        }
        Verb::Curl => match one::<Flags>(words)? {
            Ok(parsed) => Asked::Curl(Box::new(Curl { flags: parsed.flags, words: after })),
            Err(text) => Asked::Text(text),
        },
        Verb::Examples => one::<Examples>(all)?.map_or_else(Asked::Text, Asked::Examples),
        Verb::Completions => one::<Completions>(all)?.map_or_else(Asked::Text, Asked::Completions),
        Verb::Runs => one::<Runs>(all)?.map_or_else(Asked::Text, Asked::Runs),
        Verb::Man => Asked::Text(one::<Man>(all)?.map_or_else(|help| help, |_| whole::man())),
        Verb::Version => Asked::Text(one::<Version>(all)?.map_or_else(|help| help, |_| version())),
        Verb::Help => match after.first().map(|name| (name, Verb::named(name))) {
            Some((_, Some(Verb::Help))) | None => Asked::Text(help_of::<Load>()),
            Some((_, Some(Verb::Curl))) => Asked::Text(verbs::curl_help()),
            Some((_, Some(of))) => command(of, vec![String::new(), "--help".into()], 0)?,
            Some((name, None)) => return Err(no_command(name).into()),
        },
        Verb::Ruler => Asked::Ruler(after),
        Verb::DocsDump => Asked::DocsDump,
    })
}

/// The flags of a load without anything else, for the words in front of `curl`.
#[derive(Debug, Parser)]
#[command(name = "plimsoll", version, disable_help_subcommand = true)]
struct Flags {
    #[command(flatten)]
    flags: LoadFlags,
}

/// Parses one command; the inner error is a text that was asked for.
fn one<T: Args + CommandFactory + FromArgMatches>(words: Vec<String>) -> Result<Result<T, String>, Failure> {
    let named = std::iter::once("plimsoll".to_owned()).chain(words);
    let matches = match T::command().try_get_matches_from(named) {
        Ok(matches) => matches,
        Err(error) => return wrong::asked_or_wrong(error),
    };
    match T::from_arg_matches(&matches) {
        Ok(parsed) => Ok(Ok(parsed)),
        Err(error) => wrong::asked_or_wrong(error),
    }
}

pub fn help_of<T: CommandFactory>() -> String {
    T::command().render_help().to_string()
}

/// Index of the first word that is neither a flag nor a flag's value. The table of flags itself says which
/// take one.
fn first_word(words: &[String]) -> Option<usize> {
    let table = <Load as CommandFactory>::command();
    let takes_value = |matches: &dyn Fn(&clap::Arg) -> bool| {
        table.get_arguments().find(|a| matches(a)).is_some_and(|a| a.get_action().takes_values())
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if let Some(long) = word.strip_prefix("--") {
            let separate = !long.contains('=') && takes_value(&|a| a.get_long() == Some(long));
            at += 1 + usize::from(separate);
        } else if let Some(shorts) = word.strip_prefix('-').filter(|s| !s.is_empty()) {
            // In a cluster the first flag with a value takes the rest of the word, or the next word.
            let last = shorts.char_indices().find(|(_, c)| takes_value(&|a| a.get_short() == Some(*c)));
            let separate = last.is_some_and(|(i, c)| i + c.len_utf8() == shorts.len());
            at += 1 + usize::from(separate);
        } else {
            return Some(at);
        }
    }
    None
}
