//! The digest of a run, from its record and its summary.

use super::{Block, Digest, Generator, Level, RequestMean, Seen, Watching, coarser};
use crate::cells::Cells;
use crate::facts::{Facts, ratio};
use crate::summarise::summarise;
use crate::summary::{Bottleneck, MonitorRow, SeriesRow, Summary};
use plimsoll_plan::load::Load;
use plimsoll_plan::metric::{RunSum, SeriesHist, SeriesSum};
use plimsoll_record::record::RunRecord;
use std::collections::BTreeMap;

/// A longer run's seconds are added up in pairs, threes and so on: two histograms each take 76 KiB.
const MOST_BLOCKS: usize = 3_600;

/// The digest of a run.
pub fn digest(record: &RunRecord) -> Digest {
    digest_with(record, &summarise(record))
}

/// The same when its summary is at hand.
pub fn digest_with(record: &RunRecord, summary: &Summary) -> Digest {
    let facts = Facts::new(record);
    let level = match &facts.plan.load {
        Load::Closed { users } => Level::Users(users.peak()),
        Load::Open { rate_per_s, .. } => Level::Rate(rate_per_s.peak()),
    };
    Digest {
        name: summary.name.clone(),
        target: summary.target.clone(),
        cell: facts.plan.cell.clone(),
        level,
        outcome: summary.verdict.result,
        thresholds: summary.thresholds.clone(),
        cautions: summary.cautions.clone(),
        complete: summary.is_complete,
        measured_s: summary.totals.measured_s,
        requests: summary.totals.requests,
        errors: summary.totals.errors,
        error_ratio: summary.totals.error_ratio,
        socket_errors: summary
            .errors
            .iter()
            .filter(|row| row.class.is_below_http())
            .map(|row| row.count)
            .sum(),
        client_faults: summary.client.faults.iter().map(|row| row.count).sum(),
        offered_rate_per_s: summary.offered.as_ref().map(|offered| offered.rate_per_s),
        rate_per_s: summary.achieved.rate_per_s,
        iterations_per_s: summary.achieved.iterations_per_s,
        response_time: summary.response_time.clone(),
        service_time: summary.service_time.clone(),
        in_flight_mean: summary.client.littles_law.in_flight_mean,
        bytes_in_per_s: ratio(summary.totals.bytes_in as f64, summary.totals.measured_s),
        rtt_min_ns: summary.client.rtt_min_ns,
        connect_p50_ns: summary.phases.connect.p50_ns,
        first_byte_mean_ns: summary.phases.time_to_first_byte.mean_ns,
        body_mean_ns: summary.phases.download.mean_ns,
        stopped_by: summary.stopped_by,
        started_unix_ns: facts.machines.iter().map(|m| m.opening().started_unix_ns).min().unwrap_or(0),
        blocks: coarser(&blocks(&facts), MOST_BLOCKS),
        watched: Watching {
            seen: summary.monitors.iter().flat_map(readings_of).collect(),
            saturated: summary.saturated_resources.clone(),
            bottleneck: Bottleneck::of(&summary.monitors, &summary.saturated_resources),
        },
        by_request: by_request(summary),
        generator: generator(summary),
    }
}

fn generator(summary: &Summary) -> Generator {
    let client = &summary.client;
    let worst = |of: fn(&crate::summary::WorkerRow) -> f64| client.workers.iter().map(of).fold(0.0, f64::max);
    Generator {
        schedule_lag_p99_ns: client.schedule_lag.p99_ns,
        cpu_wait_ratio: worst(|worker| worker.cpu_wait_ratio),
        busy_ratio: worst(|worker| worker.busy_ratio),
        stalled_ns: client.stalled_ns,
        retransmits: client.retransmits,
    }
}

fn by_request(summary: &Summary) -> Vec<RequestMean> {
    // A mean that includes cut-off times is invalid.
    let rows = summary.requests.iter().filter(|row| !row.is_stream && !row.response_time.mean_is_lower_bound);
    let mean = |row: &SeriesRow| {
        let scenario = row.scenario.as_ref().filter(|name| !name.is_empty());
        let name = scenario.map_or_else(|| row.name.clone(), |scenario| format!("{scenario}: {}", row.name));
        let (samples, mean_ns) = (row.response_time.count, row.response_time.mean_ns?);
        Some(RequestMean { name, samples, mean_ns })
    };
    if summary.requests.len() > 1 { rows.filter_map(mean).collect() } else { Vec::new() }
}

fn readings_of(monitor: &MonitorRow) -> impl Iterator<Item = Seen> {
    let has_whole = |metric: &str| monitor.rows.iter().any(|row| row.part.is_empty() && row.metric == metric);
    let rows = monitor.rows.iter().filter(move |row| row.part.is_empty() || !has_whole(&row.metric));
    rows.map(|row| Seen {
        monitor: monitor.name.clone(),
        kind: monitor.kind.clone(),
        part: row.part.clone(),
        metric: row.metric.clone(),
        unit: row.unit,
        mean: row.mean,
        peak: row.max,
        limit: row.limit,
        usage_ratio: row.usage_mean_ratio,
    })
}

fn blocks(facts: &Facts) -> Vec<Block> {
    let mut by_tick: BTreeMap<u32, Block> = BTreeMap::new();
    for machine in &facts.machines {
        let plan = machine.plan();
        for (tick, row) in machine.origin.ticks.iter().filter(|(tick, _)| !plan.is_warmup(**tick)) {
            let (from_ns, to_ns) = plan.tick_bounds_ns(*tick);
            let length_ns = to_ns.min(machine.elapsed_ns).saturating_sub(from_ns);
            if length_ns == 0 {
                continue;
            }
            let (run, all) = (row.run(), row.all());
            let block = by_tick.entry(*tick).or_default();
            block.from_ns = from_ns;
            block.length_ns = block.length_ns.max(length_ns);
            block.offered += run.of(RunSum::Arrivals);
            block.requests += all.sum(SeriesSum::Finished);
            block.errors += all.sum(SeriesSum::Failed);
            block.bytes_in += all.sum(SeriesSum::BytesIn);
            block.in_flight += ratio(run.of(RunSum::InFlightNs) as f64, length_ns as f64);
            for (mine, ids) in [
                (&mut block.response, [SeriesHist::Response, SeriesHist::ResponseCensored]),
                (&mut block.service, [SeriesHist::Service, SeriesHist::ServiceCensored]),
            ] {
                ids.iter().for_each(|id| mine.merge(all.hist(*id)));
            }
        }
    }
    by_tick.into_values().collect()
}
