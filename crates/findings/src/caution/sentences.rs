//! Cautions in words: title, evidence, impact, and advice of each, made here and nowhere else.
//!
//! The match has an arm for every shape of evidence, so a new one without its words does not compile.

mod client;
mod connections;
mod lists;
mod record;
mod samples;

pub use lists::slope;

use super::evidence::{Evidence, LevelFigure, LoadLoss, Shortage};
use plimsoll_plan::phrase::{
    chosen_ns, count, counted, duration_f64_ns, duration_ns, quantile_name, quantity, rate_of, rate_per_s,
    ratio,
};

/// The four texts of a caution.
struct Sentences {
    /// `None`: that of its row.
    title: Option<String>,
    evidence: String,
    /// `None`: that of its row.
    impact: Option<String>,
    /// `None`: that of its row.
    advice: Option<String>,
}

impl Sentences {
    fn of(evidence: impl Into<String>) -> Self {
        Self { title: None, evidence: evidence.into(), impact: None, advice: None }
    }

    fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    fn meaning(self, impact: impl Into<String>) -> Self {
        Self { impact: Some(impact.into()), ..self }
    }

    fn advising(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

impl Evidence {
    /// What it is, one fragment.
    pub fn title(&self) -> String {
        sentences(self).title.unwrap_or_else(|| self.kind().title().to_owned())
    }

    /// The numbers that say so, one fragment.
    pub fn text(&self) -> String {
        sentences(self).evidence
    }

    /// Why it matters, one clause.
    pub fn impact(&self) -> String {
        sentences(self).impact.unwrap_or_else(|| self.kind().impact().to_owned())
    }

    /// What to do.
    pub fn advice(&self) -> String {
        sentences(self).advice.unwrap_or_else(|| self.kind().advice().to_owned())
    }
}

/// Which way a value went.
fn direction(before: f64, after: f64) -> &'static str {
    if after < before { "less" } else { "more" }
}

fn sentences(evidence: &Evidence) -> Sentences {
    match evidence {
        Evidence::NoDescriptors {
            attempts_count,
            hosts,
            soft_limit_count,
            hard_limit_count,
            enough_count,
        } => client::descriptors(*attempts_count, hosts, [*soft_limit_count, *hard_limit_count], *enough_count),
        Evidence::NoPorts { attempts_count, hosts, port_range, keeps_alive } => {
            client::ports(*attempts_count, hosts, *port_range, *keeps_alive)
        }
        Evidence::NoMemory { attempts_count, hosts } | Evidence::SendRefused { attempts_count, hosts } => {
            Sentences::of(client::attempts(*attempts_count, "failed", hosts))
        }
        Evidence::ResponsesCut { responses_count } => {
            Sentences::of(format!("{} exceeded a limit", counted(*responses_count, "response")))
        }
        Evidence::OriginsRefused { requests_count } => Sentences::of(format!(
            "{} to origins without permission, or beyond the limit on origins",
            counted(*requests_count, "request")
        )),
        Evidence::RequestsInvalid { requests_count } => {
            Sentences::of(format!("{} could not be sent", counted(*requests_count, "request")))
        }
        Evidence::WorkersStalled { stalls_count, stalled_ratio } => Sentences::of(format!(
            "{} of more than 100 ms each, {} of the workers' time",
            counted(*stalls_count, "stall"),
            ratio(stalled_ratio.min(1.0))
        )),
        Evidence::WorkerBusy { worker, machine, busy_ratio } => Sentences::of(format!(
            "{} was busy {} of the time, without busy-polling",
            client::worker(*worker, *machine),
            ratio(*busy_ratio)
        )),
        Evidence::WorkerQueued { worker, machine, cpu_wait_ratio } => Sentences::of(format!(
            "{} waited for CPU {} of the time",
            client::worker(*worker, *machine),
            ratio(*cpu_wait_ratio)
        )),
        Evidence::CpuStolen { steal_ratio } => {
            Sentences::of(format!("steal took {} of all CPU time", ratio(*steal_ratio)))
        }
        // Scripts name their targets only while they run.
        Evidence::LocalTarget { address } if address.is_empty() => {
            Sentences::of("the target has a local address".to_owned())
        }
        Evidence::LocalTarget { address } => Sentences::of(format!("{address} is a local address")),
        Evidence::AnyCertificate { server_name } => {
            Sentences::of(format!("any certificate was accepted for {server_name}"))
        }
        Evidence::ArrivalsNotSent { unsent_count, asked_count, unsent_ratio, worker_ratio } => {
            let cpu = worker_ratio.map_or(String::new(), |worker| {
                format!("; a worker was busy or waiting for CPU {} of the time", ratio(worker.min(1.0)))
            });
            Sentences::of(format!(
                "{} of {} arrivals ({}) were not sent, and the target is not the reason{cpu}",
                count(*unsent_count),
                count(*asked_count),
                ratio(*unsent_ratio)
            ))
        }
        Evidence::LateSends { schedule_lag_p99_ns, response_p99_ns } => Sentences::of(format!(
            "p99 schedule lag {}, {} of the response p99 of {}",
            duration_ns(*schedule_lag_p99_ns),
            ratio(*schedule_lag_p99_ns as f64 / *response_p99_ns as f64),
            duration_ns(*response_p99_ns)
        )),
        Evidence::RequestsRetried { unprocessed_count, unprocessed_ratio, goaways_count } => {
            connections::retried(*unprocessed_count, *unprocessed_ratio, *goaways_count)
        }
        Evidence::StreamsFull { waited_count, waited_ratio, streams_count } => {
            connections::streams_full(*waited_count, *waited_ratio, *streams_count)
        }
        Evidence::ConnectionsFull {
            queued_count,
            unstarted_count,
            peak_count,
            limit_count,
            streams_count,
            wait_p99_ns,
            suggested_count,
            has_growing_backlog,
        } => connections::full(
            [*queued_count, *unstarted_count],
            [*peak_count, *limit_count, *streams_count],
            *wait_p99_ns,
            (!has_growing_backlog).then_some(*suggested_count),
        ),
        Evidence::InFlightDiffers { measured_mean, computed_mean } => Sentences::of(format!(
            "{measured_mean:.1} requests in flight measured, {computed_mean:.1} computed (throughput × service time)"
        ))
        .titled("Little's law does not hold")
        .meaning("the rates and times of this run contradict each other")
        .advising("rely on neither, and rerun"),
        Evidence::UsersOutside { outside_ratio, unexplained_ratio } => Sentences::of(format!(
            "users spent {} of their time outside requests, {} more than connecting explains",
            ratio(*outside_ratio),
            ratio(*unexplained_ratio)
        )),
        Evidence::StallsHidden {
            slow_above_ns,
            slow_count,
            slow_ratio,
            time_ratio,
            longest_ns,
            arrivals_p99_ns,
            p99_ns,
            is_scripted,
        } => {
            let whose = if *is_scripted { "time that users waited" } else { "users' time" };
            Sentences::of(format!(
                "{} of the requests ({}, each above {}) took {} of the {whose}, and all users waited at once for up to \
                 {}; with arrivals at random times, p99 would be at least {}, not {}",
                ratio(*slow_ratio),
                count(*slow_count),
                duration_ns(*slow_above_ns),
                ratio(*time_ratio),
                duration_ns(*longest_ns),
                duration_ns(*arrivals_p99_ns),
                duration_ns(*p99_ns)
            ))
        }
        Evidence::RedirectsOnly { redirects, location, leads_elsewhere } => {
            samples::redirects(redirects, location.as_deref(), *leads_elsewhere)
        }
        Evidence::UnexpectedBytes { responses_count } => Sentences::of(format!(
            "after {}; plimsoll closed these connections",
            counted(*responses_count, "response")
        )),
        Evidence::ThinQuantiles { samples_count, needed_count, quantiles } => {
            samples::thin(*samples_count, *needed_count, quantiles)
        }
        Evidence::TimedOut { timeouts_count, connecting_count, timeouts_ratio, after_ns, bounded_from } => {
            let bounds = match bounded_from {
                Some(q) => format!("percentiles from {} up are lower bounds", quantile_name(*q)),
                None => "only the maximum is a lower bound".into(),
            };
            let connecting = match connecting_count {
                0 => String::new(),
                n => format!(", {} of them while connecting", count(*n)),
            };
            Sentences::of(format!(
                "{} ({} of the requests{connecting}) after {}: {bounds}",
                counted(*timeouts_count, "timeout"),
                ratio(*timeouts_ratio),
                chosen_ns(*after_ns)
            ))
        }
        Evidence::InFlightAtStop { unanswered_count, unsent_count, finished_count, bounded_from } => {
            let bounds = match bounded_from {
                Some(q) => format!("; percentiles from {} up are lower bounds", quantile_name(*q)),
                None => String::new(),
            };
            let waiting = match unsent_count {
                0 => String::new(),
                n => format!(" and {} arrivals not sent", count(*n)),
            };
            Sentences::of(format!(
                "{} in flight{waiting}, compared with {} completed{bounds}",
                counted(*unanswered_count, "request"),
                count(*finished_count)
            ))
        }
        Evidence::MeanAboveP95 { mean_ns, is_lower_bound, p95_ns } => Sentences::of(format!(
            "mean {}{}, p95 {}: more than 95% of requests were faster than the mean",
            if *is_lower_bound { "≥ " } else { "" },
            duration_f64_ns(*mean_ns),
            duration_ns(*p95_ns)
        )),
        Evidence::SegmentsResent { segments_count, requests_count, resent_ratio, is_same_machine } => {
            samples::resent(*segments_count, *requests_count, *resent_ratio, *is_same_machine)
        }
        Evidence::ConnectionsStale { requests_count, idle_min_ns, idle_max_ns, is_in_use } => {
            samples::stale(*requests_count, [*idle_min_ns, *idle_max_ns], *is_in_use)
        }
        Evidence::BacklogGrew { first_p50_ns, last_p50_ns, first_in_flight, last_in_flight } => {
            Sentences::of(format!(
                "median response time {} in the first third and {} in the last, with {} and {} requests in flight",
                duration_f64_ns(*first_p50_ns),
                duration_f64_ns(*last_p50_ns),
                quantity(*first_in_flight),
                quantity(*last_in_flight)
            ))
        }
        Evidence::LevelShift {
            figure,
            before_ns,
            after_ns,
            changed_at_ns,
            rate_before_per_s,
            rate_after_per_s,
        } => {
            let what = match figure {
                LevelFigure::MedianResponseTime => "median response time",
                LevelFigure::MeanServiceTime => "mean service time",
            };
            let rates = match (rate_before_per_s, rate_after_per_s) {
                (Some(before), Some(after)) => {
                    format!("; throughput {}, then {}", rate_per_s(*before), rate_per_s(*after))
                }
                _ => String::new(),
            };
            // To be typed: whole seconds, and no unit apart from its number.
            let warmup_s = changed_at_ns.div_ceil(1_000_000_000);
            let is_slower = after_ns > before_ns;
            let times = ratio((after_ns - before_ns).abs() / before_ns.max(1.0));
            let sentences = Sentences::of(format!(
                "{what} {} until {}, then {} ({} {}){rates}",
                duration_f64_ns(*before_ns),
                chosen_ns(*changed_at_ns),
                duration_f64_ns(*after_ns),
                times,
                direction(*before_ns, *after_ns)
            ))
;
            // A service that is slower after its start is not one that warms up.
            match is_slower {
                true => sentences
                    .titled("the service became slower during the run")
                    .advising(format!("find what changed on the server after {}", chosen_ns(*changed_at_ns))),
                false => sentences.advising(format!("exclude the start with `--warmup {warmup_s}s`")),
            }
        }
        Evidence::ConnectionsLate {
            late_count,
            connections_count,
            late_ratio,
            fastest_ns,
            by_second,
            resent_segments_count,
        } => {
            let places: Vec<String> = by_second
                .iter()
                .map(|one| format!("{} by {} s", count(one.connections_count), one.later_by_s))
                .collect();
            Sentences::of(format!(
                "{} of {} ({}) took whole seconds longer than the fastest ({}): {}; the kernel retransmitted {}",
                count(*late_count),
                counted(*connections_count, "connection"),
                ratio(*late_ratio),
                duration_ns(*fastest_ns),
                places.join(", "),
                counted(*resent_segments_count, "segment")
            ))
        }
        Evidence::NetworkSaturated { body_ratio, received_bytes_per_s, uneven_ratio, out_of_order_segments_count } => {
            Sentences::of(format!(
                "{} of the requests' time was download, at {} bytes/s ({} Mbit/s) within {} in every fifth of the \
                 run, and {} arrived out of order, as after a queue that overflows",
                ratio(*body_ratio),
                quantity(*received_bytes_per_s),
                quantity(received_bytes_per_s * 8.0 / 1e6),
                ratio(*uneven_ratio),
                counted(*out_of_order_segments_count, "segment")
            ))
        }
        Evidence::RoundTrip { request_p50_ns, round_trip_ns, users_count, limit_per_s } => {
            Sentences::of(format!(
                "median request {}, round trip {}: {} users cannot exceed {}",
                duration_ns(*request_p50_ns),
                duration_ns(*round_trip_ns),
                count(*users_count),
                rate_per_s(*limit_per_s)
            ))
        }
        Evidence::UsersAtOnce { users_count, within_ns, late_count, connections_count } => {
            Sentences::of(format!(
                "{} users started within {}; {} of {} took longer than 500 ms to open",
                count(*users_count),
                chosen_ns(*within_ns),
                count(*late_count),
                counted(*connections_count, "connection")
            ))
        }
        Evidence::ConnectionsUnfair {
            few_count,
            connections_count,
            few_requests_ratio,
            requests_p50_count,
            fairness_index,
        } => Sentences::of(format!(
            "{} of {} got {} of the requests, the median connection {}; Jain's index {fairness_index:.2} (1 is \
             fair)",
            count(*few_count),
            counted(*connections_count, "connection"),
            ratio(*few_requests_ratio),
            count(*requests_p50_count)
        )),
        Evidence::ConnectionsNotReused {
            closed_count,
            connections_count,
            requests_mean,
            making_ns,
            making_ratio,
        } => Sentences::of(format!(
            "the server closed {} of {}, after {} requests each on average; opening one took {}, {} of its time",
            count(*closed_count),
            counted(*connections_count, "connection"),
            quantity(*requests_mean),
            duration_f64_ns(*making_ns),
            ratio(*making_ratio)
        )),
        Evidence::PortsHeld { closed_per_s, held_count, ports_count, is_same_machine } => {
            let held = format!(
                "{} closed, each of which may hold its port for a minute: {} of {} in a minute",
                rate_of(*closed_per_s, "connections"),
                quantity(*held_count),
                counted(*ports_count, "port")
            );
            match is_same_machine {
                true => Sentences::of(
                    held + "; on one machine the kernel reuses ports after a second, which hides this",
                )
                .titled("another network would run out of ephemeral ports"),
                false => Sentences::of(held),
            }
        }
        Evidence::MonitorsFailed { monitors, more_count } => {
            lists::joined(monitors, lists::failed_monitor, *more_count)
        }
        Evidence::MemoryGrew { memories, more_count } => {
            lists::joined(memories, lists::grown_memory, *more_count)
        }
        Evidence::ListenersOverflowed { listeners, more_count, is_own_server } => {
            lists::joined(listeners, |one| lists::listener(one, *is_own_server), *more_count)
        }
        Evidence::DescriptorsUsed { resources, more_count } => {
            lists::joined(resources, lists::descriptors, *more_count)
        }
        Evidence::GroupsThrottled { groups, more_count } => {
            lists::joined(groups, lists::throttled, *more_count)
        }
        Evidence::ResponsesChanged { changes, more_count } => {
            lists::joined(changes, lists::changed, *more_count)
        }
        Evidence::RowsLost { rows_count } => {
            Sentences::of(format!("{} could not be written", counted(*rows_count, "row")))
        }
        Evidence::SeriesRefused { lookups_count, limit_count } => Sentences::of(format!(
            "{} beyond the limit of {} series",
            counted(*lookups_count, "lookup"),
            count(*limit_count)
        )),
        Evidence::ValuesRefused { values_count } => Sentences::of(counted(*values_count, "value")),
        Evidence::EventStreamsAsResponses { responses_count, requests_count } => Sentences::of(format!(
            "{} of {}",
            count(*responses_count),
            counted(*requests_count, "response")
        )),
        Evidence::IterationsAbandoned { iterations_count, failed_requests_count } => Sentences::of(format!(
            "{} abandoned, {} failed",
            counted(*iterations_count, "iteration"),
            counted(*failed_requests_count, "request")
        )),
        Evidence::UsersOutOfData { users_count } => Sentences::of(format!(
            "{} ended early",
            counted(*users_count, "user")
        )),
        Evidence::RecordIncomplete { losses, more_count, is_in_totals } => {
            let lost = lists::joined(losses, record::loss, *more_count);
            match is_in_totals {
                true => lost
                    .titled("seconds are missing from the timeline")
                    .meaning("the totals include them")
                    .advising("free disk space before the next run"),
                false => lost,
            }
        }
        Evidence::AgentsLost { agents_count, of_count, first, recorded_ns } => {
            Sentences::of(record::agents(*agents_count, *of_count, first, *recorded_ns))
                .titled("agents were lost during the load")
                .meaning("its share of the load is missing")
                .advising("check its machine and its network, then rerun")
        }
        Evidence::NothingMeasured { run, measured_ns, sent_count, unanswered_count } => {
            Sentences::of(record::nothing(*run, *measured_ns, *sent_count, *unanswered_count))
        }
        Evidence::PlansDiffer { differences, divisions, repeated_share } => {
            Sentences::of(record::plans(differences, divisions, *repeated_share))
        }
        Evidence::RunsApart { shared_ns, shortest_ns, longest_ns } => Sentences::of(format!(
            "{} overlap of runs of {} to {}",
            chosen_ns(*shared_ns),
            chosen_ns(*shortest_ns),
            chosen_ns(*longest_ns)
        )),
        Evidence::ShortRun { measured_ns } => {
            Sentences::of(format!("{} measured", chosen_ns(*measured_ns)))
        }
        Evidence::LoadSteered { steps, more_count } => lists::joined(steps, record::steered, *more_count),
        Evidence::StoppedEarly { elapsed_ns, planned_ns, stopped_by, reason: why } => {
            let planned = planned_ns.map_or(String::new(), |ns| format!(" of {}", chosen_ns(ns)));
            let why = why.as_deref().unwrap_or_else(|| record::stop(*stopped_by));
            Sentences::of(format!("after {}{planned}: {why}", chosen_ns(*elapsed_ns)))
        }
        Evidence::FigureMissing { subject } => Sentences::of(format!("no samples of {subject}")),
        Evidence::TimesCutOff { requests_count } | Evidence::TimesUnfinished { requests_count } => {
            Sentences::of(format!("{} with lower bounds only", counted(*requests_count, "request")))
        }
        Evidence::TimeInterval { samples_count, quantile, low_ns, high_ns } => Sentences::of(format!(
            "{} samples put {} between {} and {}",
            count(*samples_count),
            quantile_name(*quantile),
            duration_ns(*low_ns),
            duration_ns(*high_ns)
        )),
        Evidence::ValueInterval { samples_count, quantile, low, high } => Sentences::of(format!(
            "{} samples put {} between {low} and {high}",
            count(*samples_count),
            quantile_name(*quantile)
        )),
        Evidence::NoInterval { samples_count, quantile, needed_count } => Sentences::of(format!(
            "too few samples for {}: {} of the required {}",
            quantile_name(*quantile),
            count(*samples_count),
            count(*needed_count)
        )),
        Evidence::SendsDelayed { schedule_lag_p99_ns, schedule_lag_max_ns } => Sentences::of(format!(
            "schedule lag p99 {}, max {}",
            duration_ns(*schedule_lag_p99_ns),
            duration_ns(*schedule_lag_max_ns)
        )),
        Evidence::GeneratorStalled { stalls_count, stalled_ratio } => Sentences::of(format!(
            "the load generator stalled {}, {} of its time",
            counted(*stalls_count, "time"),
            ratio(*stalled_ratio)
        )),
        Evidence::GeneratorQueued { cpu_wait_ratio } => Sentences::of(format!(
            "the load generator waited for CPU {} of its time",
            ratio(*cpu_wait_ratio)
        )),
        Evidence::PartMissing { missing_ratio } => {
            Sentences::of(format!("{} of the run is not recorded", ratio(*missing_ratio)))
        }
        Evidence::AttemptsLost { shortage, attempts_count } => {
            let what = match shortage {
                Shortage::Descriptors => "found no free file descriptor",
                Shortage::Ports => "found no free ephemeral port",
                Shortage::Memory => "found no memory",
                Shortage::Limit => "ended at a limit of the load generator",
                Shortage::Permission => "had no permission",
                Shortage::Form => "could not be sent as HTTP",
                Shortage::Other => "failed on the load generator",
            };
            Sentences::of(format!("{} {what}", counted(*attempts_count, "attempt")))
        }
        Evidence::LoadReduced { loss: LoadLoss::Arrivals | LoadLoss::Attempts(_), unsent_ratio } => {
            Sentences::of(format!("{} of the load was not sent", ratio(*unsent_ratio)))
        }
        Evidence::SomeArrivalsUnsent { .. } => Sentences::of("some arrivals were not sent"),
        Evidence::TimeoutsInStalls { .. } => {
            Sentences::of("timeouts while the load generator stalled")
        }
        Evidence::RequestsYoung { requests_count } => Sentences::of(format!(
            "{} in flight at the end, no more than in a service that keeps up",
            counted(*requests_count, "request")
        )),
    }
}
