//! `plimsoll docs-dump` (hidden): the reference pages, made from the tables that the program itself uses, as
//! one JSON list of `{path, text}`.

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
    TrendHist,
};
use plimsoll_plan::value::Function;
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

/// A Markdown table; a bar would end a cell.
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
        page("The command line", "Flags may stand before or after the name of a command, except for `curl`.");
    let mut add = |name: &str, help: String| {
        // Writing to a string cannot fail. Lines end without blanks, whatever the wrapping left.
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "## `{name}`\n\n```text\n{}\n```\n\n", help.join("\n").trim_end());
    };
    add("plimsoll", help(&Load::command()));
    let all = verbs::commands();
    for command in all.get_subcommands() {
        let name = command.get_name();
        if verbs::named(name).is_some_and(|row| row.group != Group::Hidden) {
            add(&format!("plimsoll {name}"), help(command));
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// At a fixed width: the page must not depend on the window in which it is made.
fn help(of: &Command) -> String {
    of.clone().term_width(100).render_help().to_string()
}

fn exit_codes() -> String {
    let rows = Exit::ALL.iter().map(|e| vec![e.code().to_string(), e.meaning().to_owned()]);
    page("Exit codes", "Every command ends with one of these.") + &table(&["code", "meaning"], rows)
}

fn experiment_file() -> String {
    let lead = "What `plimsoll run FILE.yaml` reads. Every key but `target` and `scenarios` may be left out; a \
                flag on the command line overrides the file. The files under `examples/` are small whole ones.";
    let mut text = page("The experiment file", lead);
    for section in Section::ALL {
        let rows = key::TABLE.iter().filter(|row| row.section == *section);
        let rows = rows.map(|row| vec![format!("`{}`", row.name), row.expects.to_owned()]);
        let _ = write!(text, "## Keys {}\n\n{}\n", section.name(), table(&["key", "expects"], rows));
    }
    let functions: Vec<String> = Function::NAMES.iter().map(|name| format!("`${{{name}}}`")).collect();
    let _ = writeln!(text, "Functions in `${{...}}`: {}.\n", functions.join(", "));
    let later: Vec<String> = key::LATER.iter().map(|(_, name)| format!("`{name}`")).collect();
    let _ = writeln!(text, "Refused by name, because they are not supported yet: {}.", later.join(", "));
    text
}

fn mistakes() -> String {
    let lead = "What stands behind the code of a mistake; `plimsoll explain CODE` prints the same.";
    let mut text = page("Mistakes", lead);
    for row in TABLE.iter().chain(codes::TABLE) {
        let _ = write!(text, "## {}: {}\n\n{}\n\n", row.code, row.title, row.text.trim_end());
    }
    text.trim_end().to_owned() + "\n"
}

fn faults() -> String {
    let lead = "Why a request failed, or the attempt to make a connection for it. A fault on the client's \
                side is a limit of the load generator: it makes a run INCONCLUSIVE and never counts among \
                the errors.";
    let rows = Fault::ALL.iter().map(|f| {
        vec![format!("`{}`", f.name()), format!("{:?}", f.side()).to_lowercase(), f.sentence().to_owned()]
    });
    page("Faults", lead) + &table(&["class", "side", "what happened"], rows)
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
    let mut text = page("Metrics", "What is counted, as run files hold it.");
    group(&mut text, "Sums of a run", RunSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Highest values of a run", RunPeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Lowest values of a run", RunFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Histograms of a run", RunHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of each request", SeriesSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Highest values of each request", SeriesPeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Lowest values of each request", SeriesFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Histograms of each request", SeriesHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of each stream, besides", StreamSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Histograms of each stream, besides", StreamHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of each check", CheckSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of each group", GroupSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Histograms of each group", GroupHist::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of a user-defined counter", CounterSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of a user-defined gauge", GaugeSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Highest values of a user-defined gauge", GaugePeak::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Lowest values of a user-defined gauge", GaugeFloor::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Last values of a user-defined gauge", GaugeLast::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Sums of a user-defined rate", RateSum::ALL, |m| (m.name(), m.help()));
    group(&mut text, "Histograms of a user-defined trend", TrendHist::ALL, |m| (m.name(), m.help()));
    text.trim_end().to_owned() + "\n"
}

fn cautions() -> String {
    let lead = "Doubts about a result. Those that weigh INCONCLUSIVE may turn the answer of a threshold, and weigh \
                that only where they do; a warning must be known to the reader; a note is good to know.";
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
    let lead = "`figures` of a caution in the JSON document has the numbers of its evidence. What is not known is left \
                out, and further figures may stand beside those of the example.";
    let rows = Evidence::examples().into_iter().map(|evidence| {
        let names = fields(&serde_json::to_value(&evidence).unwrap_or_default(), "");
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        vec![format!("`{}`", evidence.kind().code()), names.join(", "), evidence.text()]
    });
    format!("{all}\n## Figures\n\n{lead}\n\n{}", table(&["code", "figures", "for example"], rows))
}

/// The names of all fields: `hosts`, `monitors[].monitor`.
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
