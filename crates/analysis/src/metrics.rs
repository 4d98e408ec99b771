//! User-defined metrics: the series of all machines by name and labels, and what thresholds see of them.

use super::cells::Cells;
use super::facts::{Facts, ratio};
use super::reading::Reading;
use crate::summary::{CustomFigures, CustomMetric, CustomSeries, SERIES_TOLD};
use plimsoll_plan::metric::{CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, RateSum, TrendHist};
use plimsoll_plan::series::{
    Custom, Family, SeriesKey, THOUSANDTHS, counted, from_ordered, group_path, label, request_trend,
};
use plimsoll_plan::threshold::{FigureUnit, Scope, Statistic, Threshold};
use plimsoll_stats::tally::{Layout, Tally};
use std::collections::BTreeMap;

pub(super) fn metrics(facts: &Facts) -> Vec<CustomMetric> {
    let mut by_name: BTreeMap<(&str, Family), Vec<(&SeriesKey, Tally)>> = BTreeMap::new();
    for (key, tally) in
        series(facts, None, |key| key.family.is_custom() && !request_trend::ALL.contains(&key.name.as_str()))
    {
        by_name.entry((&key.name, key.family)).or_default().push((key, tally));
    }
    by_name.into_iter().filter_map(|((name, family), all)| metric(name, family, all, facts)).collect()
}

/// The series that are wanted, those of equal keys added up over all machines, or those of the agents in the scope.
fn series<'a>(
    facts: &Facts<'a>,
    scope: Option<&Scope>,
    wanted: impl Fn(&SeriesKey) -> bool,
) -> BTreeMap<&'a SeriesKey, Tally> {
    let mut all: BTreeMap<&SeriesKey, Tally> = BTreeMap::new();
    for machine in facts.machines.iter().filter(|machine| machine.is_within(scope)) {
        let totals = &machine.origin.totals.series;
        for one in machine.origin.opened.iter().filter(|one| wanted(&one.key)) {
            let Some(tally) = totals.get(one.series as usize) else { continue };
            all.entry(&one.key).or_insert_with(|| empty(one.key.family)).merge(tally);
        }
    }
    all
}

fn empty(family: Family) -> Tally {
    Tally::compact(Layout::of(family.cells()))
}

fn metric(
    name: &str,
    family: Family,
    mut all: Vec<(&SeriesKey, Tally)>,
    facts: &Facts,
) -> Option<CustomMetric> {
    let mut sum = empty(family);
    all.iter().for_each(|(_, tally)| sum.merge(tally));
    all.retain(|(key, _)| !key.labels.is_empty());
    all.sort_by_key(|(_, tally)| std::cmp::Reverse(size(family, tally)));
    let series_left_out = all.len().saturating_sub(SERIES_TOLD);
    let told = all.iter().take(SERIES_TOLD).filter_map(|(key, tally)| {
        let text = |name: &str, value: &str| match name {
            label::GROUP => group_path(value),
            _ => value.to_owned(),
        };
        let labels = key.labels.iter().map(|(name, value)| (name.clone(), text(name, value))).collect();
        Some(CustomSeries { labels, figures: figures(family, tally, facts)? })
    });
    let series = told.collect();
    Some(CustomMetric {
        name: name.to_owned(),
        figures: figures(family, &sum, facts)?,
        series,
        series_left_out,
    })
}

/// Which of two series matters more.
fn size(family: Family, tally: &Tally) -> u64 {
    match family.custom() {
        Some(Custom::Counter) => tally.sum(CounterSum::Whole),
        Some(Custom::Gauge) => tally.sum(GaugeSum::Values),
        Some(Custom::Rate) => tally.sum(RateSum::Values),
        Some(Custom::Trend) => tally.hist(TrendHist::Values).count(),
        None => 0,
    }
}

