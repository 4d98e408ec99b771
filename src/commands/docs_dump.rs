//! `plimsoll docs-dump` (hidden): the reference pages, generated from the program's own tables, as one JSON list of
//! `{path, text}`.

use crate::codes;
use crate::exit::{Exit, Failure};
use crate::flags::Load;
use crate::flags::verbs::{self, Group};
use crate::say;
use clap::{Command, CommandFactory};
use plimsoll_analysis::caution::{Evidence, Kind};
use plimsoll_front::explain::TABLE;
use plimsoll_front::own::key::{self, Section};
use plimsoll_plan::metric::{
    CheckSum, CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, GroupHist, GroupSum, RateSum, RunFloor,
    RunHist, RunPeak, RunSum, SeriesFloor, SeriesHist, SeriesPeak, SeriesSum, StreamHist, StreamSum,
    TrendHist, WebSocketHist, WebSocketSum,
};
use plimsoll_plan::script::TimingPart;
use plimsoll_plan::value::{Fake, Function, TEXT_FUNCTIONS};
use plimsoll_plan::{Fault, limit};
use std::fmt::Write;

const NOTICE: &str = "<!-- Made by `cargo xtask docs`; edit the tables in the source instead. -->\n";

pub fn command() -> Result<Exit, Failure> {
    let pages = [
        ("command-line.md", command_line()),
        ("exit-codes.md", exit_codes()),
        ("experiment-file.md", experiment_file()),
        ("faults.md", faults()),
        ("limits.md", limits()),
        ("metrics.md", metrics()),
        ("cautions.md", cautions()),
        ("mistakes.md", mistakes()),
    ];
    let list: Vec<serde_json::Value> =
        pages.iter().map(|(path, text)| serde_json::json!({"path": path, "text": text})).collect();
    say::result(&format!("{}\n", serde_json::Value::from(list)))?;
    Ok(Exit::Pass)
}

fn page(title: &str, lead: &str) -> String {
    format!("{NOTICE}\n# {title}\n\n{lead}\n\n")
}

/// Returns a Markdown table with its bars escaped, because a bar would end a cell.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&head.iter().map(|h| h.to_string()).collect::<Vec<_>>());
    text.push_str(&line(&head.iter().map(|_| "---".to_owned()).collect::<Vec<_>>()));
    for row in rows {
        text.push_str(&line(&row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>()));
    }
    text
}

