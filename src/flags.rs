//! Command line: selects the command and parses its flags. The clap structs define the parser, the help, and the
//! reference page. Flags may come before or after the command's name (`plimsoll -c 10 run a.yaml`); after `curl`
//! or the name of another tool, every word belongs to its command line. Values stay text here and [`draft`] parses
//! them, so that all errors are reported together and in the same style.

pub mod agents;
pub mod connect;
pub mod draft;
pub mod judge;
pub mod k8s;
pub mod load;
pub mod page;
pub mod tool;
pub mod verbs;
pub mod whole;
mod wrong;

use crate::exit::Failure;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use load::LoadFlags;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::ffi::OsString;
use std::path::Path;
use verbs::{Group, Verb};

/// A parsed command line.
pub enum Invocation {
    Load(Box<Load>),
    Verb(Verb),
    /// Requested text: help or the version.
    Text(String),
    /// No arguments.
    Nothing,
}

/// `plimsoll URL`.
#[derive(Debug, Parser)]
#[command(
    name = "plimsoll",
    version,
    about = "Load an HTTP service, and report whether you can trust the numbers.",
    override_usage = "plimsoll [FLAGS] URL ...\n       plimsoll [FLAGS] COMMAND ...\n\nExamples:\n  \
                      plimsoll http://127.0.0.1:8080/pick -c 100 -d 15s\n  \
                      plimsoll http://127.0.0.1:8080/pick -r 500 -d 1m --threshold 'response_time p99 < 250ms'\n  \
                      plimsoll -c 10 run checkout.yaml",
    after_help = verbs::after_help(),
    disable_help_subcommand = true
)]
pub struct Load {
    /// Target, such as `http://host:port/path`; multiple URLs are requested in turn
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// Send the requests listed in this file in rotation: `METHOD URL`, headers, `@body`
    #[arg(long = "urls", value_name = "FILE", help_heading = "Request")]
    pub list: Option<String>,
    #[command(flatten)]
    pub flags: LoadFlags,
}

/// Parses the arguments after the program's name.
///
/// # Errors
/// Returns an error if any argument is invalid, with a diagnostic for each.
pub fn parse(args: impl Iterator<Item = OsString>) -> Result<Invocation, Failure> {
    let mut words = Vec::new();
    for arg in args {
        let word = arg.into_string().map_err(|raw| {
            let shown = raw.to_string_lossy().into_owned();
            Diagnostic::new(
                "U009",
                Place::Whole,
                format!("invalid argument `{shown}`: not UTF-8"),
                "rename the file, or retype the argument",
            )
        })?;
        words.push(word);
    }
    if words.is_empty() {
        return Ok(Invocation::Nothing);
    }
    let verb_at = first_word(&words);
    if let Some((at, diagnostic)) = verb_at.and_then(|at| Some((at, mistyped(&words[at])?))) {
        // If this word is the value of an unknown flag before it, the flag is the mistake.
        return Err(parse_flags::<Load>(Load::command(), words[..at].to_vec())
            .err()
            .unwrap_or_else(|| diagnostic.into()));
    }
    match verb_at.filter(|at| verbs::named(&words[*at]).is_some()) {
        None => match parse_flags::<Load>(Load::command(), words)? {
            Ok(load) => Ok(Invocation::Load(Box::new(load))),
            Err(text) => Ok(Invocation::Text(text)),
        },
        Some(at) => command(words, at),
    }
}

/// Treats a word without a dot, colon, or slash that names no file as a mistyped command (`versoin`), not as a host.
fn mistyped(word: &str) -> Option<Diagnostic> {
    let bare =
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    let is_meant = verbs::named(word).is_some() || word.eq_ignore_ascii_case("localhost");
    (bare && !is_meant && !Path::new(word).exists()).then(|| no_command(word))
}

