//! A row `Total` among the rows of its table, or of the summary it stands in: counts of parts add up.

use super::mixture;
use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::{self, Likely, Possible, Proved};
use crate::foreign::tools::jmeter::definitions::WINDOW as WINDOW_OF_JMETER;
use crate::foreign::{Figure, Measure, Row};

const NAMES: [&str; 10] =
    ["total", "totals", "sum", "overall", "all", "all requests", "aggregated", "总体", "合计", "总计"];
const AGAIN: &str = "add the parts up again; a part may be missing in the table";
/// Windows of parts and of the whole may end at slightly different instants.
const WINDOW: f64 = 0.02;

struct Sum<'a> {
    measure: Measure,
    figure: &'a Figure,
    total: Span,
    parts: Span,
    largest: Span,
    figures: Vec<&'a Figure>,
}

pub(super) type Stated<'a> = (&'a Figure, Span);

fn is_total(row: &Row) -> bool {
    NAMES.contains(&row.label.trim().to_lowercase().as_str())
}

/// The rows that a total is of: those of its table, or of the same tool directly before and behind it.
pub(super) fn parts<'a>(s: &Subject<'a>) -> Vec<&'a Row> {
    if !is_total(s.row) {
        return Vec::new();
    }
    let rows = &s.document.rows;
    let Some(at) = rows.iter().position(|row| std::ptr::eq(row, s.row)) else { return Vec::new() };
    let alongside = |row: &&Row| row.tool == s.row.tool && row.table == s.row.table && !is_total(row);
    // A second total ends the group: several tables of one tool may follow each other.
    let parts: Vec<&Row> = match s.row.table {
        Some(_) => rows.iter().filter(alongside).collect(),
        None => {
            let before: Vec<&Row> = rows[..at].iter().rev().take_while(alongside).collect();
            let after: Vec<&Row> = rows[at + 1..].iter().take_while(alongside).collect();
            let both: Vec<&Row> = before.iter().chain(&after).copied().collect();
            // The total may stand anywhere in an object; where the counts add up, those are its parts.
            let whole = s.span(Measure::Requests);
            let adds_up = |parts: &&Vec<&Row>| {
                let counts =
                    parts.iter().map(|row| stated(row, Measure::Requests).map_or(0.0, |(f, _)| f.value));
                parts.len() > 1 && whole.is_some_and(|whole| Span::exact(counts.sum()).meets(whole))
            };
            let all = [before, after, both];
            let fits = all.iter().find(adds_up);
            fits.or_else(|| all.iter().find(|parts| parts.len() > 1)).cloned().unwrap_or_default()
        }
    };
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// A figure of the total and that of each part; none where a part does not state it.
pub(super) fn of<'a>(s: &Subject<'a>, measure: Measure) -> Option<(&'a Figure, Span, Vec<Stated<'a>>)> {
    let (figure, total) = stated(s.row, measure)?;
    let all: Option<Vec<_>> = parts(s).iter().map(|row| stated(row, measure)).collect();
    Some((figure, total, all.filter(|all| !all.is_empty())?))
}

fn stated(row: &Row, measure: Measure) -> Option<Stated<'_>> {
    // A column `rate` says what it is of by the unit of its cells only.
    let rate = || row.others.get("rate").filter(|f| measure == Measure::Rate && f.unit.ends_with("/s"));
    let figure = row.figures.get(&measure).or_else(rate)?;
    Some((figure, Span::of(figure).filter(|_| figure.value >= 0.0)?.at_least_zero()))
}

fn sum_of<'a>(s: &Subject<'a>, measure: Measure) -> Option<Sum<'a>> {
    let (figure, total, all) = of(s, measure)?;
    let parts = all.iter().fold(Span::exact(0.0), |sum, (_, span)| sum.plus(*span));
    let largest = all.iter().map(|(_, span)| *span).max_by(|a, b| a.low.total_cmp(&b.low))?;
    let figures = [figure].into_iter().chain(all.iter().map(|(f, _)| *f)).collect();
    Some(Sum { measure, figure, total, parts, largest, figures })
}

