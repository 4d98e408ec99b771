//! Identities that single tools print both sides of: sizes, shares, lists, and counts of one run.

use super::counts;
use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::{Likely, Proved};
use crate::foreign::{Figure, Measure, Tool};

fn other<'a>(s: &Subject<'a>, name: &str) -> Option<(&'a Figure, Span)> {
    let figure = s.row.others.get(name)?;
    Some((figure, Span::of(figure)?.at_least_zero()))
}

/// ab says the median and the maximum twice: in the table of phases and in the list of percentages.
pub(super) fn ab_lists(s: &Subject) -> Option<Hit> {
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    if let (Some((listed, at)), Some((max, whole))) = (other(s, "listed p100"), s.get(Measure::Max))
        && !at.meets(whole)
    {
        let line = format!("100% {}, max of `Total` {}", say::time(at.said), say::time(whole.said));
        remarks.push((line, vec![listed, max]));
    }
    if let Some((listed, at)) = other(s, "listed p50") {
        // The table has the middle of two ranks, the list the upper of them.
        let neighbors = s.percentiles();
        let above = neighbors.iter().find(|(share, ..)| *share > 0.5);
        if let Some((_, p, figure, span)) = above.filter(|(.., span)| at.above(*span)) {
            let line =
                format!("50% {} > {} {}", say::time(at.said), say::percentile(*p), say::time(span.said));
            remarks.push((line, vec![listed, figure]));
        }
        let middle = s.get(Measure::Percentile(5_000));
        let unit = Span { low: at.low - 1e-3, ..at };
        if let Some((figure, median)) = middle.filter(|(_, median)| median.above(at) || unit.above(*median)) {
            let reaches = above.is_some_and(|(.., span)| median.low <= span.high);
            if !(median.above(at) && reaches) {
                let line =
                    format!("50% {}, median of `Total` {}", say::time(at.said), say::time(median.said));
                remarks.push((line, vec![listed, figure]));
            }
        }
    }
    hit("the table of times and the list of percentages are not of one run", remarks)
}

/// bytes / responses = size of a response.
pub(super) fn size_per_request(s: &Subject) -> Option<Hit> {
    let (body_figure, body) = s.get(Measure::BodyBytes)?;
    let (bytes_figure, bytes) = s.get(Measure::BytesTotal)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let responses = count.minus(s.span(Measure::Errors).unwrap_or(Span::exact(0.0)));
    // hey divides by the times that it kept, a million at most.
    if !matches!(s.tool(), Some(Tool::Hey | Tool::Oha)) || responses.low < 1.0 || responses.high > 999_999.0 {
        return None;
    }
    let each = bytes.over(responses)?;
    if each.meets(body) {
        return None;
    }
    let line = format!(
        "{} B / {} = {} B, stated {} B",
        say::number(bytes.said),
        say::number(responses.said),
        say::number(each.said),
        say::number(body.said)
    );
    let remarks = vec![(line, vec![bytes_figure, count_figure, body_figure])];
    hit("bytes / responses is not the stated size of a response", remarks)
}

/// oha: responses / (responses + errors) = success rate, without requests that the end of the run stopped.
pub(super) fn answered_share(s: &Subject) -> Option<Hit> {
    let (figure, stated) = other(s, "answered").filter(|_| s.tool() == Some(Tool::Oha))?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let errors = s.span(Measure::Errors).unwrap_or(Span::exact(0.0));
    let stopped = s.row.others.iter().filter(|(name, _)| name.contains("aborted due to deadline"));
    let stopped = stopped.filter_map(|(_, f)| Span::of(f)).fold(Span::exact(0.0), Span::plus);
    let share = count.minus(errors).over(count.minus(stopped))?;
    let is_cut = counts::errors_may_be_cut(s) && share.above(stated);
    if count.high < 1.0 || share.meets(stated) || is_cut {
        return None;
    }
    let line = format!(
        "{} / {} = {}, stated {}",
        say::number(count.minus(errors).said),
        say::number(count.minus(stopped).said),
        say::percent(share.said),
        say::percent(stated.said)
    );
    hit("responses / requests is not the stated success rate", vec![(line, vec![figure, count_figure])])
}

