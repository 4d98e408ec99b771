//! Everything that must hold between a record and its picture, computed differently: from the ticks, value by value.

use plimsoll_analysis::picture::{Heat, Picture, ROWS_MAX, Spectrum};
use plimsoll_analysis::summarise;
use plimsoll_analysis::summary::{Second, Summary, Times};
use plimsoll_plan::metric::{SeriesHist, SeriesSum, fault_id};
use plimsoll_plan::{Fault, Side};
use plimsoll_record::RunRecord;
use plimsoll_stats::{Hist, Tally};
use std::collections::BTreeMap;

/// The ticks of all machines, added up: number, start and end in s, all requests.
pub fn ticks(record: &RunRecord) -> Vec<(u32, f64, f64, Tally)> {
    let mut all: BTreeMap<u32, (f64, f64, Tally)> = BTreeMap::new();
    for origin in record.generators.values() {
        let plan = &origin.opening.outline;
        let elapsed_ns = origin.ending.as_ref().map_or(u64::MAX, |ending| ending.elapsed_ns);
        for (tick, row) in &origin.ticks {
            let (from_ns, to_ns) = plan.tick_bounds_ns(*tick);
            let to_s = to_ns.min(elapsed_ns) as f64 / 1e9;
            let sum = all
                .entry(*tick)
                .or_insert_with(|| (from_ns as f64 / 1e9, to_s, Tally::on_demand(Default::default())));
            sum.1 = sum.1.max(to_s);
            sum.2.merge(&row.all());
        }
    }
    all.into_iter().map(|(tick, (from_s, to_s, all))| (tick, from_s, to_s, all)).collect()
}

/// The times that a heat map draws for these ticks: completed ones, and censored ones that are timeouts or longer than
/// the longest completed one. Also returns how many it omits.
type Drawn = (Hist, u64);

fn drawn(all: &Tally, [exact, bounds]: [SeriesHist; 2], longest: Option<u64>, timeout_ns: u64) -> Drawn {
    let (mut sum, mut cut_off) = (all.hists[exact.id()].clone(), 0);
    for (low, high, n) in all.hists[bounds.id()].buckets() {
        match high >= timeout_ns || longest.is_none_or(|longest| high >= longest) {
            true => (0..n).for_each(|_| sum.record(low + (high - low) / 2)),
            false => cut_off += n,
        }
    }
    (sum, cut_off)
}

fn response(all: &Tally) -> Hist {
    let mut sum = all.hists[SeriesHist::Response.id()].clone();
    sum.merge(&all.hists[SeriesHist::ResponseCensored.id()]);
    sum
}

/// Returns the mistakes in a picture of this record.
pub fn wrong(record: &RunRecord, picture: &Picture) -> Vec<String> {
    let (summary, ticks) = (summarise(record), ticks(record));
    let mut wrong = Vec::new();
    wrong.extend(rows(&summary, picture, &ticks));
    let plan = &summary.plan;
    let longest = |id: SeriesHist| {
        let measured = ticks.iter().filter(|(tick, ..)| !plan.is_warmup(*tick));
        measured.filter_map(|(.., all)| all.hists[id.id()].max()).max()
    };
    for (name, found, ids) in [
        ("response", &picture.response_heat, [SeriesHist::Response, SeriesHist::ResponseCensored]),
        ("service", &picture.service_heat, [SeriesHist::Service, SeriesHist::ServiceCensored]),
    ] {
        let longest = longest(ids[0]);
        wrong.extend(heat(name, found, &ticks, &|all| drawn(all, ids, longest, plan.timeout_ns)));
    }
    wrong.extend(spectra(&summary, picture));
    if picture.moments != summary.events {
        wrong.push("other moments than the summary's".into());
    }
    wrong
}

