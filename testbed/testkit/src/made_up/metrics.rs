//! User-defined metrics of generated runs.

use super::{Random, tick};
use plimsoll_plan::metric::{CounterSum, GaugeFloor, GaugeLast, GaugePeak, GaugeSum, RateSum, TrendHist};
use plimsoll_plan::series::{Custom, Family, SeriesKey, ordered, parts_of};
use plimsoll_record::event::{RunEvent, SeriesOpened, Tick};
use plimsoll_record::record::Opened;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Last, Layout, Tally};
use std::sync::Arc;

/// Returns the event that opens a series.
pub fn opened(series: u32, key: &SeriesKey) -> RunEvent {
    RunEvent::SeriesOpened(SeriesOpened { series, key: Arc::new(key.clone()) })
}

/// Returns a tick in which these opened series follow those of the plan.
pub fn tick_with(mut interval: Interval, keys: &[SeriesKey], cells: Vec<Tally>) -> RunEvent {
    let first = interval.series.len() as u32;
    interval.series.extend(cells);
    let known = (first..).zip(keys).map(|(series, key)| Opened::new(series, Arc::new(key.clone()))).collect();
    match tick(interval) {
        RunEvent::Ticked(tick) => RunEvent::Ticked(Tick { opened: known, ..tick }),
        other => other,
    }
}

/// Returns a second of such a series: a few values around `level`.
pub fn values(family: Family, level: f64, at_s: u64, random: &mut Random) -> Tally {
    let mut cells = Tally::compact(Layout::of(family.cells()));
    for number in 0..4 {
        let value = level + random.below(100) as f64 / 100.0;
        match family.custom() {
            Some(Custom::Counter) => {
                let (whole, billionths) = parts_of(value).unwrap_or_default();
                cells.add(CounterSum::Whole.id(), whole);
                cells.add(CounterSum::Billionths.id(), billionths);
            }
            Some(Custom::Gauge) => {
                let bits = ordered(value).unwrap_or_default();
                cells.add(GaugeSum::Values.id(), 1);
                cells.peak(GaugePeak::Max.id(), bits);
                cells.floor(GaugeFloor::Min.id(), bits);
                cells.last(GaugeLast::Last.id(), Last { at: at_s * 1_000 + number, value: bits });
            }
            Some(Custom::Rate) => {
                cells.add(RateSum::Values.id(), 1);
                cells.add(RateSum::True.id(), random.below(2));
            }
            Some(Custom::Trend) => cells.record(TrendHist::Values.id(), (value * 1_000.0) as u64),
            None => {}
        }
    }
    cells
}
