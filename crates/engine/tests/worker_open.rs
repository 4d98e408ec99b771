//! The open model in virtual time: arrivals at a rate, whether or not earlier ones got a response.

use crate::support::*;
use plimsoll_engine::driver::sim::{Connect, Server, Then};
use plimsoll_engine::{Command, Stopped};
use plimsoll_plan::Fault;
use plimsoll_plan::load::Arrivals as Spread;
use plimsoll_plan::metric::{RunHist, RunPeak, RunSum, SeriesHist, SeriesSum};

fn per_tick(out: &Outcome, id: RunSum) -> Vec<u64> {
    out.ticks.iter().map(|t| t.0.run.sums[id.id()]).collect()
}

fn sent_per_tick(out: &Outcome) -> Vec<u64> {
    out.ticks.iter().map(|t| t.0.series[0].sums[SeriesSum::Sent.id()]).collect()
}

// ---- offered, achieved, late ------------------------------------------------------------------------------------

#[test]
fn what_is_offered_is_rate_times_duration_in_every_tick() {
    for rate in [10.0, 100.0, 997.0, 1_000.0] {
        let out = run_fixed(open(rate, 5.0), 3 * MS);
        out.check_arrivals();
        assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Duration, 5 * S));
        assert_eq!(out.sum(RunSum::Arrivals), 5 * rate as u64);
        // An arrival due exactly at the edge belongs to the tick that begins there.
        assert_eq!(per_tick(&out, RunSum::Arrivals), [rate as u64; 5]);
        assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
        assert_eq!(out.hist(RunHist::ScheduleLag).count(), out.count(SeriesSum::Sent));
        assert_eq!(out.series_hist(SeriesHist::Response).max(), Some(3 * MS));
        assert_eq!(out.sum(RunSum::ArrivalsQueued) + out.sum(RunSum::ArrivalsNotStarted), 0);
        assert_eq!(out.client_faults(), 0);
    }
}

#[test]
fn connections_are_opened_only_as_arrivals_need_them() {
    // 1000/s x 7.5 ms: eight at once.
    let out = run_fixed(open(1_000.0, 2.0), 7_500 * US);
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::ConnOpened), 8);
    assert_eq!(out.peak(RunPeak::InFlight), 8);
}

#[test]
fn n_arrivals_are_exactly_n() {
    let mut draft = open(1_000.0, 1.0);
    (draft.load.duration_ns, draft.load.requests_total) = (None, Some(1_234));
    let out = run_fixed(draft, 20 * MS);
    out.check_arrivals();
    assert_eq!(out.stopped, Stopped::Requests);
    assert_eq!((out.sum(RunSum::Arrivals), out.count(SeriesSum::Finished)), (1_234, 1_234));
    assert_eq!(out.elapsed_ns, 1_233 * MS + 20 * MS);
}

#[test]
fn n_counts_requests_when_an_arrival_starts_several() {
    for n in [1, 2, 3, 100, 101, 102] {
        let mut draft = open(100.0, 1.0);
        draft.requests = vec![get("/a"), get("/b"), get("/c")];
        (draft.load.duration_ns, draft.load.requests_total) = (None, Some(n));
        // The last response takes long: in the meantime, no arrival may be offered that will never be sent.
        let out = Lab::new(draft)
            .run(move |a: &SimRequest<'_>| Answer::ok(if a.total + 1 == n { 2 * S } else { 4 * MS }));
        out.check();
        assert_eq!((out.stopped, out.count(SeriesSum::Finished)), (Stopped::Requests, n));
        let firsts = out.all.series[0].sums[SeriesSum::Sent.id()];
        assert_eq!(out.sum(RunSum::Arrivals), firsts);
        assert_eq!((out.sum(RunSum::ArrivalsNotStarted), out.sum(RunSum::ArrivalsQueued)), (0, 0));
    }
}

#[test]
fn an_iteration_is_all_its_requests() {
    let mut draft = open(50.0, 2.0);
    draft.requests = vec![get("/a"), get("/b")];
    let out = run_fixed(draft, 5 * MS);
    out.check();
    assert_eq!(out.sum(RunSum::Arrivals), 100);
    assert_eq!(out.count(SeriesSum::Finished), 200);
    assert_eq!(out.sum(RunSum::Iterations), 100);
    // The second request's intended start time is the first one's end.
    let second = &out.all.series[1].hists[SeriesHist::Response.id()];
    assert_eq!((second.count(), second.max()), (100, Some(5 * MS)));
}

#[test]
fn a_stall_of_this_machine_is_schedule_lag_and_no_arrival_is_lost() {
    let mut lab = Lab::new(open(1_000.0, 3.0));
    lab.nature.stalls = vec![(BEGIN_NS + 1_200 * MS + 1, 100 * MS)];
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::Arrivals), 3_000);
    assert_eq!(out.count(SeriesSum::Sent), 3_000);
    let late = out.hist(RunHist::ScheduleLag);
    // The hundred that became due in the meantime, at 1,201 to 1,300 ms.
    assert_eq!(late.count() - late.count_at_most(0), 100);
    assert_eq!(late.max(), Some(99 * MS + 1));
    assert_eq!(out.series_hist(SeriesHist::Response).max(), Some(100 * MS + 1), "from the intended start");
    // One response arrived during the stall and was read after it; requests sent afterwards took their true time.
    let service = out.series_hist(SeriesHist::Service);
    assert_eq!(service.count() - service.count_at_most(MS), 1);
    assert_eq!(out.sum(RunSum::ArrivalsQueued), 0, "connections were free: the generator was late");
}

