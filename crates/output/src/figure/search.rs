//! A search: its steps in their order, each met or missed, and the answer with its interval across all of them.

use super::chart::{Chart, Dot, Form, Panel, Series};
use super::scale::Scale;
use crate::format::quantity;
use plimsoll_plan::experiment::Purpose;
use plimsoll_record::analysis::search::{Answer, IntervalIs, StepRow};

pub fn figure(name: &str, settings: &str, answer: &Answer) -> String {
    let steps = &answer.steps;
    let dots = |wanted: &dyn Fn(&StepRow) -> bool| -> Vec<Dot> {
        let dot = |(at, step): (usize, &StepRow)| Dot {
            x: (at + 1) as f64,
            y: step.level,
            interval: None,
            is_joined: true,
        };
        // The run of a single user has no level of the search.
        let counted = |step: &StepRow| step.purpose != Purpose::Floor && wanted(step);
        steps.iter().enumerate().filter(|(_, step)| counted(step)).map(dot).collect()
    };
    let series = |name: &str, colour: usize, form: Form, points: Vec<Dot>| Series {
        name: name.into(),
        colour,
        form,
        points,
    };
    let held = |step: &StepRow| step.limited_by.is_some();
    let all = vec![
        series("", 6, Form::Dashed, dots(&|_| true)),
        series("met", 0, Form::Dots, dots(&|step| step.met && !held(step))),
        series("missed", 1, Form::Crosses, dots(&|step| !step.met && !held(step))),
        series("does not count", 6, Form::Rings, dots(&held)),
    ];
    let mut series: Vec<Series> = all.into_iter().filter(|one| !one.points.is_empty()).collect();
    let mut most = steps.iter().map(|step| step.level).fold(0.0, f64::max);
    let mut bands = Vec::new();
    if let Some(capacity) = answer.capacity.as_ref() {
        let [low, high] = capacity.interval;
        let what = match (capacity.at_least, capacity.interval_is) {
            (true, _) => "at least".to_owned(),
            (_, IntervalIs::Confidence95) => {
                format!("95 % interval {} to {}", quantity(low), quantity(high))
            }
            (_, IntervalIs::Enclosure) => {
                format!("last met {}, first missed {}", quantity(low), quantity(high))
            }
        };
        most = most.max(high);
        bands.push((low, high));
        let level = capacity.level();
        let ends = [0.5, steps.len() as f64 + 0.5];
        let points = ends.map(|x| Dot { x, y: level, interval: None, is_joined: true });
        series.push(Series {
            name: format!("answer {} ({what})", quantity(level)),
            colour: 2,
            form: Form::Line,
            points: points.to_vec(),
        });
    }
    let label = if answer.users { "users" } else { "arrivals per second" };
    let x = Scale::between(0.5, steps.len().max(1) as f64 + 0.5, steps.len().clamp(2, 12));
    let chart = Chart {
        title: if settings.is_empty() { name.to_owned() } else { format!("{name}: {settings}") },
        subtitle: answer.sentence.clone(),
        x_label: "step of the search, in the order of the runs".into(),
        x: whole(x),
        panels: vec![Panel {
            label: label.into(),
            y: Scale::from_zero(most, 5),
            series,
            stretches: Vec::new(),
            bands,
        }],
    };
    chart.draw()
}

/// There is no step 1.5.
fn whole(mut x: Scale) -> Scale {
    x.marks.retain(|mark| mark.fract() == 0.0);
    x
}