/// `None` of a family that no user defines.
fn figures(family: Family, tally: &Tally, facts: &Facts) -> Option<CustomFigures> {
    Some(match family.custom()? {
        Custom::Counter => {
            let total = total(tally);
            CustomFigures::Counter { total, rate_per_s: ratio(total, facts.measured_s()) }
        }
        Custom::Gauge => CustomFigures::Gauge {
            values: tally.sum(GaugeSum::Values),
            last: gauge(tally, Statistic::Value),
            min: gauge(tally, Statistic::Min),
            max: gauge(tally, Statistic::Max),
        },
        Custom::Rate => {
            let (values, true_values) = (tally.sum(RateSum::Values), tally.sum(RateSum::True));
            let ratio = (values > 0).then(|| ratio(true_values as f64, values as f64));
            CustomFigures::Rate { values, true_values, ratio }
        }
        Custom::Trend => {
            let [min, mean, max] = [Statistic::Min, Statistic::Mean, Statistic::Max].map(|s| trend(tally, s));
            let [p50, p90, p95, p99] = [0.5, 0.9, 0.95, 0.99].map(|q| trend(tally, Statistic::Quantile(q)));
            CustomFigures::Trend {
                values: tally.hist(TrendHist::Values).count(),
                min,
                mean,
                p50,
                p90,
                p95,
                p99,
                max,
            }
        }
    })
}

fn total(tally: &Tally) -> f64 {
    counted(tally.sum(CounterSum::Whole), tally.sum(CounterSum::Billionths))
}

fn gauge(tally: &Tally, statistic: Statistic) -> Option<f64> {
    let is_set = tally.sum(GaugeSum::Values) > 0;
    let bits = match statistic {
        Statistic::Min => tally.floors.get(GaugeFloor::Min.id()).copied(),
        Statistic::Max => tally.peaks.get(GaugePeak::Max.id()).copied(),
        Statistic::Value | Statistic::Mean | Statistic::Quantile(_) => {
            tally.lasts.get(GaugeLast::Last.id()).map(|last| last.value)
        }
    };
    // The bits in a foreign file may not be a number.
    bits.filter(|_| is_set).map(from_ordered).filter(|value| value.is_finite())
}

fn trend(tally: &Tally, statistic: Statistic) -> Option<f64> {
    let hist = tally.hist(TrendHist::Values);
    let thousandths = match statistic {
        Statistic::Quantile(q) => hist.quantile(q).map(|v| v as f64),
        Statistic::Mean => hist.mean(),
        Statistic::Min => hist.min().map(|v| v as f64),
        Statistic::Max => hist.max().map(|v| v as f64),
        Statistic::Value => None,
    };
    thousandths.map(|v| v / THOUSANDTHS)
}

/// What a threshold sees of the metric of this family that its scope names, and all of that added up.
pub(super) fn reading(threshold: &Threshold, family: Family, facts: &Facts) -> (Reading, Tally) {
    let covers = |key: &SeriesKey| {
        key.family == family && threshold.scope.as_ref().is_some_and(|scope| scope.covers_series(key))
    };
    let mut sum = empty(family);
    let found = series(facts, threshold.scope.as_ref(), covers);
    found.values().for_each(|tally| sum.merge(tally));
    let unit = if family == Family::Rate { FigureUnit::Ratio } else { FigureUnit::Number };
    let (value, samples) = match family.custom() {
        Some(Custom::Counter) => ((!found.is_empty()).then(|| total(&sum)), found.len() as u64),
        Some(Custom::Gauge) => (gauge(&sum, threshold.statistic), sum.sum(GaugeSum::Values)),
        Some(Custom::Rate) => {
            let values = sum.sum(RateSum::Values);
            ((values > 0).then(|| ratio(sum.sum(RateSum::True) as f64, values as f64)), values)
        }
        Some(Custom::Trend) => (trend(&sum, threshold.statistic), sum.hist(TrendHist::Values).count()),
        None => (None, 0),
    };
    (Reading { value, at_least: false, samples, unit }, sum)
}
