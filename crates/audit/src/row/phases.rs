//! Phases of a request in the tables of single tools: their own order, and their sums against the whole.

use super::bands::Bands;
use super::span::Span;
use super::subject::{Hit, Subject};
use super::{say, spread};
use crate::Certainty::Proved;
use crate::foreign::{Figure, Measure, Tool};

type Remark<'a> = (String, Vec<&'a Figure>);
/// A column, its measure, whether the sum of the phases contradicts the whole, and the sign that should be between.
type Sum = (&'static str, Measure, fn(Span, Span) -> bool, &'static str);
type Stated<'a> = (&'a Figure, Span);

fn other<'a>(s: &Subject<'a>, name: &str) -> Option<Stated<'a>> {
    let figure = s.row.others.get(name)?;
    Some((figure, Span::of(figure)?.at_least_zero()))
}

/// One phase of ab by its columns; some of its figures are measures.
fn ab<'a>(s: &Subject<'a>, phase: &str, column: &str) -> Option<Stated<'a>> {
    use Measure as M;
    let measure = match (phase, column) {
        ("connect", "min") => M::ConnectMin,
        ("connect", "mean") => M::ConnectMean,
        ("connect", "median") => M::ConnectMedian,
        ("connect", "max") => M::ConnectMax,
        ("processing", "mean") => M::ProcessingMean,
        ("processing", "median") => M::ProcessingMedian,
        ("waiting", "mean") => M::FirstByteMean,
        ("waiting", "median") => M::FirstByteMedian,
        ("total", "min") => M::Min,
        ("total", "mean") => M::Mean,
        ("total", "median") => M::Percentile(5_000),
        ("total", "max") => M::Max,
        ("total", "sd") => M::StdDev,
        _ => return other(s, &format!("{phase} {column}")),
    };
    s.get(measure)
}

fn k6<'a>(s: &Subject<'a>, phase: &str, column: &str) -> Option<Stated<'a>> {
    let name = match column {
        "mean" => "avg",
        "median" => "med",
        other => other,
    };
    let measure = crate::foreign::tools::k6::grammar::trend_measure(&format!("http_req_{phase}"), name);
    measure.and_then(|m| s.get(m)).or_else(|| other(s, &format!("http_req_{phase} {name}")))
}

/// `{what} is more than {more}` where a figure exceeds another for certain.
fn exceeds<'a>(
    s: &Subject<'a>,
    remarks: &mut Vec<Remark<'a>>,
    small: (&str, Option<Stated<'a>>),
    large: (&str, Option<Stated<'a>>),
) {
    let ((small_name, Some((a, x))), (large_name, Some((b, y)))) = (small, large) else { return };
    if s.exceeds((a, x), (b, y)) {
        let line = format!("{small_name} {} > {large_name} {}", say::time(x.said), say::time(y.said));
        remarks.push((line, vec![a, b]));
    }
}

/// Order within each phase, and sums of phases.
pub(super) fn fit(s: &Subject) -> Option<Hit> {
    let remarks = match s.tool()? {
        Tool::Ab => of_ab(s),
        Tool::K6 => of_k6(s),
        Tool::Hey => of_hey(s),
        Tool::Oha => of_oha(s),
        Tool::H2load => of_h2load(s),
        _ => return None,
    };
    hit("the times of the phases do not fit together", remarks)
}

fn order<'a>(
    s: &Subject<'a>,
    phase: &str,
    get: fn(&Subject<'a>, &str, &str) -> Option<Stated<'a>>,
) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    for (small, large) in [("min", "mean"), ("min", "median"), ("mean", "max"), ("median", "max")] {
        let names = (format!("{phase} {small}"), format!("{phase} {large}"));
        exceeds(s, &mut remarks, (&names.0, get(s, phase, small)), (&names.1, get(s, phase, large)));
    }
    remarks
}