/// vegeta: total = attack + wait, and rate = requests / attack.
pub(super) fn vegeta_times(s: &Subject) -> Option<Hit> {
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    let (attack_figure, attack) = other(s, "duration attack").filter(|_| s.tool() == Some(Tool::Vegeta))?;
    if let (Some((total_figure, total)), Some((wait_figure, wait))) =
        (s.get(Measure::Duration), other(s, "duration wait"))
        && !attack.plus(wait).meets(total)
    {
        let line = format!(
            "{} + {} = {}, stated {}",
            say::time(attack.said),
            say::time(wait.said),
            say::time(attack.plus(wait).said),
            say::time(total.said)
        );
        remarks.push((line, vec![attack_figure, wait_figure, total_figure]));
    }
    // The wait ends with the last response. That of the last request came before or then, and the request that ended
    // last began before or with it.
    if let Some((wait_figure, wait)) = other(s, "duration wait") {
        for (measure, is_wrong) in [
            (Measure::Min, s.span(Measure::Min).is_some_and(|min| min.above(wait))),
            (Measure::Max, s.span(Measure::Max).is_some_and(|max| wait.above(max))),
        ] {
            let Some((figure, span)) = s.get(measure).filter(|_| is_wrong) else { continue };
            let sign = if measure == Measure::Min { "<" } else { ">" };
            let name = say::measure(measure);
            let line = format!("the wait {} {sign} {name} {}", say::time(wait.said), say::time(span.said));
            remarks.push((line, vec![wait_figure, figure]));
        }
    }
    if let (Some((count_figure, count)), Some((rate_figure, rate))) =
        (s.get(Measure::Requests), s.get(Measure::OfferedRate))
        && let Some(each) = count.over(attack).filter(|each| !each.widened(1e-3).meets(rate))
        // Old versions divided by the planned duration.
        && !count.over(Span::exact(attack.said.round())).is_some_and(|planned| planned.meets(rate))
        // A single request has no length of an attack.
        && count.low > 1.0
    {
        let line = format!(
            "{} / {} = {}/s, stated {}/s",
            say::number(count.said),
            say::time(attack.said),
            say::number(each.said),
            say::number(rate.said)
        );
        remarks.push((line, vec![count_figure, attack_figure, rate_figure]));
    }
    hit("attack, wait, rate, and total of vegeta are not of one run", remarks)
}

/// siege: concurrency = rate x time <= users, and availability = transactions / (transactions + failed).
pub(super) fn siege_figures(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Siege) {
        return None;
    }
    let (count_figure, count) = s.get(Measure::Requests)?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    if let (Some((figure, stated)), Some((failed_figure, failed))) =
        (other(s, "availability"), s.get(Measure::Errors))
        && let Some(share) = count.over(count.plus(failed)).filter(|share| !share.meets(stated))
    {
        let line = format!(
            "{} / ({} + {}) = {}, stated {}",
            say::number(count.said),
            say::number(count.said),
            say::number(failed.said),
            say::percent(share.said),
            say::percent(stated.said)
        );
        remarks.push((line, vec![figure, count_figure, failed_figure]));
    }
    if let (Some((figure, stated)), Some((rate_figure, rate)), Some((mean_figure, mean))) =
        (other(s, "concurrency"), s.get(Measure::Rate), s.get(Measure::Mean))
        && !rate.times(mean).widened(0.02).meets(stated)
    {
        let line = format!(
            "{}/s x {} = {}, stated concurrency {}",
            say::number(rate.said),
            say::time(mean.said),
            say::range(rate.times(mean), say::about),
            say::number(stated.said)
        );
        remarks.push((line, vec![rate_figure, mean_figure, figure]));
    }
    if let Some((figure, good)) = other(s, "successful transactions").filter(|(_, good)| good.above(count)) {
        let line =
            format!("{} successful of {} transactions", say::number(good.said), say::number(count.said));
        remarks.push((line, vec![figure, count_figure]));
    }
    hit("the figures of siege are not of one run", remarks)
}

/// Gatling's groups of times, h2load's statuses, and Artillery's: their sum is that of the requests or responses.
pub(super) fn groups_add_up(s: &Subject) -> Option<Hit> {
    counts_add_up(s).or_else(|| classes_make_the_whole(s))
}

