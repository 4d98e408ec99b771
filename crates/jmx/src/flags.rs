//! The command line of JMeter: a pure function from words to a value or a sentence.

use plimsoll_build::nearest::nearest;
use plimsoll_plan::Problem;

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// `-t`: the plan.
    pub plan: String,
    /// `-l`: the file for the results of samples.
    pub results: Option<String>,
    /// `-j`: the log.
    pub log: Option<String>,
    /// `-e`: write a report after the test.
    pub writes_report: bool,
    /// `-o`: the folder of the report.
    pub report_folder: Option<String>,
    /// `-f`: delete existing results and reports.
    pub replaces: bool,
    /// Files of properties, in their order: `-p`, then `-q`.
    pub property_files: Vec<String>,
    /// `-J` and `-G`, in their order.
    pub properties: Vec<(String, String)>,
    /// `-D`, as far as they name a key store.
    pub system: Vec<(String, String)>,
    /// Remarks for the user: complete sentences.
    pub notes: Vec<String>,
    pub own: Own,
}

/// Flags of plimsoll itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Own {
    /// `--allow HOST`
    pub allow: Vec<String>,
    /// `--save FILE.plim`
    pub out: Option<String>,
    /// `--set NAME=VALUE`
    pub set: Vec<(String, String)>,
    /// `--skip-scripts`
    pub skips_scripts: bool,
    /// `--verdict`: the exit code is that of the verdict.
    pub exits_with_verdict: bool,
}

/// What a flag does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Value,
    /// `NAME=VALUE`, also attached: `-JNAME=VALUE`.
    Pair,
    /// Accepted without effect, with the reason.
    Idle(&'static str, bool),
    /// Not supported, with what to do instead.
    Refused(&'static str),
}

/// A flag: its letter, its long names, and its kind.
struct Flag(char, &'static [&'static str], Kind);

const REMOTE: &str =
    "run `plimsoll agent --nats URL` on each machine, and add `--nats URL --agents 2` instead";

const FLAGS: &[Flag] = &[
    Flag('n', &["nongui"], Kind::Switch),
    Flag('t', &["testfile"], Kind::Value),
    Flag('l', &["logfile"], Kind::Value),
    Flag('j', &["jmeterlogfile"], Kind::Value),
    Flag('e', &["reportatendofloadtests"], Kind::Switch),
    Flag('o', &["reportoutputfolder"], Kind::Value),
    Flag('f', &["forceDeleteResultFile"], Kind::Switch),
    Flag('J', &["jmeterproperty"], Kind::Pair),
    Flag('G', &["globalproperty"], Kind::Pair),
    Flag('D', &["systemproperty"], Kind::Pair),
    Flag('q', &["addprop"], Kind::Value),
    Flag('p', &["propfile"], Kind::Value),
    Flag('L', &["loglevel"], Kind::Idle("the log has one level", true)),
    Flag('i', &["jmeterlogconf"], Kind::Idle("the log has one format", true)),
    Flag('d', &["homedir"], Kind::Idle("there is no home directory of JMeter", true)),
    Flag('X', &["remoteexit"], Kind::Idle("there are no remote servers", false)),
    Flag('R', &["remotestart"], Kind::Refused(REMOTE)),
    Flag('r', &["runremote"], Kind::Refused(REMOTE)),
    Flag('s', &["server"], Kind::Refused(REMOTE)),
    Flag('g', &["reportonly"], Kind::Refused("read results with `plimsoll audit results.jtl`")),
    Flag('S', &["systemPropertyFile"], Kind::Refused("pass properties of the plan with `-q FILE`")),
    Flag('H', &["proxyHost"], Kind::Refused("run the plan with `plimsoll run plan.jmx --proxy URL`")),
    Flag('P', &["proxyPort"], Kind::Refused("run the plan with `plimsoll run plan.jmx --proxy URL`")),
    Flag('N', &["nonProxyHosts"], Kind::Refused("run the plan with `plimsoll run plan.jmx --proxy URL`")),
    Flag('u', &["username"], Kind::Refused("put the user into the URL of `--proxy`")),
    Flag('a', &["password"], Kind::Refused("put the password into the URL of `--proxy`")),
    Flag('E', &["proxyScheme"], Kind::Refused("run the plan with `plimsoll run plan.jmx --proxy URL`")),
];

/// Long flags of plimsoll, with whether they have a value.
const OWN: &[(&str, bool)] =
    &[("allow", true), ("save", true), ("set", true), ("skip-scripts", false), ("verdict", false)];