fn of_ab<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    for phase in ["connect", "processing", "waiting"] {
        remarks.extend(order(s, phase, ab));
        remarks.extend(possible(s, phase, ab));
    }
    // Waiting is a part of processing, and both phases are parts of the total, request by request.
    for column in ["min", "mean", "median", "max"] {
        for (part, whole) in [("waiting", "processing"), ("processing", "total"), ("connect", "total")] {
            let names = (format!("{part} {column}"), format!("{whole} {column}"));
            exceeds(s, &mut remarks, (&names.0, ab(s, part, column)), (&names.1, ab(s, whole, column)));
        }
    }
    let pair = |column: &str| {
        Some((ab(s, "connect", column)?, ab(s, "processing", column)?, ab(s, "total", column)?))
    };
    if let Some(((a, x), (b, y), (c, z))) = pair("max").filter(|((_, x), (_, y), (_, z))| z.above(x.plus(*y)))
    {
        let line = format!("total max {} > {} + {}", say::time(z.said), say::time(x.said), say::time(y.said));
        remarks.push((line, vec![c, a, b]));
    }
    if let Some(((a, x), (b, y), (c, z))) =
        pair("min").filter(|((_, x), (_, y), (_, z))| x.plus(*y).above(*z))
    {
        let line = format!("total min {} < {} + {}", say::time(z.said), say::time(x.said), say::time(y.said));
        remarks.push((line, vec![c, a, b]));
    }
    remarks
}

/// Mean and deviation of a phase are those of values between its extremes and its percentiles.
fn possible<'a>(
    s: &Subject<'a>,
    phase: &str,
    get: fn(&Subject<'a>, &str, &str) -> Option<Stated<'a>>,
) -> Vec<Remark<'a>> {
    const SHARES: [(&str, f64); 4] = [("median", 0.5), ("p(90)", 0.9), ("p(95)", 0.95), ("p(99)", 0.99)];
    let end = |column: &str| get(s, phase, column).map(|(_, x)| x);
    let quantiles: Vec<(f64, Span)> =
        SHARES.iter().filter_map(|(column, share)| Some((*share, end(column)?))).collect();
    let Some((figure, mean)) = get(s, phase, "mean").filter(|_| end("max").is_some()) else {
        return Vec::new();
    };
    // Times of connections are one for each client.
    let times = if s.tool() == Some(Tool::H2load) {
        s.get(Measure::Users).map(|(f, _)| f.value)
    } else {
        s.samples()
    };
    let bands = Bands::new(end("min"), end("max"), &quantiles, times.filter(|n| *n >= 2.0), 1.0);
    let (low, high) = bands.mean();
    let slack = 1e-9 + 1e-6 * high;
    if mean.high < low - slack || mean.low > high + slack {
        let line = format!(
            "{phase} mean {}, its extremes and percentiles allow {} to {}",
            say::time(mean.said),
            say::time(low),
            say::time(high)
        );
        return vec![(line, vec![figure])];
    }
    let range = bands.least_deviation(mean).zip(bands.largest_deviation(mean));
    let (Some((sd_figure, sd)), Some((least, most))) = (get(s, phase, "sd"), range) else {
        return Vec::new();
    };
    // ab divides by n - 1; h2load by n or n - 1 by its version.
    let n = times.filter(|n| *n >= 2.0).unwrap_or(2.0);
    let most = most * (n / (n - 1.0)).sqrt();
    if sd.low <= most * 1.001 + 1e-9 && sd.high * 1.001 + 1e-9 >= least {
        return Vec::new();
    }
    let line = format!(
        "{phase} sd {}, its mean and range allow {} to {}",
        say::time(sd.said),
        say::time(least),
        say::time(most)
    );
    vec![(line, vec![sd_figure, figure])]
}

/// Connections of h2load, and the first byte of each.
fn of_h2load<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = order(s, "connect", h2load);
    for phase in ["connect", "first byte of a connection"] {
        remarks.extend(possible(s, phase, h2load));
    }
    // The first byte follows the connect.
    for column in ["min", "mean", "max"] {
        let names = (format!("connect {column}"), format!("first byte of a connection {column}"));
        let pair = (h2load(s, "connect", column), h2load(s, "first byte of a connection", column));
        exceeds(s, &mut remarks, (&names.0, pair.0), (&names.1, pair.1));
    }
    remarks
}

