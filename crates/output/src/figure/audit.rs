//! Charts of an audit: the published rows compared with N = X R (Little 1961), and the number of findings of each row.
//!
//! The first chart needs no knowledge of the service. The rate times the mean time is the number of requests in flight,
//! and users who wait for each response cannot have more in flight than there are users.

use crate::audit::audited_row::{AuditedRow, rows};
use crate::format::counted;
use plimsoll_audit::foreign::{Document, Measure};
use plimsoll_audit::{Audit, Grade};
use plimsoll_chart::{Axis, Chart, Form, Panel, Scale, Series, Unit};
use std::collections::BTreeSet;

/// Above this number, rows are too narrow to be visible.
const ROWS_MAX: usize = 240;
/// Maximum number of readable labels along an axis.
const TICKS: usize = 16;
/// Minimum number of points of a law for a chart.
const POINTS_MIN: usize = 2;

/// Returns the charts that the rows allow; none if no row was read.
pub fn charts(audit: &Audit, documents: &[Document]) -> Vec<Chart> {
    let rows = rows(audit, documents);
    [law(&rows, audit), strip(&rows, audit)].into_iter().flatten().collect()
}

/// Rules about N = X R. Other problems of a row do not affect its place in that chart.
const LITTLE: [&str; 7] = [
    "more_in_flight_than_users",
    "more_in_flight_than_threads",
    "users_idle",
    "more_in_flight_than_stated",
    "thread_time_missing",
    "in_flight_outlier",
    "cycle_above_percentile",
];

/// Users as published, and requests in flight computed from rate and mean time, with the range that rounding allows.
struct Point {
    users: f64,
    in_flight: f64,
    low: f64,
    high: f64,
    /// The most severe finding of [`LITTLE`].
    grade: Option<Grade>,
    /// There are other findings.
    has_others: bool,
}

fn point(judged: &AuditedRow, audit: &Audit) -> Option<Point> {
    let figures = &judged.row.figures;
    // At an offered rate, users do not wait for responses.
    if figures.contains_key(&Measure::OfferedRate) {
        return None;
    }
    let [users, rate, mean] = [Measure::Users, Measure::Rate, Measure::Mean].map(|m| figures.get(&m));
    let (users, rate, mean) = (users?, rate?, mean?);
    let found = judged.findings.iter().filter_map(|at| audit.findings.get(*at));
    let grades = found.filter(|one| LITTLE.contains(&one.rule)).map(|one| one.grade);
    let point = Point {
        users: users.value,
        in_flight: rate.value * mean.value,
        low: rate.low.max(0.0) * mean.low.max(0.0),
        high: rate.high * mean.high,
        grade: grades.min(),
        has_others: judged.grade.is_some(),
    };
    let is_drawable = |x: f64| x.is_finite() && x > 0.0;
    [point.users, point.in_flight, point.high].into_iter().all(is_drawable).then_some(point)
}