#[test]
fn spinning_towards_the_instant_uses_the_clock_and_is_counted_as_spinning() {
    let mut draft = open(1_000.0, 1.0);
    draft.limits.spin_ns = 60 * US;
    let mut lab = Lab::new(draft);
    lab.nature.clock_cost_ns = 25;
    lab.nature.call_cost_ns = 300;
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(200 * US));
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::Arrivals), 1_000);
    assert!(
        out.hist(RunHist::ScheduleLag).max().unwrap() <= 1_000,
        "{:?}",
        out.hist(RunHist::ScheduleLag).max()
    );
    let spun = out.sum(RunSum::BusyPollNs) as f64 / 1e9;
    assert!((0.05..=0.061).contains(&spun), "{spun} s of 1,000 x 60 us");
}

#[test]
fn a_generator_that_cannot_keep_up_still_reads_its_answers() {
    // Each call costs 20 µs, so 100,000/s are out of reach; responses take 50 µs. If sends always came first, responses
    // would stay unread until all 500 connections were in use.
    let mut draft = open(100_000.0, 0.5);
    draft.load.max_connections = Some(500);
    let mut lab = Lab::new(draft);
    lab.nature.call_cost_ns = 20 * US;
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(50 * US));
    out.check_arrivals();
    let service = out.series_hist(SeriesHist::Service).quantile(0.5).unwrap();
    assert!(service < 2 * MS, "half of the responses waited for {service} ns");
    assert!(out.sum(RunSum::ConnOpened) < 300, "{}", out.sum(RunSum::ConnOpened));
}

// ---- the connection limit ----------------------------------------------------------------------------------------

#[test]
fn the_cap_is_respected_and_arrivals_wait_with_their_stamp() {
    // 100/s over one connection with 15 ms: every arrival waits 5 ms longer than the previous one.
    let mut draft = open(100.0, 1.0);
    draft.load.max_connections = Some(1);
    let out = run_fixed(draft, 15 * MS);
    out.check_arrivals();
    assert_eq!(out.calls.open_max, 1);
    assert_eq!(out.sum(RunSum::Arrivals), 100);
    // Sends at 0, 15, 30, ..., 990 ms.
    assert_eq!(out.count(SeriesSum::Sent), 67);
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 33);
    assert_eq!(out.sum(RunSum::ArrivalsQueued), 66);
    // Arrival k was due at 10 k and sent at 15 k: 5 k of waiting, and no schedule lag at all.
    let wait = out.hist(RunHist::ConnWait);
    assert_eq!((wait.count(), wait.min(), wait.max()), (66, Some(5 * MS), Some(330 * MS)));
    assert_eq!(wait.sum(), (1..=66).map(|k| 5 * MS as u128 * k).sum::<u128>());
    assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
    // Response from the intended start time: 15 ms + 5 k; the last one was in flight at the stop.
    let response = out.series_hist(SeriesHist::Response);
    assert_eq!((response.count(), response.max()), (66, Some(15 * MS + 5 * 65 * MS)));
    // Just before the send at 990 ms: 100 were due, 66 were sent.
    assert_eq!(out.peak(RunPeak::ArrivalsQueued), 34);
    // 33 never started and one in flight: their response times are longer than the wait so far.
    let censored = out.series_hist(SeriesHist::ResponseCensored);
    assert_eq!((censored.count(), censored.min(), censored.max()), (34, Some(10 * MS), Some(340 * MS)));
    assert_eq!(out.series_hist(SeriesHist::ServiceCensored).max(), Some(10 * MS));
}