/// Artillery prints the times of all responses, and those of each class of statuses.
fn classes_make_the_whole(s: &Subject) -> Option<Hit> {
    const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
    let (_, all) = s.get(Measure::Requests).filter(|_| s.tool() == Some(Tool::Artillery))?;
    let count = |class: &str| {
        let stated = other(s, &format!("{class} count")).map(|(_, n)| n.said);
        let statuses =
            s.row.others.iter().filter(|(name, _)| name.starts_with(&format!("status {}", &class[..1])));
        stated.unwrap_or_else(|| statuses.map(|(_, f)| f.value).sum())
    };
    let counts: Vec<(&str, f64)> =
        CLASSES.iter().map(|class| (*class, count(class))).filter(|c| c.1 > 0.0).collect();
    let sum: f64 = counts.iter().map(|(_, n)| n).sum();
    // An excerpt may lack a class.
    if counts.is_empty() || !Span::exact(sum).meets(all) {
        return None;
    }
    let of = |name: &str| -> Option<Vec<(f64, &Figure, Span)>> {
        counts
            .iter()
            .map(|(class, n)| other(s, &format!("{class} {name}")).map(|(f, span)| (*n, f, span)))
            .collect()
    };
    let names = [
        (Measure::Min, "min"),
        (Measure::Mean, "mean"),
        (Measure::Percentile(5_000), "median"),
        (Measure::Percentile(9_500), "p95"),
        (Measure::Percentile(9_900), "p99"),
        (Measure::Max, "max"),
    ];
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    for (measure, name) in names {
        let (Some((figure, whole)), Some(parts)) = (s.get(measure), of(name)) else { continue };
        let (low, high) = parts.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), (.., span)| {
            (low.min(span.low), high.max(span.high))
        });
        let weighted =
            |end: fn(&Span) -> f64| parts.iter().map(|(n, _, span)| n * end(span)).sum::<f64>() / sum;
        let range = match measure {
            Measure::Mean => Span::between(weighted(|span| span.low), weighted(|span| span.high)),
            Measure::Min => {
                Span::between(low, parts.iter().map(|(.., x)| x.high).fold(f64::INFINITY, f64::min))
            }
            Measure::Max => Span::between(parts.iter().map(|(.., x)| x.low).fold(0.0, f64::max), high),
            // A percentile of the whole is between those of its parts.
            _ => Span::between(low, high),
        };
        if !range.widened(0.02).meets(whole) {
            let line = format!(
                "{}: {} to {} by the classes of statuses, stated {}",
                say::measure(measure),
                say::time(range.low),
                say::time(range.high),
                say::time(whole.said)
            );
            remarks.push((line, parts.iter().map(|(_, f, _)| *f).chain([figure]).collect()));
        }
    }
    hit("the times of all responses are not those of their classes", remarks)
}

fn counts_add_up(s: &Subject) -> Option<Hit> {
    let (count_figure, count) = s.get(Measure::Requests)?;
    let statuses: Vec<(&Figure, Span)> = s
        .row
        .others
        .iter()
        .filter(|(name, _)| name.starts_with("status "))
        .filter_map(|(_, f)| Some((f, Span::of(f)?)))
        .collect();
    let sum = statuses.iter().fold(Span::exact(0.0), |sum, (_, span)| sum.plus(*span));
    let (parts, whole, what) = match s.tool()? {
        Tool::Gatling => (other(s, "all groups")?.1, count, "in all groups"),
        // Requests without a response have no status. A timed run ends between the head of a response, which has the
        // status, and its end, which makes it done.
        Tool::H2load if !statuses.is_empty() => {
            // Each timeout is an error as well.
            let done = count.minus(other(s, "errored")?.1);
            let begun = other(s, "started").map_or(done, |(_, started)| started);
            if sum.above(done) && !sum.above(begun) {
                return None;
            }
            (sum, done, "with a status")
        }
        Tool::Artillery if !statuses.is_empty() => (sum, other(s, "http.responses")?.1, "with a status"),
        Tool::Ghz => (sum, other(s, "count")?.1, "with a status"),
        _ => return None,
    };
    // Artillery and ghz print a line for each status: an excerpt may lack one.
    let is_cut = matches!(s.tool(), Some(Tool::Artillery | Tool::Ghz)) && whole.above(parts);
    if parts.meets(whole) || is_cut {
        return None;
    }
    let line = format!("{} {what}, {} expected", say::number(parts.said), say::number(whole.said));
    let figures = statuses.iter().map(|(f, _)| *f).chain([count_figure]).collect();
    hit("the groups of responses do not add up to the whole", vec![(line, figures)])
}

