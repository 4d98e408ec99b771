//! Puts the summary together: what is merged first, what is judged last.

use super::availability::ServiceCourse;
use super::bounds::{Course, Grounds};
use super::causes::{Case, causes};
use super::cells::Cells;
use super::dependence::Dependence;
use super::doubts::{Inputs, cautions};
use super::facts::Facts;
use super::offered::demand;
use super::picture::{SpansOf, Strokes};
use super::timeline::Moment;
use super::times::{short, times_of_requests};
use super::{
    buckets, client, events, gaps, metrics, parts, rows, spikes, streams, threshold, timeline, verdict,
    watched, websockets,
};
use crate::caution::CautionLimits;
use crate::picture::Picture;
use crate::summary::{Phases, SCHEMA_VERSION, Short, Summary, Times, Totals};
use plimsoll_plan::Side;
use plimsoll_plan::metric::{RunHist, RunSum, SeriesHist, SeriesSum};
use plimsoll_record::record::RunRecord;
use plimsoll_stats::Hist;

/// The summary of a run, of one machine or of several.
pub fn summarise(record: &RunRecord) -> Summary {
    summarise_with(record, &CautionLimits::default())
}

/// The same with other limits for the doubts.
pub fn summarise_with(record: &RunRecord, limits: &CautionLimits) -> Summary {
    let facts = Facts::new(record);
    let mut course = Course::default();
    let moments = timeline::moments_seen(&facts, |sum, _| course.take(&facts.plan, sum));
    summary_of(&facts, moments, course, limits)
}

/// The same, and what charts show of the run: each tick is read once for both.
pub fn summarise_with_picture(record: &RunRecord, spans: &SpansOf) -> (Summary, Picture) {
    let (facts, limits) = (Facts::new(record), CautionLimits::default());
    let mut strokes = Strokes::new(&facts);
    let mut course = Course::default();
    let moments = timeline::moments_seen(&facts, |sum, moment| {
        strokes.take(sum, moment);
        course.take(&facts.plan, sum);
    });
    let summary = summary_of(&facts, moments, course, &limits);
    let picture = strokes.picture(&facts, &summary, spans);
    (summary, picture)
}

fn summary_of(facts: &Facts, moments: Vec<Moment>, course: Course, limits: &CautionLimits) -> Summary {
    let demand = demand(facts);
    let belief = demand.belief(limits);

    let response = facts.all.hist(SeriesHist::Response);
    let response_cut = facts.all.hist(SeriesHist::ResponseCensored);
    let dependence = Dependence::of(facts);
    let response_time = times_of_requests(response, response_cut, belief, &dependence);
    let service_time = times_of_requests(
        facts.all.hist(SeriesHist::Service),
        facts.all.hist(SeriesHist::ServiceCensored),
        belief,
        &dependence,
    );
    let service_course = ServiceCourse::new(facts, &moments);
    let availability = service_course.availability();
    let client = client::client(facts, &moments, &dependence, limits);
    let holes = gaps::holes(facts);
    let grounds = Grounds::new(facts, &demand, &client, &holes, course, dependence.clone(), limits);
    let thresholds =
        threshold::judge(facts, &demand.achieved, belief, &grounds, (&service_course, &availability));
    let seen = watched::watched(facts, &moments);
    let cautions = cautions(&Inputs {
        facts,
        limits,
        demand: &demand,
        client: &client,
        response: &response_time,
        thresholds: &thresholds,
        holes: &holes,
        moments: &moments,
        seen: &seen,
    });
    let verdict = verdict::verdict(
        facts,
        &cautions,
        &thresholds,
        demand.offered.as_ref(),
        &demand.achieved,
        &response_time,
        (&seen.pressure, &availability),
    );
    let spikes = spikes::spikes(facts, &moments, limits, &availability.outages);
    let openings = || facts.machines.iter().map(|m| m.opening());
    let mut summary = Summary {
        schema_version: SCHEMA_VERSION,
        tool_version: openings().next().map_or_else(String::new, |o| o.environment.tool_version.clone()),
        name: facts.plan.name.clone(),
        target: facts.plan.describe_target(),
        verdict,
        thresholds,
        cautions,
        totals: totals(facts),
        events: events::events(facts, &moments, &spikes, &holes, &availability),
        spikes,
        buckets: buckets::buckets(response, &facts.plan.buckets_ns),
        buckets_censored: response_cut.count(),
        errors: rows::errors(&facts.all, |side| side != Side::Client),
        status_codes: rows::statuses(&facts.all),
        requests: rows::series(facts, belief, &dependence),
        phases: phases(facts, &service_time),
        generators: rows::origins(facts, &holes, belief),
        labels: rows::labels(facts, belief),
        stopped_by: facts.stopped_by(),
        is_complete: !facts.machines.is_empty() && holes.is_empty() && !facts.lost_workers(),
        gaps: holes.into_iter().map(|hole| hole.gap).collect(),
        environments: openings().map(|o| o.environment.clone()).collect(),
        scenarios: parts::scenarios(facts, belief),
        by_origin: parts::by_origin(facts, belief),
        addresses: parts::addresses(facts),
        groups: parts::groups(facts, belief),
        checks: parts::checks(facts),
        failure_examples: parts::samples(facts),
        streams: streams::streams(facts),
        websockets: websockets::websockets(facts),
        metrics: metrics::metrics(facts),
        tls: client::tls(facts),
        workloads: parts::workloads(facts),
        timeline: moments.into_iter().map(|moment| moment.second).collect(),
        offered: demand.offered,
        availability,
        achieved: demand.achieved,
        response_time,
        service_time,
        client,
        monitors: seen.monitors,
        system_under_test: seen.system_under_test,
        time_range: seen.time_range,
        saturated_resources: seen.pressure,
        bottleneck: seen.bottleneck.map(|resource| resource.to_string()),
        courses: seen.courses,
        plan: facts.plan.clone(),
        causes: Vec::new(),
    };
    summary.causes = causes(&Case { facts, s: &summary, limits });
    summary
}

