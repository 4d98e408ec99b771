//! Flags and variables of `k6 run`: a pure function from an argument list and variables to a value or a sentence.

mod apply;
mod global;
mod table;
mod variables;

pub use global::{GLOBAL, Line, line};
pub use table::{FLAGS, Flag, Kind};
pub use variables::OPTION_VARIABLES;

use crate::options::{Layer, Overrides};
use plimsoll_build::nearest::nearest;
use plimsoll_plan::Problem;

/// Which summary is printed at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryMode {
    #[default]
    Compact,
    Full,
    /// The format of k6 before 1.0.
    Legacy,
    Disabled,
}

/// Where logs go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogOutput {
    #[default]
    Stderr,
    Stdout,
    None,
    /// A file, by its path.
    File(String),
}

/// The format of logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
    /// Only the messages.
    Raw,
}

/// A source of secrets, which `k6/secrets` returns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretSource {
    pub name: String,
    /// Whether scripts that name no source get this one.
    pub is_default: bool,
    /// The file with a line `NAME=VALUE` for each.
    pub file: Option<String>,
    pub pairs: Vec<(String, String)>,
}

/// Settings of the command other than those of the test.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// The path of the script; `-`: standard input.
    pub script: String,
    /// The flags of the load as they were given: names without hyphens, and values.
    pub of_load: Vec<(&'static str, String)>,
    /// `__ENV`: system variables, unless they are excluded, and those of `-e`, which have priority.
    pub env: Vec<(String, String)>,
    pub secret_sources: Vec<SecretSource>,
    /// Outputs such as `json=results.json`, in their order.
    pub outputs: Vec<String>,
    pub summary_export: Option<String>,
    pub summary_mode: SummaryMode,
    /// The path of the configuration file, whose content belongs to [`Overrides::file`].
    pub config: Option<String>,
    pub quiet: bool,
    pub verbose: bool,
    pub no_color: bool,
    pub log_output: LogOutput,
    pub log_format: LogFormat,
    /// The file to which `console.log` writes.
    pub console_output: Option<String>,
    /// The file to which the keys of TLS are written (`SSLKEYLOGFILE`).
    pub key_log: Option<String>,
}

/// A command line with its variables.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Invocation {
    pub overrides: Overrides,
    pub run: Run,
    /// Warnings for the user: complete sentences.
    pub notes: Vec<String>,
}

/// What one source, flags or variables, sets.
#[derive(Debug, Clone, Default)]
struct Source {
    layer: Layer,
    of_load: Vec<(&'static str, String)>,
    /// `NAME=VALUE`.
    env: Vec<String>,
    outputs: Option<Vec<String>>,
    secret_sources: Option<Vec<SecretSource>>,
    summary_export: Option<String>,
    summary_mode: Option<SummaryMode>,
    no_summary: Option<bool>,
    config: Option<String>,
    includes_system: Option<bool>,
    quiet: Option<bool>,
    verbose: Option<bool>,
    no_color: Option<bool>,
    log_output: Option<LogOutput>,
    log_format: Option<LogFormat>,
    notes: Vec<String>,
    console_output: Option<String>,
}

/// Parses the arguments after `run`, and the variables of the process.
///
/// # Errors
/// Returns an error that names an unknown or unsupported flag, an invalid value with its flag or variable, or a missing
/// script.
pub fn parse(args: &[String], variables: &[(String, String)]) -> Result<Invocation, Problem> {
    parse_known(args, variables, "run", &|_| true)
}

/// Parses the arguments after `inspect`, which has fewer flags, and the variables of the process.
///
/// # Errors
/// Returns the same errors as [`parse`].
pub fn parse_inspect(args: &[String], variables: &[(String, String)]) -> Result<Invocation, Problem> {
    parse_known(args, variables, "inspect", &Flag::is_of_inspect)
}

/// Parses arguments, with the flags that `is_known` selects.
fn parse_known(
    args: &[String],
    variables: &[(String, String)],
    action: &str,
    is_known: &dyn Fn(&Flag) -> bool,
) -> Result<Invocation, Problem> {
    let (mut flags, mut own) = (Source::default(), Source::default());
    let mut scripts: Vec<&str> = Vec::new();
    let mut rest = args.iter().map(String::as_str);
    let mut only_scripts = false;
    while let Some(word) = rest.next() {
        if only_scripts || word == "-" || !word.starts_with('-') {
            scripts.push(word);
        } else if word == "--" {
            only_scripts = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let flag = table::long(name).filter(|flag| is_known(flag));
            let flag = flag.ok_or_else(|| unknown(name, action, is_known))?;
            take(&mut flags, flag, &format!("--{name}"), value, &mut rest)?;
        } else {
            cluster(&mut flags, &word[1..], &mut rest, action, is_known)?;
        }
    }
    let script = match scripts.as_slice() {
        [script] => (*script).to_owned(),
        [] => {
            return Err(Problem::new(
                "missing script",
                format!("write `plimsoll k6 {action} script.js`, or `-` to read it"),
            ));
        }
        [_, second, ..] => {
            return Err(Problem::new(
                format!("unexpected argument `{second}`: only one script can run"),
                "pass values to the script with `-e NAME=VALUE`",
            ));
        }
    };
    variables::apply(&mut own, variables)?;
    combine(script, flags, own, variables)
}

/// Takes the value of a flag, which may be the next word.
fn take<'a>(
    source: &mut Source,
    flag: &Flag,
    shown: &str,
    value: Option<&str>,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Result<(), Problem> {
    let value = match (flag.kind, value) {
        // Such as `--linger=false`, which is the default.
        (Kind::Unsupported(_), Some("false")) => return Ok(()),
        (Kind::Unsupported(hint), _) => {
            return Err(Problem::new(format!("`{shown}` is not supported"), hint));
        }
        (_, Some(value)) => value,
        (Kind::Switch, None) => "true",
        (Kind::Optional(default), None) => default,
        (Kind::Value, None) => rest.next().ok_or_else(|| {
            Problem::new(format!("missing value of `{shown}`"), format!("write `{shown} VALUE`"))
        })?,
    };
    apply::set(source, flag, value, false).map_err(|problem| problem.within(format!("`{shown}`: ")))?;
    if !flag.is_about_results() {
        source.of_load.push((flag.long, value.to_owned()));
    }
    Ok(())
}

/// Reads short flags: `-q`, `-qw`, `-u 5`, `-u5`, or `-u=5`.
fn cluster<'a>(
    source: &mut Source,
    word: &str,
    rest: &mut impl Iterator<Item = &'a str>,
    action: &str,
    is_known: &dyn Fn(&Flag) -> bool,
) -> Result<(), Problem> {
    for (at, letter) in word.char_indices() {
        let shown = format!("-{letter}");
        let flag = table::short(letter).filter(|flag| is_known(flag)).ok_or_else(|| {
            let hint = format!("`plimsoll k6 {action} --help` lists all flags");
            Problem::new(format!("unknown flag `{shown}`"), hint)
        })?;
        let behind = &word[at + letter.len_utf8()..];
        if flag.kind == Kind::Switch && !behind.starts_with('=') {
            take(source, flag, &shown, None, rest)?;
            continue;
        }
        let value = (!behind.is_empty()).then(|| behind.strip_prefix('=').unwrap_or(behind));
        return take(source, flag, &shown, value, rest);
    }
    Ok(())
}

