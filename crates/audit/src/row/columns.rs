//! Gatling states each figure for all requests, for those that were OK, and for those that were KO.

use super::span::Span;
use super::subject::{Hit, Subject};
use crate::Certainty::Proved;
use crate::foreign::tools::gatling::grammar::line_of;
use crate::foreign::{Figure, Measure, Tool};

/// Without failures, the figures of all requests are those of the ones that were OK. With failures, the extremes of all
/// are those of both, and the mean is between theirs.
pub(super) fn of_gatling(s: &Subject) -> Option<Hit> {
    let (_, failed) = s.get(Measure::Errors).filter(|_| s.tool() == Some(Tool::Gatling))?;
    let mut remarks: Vec<(String, Vec<&Figure>)> = Vec::new();
    for measure in s.row.figures.keys() {
        let Some(name) = line_of(*measure) else { continue };
        let Some((figure, stated)) = s.row.figures.get(measure).and_then(|f| Some((f, Span::of(f)?))) else {
            continue;
        };
        let scale = if *measure == Measure::Rate { 1.0 } else { 1e-3 };
        let of = |kind: &str| s.row.others.get(&format!("{kind} {name}")).map(|f| (f, f.value * scale));
        let (ok, ko) = (of("ok"), of("ko").filter(|_| failed.low > 0.0));
        let (low, high) = match (measure, ok, ko) {
            (_, Some((_, ok)), None) if failed.high <= 0.0 => (ok, ok),
            (Measure::Min, Some((_, a)), Some((_, b))) => (a.min(b), a.min(b)),
            (Measure::Max, Some((_, a)), Some((_, b))) => (a.max(b), a.max(b)),
            (Measure::Rate, Some((_, a)), Some((_, b))) => (a + b, a + b),
            (Measure::Mean | Measure::Percentile(_), Some((_, a)), Some((_, b))) => (a.min(b), a.max(b)),
            _ => continue,
        };
        // A percentile comes from a digest that draws at random, for each column anew: `3295 (OK=3294`.
        let is_of_digest = matches!(measure, Measure::Percentile(_));
        // On the console, both columns are of one list of times.
        let is_one_list = failed.high <= 0.0 && s.row.others.contains_key("all groups");
        let differs = ok.is_some_and(|(_, ok)| (figure.value - ok).abs() > 1e-9);
        let room = if is_of_digest { 1.5 } else { 1.002 };
        let range = Span::between(low / room - scale, high * room + scale);
        if is_one_list && differs && !is_of_digest || !range.meets(stated) {
            let parts: Vec<&Figure> = [ok, ko].into_iter().flatten().map(|(f, _)| f).collect();
            let written: Vec<&str> = parts.iter().map(|f| f.written.as_str()).collect();
            let line = format!("{name}: {} of all, {} of the parts", figure.written, written.join(" and "));
            remarks.push((line, [figure].into_iter().chain(parts).collect()));
        }
    }
    remarks.first()?;
    let sentence = "the figures of all requests are not those of OK and KO together";
    let hit = Hit::new(Proved, sentence, sentence).advice("copy the figures of one run");
    Some(remarks.into_iter().fold(hit, |hit, (line, figures)| hit.line(line).at(figures)))
}
