//! Evidence that lists several items.

use super::{Sentences, direction};
use crate::caution::evidence::{
    ChangedResponse, DescriptorUse, FailedMonitor, GrownMemory, ListenerOverflow, ResponseChange,
    ThrottledGroup,
};
use plimsoll_plan::phrase::{bytes_f64, chosen_ns, count, counted, quantity, ratio, watched};

/// `a; b; c; and 4 more`
pub fn joined<T>(named: &[T], text: impl Fn(&T) -> String, more_count: u64) -> Sentences {
    let named: Vec<String> = named.iter().map(text).collect();
    let more = if more_count > 0 { format!("; and {} more", count(more_count)) } else { String::new() };
    Sentences::of(format!("{}{more}", named.join("; ")))
}

pub fn failed_monitor(one: &FailedMonitor) -> String {
    let why = match &one.first_missed_sample {
        Some(lapse) if lapse.at_s > 0.0 => {
            format!(
                ", first at {}: {}",
                chosen_ns((lapse.at_s * 10.0).round() as u64 * 100_000_000),
                lapse.reason
            )
        }
        Some(lapse) => format!(", before the load: {}", lapse.reason),
        None => String::new(),
    };
    let samples = match one.samples_count {
        0 => "nothing".into(),
        n => counted(n, "sample"),
    };
    format!("{} returned {samples} in {} s{why}", one.monitor, count(one.measured_s))
}

pub fn grown_memory(one: &GrownMemory) -> String {
    let name = match one.part.is_empty() {
        true => one.monitor.clone(),
        false => format!("{}: {}", one.monitor, one.part),
    };
    let [per_h, low, high] = [one.slope_bytes_per_h, one.slope_low_bytes_per_h, one.slope_high_bytes_per_h];
    format!(
        "{name}: {} {}, {} over the run, {} at its end",
        one.metric,
        slope("grows", per_h, low, high),
        ratio(one.growth_ratio),
        watched(one.last, one.unit)
    )
}

/// `grows by 12.0 MB/h (95%: 8.10 MB/h to 15.2 MB/h)`
pub fn slope(verb: &str, per_h: f64, low: f64, high: f64) -> String {
    format!("{verb} by {}/h (95%: {}/h to {}/h)", bytes_f64(per_h), bytes_f64(low), bytes_f64(high))
}

pub fn listener(one: &ListenerOverflow, is_own_server: bool) -> String {
    let whose =
        if is_own_server { "" } else { " on the load generator's machine, possibly of another program" };
    format!("{}: {} {}{whose}", one.monitor, count(one.overflows_count), one.metric)
}

pub fn descriptors(one: &DescriptorUse) -> String {
    let at = chosen_ns(one.at_ns);
    match (one.used_count, one.limit_count) {
        (Some(used), Some(limit)) => {
            format!("{}: {} of {} in use at {at}", one.resource, count(used), count(limit))
        }
        _ => format!("{}: {} of a process's limit in use at {at}", one.resource, ratio(one.used_ratio)),
    }
}

pub fn throttled(one: &ThrottledGroup) -> String {
    format!(
        "{}: throttled in {} of its periods, peak {}",
        one.monitor,
        ratio(one.mean_ratio),
        ratio(one.max_ratio)
    )
}

pub fn changed(one: &ChangedResponse) -> String {
    let at = chosen_ns(one.at_ns);
    match one.change {
        ResponseChange::Size { before_bytes, after_bytes } => format!(
            "`{}`: responses of {} bytes on average, {} bytes since {at} ({} {})",
            one.request,
            quantity(before_bytes),
            quantity(after_bytes),
            ratio((after_bytes - before_bytes).abs() / before_bytes.max(1.0)),
            direction(before_bytes, after_bytes)
        ),
        ResponseChange::Shape { changes_count } => format!(
            "`{}`: all responses had one shape until {at}; since then, {} differed from the one before",
            one.request,
            count(changes_count)
        ),
    }
}
