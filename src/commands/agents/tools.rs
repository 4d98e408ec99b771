//! Loads with the command line of another tool, `k6 run` and `jmeter`: the words that travel to agents, and those that
//! an agent accepts.

use crate::exit::Failure;
use crate::flags::agents::AgentFlags;
use plimsoll_jmx::flags::Invocation;
use plimsoll_k6::flags::{FLAGS, OPTION_VARIABLES, Run};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::inputs;
use std::path::Path;

/// Returns whether words are the command line of another tool.
pub fn is_tool(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "k6" || word == "jmeter")
}

/// Returns the command line of a load of k6, and notes the variables that shape it.
pub fn of_k6(run: &Run, allows_remote: bool, ca: &[String]) -> Vec<String> {
    let of_flags = FLAGS.iter().filter(|flag| !flag.is_about_results()).filter_map(|flag| flag.variable);
    for name in of_flags.chain(OPTION_VARIABLES.map(|(name, _)| name)) {
        if let Ok(value) = std::env::var(name) {
            inputs::note_variable(name, &value);
        }
    }
    let mut words = vec!["k6".to_owned(), "run".to_owned()];
    words.extend(run.of_load.iter().map(|(name, value)| format!("--{name}={value}")));
    words.extend(allows_remote.then(|| "--allow-remote".to_owned()));
    words.extend(ca.iter().map(|file| format!("--ca={file}")));
    words.push(run.script.clone());
    words
}

/// Returns the command line of a load of JMeter, and notes its files of properties.
pub fn of_jmeter(asked: &Invocation) -> Vec<String> {
    let mut words = vec!["jmeter".to_owned(), "-n".to_owned(), format!("--testfile={}", asked.plan)];
    for file in &asked.property_files {
        inputs::note(Path::new(file));
        words.push(format!("--addprop={file}"));
    }
    words.extend(asked.properties.iter().map(|(name, value)| format!("-J{name}={value}")));
    words.extend(asked.own.set.iter().map(|(name, value)| format!("--set={name}={value}")));
    words.extend(asked.own.skips_scripts.then(|| "--skip-scripts".to_owned()));
    words.extend(asked.results.is_some().then(|| "--samples".to_owned()));
    words
}

/// Returns whether words are the command line of a load of another tool, without outputs.
pub fn is_load(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["k6", "run", rest @ ..] => {
            let is_of_load =
                |word: &&&str| match word.strip_prefix("--").and_then(|long| long.split_once('=')) {
                    Some(("seed" | "ca", _)) => true,
                    Some((name, _)) => FLAGS.iter().any(|flag| flag.long == name && !flag.is_about_results()),
                    None => **word == "--allow-remote" || !word.starts_with('-'),
                };
            let is_script = |word: &&&str| !word.starts_with('-');
            rest.iter().all(|word| is_of_load(&word)) && rest.iter().filter(is_script).count() == 1
        }
        ["jmeter", rest @ ..] => {
            let accepted = ["-J", "--testfile=", "--addprop=", "--set=", "--seed="];
            rest.iter().all(|word| {
                ["-n", "--skip-scripts", "--samples"].contains(word)
                    || accepted.iter().any(|known| word.starts_with(known))
            })
        }
        _ => false,
    }
}

/// Returns the words with which an agent's load generator writes its record to `record` and prints nothing else.
pub fn own_words(words: &[String], record: &Path) -> Vec<String> {
    let mut own = vec![format!("--save={}", record.display())];
    if words.first().is_some_and(|word| word == "k6") {
        own.extend(["--quiet", "--no-color", "--log-format=raw"].map(str::to_owned));
    }
    own
}

/// Refuses an output for which the agents would have to send each sample.
pub fn refuse_samples(flag: &str, shown: &str) -> Failure {
    let message = format!("`{shown}` contains every sample, and agents send the sums of each second");
    let hint = "use `--save FILE.plim` and `plimsoll report`, or omit `--agents`";
    Diagnostic::new("U049", Place::Flag(flag.into()), message, hint).into()
}

/// Refuses what a load from agents cannot do.
pub fn refuse(flag: &str, message: impl Into<String>, hint: &str) -> Failure {
    Diagnostic::new("U049", Place::Flag(flag.into()), message, hint).into()
}

/// Refuses a script on standard input, which agents cannot read.
///
/// # Errors
/// Returns an error if `file` is standard input and agents are asked for.
pub fn refuse_stdin(file: &str, flags: &AgentFlags) -> Result<(), Failure> {
    match file == "-" && flags.selection.is_some() {
        true => Err(refuse("--agents", "agents cannot read a script from standard input", "name a file")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::is_load;

    #[test]
    fn an_agent_accepts_loads_of_other_tools_without_their_outputs() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for text in [
            "k6 run --vus=3 --env=A=b --seed=7 a.js",
            "k6 run --allow-remote a.js",
            "jmeter -n --testfile=plan.jmx -Jusers=4 --addprop=a --set=A=1 --seed=7 --samples",
        ] {
            assert!(is_load(&words(text)), "{text}");
        }
        for text in [
            "k6 new a.js",
            "k6 run --out=json=/etc/x a.js",
            "k6 run --summary-export=/etc/x a.js",
            "k6 run --console-output=/etc/x a.js",
            "k6 run --log-output=file=/etc/x a.js",
            "k6 run --save=/etc/x a.js",
            "k6 run -o json=/etc/x a.js",
            "k6 run a.js /etc/x",
            "k6 run",
            "jmeter -n --testfile=plan.jmx -l/etc/x",
            "jmeter -n --testfile=plan.jmx -j/etc/x",
            "jmeter -n --testfile=plan.jmx --save=/etc/x",
            "jmeter -n --testfile=plan.jmx -e -o/etc/x",
        ] {
            assert!(!is_load(&words(text)), "{text}");
        }
    }
}