fn command_line() -> String {
    let mut text =
        page("The command line", "Flags may come before or after the name of a command, except for `curl`.");
    let mut add = |name: &str, help: String| {
        // Writing to a string cannot fail. Trims blanks that wrapping leaves at the ends of lines.
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "## `{name}`\n\n```text\n{}\n```\n\n", help.join("\n").trim_end());
    };
    add("plimsoll", help(&Load::command()));
    let all = verbs::commands();
    for command in all.get_subcommands() {
        let name = command.get_name();
        if verbs::named(name).is_some_and(|row| row.group != Group::Hidden) {
            add(&format!("plimsoll {name}"), help(command));
            for action in command.get_subcommands().filter(|action| action.get_arguments().next().is_some()) {
                let name = format!("plimsoll {name} {}", action.get_name());
                add(&name, help(&action.clone().bin_name(&name)));
            }
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// Renders the help at a fixed width, so that the page does not depend on the window.
fn help(of: &Command) -> String {
    of.clone().term_width(100).render_help().to_string()
}

fn exit_codes() -> String {
    let rows = Exit::ALL.iter().map(|e| vec![e.code().to_string(), e.meaning().to_owned()]);
    page("Exit codes", "Every command exits with one of these codes.") + &table(&["code", "meaning"], rows)
}

fn experiment_file() -> String {
    let lead = "Keys that `plimsoll run FILE.yaml` reads. All but `target` and `scenarios` are optional, and flags on \
                the command line override them. The files under `examples/` are small, complete experiments.";
    let mut text = page("The experiment file", lead);
    for section in Section::ALL {
        let rows = key::TABLE.iter().filter(|row| row.section == *section);
        let rows = rows.map(|row| vec![format!("`{}`", row.name), row.expects.to_owned()]);
        let _ = write!(text, "## Keys {}\n\n{}\n", section.name(), table(&["key", "expects"], rows));
    }
    let timings = TimingPart::NAMED.iter().map(|(name, _)| *name);
    let calls = TEXT_FUNCTIONS.iter().copied().chain(timings).map(|name| format!("`${{{name}(...)}}`"));
    let functions = Function::NAMES.iter().map(|name| format!("`${{{name}}}`")).chain(calls);
    let _ = writeln!(text, "Functions in `${{...}}`: {}.\n", functions.collect::<Vec<_>>().join(", "));
    let fakes: Vec<String> = Fake::NAMED.iter().map(|(name, _)| format!("`${{fake.{name}}}`")).collect();
    let _ = writeln!(text, "Made-up data: {}.\n", fakes.join(", "));
    let later: Vec<String> = key::LATER.iter().map(|(_, name)| format!("`{name}`")).collect();
    let _ = writeln!(text, "Rejected because they are not supported yet: {}.", later.join(", "));
    text
}

fn mistakes() -> String {
    let lead = "Meaning of each error code; `plimsoll explain CODE` prints the same text.";
    let mut text = page("Error codes", lead);
    for row in TABLE.iter().chain(codes::TABLE) {
        let _ = write!(text, "## {}: {}\n\n{}\n\n", row.code, row.title, row.text.trim_end());
    }
    text.trim_end().to_owned() + "\n"
}

fn faults() -> String {
    let lead = "Why a request failed, or the attempt to open a connection for it. A failure on the client's side is a \
                limit of the load generator: it makes a run INCONCLUSIVE and never counts as an error.";
    let rows = Fault::ALL.iter().map(|f| {
        vec![format!("`{}`", f.name()), format!("{:?}", f.side()).to_lowercase(), f.sentence().to_owned()]
    });
    page("Faults", lead) + &table(&["class", "side", "description"], rows)
}

fn limits() -> String {
    let lead = "Limits of the load generator; `--limit NAME=VALUE` changes one.";
    let rows = limit::TABLE.iter().map(|row| {
        let unit = match row.unit {
            limit::Unit::Count => "",
            limit::Unit::Bytes | limit::Unit::BufferBytes => " bytes",
            limit::Unit::Nanoseconds => " ns",
        };
        vec![format!("`{}`", row.name), format!("{}{unit}", row.default), row.help.to_owned()]
    });
    page("Limits", lead) + &table(&["name", "default", "meaning"], rows)
}

fn metrics() -> String {
    fn group<T: Copy>(
        text: &mut String,
        title: &str,
        all: &[T],
        of: impl Fn(T) -> (&'static str, &'static str),
    ) {
        let rows = all.iter().map(|one| {
            let (name, help) = of(*one);
            vec![format!("`{name}`"), help.to_owned()]
        });
        let _ = write!(text, "## {title}\n\n{}\n", table(&["name", "meaning"], rows));
    }
    let mut text = page("Metrics", "Metrics that a run counts and its run file contains.");
    group(&mut text, "Run: sums", RunSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Run: maxima", RunPeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Run: minima", RunFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Run: histograms", RunHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each request: sums", SeriesSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each request: maxima", SeriesPeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each request: minima", SeriesFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each request: histograms", SeriesHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each stream: additional sums", StreamSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each stream: additional histograms", StreamHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each WebSocket: additional sums", WebSocketSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each WebSocket: additional histograms", WebSocketHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each check: sums", CheckSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each group: sums", GroupSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Each group: histograms", GroupHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined counter: sums", CounterSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined gauge: sums", GaugeSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined gauge: maxima", GaugePeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined gauge: minima", GaugeFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined gauge: last values", GaugeLast::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined rate: sums", RateSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "User-defined trend: histograms", TrendHist::ALL, |m| (m.name(), m.help()));
    text.trim_end().to_owned() + "\n"
}

fn cautions() -> String {
    let lead = "Reasons to doubt a result. A caution of severity `inconclusive` makes the verdict INCONCLUSIVE only if \
                it could change the result of a threshold. Consider a warning before you use the result; a note needs \
                no action.";
    let rows = Kind::ALL.iter().map(|kind| {
        let weight = format!("{:?}", kind.weight()).to_lowercase();
        vec![
            format!("`{}`", kind.code()),
            weight,
            kind.title().to_owned(),
            kind.impact().to_owned(),
            kind.advice().to_owned(),
        ]
    });
    let all = page("Cautions", lead) + &table(&["code", "severity", "title", "impact", "action"], rows);
    let lead = "In the JSON document, `figures` of a caution contains the numbers of its evidence. Unknown numbers are \
                omitted, and numbers that the example does not show may be added.";
    let rows = Evidence::examples().into_iter().map(|evidence| {
        let names = fields(&serde_json::to_value(&evidence).unwrap_or_default(), "");
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        vec![format!("`{}`", evidence.kind().code()), names.join(", "), evidence.text()]
    });
    format!("{all}\n## Figures\n\n{lead}\n\n{}", table(&["code", "figures", "example"], rows))
}

/// Returns the names of all fields: `hosts`, `monitors[].monitor`.
fn fields(value: &serde_json::Value, path: &str) -> Vec<String> {
    match value {
        serde_json::Value::Object(all) => {
            let dot = if path.is_empty() { "" } else { "." };
            all.iter().flat_map(|(name, value)| fields(value, &format!("{path}{dot}{name}"))).collect()
        }
        serde_json::Value::Array(items) => match items.first() {
            Some(first @ serde_json::Value::Object(_)) => fields(first, &format!("{path}[]")),
            _ => vec![path.to_owned()],
        },
        _ => vec![path.to_owned()],
    }
}