fn h2load<'a>(s: &Subject<'a>, phase: &str, column: &str) -> Option<Stated<'a>> {
    match (phase, column) {
        ("connect", "min") => s.get(Measure::ConnectMin),
        ("connect", "mean") => s.get(Measure::ConnectMean),
        ("connect", "max") => s.get(Measure::ConnectMax),
        _ => other(s, &format!("{phase} {column}")),
    }
}

/// The look-up of a name is a part of the time to connect. hey looks up for connections that it then does not use.
fn of_oha<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    if s.tool() != Some(Tool::Oha) {
        return remarks;
    }
    let columns = [
        ("average", Measure::ConnectMean),
        ("fastest", Measure::ConnectMin),
        ("slowest", Measure::ConnectMax),
    ];
    for (column, measure) in columns {
        let names = (format!("DNS-lookup {column}"), format!("DNS+dialup {column}"));
        exceeds(s, &mut remarks, (&names.0, other(s, &names.0)), (&names.1, s.get(measure)));
    }
    remarks
}

/// `http_req_duration` is sending, waiting, and receiving; every figure is cut at its last digit.
fn of_k6<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    for phase in ["blocked", "connecting", "sending", "waiting", "receiving", "tls_handshaking"] {
        remarks.extend(order(s, phase, k6));
        remarks.extend(possible(s, phase, k6));
    }
    remarks.extend(blocked(s));
    let parts = |column: &str| -> Option<Vec<Stated<'a>>> {
        let waiting = match column {
            "avg" => s.get(Measure::FirstByteMean).or_else(|| other(s, "http_req_waiting avg")),
            _ => other(s, &format!("http_req_waiting {column}")),
        };
        let [sending, receiving] =
            ["sending", "receiving"].map(|p| other(s, &format!("http_req_{p} {column}")));
        Some(vec![sending?, waiting?, receiving?])
    };
    let sum = |parts: &[Stated]| parts.iter().fold(Span::exact(0.0), |sum, (_, x)| sum.plus(*x));
    let text = |parts: &[Stated]| {
        let each: Vec<String> = parts.iter().map(|(_, x)| say::time(x.said)).collect();
        each.join(" + ")
    };
    let checks: [Sum; 3] = [
        ("avg", Measure::Mean, |sum, whole| !sum.widened(0.002).meets(whole), "="),
        ("min", Measure::Min, |sum, whole| sum.above(whole), "<="),
        ("max", Measure::Max, |sum, whole| whole.above(sum), ">="),
    ];
    for (column, measure, wrong, sign) in checks {
        let (Some(parts), Some((figure, whole))) = (parts(column), s.get(measure)) else { continue };
        if wrong(sum(&parts), whole) {
            let line = format!(
                "{column}: {} = {}, should be {sign} {}",
                text(&parts),
                say::time(sum(&parts).said),
                say::time(whole.said)
            );
            remarks.push((line, parts.iter().map(|(f, _)| *f).chain([figure]).collect()));
        }
        // The longest phase is no longer than the longest request.
        if column == "max" {
            for (part, x) in parts.iter().filter(|(_, x)| x.above(whole)) {
                let line = format!(
                    "a phase took {}, the longest request {}",
                    say::time(x.said),
                    say::time(whole.said)
                );
                remarks.push((line, vec![*part, figure]));
            }
        }
    }
    remarks
}