#[test]
fn arrivals_that_wait_are_counted_in_the_tick_in_which_they_came_due() {
    let mut draft = open(100.0, 4.0);
    draft.load.max_connections = Some(1);
    let out = run_fixed(draft, 15 * MS);
    out.check_arrivals();
    assert_eq!(per_tick(&out, RunSum::Arrivals), [100; 4]);
    assert_eq!(sent_per_tick(&out).iter().sum::<u64>(), 267);
    let waiting: Vec<u64> = out.ticks.iter().map(|t| t.0.run.peaks[RunPeak::ArrivalsQueued.id()]).collect();
    assert_eq!(waiting, [34, 67, 100, 134], "the queue at its longest, in each tick");
}

#[test]
fn a_queue_drains_when_the_server_recovers_and_begins_anew_when_it_stalls_again() {
    let mut draft = open(100.0, 10.0);
    draft.load.max_connections = Some(2);
    // Slow in the seconds 2 and 6.
    let out = Lab::new(draft).run(|a: &SimRequest<'_>| {
        let second = (a.now_ns - BEGIN_NS) / S;
        Answer::ok(if second == 2 || second == 6 { 100 * MS } else { MS })
    });
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::Arrivals), 1_000);
    assert_eq!(per_tick(&out, RunSum::Arrivals), [100; 10]);
    assert_eq!(out.count(SeriesSum::Finished), 1_000);
    assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
    let queued = per_tick(&out, RunSum::ArrivalsQueued);
    assert!(
        queued[2] > 0 && queued[6] > 0 && queued[1] + queued[4] + queued[5] + queued[9] == 0,
        "{queued:?}"
    );
}

#[test]
fn workers_share_the_cap_and_the_arrivals() {
    let mut arrivals = 0;
    for worker in 0..3 {
        let mut draft = open(100.0, 1.0);
        (draft.load.max_connections, draft.workers) = (Some(7), Some(3));
        let mut lab = Lab::new(draft);
        lab.worker = worker;
        let out = lab.run(|_: &SimRequest<'_>| Answer::silence());
        out.check_arrivals();
        assert_eq!(out.calls.open_max, [3, 2, 2][worker as usize]);
        arrivals += out.sum(RunSum::Arrivals);
    }
    assert_eq!(arrivals, 100);
}

// ---- coordinated omission ---------------------------------------------------------------------------------------

#[test]
fn a_server_that_pauses_for_a_second_in_every_ten_has_the_p99_that_arithmetic_gives() {
    // 1000/s; in the fifth of every ten seconds, no response is sent until it is over. Of 10,000 arrivals, 1,000 meet
    // the pause and wait for the rest of it: the slowest 10% are spread evenly over 0 to 1 s, so p99 = 0.9 s.
    let paused = |a: &SimRequest<'_>| {
        let t = (a.now_ns - BEGIN_NS) % (10 * S);
        Answer::ok(if (4 * S..5 * S).contains(&t) { 5 * S - t + MS } else { MS })
    };
    let share = |q: f64| (q - 0.9) / 0.1;
    for connections in [1_100, 100] {
        let mut draft = open(1_000.0, 60.0);
        draft.load.max_connections = Some(connections);
        let out = Lab::new(draft).run(paused);
        out.check_arrivals();
        assert_eq!(out.sum(RunSum::Arrivals), 60_000);
        let response = out.series_hist(SeriesHist::Response);
        for q in [0.95, 0.99, 0.999] {
            let (found, wanted) = (response.quantile(q).unwrap() as f64 / 1e9, share(q));
            assert!((found / wanted - 1.0).abs() < 0.015, "p{}: {found} s, not {wanted} s", q * 100.0);
        }
        assert!(response.quantile(0.89).unwrap() <= 2 * MS);
        if connections == 100 {
            // With too few connections, the service time hides what the response time shows.
            let service = out.series_hist(SeriesHist::Service).quantile(0.99).unwrap();
            assert!(service < 100 * MS || out.sum(RunSum::ArrivalsQueued) > 5_000, "{service}");
            assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
        }
    }
}

// ---- Poisson and ramps ------------------------------------------------------------------------------------------