fn unknown(name: &str, action: &str, is_known: &dyn Fn(&Flag) -> bool) -> Problem {
    let all = FLAGS.iter().filter(|flag| is_known(flag)).map(|flag| flag.long);
    let hint = match nearest(name, all) {
        Some(near) => format!("did you mean `--{near}`?"),
        None => format!("`plimsoll k6 {action} --help` lists all flags"),
    };
    Problem::new(format!("unknown flag `--{name}`"), hint)
}

/// Combines flags and variables; flags have priority.
fn combine(
    script: String,
    flags: Source,
    own: Source,
    variables: &[(String, String)],
) -> Result<Invocation, Problem> {
    let env = environment(&flags, &own, variables)?;
    let mode = flags.summary_mode.or(own.summary_mode).unwrap_or_default();
    let is_off = flags.no_summary.or(own.no_summary).unwrap_or(false);
    let run = Run {
        script,
        of_load: flags.of_load,
        env,
        outputs: flags.outputs.or(own.outputs).unwrap_or_default(),
        secret_sources: flags.secret_sources.or(own.secret_sources).unwrap_or_default(),
        summary_export: flags.summary_export.or(own.summary_export),
        summary_mode: if is_off { SummaryMode::Disabled } else { mode },
        config: flags.config.or(own.config),
        quiet: flags.quiet.or(own.quiet).unwrap_or(false),
        verbose: flags.verbose.or(own.verbose).unwrap_or(false),
        no_color: flags.no_color.or(own.no_color).unwrap_or(false),
        log_output: flags.log_output.or(own.log_output).unwrap_or_default(),
        log_format: flags.log_format.or(own.log_format).unwrap_or_default(),
        console_output: flags.console_output.or(own.console_output),
        key_log: variables
            .iter()
            .find(|(name, path)| name == "SSLKEYLOGFILE" && !path.is_empty())
            .map(|(_, path)| path.clone()),
    };
    let overrides = Overrides { flags: flags.layer, variables: own.layer, ..Overrides::default() };
    let notes = flags.notes.into_iter().chain(own.notes).collect();
    Ok(Invocation { overrides, run, notes })
}

/// Returns `__ENV`.
fn environment(
    flags: &Source,
    own: &Source,
    variables: &[(String, String)],
) -> Result<Vec<(String, String)>, Problem> {
    let includes_system = flags.includes_system.or(own.includes_system).unwrap_or(true);
    let mut env: Vec<(String, String)> = if includes_system { variables.to_vec() } else { Vec::new() };
    for entry in &flags.env {
        // As in k6, a name alone has an empty value.
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(is_name) {
            let message = format!("`--env`: invalid name `{name}`");
            return Err(Problem::new(message, "use letters, digits, and `_`, such as `-e HOST=shop.test`"));
        }
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), value.to_owned()));
    }
    Ok(env)
}