/// A request that opens a connection is blocked until it is there, with TLS.
fn blocked<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    let (connecting, tls, blocked) = ("http_req_connecting", "http_req_tls_handshaking", "http_req_blocked");
    for part in ["connecting", "tls_handshaking"] {
        for column in ["avg", "max"] {
            let names = (format!("http_req_{part} {column}"), format!("{blocked} {column}"));
            exceeds(s, &mut remarks, (&names.0, k6(s, part, column)), (&names.1, k6(s, "blocked", column)));
        }
    }
    if let (Some((a, x)), Some((b, y)), Some((c, z)), true) = (
        k6(s, "connecting", "mean"),
        k6(s, "tls_handshaking", "mean"),
        k6(s, "blocked", "mean"),
        remarks.is_empty(),
    ) && x.plus(y).above(z.widened(0.01))
    {
        let line = format!(
            "{connecting} {} + {tls} {} > {blocked} {}",
            say::time(x.said),
            say::time(y.said),
            say::time(z.said)
        );
        remarks.push((line, vec![a, b, c]));
    }
    remarks
}

/// Averages of the phases are no more than that of the whole; extremes of a phase no more than the slowest request.
fn of_hey<'a>(s: &Subject<'a>) -> Vec<Remark<'a>> {
    let mut remarks = Vec::new();
    let connect = s.get(Measure::ConnectMean);
    let wait = s.get(Measure::FirstByteMean);
    let parts: Vec<Stated> = [connect, other(s, "req write average"), wait, other(s, "resp read average")]
        .into_iter()
        .flatten()
        .collect();
    let sum = parts.iter().fold(Span::exact(0.0), |sum, (_, x)| sum.plus(*x));
    if let Some((figure, mean)) =
        s.get(Measure::Mean).filter(|(_, mean)| parts.len() == 4 && sum.above(*mean))
    {
        let line = format!(
            "the averages of the phases add up to {} > {}",
            say::time(sum.said),
            say::time(mean.said)
        );
        remarks.push((line, parts.iter().map(|(f, _)| *f).chain([figure]).collect()));
    }
    // A connection is opened within its request, and a name is looked up within that.
    exceeds(
        s,
        &mut remarks,
        ("DNS+dialup", s.get(Measure::ConnectMax)),
        ("the slowest request", s.get(Measure::Max)),
    );
    remarks.extend(of_oha(s));
    let average = |name: &str| match name {
        "resp wait" => wait,
        _ => other(s, &format!("{name} average")),
    };
    for name in ["DNS-lookup", "req write", "resp wait", "resp read"] {
        let (low, high) = (other(s, &format!("{name} fastest")), other(s, &format!("{name} slowest")));
        exceeds(s, &mut remarks, ("fastest", low), (name, average(name)));
        exceeds(s, &mut remarks, (name, average(name)), ("slowest", high));
        // A look-up may be longer than the request that it was for, where it was shared.
        if name != "DNS-lookup" {
            exceeds(s, &mut remarks, (name, high), ("the slowest request", s.get(Measure::Max)));
        }
    }
    remarks
}

/// A tag of k6 names some of the requests: none of them is outside the extremes of all.
fn tagged(s: &Subject) -> Option<Hit> {
    let is_tagged = s.tool() == Some(Tool::K6) && s.row.is_part;
    if !is_tagged {
        return None;
    }
    let at = s.document.rows.iter().position(|row| std::ptr::eq(row, s.row))?;
    let whole = s.document.rows[..at].iter().rfind(|row| row.tool == Some(Tool::K6) && !row.is_part)?;
    let all = Subject { document: s.document, row: whole, once: s.once };
    let mut remarks = Vec::new();
    let names = ("min of all requests", "min of those with the tag");
    exceeds(s, &mut remarks, (names.0, all.get(Measure::Min)), (names.1, s.get(Measure::Min)));
    let names = ("max of those with the tag", "max of all requests");
    exceeds(s, &mut remarks, (names.0, s.get(Measure::Max)), (names.1, all.get(Measure::Max)));
    hit("times of tagged requests are outside those of all requests", remarks)
}

/// k6 prints the times of expected responses again; without failures they are those of all.
pub(super) fn subset(s: &Subject) -> Option<Hit> {
    expected(s).or_else(|| tagged(s)).or_else(|| super::columns::of_gatling(s))
}

