//! Rules that look at one row by itself: bounds, identities, definitions. Each is a function of arithmetic over the
//! ranges that rounding leaves open; none knows a report.

mod bands;
mod codes;
mod columns;
mod counts;
mod histogram;
mod identities;
mod k6;
mod little;
mod missing;
mod mixture;
mod order;
mod phases;
mod samples;
mod say;
mod span;
mod spread;
mod subject;
mod tail;
mod tools;
mod total;

use super::Rule;
use crate::foreign::times::Times;
use crate::{Grade, Premise};

/// A row of the table below. `Whole` is what cannot be true in a whole output, and is a doubt elsewhere.
macro_rules! rule {
    (Whole, $code:literal, $look:path, $title:literal) => {
        rule!(Impossible, WholeOutput, $code, $look, $title)
    };
    ($grade:ident, $code:literal, $look:path, $title:literal) => {
        rule!($grade, Figures, $code, $look, $title)
    };
    ($grade:ident, $premise:ident, $code:literal, $look:path, $title:literal) => {
        Rule {
            code: $code,
            grade: Grade::$grade,
            premise: Premise::$premise,
            title: $title,
            check: |documents, out| {
                subject::gather(($code, Grade::$grade, Premise::$premise), $look, documents, out);
            },
        }
    };
}

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    rule!(Impossible, "negative_figure", order::nothing_negative,
        "counts, times, rates and sizes are >= 0"),
    rule!(Impossible, "share_out_of_range", order::shares_in_range,
        "0 <= share <= 1; percentiles lie between p0 and p100"),
    rule!(Impossible, "percentiles_out_of_order", order::percentiles_in_order,
        "min <= p(a) <= p(b) <= max for a < b"),
    rule!(Impossible, "connect_times_out_of_order", order::connect_in_order,
        "min <= p(a) <= p(b) <= max for the time to connect"),
    rule!(Impossible, "mean_outside_extremes", order::mean_inside,
        "min <= mean <= max, also of connect times and of rates per thread"),
    rule!(Whole, "longer_than_the_run", order::inside_the_run,
        "max <= duration (+ 30 s of grace for k6 and vegeta)"),
    rule!(Whole, "part_longer_than_whole", order::parts_inside_the_whole,
        "mean of a phase <= mean of the whole, medians likewise"),
    rule!(Whole, "more_in_flight_than_users", little::not_more_than_users,
        "N = X R: rate x mean <= users"),
    rule!(Whole, "mean_above_its_bound", spread::mean_within_reach,
        "mean <= sum((p(i) - p(i-1)) x v(i)) + (1 - p(k)) x max, or x duration"),
    rule!(Whole, "mean_below_its_bound", spread::mean_not_too_low,
        "mean >= sum((p(i+1) - p(i)) x v(i))"),
    rule!(Whole, "deviation_too_large", spread::deviation_not_too_large,
        "sd^2 <= (max - mean)(mean - min) n/(n-1)"),
    rule!(Whole, "deviation_too_small", spread::deviation_not_too_small,
        "max <= mean + sd sqrt(n-1) (wrk, ab: (n-1)/sqrt(n)); q in mean - sd sqrt((1-p)/p) .. + sd sqrt(p/(1-p))"),
    rule!(Whole, "rate_is_not_count_over_time", counts::rate_of_a_tool,
        "requests / duration = rate, within 2% (k6, JMeter: 5%)"),
    rule!(Whole, "bytes_are_not_rate_times_time", counts::bytes_per_second,
        "bytes / duration = bytes per second, within 2% (k6, JMeter: 5%; tables: 10%)"),
    rule!(Whole, "error_share_is_wrong", counts::error_share,
        "errors / requests = share of errors; likewise successes in tables, and checks of k6"),
    rule!(Whole, "part_exceeds_requests", counts::parts_within_requests,
        "errors, non-2xx, length errors, keep-alive requests <= requests"),
    rule!(Whole, "successes_and_errors_differ", counts::successes_and_errors,
        "successes + errors = requests"),
    rule!(Impossible, "total_impossible", total::total_between,
        "largest part <= total <= sum of the parts; rate <= sum; mean, share, bytes: weighted sums; others within"),
    rule!(Whole, "time_per_request_wrong", little::time_per_request,
        "ab: time per request = concurrency x duration / requests; over all = duration / requests"),
    rule!(Whole, "vegeta_figures_differ", codes::vegeta_adds_up,
        "vegeta: responses by status = requests; those of 200 to 399 / requests = success; bytes / requests = mean"),
    rule!(Whole, "vegeta_times_differ", identities::vegeta_times,
        "vegeta: total = attack + wait; requests / attack = rate; min <= wait <= max"),
    rule!(Whole, "histogram_differs", histogram::fits,
        "sum of the buckets = responses; outer edges = extremes; mean and percentiles within their buckets"),
    rule!(Whole, "size_per_request_wrong", identities::size_per_request,
        "hey, oha: bytes / responses = size of a response"),
    rule!(Whole, "success_rate_wrong", identities::answered_share,
        "oha: responses / (requests - stopped at the end) = success rate"),
    rule!(Whole, "siege_figures_differ", identities::siege_figures,
        "siege: rate x response time = concurrency; transactions / (transactions + failed) = availability"),
    rule!(Whole, "groups_differ_from_whole", identities::groups_add_up,
        "Gatling, h2load, Artillery, ghz: sum over groups of times or statuses = requests or responses"),
    rule!(Whole, "iteration_counts_differ", k6::counts,
        "k6: failed + not failed = requests; iterations x mean <= users x time; one time for all rates; min <= max"),
    rule!(Whole, "jmeter_intervals_differ", identities::jmeter_intervals,
        "JMeter: the lines with `+` add up to the line with `=`; started = active + finished threads"),
    rule!(Whole, "jmeter_part_of_a_millisecond", identities::whole_milliseconds,
        "JMeter: minimum and maximum are whole milliseconds"),
    rule!(Whole, "client_rates_differ", identities::h2load_rates,
        "h2load: clients x mean rate of a client >= rate"),
    rule!(Whole, "ab_bodies_differ", identities::ab_bodies,
        "ab: without length failures, document length x complete requests = HTML transferred"),
    rule!(Whole, "phases_differ", phases::fit,
        "ab, hey, oha, h2load, k6: each phase is one distribution; the sum of phases bounds the whole"),
    rule!(Whole, "subset_differs", phases::subset,
        "k6: without failures, expected = all responses; Gatling: OK and KO together = all"),
    rule!(Whole, "within_deviation_wrong", phases::within_deviation,
        "wrk, h2load: share of times within mean +- deviation, by mean, deviation, and percentiles"),
    rule!(Whole, "ab_lists_differ", identities::ab_lists,
        "ab: 100% = max of `Total`; 50% <= its median <= 66%"),
    rule!(Whole, "ab_failures_differ", tools::ab_failures_add_up,
        "ab: failed = connect + receive + length + exceptions"),
    rule!(Whole, "ab_phases_exceed_total", tools::ab_total_is_the_sum,
        "ab: mean connect + mean processing = mean total"),
    rule!(Impossible, "figures_are_not_of_the_samples", samples::figures_of_the_samples,
        "count, errors, mean, extremes, and percentiles = those of the samples in the file"),
    rule!(Implausible, "mean_above_high_percentile", spread::mean_above_the_tail,
        "mean > p95 or p99: the rest would need (mean - sum of the bands) / (1 - p)"),
    rule!(Implausible, "mean_far_above_median", spread::mean_far_above_the_median,
        "mean > 5 x median; rate x median = users that would suffice"),
    rule!(Implausible, "more_in_flight_than_threads", little::several_at_once,
        "k6, JMeter: N = X R: rate x mean <= users, where a user has one request in flight"),
    rule!(Implausible, "made_up_samples", little::made_up_samples,
        "wrk: N = X R: rate x mean <= 1.25 x connections"),
    rule!(Implausible, "users_idle", little::users_busy,
        "N = X R: rate x mean >= 0.8 x users (0.7 without a known tool), if users do not pause"),
    rule!(Implausible, "connections_never_came_about", tools::everybody_connected,
        "live = users - connect errors"),
    rule!(Implausible, "timeouts_left_out", tail::timeouts_left_out,
        "every percentile >= the timeout above p = 1 - timeouts / requests"),
    rule!(Implausible, "percentile_of_few_samples", tail::enough_samples,
        "n (1 - p) >= 15 at p99 and above, >= 4 below: else 1.96 / sqrt(n (1 - p)) > 0.5 (1)"),
    rule!(Implausible, "rate_per_thread_differs", counts::threads_add_up,
        "threads x mean rate per thread = rate, within 10%"),
    rule!(Implausible, "table_rate_differs", counts::rate_of_a_table,
        "requests / duration = rate in a table, within 10%"),
    rule!(Implausible, "bodies_missing", counts::bytes_hold_the_bodies, "bytes / requests >= bytes of a body"),
    rule!(Implausible, "every_answer_failed", tail::something_succeeded, "failures / requests < 99.9%"),
    rule!(Implausible, "failures_in_the_times", tail::failures_in_the_times,
        "failures / requests < 5%, or times without them"),
    rule!(Implausible, "ab_length_failures", tools::ab_lengths,
        "ab: mean bytes of the bodies of another length within x 2 of the first's"),
    rule!(Implausible, "keep_alive_without_effect", tools::keep_alive_happened,
        "keep-alive requests / requests >= 50%"),
    rule!(Implausible, "connects_at_whole_seconds", tools::connects_without_loss,
        "times to connect = k x 1 s + round trip, for two k or more"),
    rule!(Implausible, "two_kinds_of_requests", tools::one_kind_of_request,
        "mean = median = (min + max) / 2, p90 = max, min < median / 10"),
    rule!(Implausible, "requests_exceed_iterations", tools::iterations_hold_requests,
        "requests x mean <= iterations x mean iteration"),
    rule!(Implausible, "failed_reads_inverted", tools::failed_reads_inverted,
        "k6: after http_req_failed, the check mark counts failures, and the cross counts successes"),
    rule!(Implausible, "parts_exceed_total", total::total_is_the_sum,
        "sum of the parts = total; rates likewise, within 10%"),
    rule!(Implausible, "total_outside_parts", total::total_outside,
        "without counts: mean and share of errors within those of the parts, extremes those of the parts"),
    rule!(Implausible, "samples_are_no_loops", counts::loops, "samples = users x loops x requests of a loop"),
    rule!(Implausible, "more_than_offered", counts::not_more_than_offered, "rate <= 1.05 x offered rate"),
    rule!(Implausible, "offered_not_reached", counts::offered_was_reached, "rate >= 0.8 x offered rate of a tool"),
    rule!(Implausible, "below_the_resolution", tail::above_the_resolution, "mean or median = 0"),
    rule!(Implausible, "runs_appended", samples::one_run, "one file of samples contains one run"),
    rule!(Implausible, "more_at_once_than_users", samples::at_once, "peak of concurrent samples <= users"),
    rule!(Implausible, "fifty_thousand", tools::ab_fifty_thousand, "ab -t silently sets -n 50000"),
    rule!(Implausible, "ended_early", tools::ab_stopped_early, "ab: complete requests = -n of the command"),
    rule!(Implausible, "command_differs", identities::command,
        "what the command above an output asks for = what the output states"),
    rule!(Implausible, "checks_are_no_multiple", tools::checks_by_iteration,
        "(passed + failed checks) / iterations is whole"),
    rule!(Implausible, "answers_without_bytes", counts::answers_have_bytes, "bytes / (requests - failures) >= 9 B"),
    rule!(Missing, "no_percentiles", missing::percentiles, "p90 or higher in addition to a mean"),
    rule!(Missing, "only_a_mean", missing::only_a_mean, "another value of the times in addition to a mean"),
    rule!(Missing, "no_errors", missing::errors, "a number of failures"),
    rule!(Missing, "no_duration", missing::duration, "a duration, or a count and a rate"),
    rule!(Missing, "no_load", missing::load, "users, connections, or an offered rate"),
    rule!(Missing, "no_tool_version", missing::tool_version, "the version of the tool"),
    rule!(Missing, "no_hardware", missing::hardware, "a word on the machines"),
];

/// The range in which a percentile of these times lies, by any of its definitions.
pub(crate) fn percentile_of(times: &Times, share: f64) -> (f64, f64) {
    let span = samples::at(times, share);
    (span.low, span.high)
}