fn rows(summary: &Summary, picture: &Picture, ticks: &[(u32, f64, f64, Tally)]) -> Vec<String> {
    let mut wrong = Vec::new();
    if picture.rows.len() > ROWS_MAX {
        wrong.push(format!("{} rows", picture.rows.len()));
    }
    let json = |rows: &[Second]| serde_json::to_string(rows).unwrap();
    if picture.ticks_per_row == 1 && json(&picture.rows) != json(&summary.timeline) {
        wrong.push("rows of one tick that are not those of the timeline".into());
    }
    let mut rest = ticks;
    for (at, row) in picture.rows.iter().enumerate() {
        let end_s = row.from_s + row.length_s;
        let until = rest.partition_point(|(_, from_s, ..)| *from_s < end_s || *from_s <= row.from_s);
        let (mine, behind) = rest.split_at(until);
        rest = behind;
        let mut all = Tally::on_demand(Default::default());
        mine.iter().for_each(|(.., tick)| all.merge(tick));
        let plan = &summary.plan;
        if mine.iter().any(|(tick, ..)| plan.is_warmup(*tick) != row.is_warmup) {
            wrong.push(format!("row {at} mixes the warm-up with the measured part"));
        }
        if mine.first().map(|tick| tick.0) != Some(row.tick) || mine.len() > picture.ticks_per_row as usize {
            wrong.push(format!(
                "row {at} has {} ticks starting at {:?}",
                mine.len(),
                mine.first().map(|t| t.0)
            ));
        }
        let (finished, failed) = (all.sums[SeriesSum::Finished.id()], all.sums[SeriesSum::Failed.id()]);
        if (row.requests, row.errors) != (finished, failed) {
            wrong.push(format!("row {at} has {} requests instead of {finished}", row.requests));
        }
        let length_s: f64 = mine.iter().map(|(_, from_s, to_s, _)| to_s - from_s).sum();
        let good = if length_s > 0.0 { (finished - failed) as f64 / length_s } else { 0.0 };
        if (row.good_rate_per_s - good).abs() > 1e-6 * good {
            wrong.push(format!(
                "row {at}: {} good requests per second instead of {good}",
                row.good_rate_per_s
            ));
        }
        // Without censored times, a percentile is that of the histogram.
        if all.hists[SeriesHist::ResponseCensored.id()].is_empty() {
            let times = response(&all);
            let p = |q| times.quantile(q);
            if (row.p50_ns, row.p95_ns, row.p99_ns, row.max_ns) != (p(0.5), p(0.95), p(0.99), p(1.0)) {
                wrong.push(format!("row {at} has other percentiles"));
            }
        }
        let fault = |name: &str| Fault::ALL.iter().find(|fault| fault.name() == name).unwrap();
        let counted: Vec<u64> =
            picture.classes.iter().map(|class| all.sums[fault_id(*fault(class))]).collect();
        if picture.failures[at] != counted {
            wrong.push(format!("row {at} has other failures: {:?}", picture.failures[at]));
        }
    }
    if !rest.is_empty() {
        wrong.push(format!("{} ticks are in no row", rest.len()));
    }
    let occurred = |fault: &Fault| ticks.iter().any(|(.., all)| all.sums[fault_id(*fault)] > 0);
    let classes = Fault::ALL.iter().filter(|f| f.side() != Side::Client && occurred(f)).count();
    if picture.classes.len() != classes {
        wrong.push(format!("{} classes of failures instead of {classes}", picture.classes.len()));
    }
    wrong
}