/// Suggests the nearest command, or how to write a host of that name.
fn no_command(word: &str) -> Diagnostic {
    let names = verbs::VERBS.iter().filter(|row| row.group != Group::Hidden).map(|row| row.name);
    let hint = match plimsoll_build::nearest::nearest(word, names) {
        Some(right) => format!("did you mean `plimsoll {right}`?"),
        None => format!(
            "`plimsoll --help` lists all commands; to load a host of this name, write `http://{word}/`"
        ),
    };
    Diagnostic::new("U007", Place::Whole, format!("unknown command `{word}`"), hint)
}

/// Returns the version, and the tool whose flags and text a command has.
pub fn version_as(tool: &str) -> String {
    format!("plimsoll {}, with the flags and the text of {tool}\n", env!("CARGO_PKG_VERSION"))
}

pub fn version() -> String {
    format!("plimsoll {}\n", env!("CARGO_PKG_VERSION"))
}

/// Parses the command whose name is the word at `at`; the words before it are its flags.
fn command(words: Vec<String>, at: usize) -> Result<Invocation, Failure> {
    let (before, after) = (&words[..at], &words[at + 1..]);
    let asks_for_help = matches!(after, [only] if only == "--help" || only == "-h");
    // The words after these commands are parsed elsewhere, except for a lone `--help`.
    let foreign = match words[at].as_str() {
        "curl" | "wrk" | "ab" | "hey" | "oha" | "vegeta" | "loadtest" => !asks_for_help,
        name => name == "test-server",
    };
    let mut all = vec![words[at].clone()];
    all.extend_from_slice(before);
    all.extend(foreign.then(|| "--".to_owned()));
    all.extend_from_slice(after);
    Ok(match parse_flags::<Named>(verbs::commands(), all)? {
        Ok(named) => Invocation::Verb(named.verb),
        Err(text) => Invocation::Text(text),
    })
}

/// Returns the help that `plimsoll help COMMAND` requests.
///
/// # Errors
/// Returns an error if the command is unknown.
pub fn help(of: &verbs::Help) -> Result<Invocation, Failure> {
    match of.words.first().map(String::as_str) {
        None | Some("help") => Ok(Invocation::Text(help_of::<Load>())),
        Some(name) if verbs::named(name).is_some() => command(vec![name.to_owned(), "--help".to_owned()], 0),
        Some(name) => Err(no_command(name).into()),
    }
}

#[derive(Debug, Parser)]
struct Named {
    #[command(subcommand)]
    verb: Verb,
}

/// Parses words; the inner error is requested help or version text.
fn parse_flags<T: FromArgMatches>(
    command: Command,
    words: Vec<String>,
) -> Result<Result<T, String>, Failure> {
    let named = || std::iter::once("plimsoll".to_owned()).chain(words.iter().cloned());
    let relaxed = optional(command.clone());
    match relaxed.try_get_matches_from(named()).and_then(|matches| T::from_arg_matches(&matches)) {
        Ok(parsed) => Ok(Ok(parsed)),
        // The help shows which arguments are required.
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            wrong::asked_or_wrong(command.try_get_matches_from(named()).err().unwrap_or(error), &words)
        }
        Err(error) => wrong::asked_or_wrong(error, &words),
    }
}

/// Makes all arguments optional, because each command reports a missing one with an example.
fn optional(command: Command) -> Command {
    command.mut_args(|arg| arg.required(false)).mut_subcommands(optional)
}

pub fn help_of<T: CommandFactory>() -> String {
    T::command().render_help().to_string()
}

/// Returns the index of the first word that is neither a flag nor a flag's value; clap's own table says which flags
/// take a value.
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
            // In a cluster, the first flag with a value takes the rest of the word, or the next word.
            let last = shorts.char_indices().find(|(_, c)| takes_value(&|a| a.get_short() == Some(*c)));
            let separate = last.is_some_and(|(i, c)| i + c.len_utf8() == shorts.len());
            at += 1 + usize::from(separate);
        } else {
            return Some(at);
        }
    }
    None
}
