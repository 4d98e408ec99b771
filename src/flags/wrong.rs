//! Turns clap's errors into diagnostics, each with one sentence and one fix.

use crate::exit::Failure;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;

/// Separates requested help and version texts, which clap returns as errors, from real errors.
///
/// # Errors
/// Returns the diagnostic of a real error.
pub fn asked_or_wrong<T>(error: clap::Error, words: &[String]) -> Result<Result<T, String>, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Err(error.to_string())),
        _ => Err(diagnostic(&error, words).into()),
    }
}

/// Flags of other tools that are unsupported or have another name here.
fn of_other_tools(flag: &str) -> Option<(String, &'static str)> {
    const NOT_YET: &[(&[&str], &str, &str)] = &[
        (&["--http3", "--h3", "--quic"], "HTTP/3", "use `--http2`, or omit this flag"),
        (&["--grpc", "--proto"], "gRPC", "plimsoll supports HTTP/1.1 and server-sent events"),
    ];
    const RENAMED: &[(&[&str], &str)] = &[
        (&["--ws", "--websocket"], "write an experiment file with a `connect` step"),
        (
            &["--vus", "--users", "--concurrency", "--clients", "--virtual-users"],
            "did you mean `-c`? Each connection is a virtual user",
        ),
        (&["--rps", "--qps"], "did you mean `-r`? It sets the arrivals per second"),
        (&["--iterations", "--number", "--total"], "did you mean `-n`? It sets the number of requests"),
        (&["--threads", "--cpus"], "did you mean `-t`? It sets the threads of the load generator"),
        (&["--data", "--data-raw"], "did you mean `-b`? Or paste the line after `plimsoll curl`"),
        (
            &["--location", "--redirects", "--max-redirects", "--follow-redirects"],
            "did you mean `--follow N`?",
        ),
        (
            &["--max-vus", "--max-workers"],
            "did you mean `--max-connections`? It limits the connections with `--rate`",
        ),
        (&["--http2-prior-knowledge", "--h2", "--h2c"], "did you mean `--http2`?"),
        (&["--max-concurrent-streams"], "did you mean `--streams`? It sets the users on each connection"),
        (&["--share", "--execution-segment"], "did you mean `--shard`?"),
        (&["--bands", "--histogram"], "did you mean `--buckets`?"),
        (&["--figures", "--plots"], "did you mean `--charts`?"),
        (&["--every", "--step-time"], "did you mean `--step-duration`?"),
        (&["--until"], "did you mean `--stop-when`?"),
        (&["--within", "--tolerance"], "did you mean `--precision`?"),
        (&["--budget"], "did you mean `--max-time`?"),
        (&["-x", "--http-proxy", "--socks5", "--socks5-hostname"], "did you mean `--proxy URL`?"),
        (&["--haproxy-protocol"], "did you mean `--proxy-protocol v1`?"),
        (&["--cacert"], "did you mean `--ca`?"),
        (&["--connect-to"], "did you mean `--addresses IP:PORT`?"),
        (&["--tls-max", "--tlsv1.2", "--tlsv1.3"], "did you mean `--tls-versions 1.2`, or `1.3`?"),
        (&["--cipher", "--cipher-list", "--tls-ciphers", "--tls13-ciphers"], "did you mean `--ciphers`?"),
        (&["--certificate", "--client-cert"], "did you mean `--cert`?"),
        (&["--output"], "did you mean `--out`?"),
        (&["--env", "-e"], "did you mean `--set NAME=VALUE`?"),
        (&["--duration-seconds", "--time"], "did you mean `-d`? A duration has a unit, such as `30s`"),
    ];
    let has = |names: &[&str]| names.contains(&flag);
    let not_yet = NOT_YET.iter().find(|row| has(row.0));
    let not_yet = not_yet.map(|(_, what, hint)| (format!("{what} (`{flag}`) is not supported yet"), *hint));
    not_yet.or_else(|| {
        let renamed = RENAMED.iter().find(|row| has(row.0));
        renamed.map(|(_, hint)| (format!("unknown flag `{flag}`"), *hint))
    })
}

