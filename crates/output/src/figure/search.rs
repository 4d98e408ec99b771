//! A search: its steps in their order, each met or missed, and the answer with its interval across all of them.

use crate::format::quantity;
use plimsoll_chart::{Axis, Band, Chart, Form, Limit, Mark, MarkKind, Panel, Series, Unit};
use plimsoll_experiment::search::{Answer, IntervalKind, Standing, StepRow};
use plimsoll_plan::experiment::Purpose;

/// How far the axis goes beyond the highest level.
const ROOM: f64 = 1.06;

pub fn figure(name: &str, settings: &str, answer: &Answer) -> Chart {
    let steps = &answer.steps;
    let end = steps.len().max(1) as f64 + 0.5;
    let axis = Axis::new("search step, in the order of the runs", Unit::Plain).between(0.5, end);
    let title = if settings.is_empty() { name.to_owned() } else { format!("{name}: {settings}") };
    let mut chart = Chart::new("search", title, axis);
    chart.subtitle = answer.sentence.clone();
    let meaning = match answer.capacity.as_ref() {
        None => "",
        Some(found) if found.is_lower_bound => {
            " The line is the highest load that met the thresholds, a lower bound of the capacity."
        }
        Some(found) if found.interval_kind == IntervalKind::Bracket => {
            " The line is the highest load that met the thresholds. The shaded band extends to the lowest load that \
             missed them, and contains the capacity."
        }
        Some(_) => {
            " The line is the highest load that meets the thresholds (the capacity); the shaded band is its 95% \
             interval."
        }
    };
    chart.help = format!("Each point is a run at one load level.{meaning}");
    chart.xs = (1..=steps.len()).map(|k| k as f64).collect();
    // There is no step 1.5.
    let every = steps.len().div_ceil(20).max(1);
    chart.x.ticks = chart.xs.iter().copied().step_by(every).collect();
    // The baseline has no level of the search, so a word names it.
    let floors = steps.iter().zip(&chart.xs).filter(|(step, _)| step.purpose == Purpose::Baseline);
    let marks = floors.map(|(_, at)| Mark { at: *at, word: "baseline".into(), kind: MarkKind::Control });
    chart.marks = marks.collect();
    let held = |step: &StepRow| step.limited_by.is_some();
    let levels = |wanted: &dyn Fn(&StepRow) -> bool| -> Vec<Option<f64>> {
        // The baseline has no level of the search.
        let counts = |step: &StepRow| step.purpose != Purpose::Baseline && wanted(step);
        steps.iter().map(|step| counts(step).then_some(step.level)).collect()
    };
    let of = |standing: Standing| move |step: &StepRow| step.standing == standing && !held(step);
    let all = vec![
        Series::new("levels", "", 7, Form::Dashed, levels(&|_| true)),
        Series::new("met", "met", 0, Form::Dots, levels(&of(Standing::Met))),
        Series::new("missed", "missed", 1, Form::Crosses, levels(&of(Standing::Missed))),
        Series::new("undecided", "undecided", 4, Form::Rings, levels(&of(Standing::Undecided))),
        Series::new("held", "excluded", 6, Form::Rings, levels(&held)),
    ];
    let series = all.into_iter().filter(|one| one.y.iter().any(Option::is_some)).collect();
    let (label, unit) = if answer.is_users { ("users", Unit::Count) } else { ("arrivals", Unit::PerSecond) };
    let is_level = |step: &&StepRow| step.purpose != Purpose::Baseline && step.level.is_finite();
    let bounds = answer.capacity.iter().flat_map(|found| found.interval).filter(|bound| bound.is_finite());
    let most = steps.iter().filter(is_level).map(|step| step.level).chain(bounds).fold(0.0, f64::max);
    let mut y = Axis::new(label, unit);
    // The frame would clip a marker on it.
    y.to = (most > 0.0).then_some(ROOM * most);
    let mut panel = Panel::new("levels", y, series);
    if let Some(capacity) = answer.capacity.as_ref() {
        let [low, high] = capacity.interval;
        let what = match (capacity.is_lower_bound, capacity.interval_kind) {
            (true, _) => "at least".to_owned(),
            (_, IntervalKind::Confidence95) => {
                format!("95% interval {} to {}", quantity(low), quantity(high))
            }
            (_, IntervalKind::Bracket) => {
                format!("last met {}, first missed {}", quantity(low), quantity(high))
            }
        };
        let word = format!("capacity {} ({what})", quantity(capacity.level()));
        panel.bands.push(Band { low, high, word: String::new() });
        panel.limits.push(Limit { value: capacity.level(), word, met: Some(true) });
    }
    chart.panels.push(panel);
    chart
}
