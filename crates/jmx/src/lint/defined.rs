//! The variables that a plan defines.

use crate::evaluate::Known;
use crate::text::{Part, Pos, Text};
use crate::tree::Raw;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Variables that JMeter itself defines.
const OWN: &[&str] = &[
    "START.MS",
    "START.YMD",
    "START.HMS",
    "TESTSTART.MS",
    "JMeterThread.last_sample_ok",
    "JMeterThread.pack",
];

/// Beginnings of names that JMeter defines: loop counters, and cookies.
const BEGINNINGS: &[&str] = &["__jm__", "COOKIE_"];

/// Longest header row of a data file, in bytes.
const HEADER_BYTES: u64 = 65_536;

/// The names that a plan defines.
pub(super) struct Defined {
    names: BTreeSet<String>,
    /// Whether some names are not known, because they depend on the load.
    is_open: bool,
}

impl Defined {
    /// Returns whether a name is defined: also `NAME_1`, `NAME_g1`, `NAME_matchNr`, and `NAME_ALL`.
    pub fn contains(&self, name: &str) -> bool {
        let is_own = OWN.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
        let mut prefixes = name.match_indices('_').map(|(at, _)| &name[..at]);
        is_own
            || self.is_open
            || self.names.contains(name)
            || prefixes.any(|prefix| self.names.contains(prefix))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// Returns the names that a plan defines.
pub(super) fn names(plan: &Raw, known: &Known, folder: &Path) -> Defined {
    let names = known.variables.keys().cloned().collect();
    let mut defined = Defined { names, is_open: false };
    element(plan, known, folder, &mut defined);
    defined
}

fn element(raw: &Raw, known: &Known, folder: &Path, defined: &mut Defined) {
    let value = |name: &str| {
        let text = Text::new(raw.text(name), Pos::default()).ok()?;
        known.value(&text).ok()
    };
    let mut add = |names: &str, separator: char| {
        let names = names.split(separator).map(str::trim).filter(|name| !name.is_empty());
        defined.names.extend(names.map(str::to_owned));
    };
    match raw.class.as_str() {
        "CSVDataSet" => match value("variableNames").filter(|names| !names.is_empty()) {
            Some(names) => add(&names, ','),
            None => match header(raw, known, folder) {
                Some(names) => names.iter().for_each(|name| add(name, '\n')),
                None => defined.is_open = true,
            },
        },
        "CounterConfig" => add(&value("CounterConfig.name").unwrap_or_default(), '\n'),
        "RandomVariableConfig" => add(&value("variableName").unwrap_or_default(), '\n'),
        "ResultSaver" => add(&value("FileSaver.variablename").unwrap_or_default(), '\n'),
        "UserParameters" => {
            for name in raw.find("UserParameters.names").iter().flat_map(|names| names.items()) {
                add(name.text(), '\n');
            }
        }
        "ForeachController" => add(&value("ForeachController.returnVal").unwrap_or_default(), '\n'),
        "RegexExtractor" => add(&value("RegexExtractor.refname").unwrap_or_default(), '\n'),
        "BoundaryExtractor" => add(&value("BoundaryExtractor.refname").unwrap_or_default(), '\n'),
        "HtmlExtractor" => add(&value("HtmlExtractor.refname").unwrap_or_default(), '\n'),
        "XPathExtractor" => add(&value("XPathExtractor.refname").unwrap_or_default(), '\n'),
        "XPath2Extractor" => add(&value("XPathExtractor2.refname").unwrap_or_default(), '\n'),
        "JMESPathExtractor" => add(&value("JMESExtractor.referenceName").unwrap_or_default(), '\n'),
        "JSONPostProcessor" => add(&value("JSONPostProcessor.referenceNames").unwrap_or_default(), ';'),
        _ => {}
    }
    let mut texts = Vec::new();
    for property in &raw.properties {
        super::property_texts(property, &mut texts);
    }
    for (text, _) in texts {
        scripted(text, defined);
        called(text, defined);
    }
    for child in &raw.children {
        element(child, known, folder, defined);
    }
}

/// Adds the names that a script sets: `vars.put("NAME", ...)`.
fn scripted(text: &str, defined: &mut Defined) {
    for (at, _) in text.match_indices("vars.put") {
        let rest = text[at..].split_once('(').map_or("", |(_, rest)| rest.trim_start());
        let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            // A name that the script computes.
            defined.is_open = true;
            continue;
        };
        if let Some((name, _)) = rest[1..].split_once(quote) {
            defined.names.insert(name.to_owned());
        }
    }
}

/// Adds the variables that functions set: most have an argument for it, often the last.
fn called(text: &str, defined: &mut Defined) {
    let Ok(text) = Text::new(text, Pos::default()) else { return };
    text.visit(&mut |part| {
        if let Part::Call(call) = part {
            let names = call.arguments.iter().skip(1).filter_map(Text::fixed).map(str::trim);
            defined.names.extend(names.filter(|name| is_name(name)).map(str::to_owned));
            if let ("__machineIP" | "__machineName" | "__samplerName" | "__split", Some(name)) =
                (call.name.as_str(), call.arguments.first().and_then(Text::fixed))
            {
                defined.names.insert(name.trim().to_owned());
            }
        }
    });
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}

/// Returns the names in the header row of a data file.
fn header(raw: &Raw, known: &Known, folder: &Path) -> Option<Vec<String>> {
    let text = Text::new(raw.text("filename"), Pos::default()).ok()?;
    let name = known.value(&text).ok()?;
    let near = folder.join(&name);
    let path = if near.exists() { near } else { Path::new(&name).to_path_buf() };
    let mut line = String::new();
    let file = std::io::Read::take(std::fs::File::open(path).ok()?, HEADER_BYTES);
    BufReader::new(file).read_line(&mut line).ok()?;
    let delimiter = match raw.text("delimiter") {
        "" => ",",
        r"\t" => "\t",
        delimiter => delimiter,
    };
    let names = line.trim_end().split(delimiter);
    Some(names.map(|name| name.trim().trim_matches('"').to_owned()).collect())
}