/// Returns the fix for `-Jname=value`, which sets a property in JMeter.
fn jmeter_property(words: &[String]) -> Option<String> {
    let (name, value) = words.iter().find_map(|word| word.strip_prefix("-J")?.split_once('='))?;
    Some(format!("write `--set {name}={value}`, with `{name}` under `vars` of the experiment file"))
}

/// Returns the fix for `-n -t FILE -l FILE`, in which `-n` takes no value.
fn jmeter_run(words: &[String]) -> Option<String> {
    let after = |flag: &str| words.iter().skip_while(|word| *word != flag).nth(1).map(String::as_str);
    let plan = after("-t").filter(|plan| plan.parse::<u32>().is_err());
    let is_jmeter =
        after("-n").is_some_and(|next| next.starts_with('-')) && (plan.is_some() || after("-l").is_some());
    let is_experiment = |plan: &&str| [".yaml", ".yml", ".json"].iter().any(|end| plan.ends_with(end));
    let file = plan.filter(is_experiment).unwrap_or("FILE.yaml");
    is_jmeter.then(|| match plan.filter(|plan| plan.ends_with(".jmx")) {
        Some(_) => "`-n -t FILE -l FILE` are flags of JMeter; write `plimsoll jmeter` before them".to_owned(),
        None => {
            format!(
                "`-n -t FILE -l FILE` are flags of JMeter; run an experiment file with `plimsoll run {file}`"
            )
        }
    })
}

fn diagnostic(error: &clap::Error, words: &[String]) -> Diagnostic {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    // For `--limit <NAME=VALUE>`, the place is the flag alone.
    let argument = text(ContextKind::InvalidArg).unwrap_or_default();
    let flag = argument.split(" <").next().unwrap_or_default().to_owned();
    let at = |flag: String| Place::Flag(flag);
    match error.kind() {
        ErrorKind::UnknownArgument
            if flag == "-J"
                && let Some(hint) = jmeter_property(words) =>
        {
            Diagnostic::new("U001", Place::Whole, "`-J` is a flag of JMeter", hint)
        }
        ErrorKind::UnknownArgument if let Some((message, hint)) = of_other_tools(&flag) => {
            Diagnostic::new("U001", Place::Whole, message, hint)
        }
        ErrorKind::UnknownArgument if flag.starts_with('-') => {
            let hint = match text(ContextKind::SuggestedArg) {
                Some(near) => format!("did you mean `{near}`? `plimsoll --help` lists all flags"),
                None => "`plimsoll --help` lists all flags".into(),
            };
            Diagnostic::new("U001", Place::Whole, format!("unknown flag `{flag}`"), hint)
        }
        ErrorKind::UnknownArgument => Diagnostic::new(
            "U002",
            Place::Whole,
            format!("unexpected argument `{flag}`"),
            "give one URL or file per command, and quote values that contain spaces",
        ),
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            Diagnostic::new(
                "U003",
                at(flag.clone()),
                "this flag requires a value",
                jmeter_run(words)
                    .filter(|_| flag == "--requests")
                    .unwrap_or_else(|| "`plimsoll --help` shows what each flag takes".to_owned()),
            )
        }
        ErrorKind::TooManyValues => Diagnostic::new(
            "U004",
            at(flag.clone()),
            "this flag takes no value",
            "remove the `=` and what follows it",
        ),
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).unwrap_or_default();
            let message = if other.is_empty() || other == argument {
                "this flag is given twice".to_owned()
            } else {
                format!("`{flag}` cannot be used with `{}`", other.split(" <").next().unwrap_or_default())
            };
            Diagnostic::new("U005", at(flag), message, "remove one of them")
        }
        _ => {
            let whole = error.to_string();
            let line = whole.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Diagnostic::new("U006", Place::Whole, line, "`plimsoll --help` lists all flags")
        }
    }
}