/// JMeter's summariser: intervals (`+`) add up to the total (`=`), and a thread that began is active or has ended.
pub(super) fn jmeter_intervals(s: &Subject) -> Option<Hit> {
    let (_, all) = other(s, "samples of all intervals").filter(|_| s.tool() == Some(Tool::Jmeter))?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    // Otherwise lines are missing, and the others say nothing about the total.
    if s.span(Measure::Requests).is_some_and(|n| n.meets(all)) {
        let pairs = [
            (Measure::Mean, "interval mean"),
            (Measure::Min, "interval min"),
            (Measure::Max, "interval max"),
            (Measure::Errors, "interval errors"),
        ];
        for (measure, name) in pairs {
            let (Some((figure, total)), Some((part, parts))) = (s.get(measure), other(s, name)) else {
                continue;
            };
            if parts.meets(total) {
                continue;
            }
            let tell = if measure == Measure::Errors { say::number } else { say::time };
            let line = format!(
                "{}: {} by the intervals, stated {}",
                say::measure(measure),
                tell(parts.said),
                tell(total.said)
            );
            remarks.push((line, vec![figure, part]));
        }
    }
    // The three are read one after the other while threads begin and end; remote runs count `Started` differently.
    if let (Some((_, active)), Some((figure, started)), Some((_, finished))) =
        (other(s, "active"), other(s, "started"), other(s, "finished"))
        && started.above(active.plus(finished).widened(0.1).plus(Span::exact(2.0)))
    {
        let line = format!(
            "{} active + {} finished = {}, stated {} started",
            say::number(active.said),
            say::number(finished.said),
            say::number(active.plus(finished).said),
            say::number(started.said)
        );
        remarks.push((line, vec![figure]));
    }
    hit("the intervals do not add up to the total", remarks)
}

/// JMeter records whole milliseconds; minimum and maximum are two of them.
pub(super) fn whole_milliseconds(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Jmeter) || s.row.samples.is_some() {
        return None;
    }
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    for measure in [Measure::Min, Measure::Max] {
        let Some((figure, span)) = s.get(measure) else { continue };
        let ms = figure.value * 1e3;
        if (ms - ms.round()).abs() > 1e-6 {
            let line = format!("{} {}", say::measure(measure), say::time(span.said));
            remarks.push((line, vec![figure]));
        }
    }
    hit("a recorded time is not a whole number of milliseconds", remarks)
}

/// h2load: each client's rate is over its own time, which is no longer than that of the whole.
pub(super) fn h2load_rates(s: &Subject) -> Option<Hit> {
    let (mean_figure, mean) = other(s, "rate of a client mean").filter(|_| s.tool() == Some(Tool::H2load))?;
    let (users_figure, users) = s.get(Measure::Users)?;
    let (rate_figure, rate) = s.get(Measure::Rate)?;
    let sum = users.times(mean);
    // A run for a stated time takes its rate over that time, and that of a client up to its last response.
    let drain = other(s, "finished in").zip(s.span(Measure::Duration));
    let drain = drain.and_then(|((_, all), own)| Some(all.over(own)?.high - 1.0)).unwrap_or(0.0);
    if !rate.above(sum.widened(0.02 + drain.max(0.0))) {
        return slowest_client(s, rate_figure, rate);
    }
    let line = format!(
        "{} clients x {}/s = {}/s, stated {}/s",
        say::number(users.said),
        say::number(mean.said),
        say::number(sum.said),
        say::number(rate.said)
    );
    let remarks = vec![(line, vec![users_figure, mean_figure, rate_figure])];
    hit("the rates of the clients are less than the whole", remarks)
}

