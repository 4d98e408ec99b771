//! vegeta says one run by totals, by shares and by status: three sums that can be held against each other.

use super::say;
use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::Proved;
use crate::foreign::{Figure, Measure, Tool};

/// Answers by status against requests and success, and bytes against their mean.
pub(super) fn vegeta_adds_up(s: &Subject) -> Option<Hit> {
    if s.tool() != Some(Tool::Vegeta) {
        return None;
    }
    let (count_figure, count) = s.get(Measure::Requests)?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    let codes: Vec<(u16, &Figure, Span)> = s
        .row
        .others
        .iter()
        .filter_map(|(name, f)| Some((name.strip_prefix("status ")?.parse().ok()?, f, Span::of(f)?)))
        .collect();
    let sum = |of: &dyn Fn(u16) -> bool| {
        let some = codes.iter().filter(|(code, ..)| of(*code));
        some.fold(Span::exact(0.0), |sum, (_, _, n)| sum.plus(*n))
    };
    let describe = |span: Span| say::number(span.said);
    let code_figures = || codes.iter().map(|(_, f, _)| *f);
    let all = sum(&|_| true);
    // Each request has a status there; one without an answer has 0.
    if !codes.is_empty() && !all.meets(count) {
        let line = format!("{} answers by status, stated {} requests", describe(all), describe(count));
        remarks.push((line, code_figures().chain([count_figure]).collect()));
    } else if let (false, Some((figure, failed))) = (codes.is_empty(), s.get(Measure::ErrorRatio)) {
        // What vegeta calls a success, in its `metrics.go`.
        let good = sum(&|code| (200..400).contains(&code));
        let share = good.over(count)?;
        if !Span::exact(1.0).minus(share).meets(failed) {
            let line = format!(
                "{} answers of 200 to 399 / {} = {}, stated {}",
                describe(good),
                describe(count),
                say::percent(share.said),
                say::percent(1.0 - failed.said)
            );
            remarks.push((line, code_figures().chain([count_figure, figure]).collect()));
        }
    }
    let stated = |measure| s.get(measure);
    let sent = s.row.others.get("bytes out mean").and_then(|f| Some((f, Span::of(f)?)));
    let bytes = [
        (stated(Measure::BytesTotal), stated(Measure::BodyBytes), "received"),
        (stated(Measure::BytesSentTotal), sent, "sent"),
    ];
    for (total, mean, what) in bytes {
        let (Some((total_figure, total)), Some((mean_figure, mean))) = (total, mean) else { continue };
        let each = total.over(count)?;
        if !each.meets(mean) {
            let line = format!(
                "{} B {what} / {} = {} B, stated {} B",
                describe(total),
                describe(count),
                describe(each),
                describe(mean)
            );
            remarks.push((line, vec![total_figure, count_figure, mean_figure]));
        }
    }
    remarks.first()?;
    let sentence = "totals, shares and answers by status are not of one run";
    let hit = Hit::new(Proved, sentence, sentence).advice("copy the figures of one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}
