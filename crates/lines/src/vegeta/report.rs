//! `vegeta report`.

use crate::flags::{self, Does, Mistakes, Row, Style, with};
use plimsoll_plan::{Diagnostic, Problem, unit};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flag {
    Type,
    Buckets,
    Every,
    Output,
}

const TABLE: &[Row<Flag>] = &[
    with(&["-type"], Does::Apply(Flag::Type)),
    with(&["-buckets"], Does::Apply(Flag::Buckets)),
    with(&["-every"], Does::Apply(Flag::Every)),
    with(&["-output"], Does::Apply(Flag::Output)),
];

/// The type of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportType {
    Text,
    /// With a histogram if `-buckets` names its edges, ns.
    Json(Vec<u64>),
    /// The edges of the buckets, ns.
    Histogram(Vec<u64>),
    HdrPlot,
}

/// `vegeta report`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub kind: ReportType,
    /// Names of run files; empty: standard input.
    pub files: Vec<String>,
    /// `-output`; `None`: standard output.
    pub output: Option<String>,
}

/// Reads the words after `plimsoll vegeta report`.
///
/// # Errors
/// Returns every mistake found.
pub fn report(args: &[String]) -> Result<Report, Vec<Diagnostic>> {
    let mut wrong = Mistakes::default();
    let words = flags::read("vegeta", args, Style::Go, TABLE, &mut wrong);
    let (mut kind, mut buckets, mut output) = ("text".to_owned(), None, None);
    for given in &words.flags {
        let value = given.value.clone();
        match given.does {
            Flag::Type => kind = value,
            Flag::Buckets => buckets = Some(value).filter(|text| !text.is_empty()),
            Flag::Output => output = Some(value).filter(|file| file != "stdout"),
            Flag::Every if value == "0" || value == "0s" => {}
            Flag::Every => {
                let problem = Problem::new("a report is written once, at its end", "remove the flag");
                wrong.add(&given.flag, problem);
            }
        }
    }
    let own = &words.own;
    let stray =
        [("--save", own.save.is_some()), ("--report", own.report.is_some()), ("--verdict", own.has_verdict)];
    for (flag, _) in stray.into_iter().filter(|(_, is_given)| *is_given) {
        wrong.add(flag, Problem::new("this flag is for `vegeta attack`", "remove the flag"));
    }
    let edges = |text: Option<&str>, wrong: &mut Mistakes| {
        text.and_then(|text| wrong.taken("-buckets", edges_ns(text))).unwrap_or_default()
    };
    let kind = match kind.as_str() {
        "text" => ReportType::Text,
        "json" => ReportType::Json(edges(buckets.as_deref(), &mut wrong)),
        "hdrplot" => ReportType::HdrPlot,
        other => match other.strip_prefix("hist") {
            // The edges may be part of the type.
            Some(own) => ReportType::Histogram(edges(Some(buckets.as_deref().unwrap_or(own)), &mut wrong)),
            None => {
                let message = format!("unknown type of report `{other}`");
                let hint = "write `text`, `json`, `hist[0,10ms,100ms]`, or `hdrplot`";
                wrong.add("-type", Problem::new(message, hint));
                ReportType::Text
            }
        },
    };
    let files = words.others.into_iter().filter(|file| file != "stdin").collect();
    if wrong.0.is_empty() { Ok(Report { kind, files, output }) } else { Err(wrong.0) }
}

/// Reads `[0,10ms,1s]`. A first edge of 0 is added, as in Vegeta.
fn edges_ns(text: &str) -> Result<Vec<u64>, Problem> {
    let hint = "write edges such as `[0,10ms,100ms]`";
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or_else(|| Problem::new(format!("invalid buckets `{text}`"), hint))?;
    let mut edges = Vec::new();
    for edge in inner.split(',').map(str::trim) {
        edges.push(if edge == "0" { 0 } else { unit::duration_ns(edge)? });
    }
    if edges.first() != Some(&0) {
        edges.insert(0, 0);
    }
    match edges.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(edges),
        false => Err(Problem::new("the edges of buckets must ascend", hint)),
    }
}