#[test]
fn poisson_arrivals_are_sent_as_drawn() {
    let mut draft = open(1_000.0, 10.0);
    draft.load.arrivals = Some(Spread::Poisson);
    let out = run_fixed(draft, MS);
    out.check_arrivals();
    assert!((out.sum(RunSum::Arrivals) as f64 - 10_000.0).abs() < 400.0);
    assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
}

#[test]
fn stages_of_rates_offer_the_area_under_them() {
    let draft = plimsoll_plan::Draft {
        load: plimsoll_plan::draft::LoadDraft {
            stages: stages(
                true,
                &[(2.0, 100.0), (1.0, 100.0), (0.0, 0.0), (1.0, 0.0), (0.0, 50.0), (2.0, 50.0)],
            ),
            ..draft().load
        },
        ..draft()
    };
    let out = run_fixed(draft, MS);
    out.check_arrivals();
    assert_eq!(per_tick(&out, RunSum::Arrivals), [25, 75, 100, 0, 50, 50]);
}

// ---- failures ---------------------------------------------------------------------------------------------------

struct Gate<F>(F);
impl<F: FnMut(u64, u64) -> Connect> Server for Gate<F> {
    fn connect(&mut self, connection: u64, now_ns: u64) -> Connect {
        (self.0)(connection, now_ns - BEGIN_NS)
    }
    fn answer(&mut self, _: &SimRequest<'_>) -> Answer {
        Answer::ok(5 * MS)
    }
}

#[test]
fn refused_arrivals_end_at_once_and_the_rate_goes_on() {
    let out = Lab::new(open(100.0, 2.0)).run(Gate(|_, t| match t {
        0..S => Connect::Refuse,
        _ => Connect::Accept { after_ns: 0 },
    }));
    out.check_arrivals();
    assert_eq!((out.fault(Fault::ConnectionRefused), out.status(200)), (100, 100));
    assert_eq!(out.sum(RunSum::ConnAttempts), 101);
}

#[test]
fn an_unreachable_host_fails_arrivals_one_by_one_however_many_are_due() {
    // The error occurs immediately, within the start of the arrival. After the stall, 50,000 are due together: each
    // must end without adding a stack level.
    let mut lab = Lab::new(open(50_000.0, 1.5));
    lab.nature.stalls = vec![(BEGIN_NS + 100 * MS, S)];
    let out = lab.run(Gate(|_, _| Connect::Errno(libc::ENETUNREACH)));
    out.check_arrivals();
    assert_eq!(out.fault(Fault::HostUnreachable), 75_000);
    assert_eq!(out.sum(RunSum::Iterations), 75_000);
}

#[test]
fn an_arrival_without_a_descriptor_keeps_its_stamp_and_is_sent_later() {
    let mut draft = open(100.0, 2.0);
    draft.load.max_connections = Some(50);
    // No file descriptor in the first 300 ms.
    let out = Lab::new(draft).run(Gate(|_, t| match t < 300 * MS {
        true => Connect::Errno(libc::EMFILE),
        false => Connect::Accept { after_ns: 0 },
    }));
    out.check_arrivals();
    assert!(out.fault(Fault::FdLimit) >= 30, "{}", out.fault(Fault::FdLimit));
    assert_eq!(out.client_faults(), out.fault(Fault::FdLimit));
    assert_eq!(out.count(SeriesSum::Failed), 0, "not a failure of the server");
    assert_eq!((out.sum(RunSum::Arrivals), out.count(SeriesSum::Sent)), (200, 200));
    assert_eq!(out.count(SeriesSum::Finished) + out.sum(RunSum::InFlightAtEnd), 200);
    // The first arrival has waited since 0.
    let longest = out.series_hist(SeriesHist::Response).max().unwrap();
    assert!(longest >= 300 * MS, "{longest}");
}

#[test]
fn arrivals_without_a_descriptor_until_the_stop_never_started() {
    for requests in [vec![get("/")], vec![get("/a"), get("/b")]] {
        let mut draft = open(100.0, 1.0);
        draft.requests = requests;
        let out = Lab::new(draft).run(Gate(|_, _| Connect::Errno(libc::EMFILE)));
        out.check();
        assert_eq!(out.sum(RunSum::Arrivals), 100);
        assert_eq!((out.count(SeriesSum::Sent), out.sum(RunSum::ArrivalsNotStarted)), (0, 100));
        assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 100);
        assert_eq!(out.series_hist(SeriesHist::ResponseCensored).max(), Some(S));
    }
}