fn sums<'a>(s: &Subject<'a>) -> Vec<Sum<'a>> {
    [Measure::Requests, Measure::Errors].into_iter().filter_map(|measure| sum_of(s, measure)).collect()
}

/// A table that is cut short has parts of fewer requests, and of a lower rate; without rates, nothing tells it from a
/// slip.
fn rows_are_left_out(s: &Subject) -> bool {
    let lacks = |measure| sum_of(s, measure).map(|x: Sum| x.total.above(x.parts.widened(WINDOW)));
    lacks(Measure::Requests) == Some(true) && lacks(Measure::Rate) != Some(false)
}

/// total <= sum of the rates: a part's rate is over its own window, which is no longer than that of the whole.
fn rate_above_the_parts(s: &Subject) -> Option<Hit> {
    // `all` may be a run of its own, in which everything ran together.
    let added = ["total", "totals", "sum"].contains(&s.row.label.trim().to_lowercase().as_str());
    let added = added && !rows_are_left_out(s);
    let sum = sum_of(s, Measure::Rate).filter(|x| added && x.total.above(x.parts.widened(WINDOW)))?;
    let line = format!(
        "sum of the parts {}/s < {}/s stated",
        say::number(sum.parts.said),
        say::number(sum.total.said)
    );
    let hit = Hit::new(
        Likely,
        "totals cannot be those of their parts",
        "the total rate is more than its parts together",
    );
    Some(hit.line(line).at(sum.figures).advice(AGAIN).open(left_out(s)))
}

/// Means, shares and extremes of the whole against those of the parts: (line, figures) of each that differs.
fn outside<'a>(s: &Subject<'a>) -> Vec<(String, Vec<&'a Figure>)> {
    use Measure::{ErrorRatio, Max, Mean, Min};
    let mut remarks = Vec::new();
    for measure in [Mean, ErrorRatio, Min, Max] {
        let Some((figure, total, all)) = of(s, measure) else { continue };
        let low = all.iter().min_by(|a, b| a.1.said.total_cmp(&b.1.said));
        let high = all.iter().max_by(|a, b| a.1.said.total_cmp(&b.1.said));
        let (Some((low_figure, low)), Some((high_figure, high))) = (low, high) else { continue };
        // The ends of each side by themselves: the part that reads largest need not have the widest rounding.
        let least = all.iter().map(|(_, span)| span.low).fold(f64::INFINITY, f64::min);
        let most = all.iter().map(|(_, span)| span.high).fold(0.0, f64::max);
        let range = match measure {
            Min => Span {
                low: least,
                high: all.iter().map(|(_, x)| x.high).fold(f64::INFINITY, f64::min),
                said: low.said,
            },
            Max => {
                Span { low: all.iter().map(|(_, x)| x.low).fold(0.0, f64::max), high: most, said: high.said }
            }
            _ => Span { low: least, high: most, said: low.said },
        };
        if range.meets(total) {
            continue;
        }
        let tell =
            |span: Span| if measure == ErrorRatio { say::percent(span.said) } else { say::time(span.said) };
        let parts = match measure {
            Min => format!("{} at least in the parts", tell(*low)),
            Max => format!("{} at most in the parts", tell(*high)),
            _ => format!("{} to {} in the parts", tell(*low), tell(*high)),
        };
        let line = format!("{}: {parts}, stated {}", say::measure(measure), tell(total));
        remarks.push((line, vec![figure, *low_figure, *high_figure]));
    }
    remarks
}

fn describe(certainty: Certainty, many: &'static str, remarks: Vec<(String, Vec<&Figure>)>) -> Option<Hit> {
    remarks.first()?;
    let hit = Hit::new(certainty, many, many).advice(AGAIN);
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}

/// Parts may be missing in the text, unless another column shows that they are all there.
fn left_out(s: &Subject) -> Option<&'static str> {
    let lacks = complete(s) != Some(true);
    lacks.then_some("the text may lack a part of the total: no other column adds up to it")
}

/// The parts are all parts: their requests add up to the total.
fn complete(s: &Subject) -> Option<bool> {
    sum_of(s, Measure::Requests).map(|sum| sum.parts.meets(sum.total))
}

