//! What a rule sees of a row, what it says about it, and how the same remark about many rows becomes one finding:
//! one cause is one finding, or a reader learns to skip them.

use super::say;
use super::span::Span;
use crate::foreign::tools::definitions::{Definitions, InFlight};
use crate::foreign::tools::jmeter::definitions::WINDOW;
use crate::foreign::{Document, Figure, Measure, Row, Tool};
use crate::{Certainty, Finding, Grade, Premise, Quote};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Words by which [`Subject::named_tools`] finds a tool.
const NAMED: [&str; 16] = [
    "wrk",
    "ab",
    "apachebench",
    "bombardier",
    "autocannon",
    "oha",
    "rewrk",
    "loadtest",
    "k6",
    "locust",
    "jmeter",
    "gatling",
    "artillery",
    "vus",
    "vu",
    "virtual",
];

/// One row in its document.
pub(super) struct Subject<'a> {
    pub document: &'a Document,
    pub row: &'a Row,
    pub once: &'a Once,
}

/// What holds for a whole document, looked up at the first row that asks: each of thousands of rows would otherwise
/// read the whole text again.
#[derive(Default)]
pub(super) struct Once {
    pub versioned: OnceCell<bool>,
    pub machines: OnceCell<bool>,
    /// Commands of the text state the load, and the duration.
    pub commands: OnceCell<[bool; 2]>,
    /// Tools that the text names.
    pub tools: OnceCell<BTreeSet<&'static str>>,
    /// Labels of several rows below different headings.
    pub repeated: OnceCell<BTreeSet<String>>,
}

impl<'a> Subject<'a> {
    pub fn tool(&self) -> Option<Tool> {
        self.row.tool
    }

    /// What the words of its tool mean; none for a table of unknown origin.
    pub fn definitions(&self) -> Option<&'static Definitions> {
        self.tool().map(Tool::definitions)
    }

    /// Whether its tool is known to be so.
    pub fn is(&self, so: fn(&Definitions) -> bool) -> bool {
        self.definitions().is_some_and(so)
    }

    /// Tools that the text names, of those that define a figure of their own or never pause.
    pub fn named_tools(&self) -> &BTreeSet<&'static str> {
        self.once.tools.get_or_init(|| {
            let text = self.document.text.to_lowercase().replace("apache bench", "apachebench");
            let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            NAMED.iter().copied().filter(|name| words.contains(name)).collect()
        })
    }

    /// What is not known of the row, so that the definitions of its tool prove nothing; none: it is a whole output.
    pub fn unknown(&self) -> Option<String> {
        match self.definitions() {
            _ if self.row.is_whole || self.row.samples.is_some() => None,
            Some(definitions) => Some(format!(
                "the text is an excerpt of what {} prints, or was changed: what is not there may explain it",
                definitions.name
            )),
            None => Some("nothing says what these figures count: another definition may explain it".into()),
        }
    }

    /// Requests that one user may have in flight, as far as the tool and the row's own words say.
    pub fn in_flight(&self) -> Option<InFlight> {
        // The length of the pipeline is unknown.
        let is_open = self.row.words.contains_key("pipelined");
        is_open.then_some(InFlight::Open).or(self.definitions().map(|d| d.in_flight))
    }

    /// A figure that makes sense as a range, cut at 0: negative ones are the business of one rule.
    pub fn get(&self, measure: Measure) -> Option<(&'a Figure, Span)> {
        let figure = self.row.figures.get(&measure)?;
        let span = Span::of(figure)?;
        (figure.value >= 0.0).then(|| (figure, span.at_least_zero()))
    }

    /// The same as far as the digits go, for figures of one set of times against each other.
    pub fn digits(&self, measure: Measure) -> Option<(&'a Figure, Span)> {
        let (figure, span) = self.get(measure)?;
        // JMeter's report takes percentiles of a window; single samples have ranges by which they were counted.
        let windowed = self.tool() == Some(Tool::Jmeter) && self.samples().is_none_or(|n| n > WINDOW as f64);
        let keep = windowed || self.row.samples.is_some() || !self.is(|d| d.records_whole_ms);
        let own = if keep { span } else { Span::of_digits(figure)?.at_least_zero() };
        Some((figure, own))
    }

    /// The range alone.
    pub fn span(&self, measure: Measure) -> Option<Span> {
        self.get(measure).map(|(_, span)| span)
    }

    /// Whether one figure is certainly more than another. Rounding never turns the order of two numbers around: of two
    /// figures that one tool rounds alike, the one that reads more is more, even where their ranges touch.
    pub fn exceeds(&self, (a, x): (&Figure, Span), (b, y): (&Figure, Span)) -> bool {
        let alike = |p: f64, q: f64| (p - q).abs() <= 1e-6 * (a.high - a.low);
        let rounded_alike = self.tool().is_some()
            && a.high > a.low
            && a.unit == b.unit
            && alike(a.value - a.low, b.value - b.low)
            && alike(a.high - a.value, b.high - b.value);
        x.above(y) || rounded_alike && a.value > b.value + 1e-3 * (a.high - a.low)
    }

    /// Samples behind the row's times, if a count is stated.
    pub fn samples(&self) -> Option<f64> {
        // An excerpt may end before the statuses, which give the requests, and after the histogram of all times.
        let buckets = &self.row.histogram;
        let counted = || (buckets.len() >= 10).then(|| buckets.iter().map(|(_, times)| times.value).sum());
        self.get(Measure::Requests).map(|(f, _)| f.value).or_else(counted).filter(|n| *n >= 1.0)
    }

    /// Stated percentiles with their share (0..1), lowest first.
    pub fn percentiles(&self) -> Vec<(f64, u16, &'a Figure, Span)> {
        let all = self.row.figures.range(Measure::Percentile(0)..=Measure::Percentile(10_000));
        all.filter_map(|(measure, _)| match measure {
            Measure::Percentile(p) if *p <= 10_000 => {
                let (figure, span) = self.digits(*measure)?;
                Some((f64::from(*p) / 10_000.0, *p, figure, span))
            }
            _ => None,
        })
        .collect()
    }

    /// Its name in a sentence. Where several runs have one name, their headings tell them apart.
    pub fn label(&self) -> String {
        let label = self.row.label.trim();
        if label.is_empty() {
            return format!("line {}", self.row.lines.0);
        }
        let repeated = self.once.repeated.get_or_init(|| repeated(&self.document.rows));
        match self.row.headings.last().filter(|_| repeated.contains(label)) {
            Some(heading) => format!("{label} ({heading})"),
            None => label.to_owned(),
        }
    }

    /// `/pick, 80 connections: ` in front of a sentence about one row.
    pub fn front(&self) -> String {
        format!("{}: ", self.label())
    }
}