/// The slowest client ends last, so its time is nearly that of the whole, and clients x its rate nearly the rate.
fn slowest_client(s: &Subject, rate_figure: &Figure, rate: Span) -> Option<Hit> {
    // Clients begin one after the other, and connect first.
    const LATE: f64 = 0.5;
    let (least_figure, least) = other(s, "rate of a client min")?;
    let (users_figure, users) = s.get(Measure::Users)?;
    let connect = s.span(Measure::ConnectMax).zip(s.span(Measure::Duration));
    let is_short = connect.is_some_and(|(connect, all)| connect.said > 0.1 * all.said);
    let sum = users.times(least);
    let failed = s.span(Measure::Errors).is_some_and(|n| n.high > 0.0);
    if is_short || failed || !sum.above(rate.widened(LATE)) {
        return None;
    }
    let line = format!(
        "{} clients x {}/s of the slowest = {}/s, stated {}/s",
        say::number(users.said),
        say::number(least.said),
        say::number(sum.said),
        say::number(rate.said)
    );
    let remarks = vec![(line, vec![users_figure, least_figure, rate_figure])];
    hit("the rates of the clients are more than the whole", remarks)
}

/// ab: without `Length` failures, each completed response has the length of the first, and requests that the end cut
/// off add less than one body each.
pub(super) fn ab_bodies(s: &Subject) -> Option<Hit> {
    let (html_figure, html) = other(s, "html transferred").filter(|_| s.tool() == Some(Tool::Ab))?;
    let (body_figure, body) = s.get(Measure::BodyBytes)?;
    let (count_figure, count) = s.get(Measure::Requests)?;
    let users = s.span(Measure::Users)?;
    let failed = [Measure::Errors, Measure::LengthErrors, Measure::WriteErrors];
    if failed.into_iter().any(|m| s.span(m).is_some_and(|n| n.high > 0.0)) || body.high <= 0.0 {
        return None;
    }
    let least = body.times(count);
    let most = body.times(count.plus(users));
    if html.meets(Span { low: least.low, high: most.high, said: least.said }) {
        return None;
    }
    let line = format!(
        "{} B x {} = {} B, stated {} B",
        say::number(body.said),
        say::number(count.said),
        say::number(least.said),
        say::number(html.said)
    );
    hit(
        "the bodies do not add up to the bytes of HTML",
        vec![(line, vec![body_figure, count_figure, html_figure])],
    )
}

/// What the command above an output asks for, and what the output says of it.
pub(super) fn command(s: &Subject) -> Option<Hit> {
    let word = s.row.words.get("command")?;
    let asked = s.definitions()?.command?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    for (flag, measure) in asked {
        let Some((figure, stated)) = s.get(*measure) else { continue };
        let Some(value) = option(&word.text, flag).and_then(|text| amount(text, *measure)) else { continue };
        // The command's own figure says nothing about the output.
        let same_line = figure.line == word.line;
        let product = figure.written.contains(" x ");
        if same_line || product || Span::exact(value).meets(stated) {
            continue;
        }
        let line = format!(
            "`{flag} {}`, {} {}",
            say::number(value),
            say::measure(*measure),
            say::number(stated.said)
        );
        remarks.push((line, vec![figure]));
    }
    remarks.first()?;
    let sentence = "the command above the output asks for something else";
    let hit = Hit::new(Likely, sentence, sentence).why("the output is of another run, or of another command");
    let hit = hit.advice("show each output with the command that made it");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}

/// `-c 100`, `-c100`, `-c=100`, `--connections 100`.
pub(super) fn option<'a>(command: &'a str, flag: &str) -> Option<&'a str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(flag)? {
        "" => words.get(at + 1).copied(),
        own if flag.starts_with("--") => own.strip_prefix('='),
        own => Some(own.trim_start_matches('=')).filter(|own| own.starts_with(|c: char| c.is_ascii_digit())),
    })
}

fn amount(text: &str, measure: Measure) -> Option<f64> {
    use crate::foreign::tools::number::{go_duration, metric};
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let value: f64 = number.parse().ok()?;
    match measure {
        Measure::Duration if unit.is_empty() => Some(value),
        Measure::Duration => go_duration(text).map(|(seconds, ..)| seconds),
        _ => Some(value * metric(unit)?),
    }
}

fn hit(sentence: &'static str, remarks: Vec<(String, Vec<&Figure>)>) -> Option<Hit> {
    remarks.first()?;
    let hit = Hit::new(Proved, sentence, sentence).advice("copy the figures of one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}