#[test]
fn n_stays_exact_with_sequences_when_descriptors_run_out() {
    struct Scarce;
    impl Server for Scarce {
        fn connect(&mut self, connection: u64, _: u64) -> Connect {
            if connection.is_multiple_of(3) {
                Connect::Accept { after_ns: 0 }
            } else {
                Connect::Errno(libc::EMFILE)
            }
        }
        fn answer(&mut self, a: &SimRequest<'_>) -> Answer {
            Answer::ok((1 + a.total % 7) * MS).then(Then::Close)
        }
    }
    for n in 1..40 {
        for requests in [vec![get("/")], vec![get("/a"), get("/b"), get("/c")]] {
            let mut draft = open(200.0, 1.0);
            draft.requests = requests;
            draft.load.max_connections = Some(5);
            (draft.load.duration_ns, draft.load.requests_total) = (None, Some(n));
            let out = Lab::new(draft).run(Scarce);
            out.check();
            assert_eq!((out.stopped, out.count(SeriesSum::Finished)), (Stopped::Requests, n));
            let firsts = out.all.series[0].sums[SeriesSum::Sent.id()];
            assert_eq!(out.sum(RunSum::Arrivals), firsts + out.sum(RunSum::ArrivalsNotStarted));
        }
    }
}

#[test]
fn arrivals_that_wait_for_their_connection_at_the_stop_never_started() {
    let mut draft = open(10.0, 1.0);
    draft.limits.connect_timeout_ns = 10 * S;
    let out = Lab::new(draft).run(Gate(|_, _| Connect::Never));
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 10);
    let censored = out.series_hist(SeriesHist::ResponseCensored);
    assert_eq!((censored.count(), censored.max()), (10, Some(S)));
}

#[test]
fn connect_time_outs_end_arrivals() {
    let mut draft = open(10.0, 3.0);
    draft.limits.connect_timeout_ns = 500 * MS;
    let out = Lab::new(draft).run(Gate(|_, _| Connect::Never));
    out.check_arrivals();
    assert_eq!(out.fault(Fault::ConnectTimeout) + out.sum(RunSum::ArrivalsNotStarted), 30);
    assert!(out.fault(Fault::ConnectTimeout) >= 24);
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 30);
}

#[test]
fn requests_without_an_answer_are_in_flight_at_the_stop_and_censor() {
    let out = Lab::new(open(100.0, 1.0)).run(|a: &SimRequest<'_>| match a.total % 2 {
        0 => Answer::ok(MS),
        _ => Answer::silence(),
    });
    out.check_arrivals();
    assert_eq!(out.sum(RunSum::InFlightAtEnd), 50);
    assert_eq!(out.series_hist(SeriesHist::ResponseCensored).count(), 50);
    assert_eq!(out.series_hist(SeriesHist::ServiceCensored).max(), Some(990 * MS));
}

#[test]
fn a_server_that_resets_every_idle_connection_in_one_moment() {
    // 400 connections become idle and are reset together while the machine stalls; all their arrivals become due at
    // once.
    let mut draft = open(2_000.0, 2.0);
    draft.load.max_connections = Some(400);
    let mut lab = Lab::new(draft).latency(100 * US);
    lab.nature.stalls = vec![(BEGIN_NS + S, 300 * MS)];
    let out = lab.run(|a: &SimRequest<'_>| {
        let t = a.now_ns - BEGIN_NS;
        if t < S {
            Answer::ok(100 * MS).piece(S + 100 * MS - t, b"").then(Then::Reset)
        } else {
            Answer::ok(MS)
        }
    });
    out.check_arrivals();
    assert!(out.status(200) > 2_000);
    // An event of a socket that was closed earlier in the same batch must not be applied to its successor.
    assert_eq!(out.hist(RunHist::Connect).min(), Some(200 * US));
}

// ---- commands ---------------------------------------------------------------------------------------------------

#[test]
fn stop_counts_what_waits_and_what_is_in_flight() {
    let mut draft = open(100.0, 60.0);
    draft.load.max_connections = Some(1);
    let lab = Lab::new(draft).command(1_005 * MS, Command::Stop);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(20 * MS));
    out.check_arrivals();
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Command, 1_005 * MS));
    assert_eq!((out.sum(RunSum::Arrivals), out.count(SeriesSum::Sent)), (101, 51));
    assert_eq!((out.sum(RunSum::InFlightAtEnd), out.sum(RunSum::ArrivalsNotStarted)), (1, 50));
}