fn expected(s: &Subject) -> Option<Hit> {
    let (_, failed) = s.get(Measure::Errors).filter(|_| s.tool() == Some(Tool::K6))?;
    if failed.high > 0.0 {
        return None;
    }
    let mut remarks = Vec::new();
    for (name, figure) in &s.row.others {
        let Some(column) = name.strip_prefix("http_req_duration{expected_response:true} ") else { continue };
        let measure = crate::foreign::tools::k6::grammar::trend_measure("http_req_duration", column);
        let (Some(own), Some((all, whole))) = (Span::of(figure), measure.and_then(|m| s.get(m))) else {
            continue;
        };
        if !own.meets(whole) {
            let line = format!(
                "{column}: {} of expected responses, {} of all",
                say::time(own.said),
                say::time(whole.said)
            );
            remarks.push((line, vec![figure, all]));
        }
    }
    hit("no response failed, and the times of expected responses are other times", remarks)
}

/// wrk, h2load: the share of times within one deviation of the mean, as far as the percentiles bound it.
pub(super) fn within_deviation(s: &Subject) -> Option<Hit> {
    const SLACK: f64 = 0.005;
    let counted = [Tool::Wrk, Tool::H2load].map(Some).contains(&s.tool());
    let (figure, stated) = s.get(Measure::WithinStdDev).filter(|_| counted && !spread::broken(s))?;
    let (mean_figure, mean) = s.get(Measure::Mean)?;
    let (sd_figure, sd) = s.get(Measure::StdDev)?;
    // A deviation above the mean leaves only one side: the share above it is at most 1/2 (Cantelli), and its mass is
    // part of the mean.
    let above = (mean.high / (mean.high + sd.low)).min(0.5);
    if sd.low > mean.high && stated.high < 1.0 - above - SLACK {
        let line = format!(
            "with a mean of {} and a deviation of {}, at least {} of the times are within one, stated {}",
            say::time(mean.said),
            say::time(sd.said),
            say::percent(1.0 - above),
            say::percent(stated.said)
        );
        let sentence = "the share within one deviation does not fit mean and deviation";
        return hit(sentence, vec![(line, vec![figure, mean_figure, sd_figure])]);
    }
    let all = s.percentiles();
    // Surely below a time, and at most below it.
    let surely =
        |time: f64| all.iter().filter(|(.., x)| x.high <= time).map(|(p, ..)| *p).fold(0.0, f64::max);
    let at_most = |time: f64| all.iter().filter(|(.., x)| x.low > time).map(|(p, ..)| *p).fold(1.0, f64::min);
    let (upper_low, upper_high) = (mean.low + sd.low, mean.high + sd.high);
    let (lower_low, lower_high) = (mean.low - sd.high, mean.high - sd.low);
    let below_high = if lower_high <= 0.0 { 0.0 } else { at_most(lower_high) };
    let below_low = if lower_low <= 0.0 { 0.0 } else { surely(lower_low) };
    // The maximum bounds everything.
    let whole = s.get(Measure::Max).is_some_and(|(_, max)| max.high <= upper_low);
    let least = if whole { 1.0 } else { surely(upper_low) } - below_high;
    let most = at_most(upper_high) - below_low;
    let range = Span::between(least - SLACK, most + SLACK);
    if all.len() < 2 || range.meets(stated) {
        return None;
    }
    let line = format!(
        "{} - {} to {} + {}: {} to {} of the times by the percentiles, stated {}",
        say::time(mean.said),
        say::time(sd.said),
        say::time(mean.said),
        say::time(sd.said),
        say::percent(least.max(0.0)),
        say::percent(most.min(1.0)),
        say::percent(stated.said)
    );
    hit(
        "the share within one deviation does not fit the percentiles",
        vec![(line, vec![figure, mean_figure, sd_figure])],
    )
}

fn hit(sentence: &'static str, remarks: Vec<Remark>) -> Option<Hit> {
    remarks.first()?;
    let hit = Hit::new(Proved, sentence, sentence).advice("copy the figures of one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}