/// Labels that rows below different headings have in common.
fn repeated(rows: &[Row]) -> BTreeSet<String> {
    let mut first: BTreeMap<&str, Option<&String>> = BTreeMap::new();
    let named = rows.iter().map(|row| (row.label.trim(), row.headings.last()));
    let mut differs = |(label, heading)| *first.entry(label).or_insert(heading) != heading;
    named.filter(|row| differs(*row)).map(|(label, _)| label.to_owned()).collect()
}

/// What a rule says about one row.
pub(super) struct Hit {
    pub certainty: Certainty,
    /// Sentence about this row, without its name: `the mean lies above p95`.
    pub sentence: String,
    /// The same about several rows, followed by their names: `the mean lies above p95`.
    pub many: &'static str,
    pub arithmetic: Vec<String>,
    pub explanation: String,
    pub advice: &'static str,
    pub places: Vec<(u32, String)>,
    /// What is not certain, where that makes a contradiction a doubt.
    pub open: Option<String>,
}

impl Hit {
    pub fn new(certainty: Certainty, many: &'static str, sentence: impl Into<String>) -> Hit {
        Hit {
            certainty,
            sentence: sentence.into(),
            many,
            arithmetic: Vec::new(),
            explanation: String::new(),
            advice: "",
            places: Vec::new(),
            open: None,
        }
    }

    /// Only a doubt, because of this.
    pub fn open(mut self, reason: Option<&str>) -> Hit {
        self.open = self.open.or(reason.map(str::to_owned));
        self
    }

    /// One line of the calculation.
    pub fn line(mut self, line: impl Into<String>) -> Hit {
        self.arithmetic.push(line.into());
        self
    }

    /// What usually explains it.
    pub fn why(mut self, explanation: impl Into<String>) -> Hit {
        self.explanation = explanation.into();
        self
    }

    pub fn advice(mut self, advice: &'static str) -> Hit {
        self.advice = advice;
        self
    }

    /// Figures that the remark stands on.
    pub fn at<'f>(mut self, figures: impl IntoIterator<Item = &'f Figure>) -> Hit {
        self.places.extend(figures.into_iter().map(|f| (f.line, f.written.clone())));
        self
    }
}