/// Parses the words after `jmeter`.
///
/// # Errors
/// Returns an error that names an unknown or unsupported flag, or a missing value.
pub fn parse(words: &[String]) -> Result<Invocation, Problem> {
    let mut all = Invocation::default();
    let mut has_no_window = false;
    let mut rest = words.iter().map(String::as_str);
    let (mut main_files, mut more_files) = (Vec::new(), Vec::new());
    while let Some(word) = rest.next() {
        let (name, attached) = match word.strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, value)) if !is_pair(name) => (name, Some(value)),
                _ => (long, None),
            },
            None => match word.strip_prefix('-').filter(|short| !short.is_empty()) {
                Some(short) => {
                    let end = short.chars().next().map_or(0, char::len_utf8);
                    (&short[..end], Some(&short[end..]).filter(|value| !value.is_empty()))
                }
                None => {
                    return Err(Problem::new(
                        format!("unexpected argument `{word}`"),
                        "name the plan with `-t plan.jmx`",
                    ));
                }
            },
        };
        if word.starts_with("--")
            && let Some((own, has_value)) = OWN.iter().find(|(own, _)| *own == name)
        {
            let value = if *has_value { value(word, attached, &mut rest)? } else { "" };
            set_own(&mut all.own, own, value)?;
            continue;
        }
        let Some(Flag(letter, _, kind)) = find(name, word.starts_with("--")) else {
            return Err(unknown(word, name));
        };
        match kind {
            Kind::Refused(hint) => {
                return Err(Problem::new(format!("`{word}` is not supported"), *hint));
            }
            Kind::Idle(why, has_value) => {
                if *has_value {
                    value(word, attached, &mut rest)?;
                }
                all.notes.push(format!("`-{letter}` has no effect: {why}"));
            }
            Kind::Pair => {
                let text = value(word, attached, &mut rest)?;
                let pair = text.split_once('=').unwrap_or((text, ""));
                let pair = (pair.0.to_owned(), pair.1.to_owned());
                match letter {
                    'D' if pair.0.starts_with("javax.net.ssl.keyStore") => all.system.push(pair),
                    'D' => all.notes.push(format!("`-D{}` has no effect: there is no Java", pair.0)),
                    _ => all.properties.push(pair),
                }
            }
            Kind::Switch => match letter {
                'n' => has_no_window = true,
                'e' => all.writes_report = true,
                _ => all.replaces = true,
            },
            Kind::Value => {
                let text = value(word, attached, &mut rest)?.to_owned();
                match letter {
                    't' => all.plan = text,
                    'l' => all.results = Some(text),
                    'j' => all.log = Some(text),
                    'o' => all.report_folder = Some(text),
                    'p' => main_files.push(text),
                    _ => more_files.push(text),
                }
            }
        }
    }
    all.property_files = main_files.into_iter().chain(more_files).collect();
    if all.plan.is_empty() {
        return Err(Problem::new("missing test plan", "name it: `plimsoll jmeter -n -t plan.jmx`"));
    }
    if !has_no_window {
        return Err(Problem::new(
            "plimsoll has no window for test plans",
            "add `-n`, or use `plimsoll check`",
        ));
    }
    if all.writes_report && all.results.is_none() {
        return Err(Problem::new("`-e` requires a file of results", "add `-l results.jtl`"));
    }
    if all.report_folder.is_some() && !all.writes_report {
        return Err(Problem::new("`-o` requires `-e`", "add `-e`"));
    }
    Ok(all)
}

fn is_pair(name: &str) -> bool {
    find(name, true).is_some_and(|flag| flag.2 == Kind::Pair)
}

fn find(name: &str, is_long: bool) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| match is_long {
        true => flag.1.contains(&name),
        false => name.starts_with(flag.0),
    })
}

/// Returns the value of a flag: attached, or the next word.
fn value<'a>(
    word: &str,
    attached: Option<&'a str>,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Result<&'a str, Problem> {
    attached
        .or_else(|| rest.next())
        .ok_or_else(|| Problem::new(format!("missing value of `{word}`"), format!("write `{word} VALUE`")))
}

fn unknown(word: &str, name: &str) -> Problem {
    let longs = FLAGS.iter().flat_map(|flag| flag.1.iter().copied()).chain(OWN.iter().map(|(own, _)| *own));
    let hint = match nearest(name, longs).filter(|_| word.starts_with("--")) {
        Some(near) => format!("did you mean `--{near}`?"),
        None => "`plimsoll help jmeter` lists the flags".to_owned(),
    };
    Problem::new(format!("unknown flag `{word}`"), hint)
}

fn set_own(own: &mut Own, name: &str, value: &str) -> Result<(), Problem> {
    match name {
        "allow" => own.allow.push(value.to_owned()),
        "save" => own.out = Some(value.to_owned()),
        "set" => own.set.push(pair(value)?),
        "skip-scripts" => own.skips_scripts = true,
        _ => own.exits_with_verdict = true,
    }
    Ok(())
}

/// Parses `NAME=VALUE`.
///
/// # Errors
/// Returns an error if there is no `=`, or no name.
pub fn pair(text: &str) -> Result<(String, String), Problem> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Problem::new(
            format!("invalid value `{text}`: expected NAME=VALUE"),
            "write a name and a value, such as `users=10`",
        )),
    }
}
