//! Flags before the action, as in `k6 -q run script.js`.

use super::{FLAGS, Flag, Kind, table};
use plimsoll_build::nearest::nearest;
use plimsoll_plan::Problem;

/// The flags that all actions have, and that may precede them.
pub const GLOBAL: [&str; 9] = [
    "address",
    "config",
    "log-format",
    "log-output",
    "no-color",
    "profiling-enabled",
    "quiet",
    "secret-source",
    "verbose",
];

/// The arguments of k6, divided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// `run`, `inspect`, or another word; `None`: only flags, such as `--help`.
    pub action: Option<&'a str>,
    /// The flags before the action, and everything after it.
    pub words: Vec<String>,
    /// Whether `--help` precedes the action.
    pub wants_help: bool,
}

/// Divides the arguments of k6.
///
/// # Errors
/// Returns an error if a flag before the action is not one that all actions have.
pub fn line(args: &[String]) -> Result<Line<'_>, Problem> {
    let (mut words, mut wants_help) = (Vec::new(), false);
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') || word == "-" {
            words.extend(rest.cloned());
            return Ok(Line { action: Some(word), words, wants_help });
        }
        if word == "--help" || word == "-h" {
            wants_help = true;
            continue;
        }
        words.push(word.clone());
        if takes_next(word)? {
            words.extend(rest.next().cloned());
        }
    }
    Ok(Line { action: None, words, wants_help })
}

/// Returns whether the next word is the value of this one.
fn takes_next(word: &str) -> Result<bool, Problem> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, has_value) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
        let flag = known(table::long(name), &format!("--{name}"))?;
        return Ok(flag.kind == Kind::Value && !has_value);
    }
    for (at, letter) in word.char_indices().skip(1) {
        let flag = known(table::short(letter), &format!("-{letter}"))?;
        let after = &word[at + letter.len_utf8()..];
        if flag.kind == Kind::Value || after.starts_with('=') {
            return Ok(after.is_empty());
        }
    }
    Ok(false)
}

/// Refuses flags that belong after an action, and those that are not supported.
fn known(flag: Option<&'static Flag>, shown: &str) -> Result<&'static Flag, Problem> {
    let is_global = |flag: &&Flag| GLOBAL.contains(&flag.long);
    match flag {
        Some(Flag { kind: Kind::Unsupported(hint), .. }) => {
            Err(Problem::new(format!("`{shown}` is not supported"), *hint))
        }
        Some(flag) if is_global(&flag) => Ok(flag),
        Some(_) => Err(Problem::new(
            format!("`{shown}` precedes the action"),
            format!("write it after the action: `plimsoll k6 run {shown} ... script.js`"),
        )),
        None => {
            let all = FLAGS.iter().filter(is_global).map(|flag| flag.long);
            let hint = match nearest(shown.trim_start_matches('-'), all) {
                Some(near) => format!("did you mean `--{near}`?"),
                None => "`plimsoll k6 --help` lists all actions".to_owned(),
            };
            Err(Problem::new(format!("unknown flag `{shown}`"), hint))
        }
    }
}
