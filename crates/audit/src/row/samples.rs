//! Files that hold single samples: the figures that were stated, held against the samples themselves.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::{Likely, Proved};
use crate::foreign::Measure;
use crate::foreign::model::Samples;
use crate::foreign::times::Times;

/// The sample file holds several runs, appended to each other.
pub(super) fn one_run(s: &Subject) -> Option<Hit> {
    // A label that is called now and then pauses by itself.
    let samples = s.row.samples.as_ref().filter(|_| !s.row.is_part)?;
    if samples.runs < 2 {
        return None;
    }
    let sentence = format!("the file holds {} runs, one after the other", samples.runs);
    let hit = Hit::new(Likely, "files hold several runs", sentence).line(format!(
        "{} samples over {}, with {} gaps between",
        say::number(samples.count as f64),
        say::time(samples.last_s - samples.first_s),
        samples.runs - 1
    ));
    let why = "`jmeter -l FILE` appends to a file that is there already";
    let hit = Hit { places: vec![(s.row.lines.0, String::new())], ..hit };
    Some(hit.why(why).advice("give every run a file of its own; split this one at the gaps"))
}

/// Percentile, mean, extremes and counts again, from the samples.
pub(super) fn figures_of_the_samples(s: &Subject) -> Option<Hit> {
    let samples = s.row.samples.as_ref().filter(|x| x.count > 0)?;
    let n = samples.count as f64;
    let mut hit: Option<Hit> = None;
    let mut differs = |measure: Measure, truth: Span, say: fn(f64) -> String| {
        let Some((figure, stated)) = s.get(measure).filter(|(_, stated)| !stated.widened(1e-9).meets(truth))
        else {
            return;
        };
        let what = say::measure(measure);
        let line = format!("{what} of the samples {}, stated {}", say::range(truth, say), say(stated.said));
        let sentence = format!("{what} is not that of the samples");
        let so_far = hit.take();
        let base =
            so_far.unwrap_or_else(|| Hit::new(Proved, "figures are not those of the samples", sentence));
        hit = Some(base.line(line).at([figure]));
    };
    differs(Measure::Requests, Span::exact(n), say::number);
    differs(Measure::Errors, Span::exact(samples.errors as f64), say::number);
    if samples.elapsed_sum_s.is_finite() {
        let mean = samples.elapsed_sum_s / n;
        // Truncated to whole milliseconds by some tools, rounded by others.
        differs(Measure::Mean, Span::between(mean - 0.001, mean + 0.001), say::time);
    }
    // Kept are a million at most: order statistics of a part are none of the whole.
    if let Some((first, last)) = ends(samples) {
        differs(Measure::Min, Span::exact(first), say::time);
        differs(Measure::Max, Span::exact(last), say::time);
        for (share, p, ..) in s.percentiles() {
            differs(Measure::Percentile(p), at(&samples.times, share), say::time);
        }
    }
    let why = if n > 20_000.0 {
        "JMeter's HTML report takes its percentiles from the last 20,000 samples of each label only"
    } else {
        "the figures are of another run, or of a part of this one"
    };
    hit.map(|h| h.why(why).advice("compute every figure from the whole file"))
}

fn ends(samples: &Samples) -> Option<(f64, f64)> {
    let (first, _) = samples.times.at(0)?;
    let (_, last) = samples.times.at(samples.times.len().checked_sub(1)?)?;
    // Samples of a document that was made by hand may be a part.
    let whole = samples.times.len() == samples.count;
    (whole && first.is_finite() && last.is_finite() && first <= last).then_some((first, last))
}

/// Two ranks to each side: percentiles are defined in nine ways (Hyndman & Fan 1996).
pub(super) fn at(times: &Times, share: f64) -> Span {
    let last = times.len().saturating_sub(1);
    let rank = (share * times.len() as f64) as u64;
    let low = times.at(rank.saturating_sub(2).min(last)).map_or(0.0, |(low, _)| low);
    let high = times.at((rank + 2).min(last)).map_or(0.0, |(_, high)| high);
    Span::between(low, high)
}

/// Most samples at once <= users.
pub(super) fn at_once(s: &Subject) -> Option<Hit> {
    let samples = s.row.samples.as_ref()?;
    let (figure, users) = s.get(Measure::Users)?;
    let most = samples.concurrent_max as f64;
    if users.high <= 0.0 || most <= users.high {
        return None;
    }
    let sentence = format!(
        "up to {} samples were under way at once, of {} users",
        say::number(most),
        say::number(users.said)
    );
    let hit = Hit::new(Likely, "more samples at once than users", sentence);
    let why =
        "the samples of several machines in one file, or transaction controllers that span their children";
    let line = format!("{} > {}", say::number(most), say::number(users.said));
    Some(hit.line(line).at([figure]).why(why).advice("state the users of all machines together"))
}