/// A part may be missing, or stand in the table twice, where no count says otherwise.
pub(super) fn total_outside(s: &Subject) -> Option<Hit> {
    // Phases of a request add up to their total, and so may their times. What has a load or failures is no phase.
    let phases = [Measure::Rate, Measure::Users, Measure::ErrorRatio].iter().all(|m| of(s, *m).is_none());
    if complete(s).is_some() || phases {
        return None;
    }
    describe(Likely, "the total does not lie within its parts", outside(s))
}

/// largest part <= total <= sum of the parts, and the rest within the parts where their counts add up.
pub(super) fn total_between(s: &Subject) -> Option<Hit> {
    let whole = || {
        if complete(s) != Some(true) {
            return Vec::new();
        }
        let outside = outside(s);
        if outside.is_empty() { mixture::differences(s) } else { outside }
    };
    let name = "figures of the total do not follow from its parts";
    count_between(s).or_else(|| rate_above_the_parts(s)).or_else(|| {
        // JMeter's report takes the percentiles of each row from a window of its own.
        let windowed = s.samples().is_none_or(|n| n > WINDOW_OF_JMETER as f64) && !s.row.is_whole;
        let open = windowed.then_some("percentiles may be of the last samples of each row only");
        describe(Proved, name, whole()).map(|hit| hit.open(open))
    })
}

/// largest part <= total <= sum of the parts.
fn count_between(s: &Subject) -> Option<Hit> {
    let lacks = |x: &Sum| x.total.above(x.parts) && !rows_are_left_out(s);
    let sum = sums(s).into_iter().find(|x| lacks(x) || x.largest.above(x.total))?;
    let what = say::measure(sum.measure);
    let line = format!(
        "sum of the parts {}, largest {}, stated {}",
        say::number(sum.parts.said),
        say::number(sum.largest.said),
        say::number(sum.total.said)
    );
    let sentence = format!("the total of {what} cannot be that of its parts");
    let hit = Hit::new(Proved, "totals cannot be those of their parts", sentence);
    let certain = sum.largest.above(sum.total);
    Some(hit.line(line).at(sum.figures).advice(AGAIN).open(left_out(s).filter(|_| !certain)))
}

/// total = sum of the parts, where it lies below: parts may hold each other.
pub(super) fn total_is_the_sum(s: &Subject) -> Option<Hit> {
    counts_exceed(s).or_else(|| rates_exceed(s))
}

/// Rates add up where the parts ran at the same time. JMeter takes each over the window of its label alone.
fn rates_exceed(s: &Subject) -> Option<Hit> {
    let table = s.row.table.and_then(|at| s.document.tables.get(at));
    // The name that only JMeter gives to a column. Windows of half the run are common there, shorter ones a slip.
    let is_of_jmeter = table.is_some_and(|t| t.columns.iter().any(|name| name == "# Samples"));
    let off = if is_of_jmeter { 0.50 } else { 0.10 };
    let sum = sum_of(s, Measure::Rate).filter(|_| !s.is(|d| d.rates_of_own_windows))?;
    if !sum.parts.widened(off).above(sum.total) {
        return None;
    }
    let line = format!(
        "sum of the parts {}/s > {}/s stated",
        say::number(sum.parts.said),
        say::number(sum.total.said)
    );
    let sentence = "the rates of the parts are more than the total";
    let hit = Hit::new(Possible, sentence, sentence).line(line).at(sum.figures);
    let why = "the parts ran one after the other, or each rate is over a window of its own";
    Some(hit.why(why).advice("say over which window each rate was taken"))
}

fn counts_exceed(s: &Subject) -> Option<Hit> {
    let sum = sums(s).into_iter().find(|x| x.parts.above(x.total) && !x.largest.above(x.total))?;
    let what = say::measure(sum.measure);
    let line =
        format!("sum of the parts {} > {} stated", say::number(sum.parts.said), say::number(sum.total.said));
    let sentence = format!("the parts have more {what} than the total");
    let hit = Hit::new(Likely, "parts have more than the total", sentence).line(line).at([sum.figure]);
    let why = "transaction controllers stand among the parts and are not counted in the total";
    Some(hit.why(why).advice("mark rows that contain other rows"))
}