#[test]
fn a_pause_is_not_made_up_for() {
    let lab =
        Lab::new(open(100.0, 6.0)).command(2 * S - 1, Command::Pause).command(4 * S - 1, Command::Resume);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(5 * MS));
    out.check_arrivals();
    assert_eq!(per_tick(&out, RunSum::Arrivals), [100, 100, 0, 0, 100, 100]);
    assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
    assert_eq!(out.series_hist(SeriesHist::Response).max(), Some(5 * MS));
}

#[test]
fn a_pause_in_the_middle_of_a_queue_keeps_the_queue_and_adds_nothing_to_it() {
    let mut draft = open(100.0, 6.0);
    draft.load.max_connections = Some(1);
    let lab = Lab::new(draft).command(2 * S - 1, Command::Pause).command(4 * S - 1, Command::Resume);
    // 20 ms each until the pause: half of 200 arrivals wait. Afterwards, 1 ms each: the queue drains.
    let out =
        lab.run(|a: &SimRequest<'_>| Answer::ok(if a.now_ns - BEGIN_NS < 2 * S { 20 * MS } else { MS }));
    out.check_arrivals();
    assert_eq!(per_tick(&out, RunSum::Arrivals), [100, 100, 0, 0, 100, 100]);
    assert_eq!(out.count(SeriesSum::Finished), 400);
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 0);
    // The last one before the pause was due at 1,990 ms and was sent about 99 ms after the end of the pause.
    assert!(out.series_hist(SeriesHist::Response).max().unwrap() > 2_900 * MS);
    assert_eq!(out.peak(RunPeak::ArrivalsQueued), 100);
    assert!(
        out.hist(RunHist::ScheduleLag).max().unwrap() <= 2 * MS,
        "{:?}",
        out.hist(RunHist::ScheduleLag).max()
    );
}

#[test]
fn a_stop_in_a_pause_counts_only_what_came_before_it() {
    let mut draft = open(100.0, 60.0);
    draft.load.max_connections = Some(1);
    let lab = Lab::new(draft).command(S - 1, Command::Pause).command(5 * S, Command::Stop);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(20 * MS));
    out.check_arrivals();
    assert_eq!((out.sum(RunSum::Arrivals), out.sum(RunSum::ArrivalsNotStarted)), (100, 50));
}

#[test]
fn the_rate_changes_by_command_up_and_down_and_to_nothing() {
    let lab = Lab::new(open(100.0, 5.0))
        .command(S - 1, Command::SetLevel(400.0))
        .command(2 * S - 1, Command::SetLevel(0.0))
        .command(3 * S - 1, Command::SetLevel(10.0))
        .command(4 * S - 1, Command::SetLevel(1_000.0))
        .command(4 * S, Command::SetLevel(f64::NAN));
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check_arrivals();
    for (found, wanted) in per_tick(&out, RunSum::Arrivals).iter().zip([100u64, 400, 0, 10, 1_000]) {
        assert!(found.abs_diff(wanted) <= 1, "{found} instead of {wanted}");
    }
    assert_eq!(out.hist(RunHist::ScheduleLag).max(), Some(0));
}

#[test]
fn the_rate_changes_with_a_queue_and_the_queue_stays() {
    let mut draft = open(100.0, 4.0);
    draft.load.max_connections = Some(1);
    // Twice as many as can be served, then few: the queue of 50 drains within the second half.
    let lab = Lab::new(draft).command(S, Command::SetLevel(5.0));
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(20 * MS));
    out.check_arrivals();
    assert!(out.sum(RunSum::Arrivals).abs_diff(115) <= 1, "{}", out.sum(RunSum::Arrivals));
    assert_eq!(out.sum(RunSum::ArrivalsNotStarted), 0);
    assert_eq!(
        out.hist(RunHist::ScheduleLag).max(),
        Some(0),
        "they waited for the server, not for the load generator"
    );
    // The command coincides with an arrival and with the edge of a tick: one more may wait at that very time.
    assert!(out.peak(RunPeak::ArrivalsQueued).abs_diff(50) <= 1);
}

#[test]
fn n_holds_across_changes_of_the_rate_and_pauses() {
    let mut draft = open(100.0, 1.0);
    (draft.load.duration_ns, draft.load.requests_total) = (None, Some(500));
    let lab = Lab::new(draft)
        .command(S, Command::SetLevel(50.0))
        .command(2 * S, Command::Pause)
        .command(3 * S, Command::SetLevel(200.0))
        .command(4 * S, Command::Resume);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(MS));
    out.check_arrivals();
    assert_eq!((out.stopped, out.count(SeriesSum::Finished)), (Stopped::Requests, 500));
}