/// Returns N over X R: on the line, users are always busy; below it, they pause or wait elsewhere; above it is
/// impossible.
fn law(rows: &[AuditedRow], audit: &Audit) -> Option<Chart> {
    let points: Vec<Point> = rows.iter().filter_map(|row| point(row, audit)).collect();
    if points.len() < POINTS_MIN {
        return None;
    }
    let ends = |of: fn(&Point) -> f64| {
        points.iter().map(of).fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)))
    };
    let (users, flight) = (ends(|p| p.users), ends(|p| p.in_flight));
    let (from, to) = (users.0.min(flight.0) / 1.3, users.1.max(flight.1) * 1.3);
    let marks = |id: &str, name: &str, color: u8, form: Form, wanted: fn(&Point) -> bool| {
        let of: Vec<&Point> = points.iter().filter(|p| wanted(p)).collect();
        Series::new(
            id,
            format!("{name} ({})", of.len()),
            color,
            form,
            of.iter().map(|p| Some(p.in_flight)).collect(),
        )
        .at(of.iter().map(|p| p.users).collect())
        .within(of.iter().map(|p| Some(p.low)).collect(), of.iter().map(|p| Some(p.high)).collect())
    };
    let line = Series::new("law", "N = X R", 7, Form::Dashed, vec![Some(from), Some(to)]).at(vec![from, to]);
    let mut series = vec![line];
    series.extend([
        marks("holds", "no findings", 2, Form::Dots, |p| p.grade.is_none() && !p.has_others),
        marks("others", "other findings", 7, Form::Dots, |p| p.grade.is_none() && p.has_others),
        marks("doubtful", "implausible", 4, Form::Rings, |p| p.grade == Some(Grade::Implausible)),
        marks("wrong", "impossible", 1, Form::Crosses, |p| p.grade == Some(Grade::Impossible)),
    ]);
    series.retain(|one| !one.y.is_empty());
    let axis = |label: &str| Axis::new(label, Unit::Count).scaled(Scale::Log).between(from, to);
    let mut chart = Chart::new("audit", "Requests in flight and users", axis("published users (N)"));
    chart.subtitle = format!("{} with users, rate, and mean time", counted(points.len() as u64, "row"));
    chart.help =
        "Requests in flight are rate × mean time (Little's law). Users who wait for each response cannot have more \
         requests in flight than there are users, so points above the line are impossible. Far below it, users spent \
         most of their time elsewhere."
            .into();
    chart.panels.push(Panel::new("law", axis("requests in flight (X R)"), series));
    Some(chart)
}

/// Returns the rows in order, with the number of findings about each, the most severe at the bottom.
fn strip(rows: &[AuditedRow], audit: &Audit) -> Option<Chart> {
    let shown = &rows[..rows.len().min(ROWS_MAX)];
    if shown.len() < 2 || shown.iter().all(|row| row.grade.is_none()) {
        return None;
    }
    let count = |row: &AuditedRow, grade| {
        row.findings.iter().filter(|at| audit.findings[**at].grade == grade).count() as f64
    };
    let bars = |id: &str, name: &str, color: u8, grade: Grade| {
        Series::new(id, name, color, Form::Bars, shown.iter().map(|row| Some(count(row, grade))).collect())
    };
    let sound = shown.iter().filter(|row| row.grade.is_none()).count() as u64;
    let more = if rows.len() > shown.len() { format!(" (of {})", rows.len()) } else { String::new() };
    let mut x =
        Axis::new("row, in the order of the text", Unit::Plain).between(0.5, shown.len() as f64 + 0.5);
    let every = shown.len().div_ceil(TICKS).max(1);
    x.ticks = (1..=shown.len()).step_by(every).map(|at| at as f64).collect();
    let mut chart = Chart::new("audit-rows", "Findings by row", x);
    // The columns add up to a different number: a finding may quote several rows, and one about a missing fact quotes
    // none.
    let about: BTreeSet<usize> = rows.iter().flat_map(|row| row.findings.iter().copied()).collect();
    let rest = match audit.findings.len().saturating_sub(about.len()) as u64 {
        0 => String::new(),
        n => format!("; {} about the text as a whole", counted(n, "finding")),
    };
    let free = if sound > 0 { format!(", {sound} of them without findings") } else { String::new() };
    let (found, of) = (counted(about.len() as u64, "finding"), counted(shown.len() as u64, "row"));
    chart.subtitle = format!("{found} about {of}{more}{free}{rest}");
    chart.help =
        "Each column shows the number of findings about one published row. A finding that compares rows \
                  counts in each of them."
            .into();
    chart.xs = (1..=shown.len()).map(|at| at as f64).collect();
    let mut series = vec![
        bars("wrong", "impossible", 1, Grade::Impossible),
        bars("doubtful", "implausible", 4, Grade::Implausible),
    ];
    // A name without a bar would be confusing.
    series.retain(|one| one.y.iter().flatten().any(|n| *n > 0.0));
    // Findings are whole numbers.
    let most = shown.iter().map(|row| row.findings.len()).max().unwrap_or(0);
    let mut y = Axis::new("findings", Unit::Count).between(0.0, most as f64);
    y.ticks = (0..=most).step_by(most.div_ceil(TICKS).max(1)).map(|n| n as f64).collect();
    let mut panel = Panel::new("findings", y, series);
    panel.stacked = true;
    chart.panels.push(panel);
    Some(chart)
}