fn heat(
    name: &str,
    heat: &Heat,
    ticks: &[(u32, f64, f64, Tally)],
    times: &dyn Fn(&Tally) -> Drawn,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let edges = &heat.edges_ns;
    if heat.counts.len() != heat.from_s.len() || heat.from_s.len() > 240 || edges.len() > 61 {
        wrong.push(format!("{name}: {} columns, {} edges", heat.from_s.len(), edges.len()));
    }
    let ratios: Vec<f64> = edges.windows(2).map(|pair| pair[1] / pair[0]).collect();
    let ratio = ratios.first().copied().unwrap_or(1.0);
    let is_even = ratios.iter().all(|r| *r > 1.0 && (r / ratio - 1.0).abs() < 1e-9);
    // Divisions of a power of ten: the first edge is 10^(k/n) for whole numbers.
    let steps = 1.0 / ratio.log10();
    let is_round = edges.is_empty() || {
        let k = edges[0].log10() * steps.round();
        (steps - steps.round()).abs() < 1e-6 && (k - k.round()).abs() < 1e-6
    };
    if !is_even || !is_round {
        wrong.push(format!("{name}: uneven steps of the rows: {edges:?}"));
    }
    let used = |row: usize| heat.counts.iter().any(|column| column[row] > 0);
    let is_used = ratios.is_empty() || used(0) && used(ratios.len() - 1);
    if !is_used {
        wrong.push(format!("{name}: rows beyond the range"));
    }
    let mut expected: Vec<Vec<u64>> = vec![vec![0; ratios.len()]; heat.from_s.len()];
    let (mut samples, mut left_out) = (0, vec![0; heat.from_s.len()]);
    for (_, from_s, _, all) in ticks {
        let column = heat.from_s.iter().rposition(|edge| edge <= from_s);
        let (times, cut_off) = times(all);
        if let Some(column) = column {
            left_out[column] += cut_off;
        }
        samples += times.count();
        for (low, high, n) in times.buckets() {
            let middle = (low + (high - low) / 2).max(1) as f64;
            let row = edges.windows(2).position(|pair| pair[0] <= middle && middle < pair[1]);
            match (column, row) {
                (Some(column), Some(row)) => expected[column][row] += n,
                _ => wrong.push(format!("{name}: no cell for {low} to {high} ns at {from_s} s")),
            }
        }
    }
    if heat.counts.iter().flatten().sum::<u64>() != samples {
        wrong.push(format!("{name}: not {samples} samples"));
    } else if samples > 0 && heat.counts != expected {
        wrong.push(format!("{name}: samples in other cells"));
    }
    if heat.cut_off != left_out {
        wrong.push(format!("{name}: {:?} cut off instead of {left_out:?}", heat.cut_off));
    }
    wrong
}

fn spectra(summary: &Summary, picture: &Picture) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(all) = picture.spectra.first() else { return vec!["no spectrum".into()] };
    if !all.request.is_empty() || picture.spectra.len() > 51 {
        wrong.push("the first spectrum is not that of all requests, or there are too many".into());
    }
    let row = |one: &Spectrum| {
        summary.requests.iter().find(|row| row.name == one.request && row.scenario == one.scenario)
    };
    let mut judged = vec![("all", all, &summary.response_time, &summary.service_time)];
    for one in &picture.spectra[1..] {
        match row(one) {
            Some(row) => judged.push((row.name.as_str(), one, &row.response_time, &row.service_time)),
            None => wrong.push(format!("no request `{}`", one.request)),
        }
    }
    for (name, spectrum, response, service) in judged {
        if (spectrum.response_count, spectrum.service_count, spectrum.censored)
            != (response.count, service.count, response.censored)
        {
            wrong.push(format!("{name}: other counts"));
        }
        for (points, times) in [(&spectrum.response, response), (&spectrum.service, service)] {
            let is_rising =
                points.windows(2).all(|pair| pair[0].q < pair[1].q && pair[0].value_ns <= pair[1].value_ns);
            let most = (times.max_ns, points.last().map(|point| (point.q, point.value_ns)));
            if !is_rising || points.len() > 120 || most.0.map(|max| (1.0, max)) != most.1 {
                wrong.push(format!("{name}: no curve up to {most:?}: {points:?}"));
            }
            wrong.extend(
                agree(times, points.iter().map(|p| (p.q, p.value_ns)).collect())
                    .map(|q| format!("{name}: p{q}")),
            );
        }
        // With few samples, the highest percentiles are the longest time, which is the last point.
        let samples = (response.count + response.censored) as f64;
        let last = |q: f64| if (1.0 - q) * samples >= 1.0 { q } else { 1.0 };
        let least = response.percentiles.iter().find(|p| p.is_lower_bound).map(|p| last(p.q));
        if least.is_some_and(|q| spectrum.at_least_from.is_none_or(|from| from > q)) {
            wrong.push(format!("{name}: a lower bound is drawn as a value"));
        }
    }
    wrong
}

/// Returns the first printed percentile that is missing from the curve. Level sections have only their ends.
fn agree(times: &Times, points: Vec<(f64, u64)>) -> Option<f64> {
    let at = |q: f64| {
        let next = points.iter().position(|(at, _)| *at >= q)?;
        let level = next > 0 && points[next - 1].1 == points[next].1;
        (points[next].0 == q || level).then(|| points[next].1)
    };
    let told =
        times.percentiles.iter().filter(|p| (1.0 - p.q) * (times.count + times.censored) as f64 >= 1.0);
    told.into_iter().find(|p| at(p.q) != Some(p.value_ns)).map(|p| p.q)
}