fn totals(facts: &Facts) -> Totals {
    let (all, run) = (&facts.all, &facts.run);
    let (requests, errors) = (all.sum(SeriesSum::Finished), all.sum(SeriesSum::Failed));
    Totals {
        requests,
        errors,
        error_ratio: facts.error_ratio(),
        requests_sent: all.sum(SeriesSum::Sent),
        iterations: run.of(RunSum::Iterations),
        bytes_in: all.sum(SeriesSum::BytesIn),
        bytes_out: all.sum(SeriesSum::BytesOut),
        body_bytes: all.sum(SeriesSum::BodyBytes),
        measured_s: facts.measured_s(),
        warmup_s: facts.machines.iter().map(|m| m.elapsed_ns - m.measured_ns).max().unwrap_or(0) as f64 / 1e9,
        in_flight_at_end: run.of(RunSum::InFlightAtEnd),
        arrivals_not_started: run.of(RunSum::ArrivalsNotStarted),
        iterations_abandoned: run.of(RunSum::IterationsAbandoned),
        iterations_interrupted: run.of(RunSum::IterationsInterrupted),
        users_out_of_data: run.of(RunSum::UsersOutOfData),
        redirects: all.sum(SeriesSum::Redirects),
    }
}

fn phases(facts: &Facts, service: &Times) -> Phases {
    let (run, all) = (&facts.run, &facts.all);
    // A part of a request is not longer than the request, but its histogram is coarser: a value above that of the same
    // requests is one of rounding.
    let part = |hist: &Hist| {
        let part = short(hist);
        if part.count != service.count {
            return part;
        }
        let at_most = |value: Option<u64>, most: Option<u64>| Some(value?.min(most.unwrap_or(u64::MAX)));
        Short {
            p50_ns: at_most(part.p50_ns, service.p50_ns),
            p99_ns: at_most(part.p99_ns, service.p99_ns),
            max_ns: at_most(part.max_ns, service.max_ns),
            ..part
        }
    };
    Phases {
        connection_wait: short(run.spread(RunHist::ConnWait)),
        // Once per machine, before the load.
        dns_ns: facts.machines.iter().map(|m| m.opening().environment.dns_ns).max().unwrap_or(0),
        dns: short(run.spread(RunHist::Dns)),
        connect: short(run.spread(RunHist::Connect)),
        send_blocked: short(run.spread(RunHist::SendBlocked)),
        time_to_first_byte: part(all.hist(SeriesHist::FirstByte)),
        download: part(all.hist(SeriesHist::Body)),
    }
}