/// Runs a rule over every row and gathers what it says: rows of one table, or runs of one tool in one text, with the
/// same explanation and certainty become one finding.
pub(super) fn gather(
    (rule, grade, premise): (&'static str, Grade, Premise),
    look: fn(&Subject) -> Option<Hit>,
    documents: &[Document],
    out: &mut Vec<Finding>,
) {
    type Group<'a> = (&'a Document, Option<usize>, (Option<Tool>, Grade), Vec<(Subject<'a>, Hit)>);
    let mut groups: Vec<Group> = Vec::new();
    let caches: Vec<Once> = documents.iter().map(|_| Once::default()).collect();
    for (document, once) in documents.iter().zip(&caches) {
        let first = groups.len();
        for row in &document.rows {
            let subject = Subject { document, row, once };
            let Some(mut hit) = look(&subject) else { continue };
            let missing = if premise == Premise::WholeOutput { subject.unknown() } else { None };
            let open = hit.open.take().or(missing).filter(|_| grade == Grade::Impossible);
            let grade = open.as_ref().map_or(grade, |_| Grade::Implausible);
            if let Some(open) = open {
                hit.certainty = hit.certainty.max(Certainty::Likely);
                hit.explanation = [hit.explanation, open]
                    .into_iter()
                    .filter(|t| !t.is_empty())
                    .collect::<Vec<_>>()
                    .join("; ");
            }
            // What is missing is missing in the text, whichever table it is not in.
            let table = if grade == Grade::Missing { None } else { row.table };
            let tool = (if grade == Grade::Missing { None } else { row.tool }, grade);
            let same = |g: &&mut Group| {
                let like = |other: &Hit| {
                    other.certainty == hit.certainty
                        && other.explanation == hit.explanation
                        && other.many == hit.many
                };
                g.1 == table && g.2 == tool && g.3.first().is_some_and(|(_, other)| like(other))
            };
            match groups[first..].iter_mut().find(same) {
                Some(group) => group.3.push((subject, hit)),
                None => groups.push((document, table, tool, vec![(subject, hit)])),
            }
        }
    }
    out.extend(
        groups.into_iter().filter_map(|(document, _, (_, grade), hits)| finding(rule, grade, document, hits)),
    );
}

fn finding(
    rule: &'static str,
    grade: Grade,
    document: &Document,
    hits: Vec<(Subject, Hit)>,
) -> Option<Finding> {
    let (first, hit) = hits.first()?;
    let (certainty, explanation, advice) = (hit.certainty, hit.explanation.clone(), hit.advice.to_owned());
    let sentence = if hits.len() == 1 {
        // What is missing in the only row is missing in the text.
        if grade == Grade::Missing { hit.sentence.clone() } else { first.front() + &hit.sentence }
    } else {
        // A report may print one run twice.
        let mut known = BTreeSet::new();
        let labels = hits.iter().map(|(subject, _)| subject.label());
        let names: Vec<String> = labels.filter(|label| known.insert(label.clone())).collect();
        let table = first.row.table.and_then(|t| document.tables.get(t)).map_or("", |t| t.caption.trim());
        match grade {
            // What is nowhere needs no list of places.
            Grade::Missing => format!("{} ({} rows)", hit.many, hits.len()),
            _ if !table.is_empty() && table.len() <= 60 => {
                format!("{} in {} rows of `{table}`: {}", hit.many, hits.len(), say::list(&names))
            }
            _ => format!("{} in {} rows: {}", hit.many, hits.len(), say::list(&names)),
        }
    };
    let mut arithmetic = Vec::new();
    let mut quotes = Vec::new();
    let mut quoted = BTreeSet::new();
    // A reader follows the arithmetic of some rows, and not of thousands with one cause.
    const SHOWN: usize = 100;
    for (subject, hit) in hits.iter().take(SHOWN) {
        let front = if hits.len() == 1 { String::new() } else { subject.front() };
        arithmetic.extend(hit.arithmetic.iter().map(|line| format!("{front}{line}")));
        for (line, text) in &hit.places {
            let quote = Quote { file: document.name.clone(), line: *line, text: text.clone() };
            if quoted.insert((*line, text.as_str())) {
                quotes.push(quote);
            }
        }
    }
    if hits.len() > SHOWN && !arithmetic.is_empty() {
        arithmetic.push(format!("and {} more rows", hits.len() - SHOWN));
    }
    Some(Finding {
        rule,
        grade,
        certainty,
        sentence,
        arithmetic,
        explanation,
        advice,
        quotes,
        also: Vec::new(),
    })
}
