//! The closed model in virtual time: N users, each of which waits for a response before it continues.

use crate::support::*;
use plimsoll_engine::{Command, Stopped};
use plimsoll_plan::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::metric::{RunFloor, RunHist, RunPeak, RunSum, SeriesHist, SeriesSum};

// ---- arithmetic -------------------------------------------------------------------------------------------------

#[test]
fn users_with_a_fixed_service_time_send_what_arithmetic_says() {
    for (users, service_ns) in [(1, 7 * MS), (10, 7 * MS), (100, 333 * US), (3, 3 * S)] {
        let out = run_fixed(closed(users, 10.0), service_ns);
        out.check();
        assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Duration, 10 * S));
        // Complete service times within 10 s for each user, and one request of each in flight at the stop.
        assert_eq!(out.count(SeriesSum::Finished), u64::from(users) * (10 * S / service_ns));
        assert_eq!(out.sum(RunSum::InFlightAtEnd), u64::from(users));
        assert_eq!(out.status(200), out.count(SeriesSum::Finished));
        let service = out.series_hist(SeriesHist::Service);
        assert_eq!((service.min(), service.max()), (Some(service_ns), Some(service_ns)));
        assert_eq!(out.sum(RunSum::ConnOpened), u64::from(users));
        assert_eq!(out.peak(RunPeak::Connections), u64::from(users));
        assert_eq!(out.peak(RunPeak::InFlight), u64::from(users));
        assert_eq!(out.sum(RunSum::Iterations), out.count(SeriesSum::Finished));
    }
}

#[test]
fn n_equals_x_times_r() {
    // Little's law over the whole run, from three independent numbers.
    let lab = Lab::new(closed(8, 20.0)).latency(MS);
    let out = lab.run(|a: &SimRequest<'_>| Answer::ok((3 + a.total % 11) * MS));
    out.check();
    let in_flight = out.sum(RunSum::InFlightNs) as f64 / out.elapsed_ns as f64;
    let service = out.series_hist(SeriesHist::Service);
    let x_times_r = service.sum() as f64 / out.elapsed_ns as f64;
    let cut_off = out.series_hist(SeriesHist::ServiceCensored).sum() as f64 / out.elapsed_ns as f64;
    assert!((in_flight - x_times_r - cut_off).abs() < 1e-9, "{in_flight} = {x_times_r} + {cut_off}");
    // All time except the connection setup (one round trip of 2 ms each) was in flight.
    assert!((in_flight - 8.0 * (1.0 - 0.002 / 20.0)).abs() < 1e-9);
    assert_eq!(out.sum(RunSum::UsersNs), 8 * 20 * S);
}

#[test]
fn the_phases_of_a_request_add_up() {
    // 1 ms each way, 5 ms until the first byte leaves, 20 ms more for the rest.
    let lab = Lab::new(closed(1, 1.0)).latency(MS);
    let out = lab.run(|_: &SimRequest<'_>| {
        Answer::silence().piece(5 * MS, b"HTTP/1.1 200 OK\r\nContent-Le").piece(20 * MS, b"ngth: 2\r\n\r\nok")
    });
    out.check();
    assert_eq!(out.series_hist(SeriesHist::FirstByte).min(), Some(7 * MS));
    assert_eq!(out.series_hist(SeriesHist::Body).max(), Some(20 * MS));
    assert_eq!(out.series_hist(SeriesHist::Service).max(), Some(27 * MS));
    assert_eq!(out.hist(RunHist::Connect).max(), Some(2 * MS));
    assert_eq!(out.floor(RunFloor::ConnectNs), 2 * MS);
    // The first response is measured from its intended start time: its connection came first.
    assert_eq!(out.series_hist(SeriesHist::Response).max(), Some(29 * MS));
    assert_eq!(out.series_hist(SeriesHist::Response).min(), Some(27 * MS));
}

#[test]
fn n_requests_are_exactly_n() {
    for n in [1, 2, 9, 10, 11, 1_000, 4_097] {
        for users in [1, 3, 10] {
            let mut draft = closed(users, 1.0);
            (draft.load.duration_ns, draft.load.requests_total) = (None, Some(n));
            draft.load.users = Some(users.min(n as u32));
            let out = run_fixed(draft, MS);
            out.check();
            assert_eq!(out.stopped, Stopped::Requests);
            assert_eq!((out.count(SeriesSum::Sent), out.count(SeriesSum::Finished)), (n, n));
            assert_eq!(out.sum(RunSum::InFlightAtEnd), 0);
        }
    }
}

#[test]
fn n_counts_requests_not_iterations_when_several_stand_in_sequence() {
    let mut draft = closed(4, 1.0);
    draft.requests = vec![get("/a"), get("/b"), get("/c")];
    (draft.load.duration_ns, draft.load.requests_total) = (None, Some(100));
    let out = run_fixed(draft, MS);
    out.check();
    assert_eq!(out.count(SeriesSum::Finished), 100);
    // In step: after 8 rounds of three for four users, the last four requests are first ones.
    let by_series: Vec<u64> = out.all.series.iter().map(|s| s.sums[SeriesSum::Finished.id()]).collect();
    assert_eq!(by_series, [36, 32, 32]);
    assert_eq!(out.sum(RunSum::Iterations), 32);
}

#[test]
fn requests_in_sequence_take_turns() {
    let mut draft = closed(1, 1.0);
    draft.requests = vec![get("/a"), request("POST", "/b", Some(b"xyz".to_vec())), get("/c")];
    let lab = Lab::new(draft);
    let out = lab.run(|a: &SimRequest<'_>| {
        let line = [&b"GET /a"[..], b"POST /b", b"GET /c"][(a.total % 3) as usize];
        assert!(a.bytes.starts_with(line), "{}", String::from_utf8_lossy(a.bytes));
        assert_eq!(a.bytes.ends_with(b"xyz"), a.total % 3 == 1);
        Answer::ok(7 * MS)
    });
    out.check();
    assert_eq!(out.count(SeriesSum::Finished), 142);
    assert_eq!(out.sum(RunSum::Iterations), 142 / 3);
}

// ---- ticks ------------------------------------------------------------------------------------------------------

#[test]
fn ticks_come_once_a_second_and_hold_what_happened_in_them() {
    let out = run_fixed(closed(2, 4.5), 7 * MS);
    out.check();
    assert_eq!(out.ticks.len(), 5);
    for (k, (interval, last)) in out.ticks.iter().enumerate() {
        // Responses at 7, 14, ... ms: those in [k, k + 1) s, for both users.
        let upto = |s: u64| (s.min(4_500 * MS) - 1) / (7 * MS);
        let expected = 2 * (upto((k as u64 + 1) * S) - upto((k as u64 * S).max(1)));
        assert_eq!(interval.series[0].sums[SeriesSum::Finished.id()], expected, "tick {k}");
        assert_eq!(*last, k == 4);
        assert_eq!(interval.run.peaks[RunPeak::InFlight.id()], 2, "in flight across the edge counts in both");
        assert_eq!(interval.run.peaks[RunPeak::Connections.id()], 2, "tick {k}");
    }
}

#[test]
fn what_is_in_flight_across_a_whole_tick_is_in_flight_in_it() {
    let out = run_fixed(closed(1, 4.0), 3_500 * MS);
    out.check();
    for (interval, _) in &out.ticks {
        assert_eq!(interval.run.peaks[RunPeak::InFlight.id()], 1);
        assert_eq!(interval.run.sums[RunSum::InFlightNs.id()], S);
    }
}

#[test]
fn a_warm_up_that_is_no_whole_number_of_seconds_makes_the_first_tick_shorter() {
    let mut draft = closed(1, 3.0);
    draft.warmup_ns = Some(300 * MS);
    let out = run_fixed(draft, 7 * MS);
    out.check();
    let walls: Vec<u64> = out.ticks.iter().map(|t| t.0.run.sums[RunSum::WallNs.id()] / MS).collect();
    assert_eq!(walls, [300, 1_000, 1_000, 700]);
}

#[test]
fn a_stall_of_the_machine_over_several_ticks_is_noted_and_loses_none() {
    let mut lab = Lab::new(closed(1, 6.0));
    lab.nature.stalls = vec![(BEGIN_NS + 1_500 * MS, 3 * S)];
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(7 * MS));
    out.check();
    assert_eq!(out.ticks.len(), 6);
    // The ticks that ended at 2, 3, and 4 s were handed over at 4.5 s.
    assert_eq!(out.sum(RunSum::IntervalsLate), 3);
}

// ---- users come and go ------------------------------------------------------------------------------------------

#[test]
fn stages_of_users_make_the_area_under_them() {
    let draft = staged(&[(5.0, 10.0), (2.0, 10.0), (5.0, 0.0)]);
    let out = run_fixed(draft, 9_999_999);
    out.check();
    assert_eq!(out.elapsed_ns, 12 * S);
    // User k is active while the level is above k: the steps lie above the line when it rises, and also when it falls.
    let area = out.sum(RunSum::UsersNs) as f64 / 1e9;
    let steps: f64 = (0..10).map(|k| 12.0 - 2.0 * 0.5 * f64::from(k)).sum();
    assert!((area - steps).abs() < 1e-6, "{area} user seconds instead of {steps}");
    // Each user sends during its active time and finishes its iteration afterwards.
    let requests = out.count(SeriesSum::Finished) as f64;
    assert!((requests - steps * 100.0).abs() <= 10.0, "{requests}");
    assert_eq!(out.peak(RunPeak::InFlight), 10);
    assert_eq!(out.sum(RunSum::ConnOpened), 10);
    // Users that became inactive closed their connections; none is left at the end, when the level is 0.
    assert!(out.sum(RunSum::ClosedByClient) >= 9, "{}", out.sum(RunSum::ClosedByClient));
}

fn staged(legs: &[(f64, f64)]) -> Draft {
    Draft { load: LoadDraft { stages: stages(false, legs), ..draft().load }, ..draft() }
}

#[test]
fn a_jump_to_no_users_and_back_opens_new_connections() {
    let draft = staged(&[(0.0, 5.0), (1.0, 5.0), (0.0, 0.0), (1.0, 0.0), (0.0, 5.0), (1.0, 5.0)]);
    let out = run_fixed(draft, 30 * MS);
    out.check();
    let sent: Vec<u64> = out.ticks.iter().map(|t| t.0.series[0].sums[SeriesSum::Sent.id()]).collect();
    // 0, 30, ..., 990 ms in the first second for each; nothing in the second; the same again.
    assert_eq!(sent, [5 * 34, 0, 5 * 34]);
    assert_eq!(out.sum(RunSum::ConnOpened), 10);
    assert_eq!(out.sum(RunSum::UsersNs), 10 * S);
}

#[test]
fn a_user_called_back_before_its_last_iteration_has_ended_just_goes_on() {
    let lab = Lab::new(closed(10, 1.0)).command(100 * MS, Command::SetLevel(0.0));
    let out = lab.command(110 * MS, Command::SetLevel(10.0)).run(|_: &SimRequest<'_>| Answer::ok(30 * MS));
    out.check();
    assert_eq!((out.sum(RunSum::ConnOpened), out.calls.open_max), (10, 10));
    assert_eq!(out.count(SeriesSum::Finished), 10 * 33);
}

// ---- commands ---------------------------------------------------------------------------------------------------

#[test]
fn stop_ends_the_run_and_counts_what_is_in_flight() {
    let lab = Lab::new(closed(4, 60.0)).command(2_500 * MS, Command::Stop);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(7 * MS));
    out.check();
    assert_eq!((out.stopped, out.elapsed_ns), (Stopped::Command, 2_500 * MS));
    assert_eq!(out.ticks.len(), 3);
    assert_eq!(out.sum(RunSum::InFlightAtEnd), 4);
    // 2,500 = 357 x 7 + 1: each had waited for 1 ms.
    let censored = out.series_hist(SeriesHist::ServiceCensored);
    assert_eq!((censored.count(), censored.max()), (4, Some(MS)));
}

#[test]
fn a_pause_sends_nothing_and_closes_nothing() {
    let lab = Lab::new(closed(3, 6.0)).command(2 * S, Command::Pause).command(4_001 * MS, Command::Resume);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(7 * MS));
    out.check();
    let sent: Vec<u64> = out.ticks.iter().map(|t| t.0.series[0].sums[SeriesSum::Sent.id()]).collect();
    assert_eq!(sent[2..4], [0, 0]);
    assert!(sent[4] >= 3 * 142 && sent[5] >= 3 * 142, "{sent:?}");
    assert_eq!(out.sum(RunSum::ConnOpened), 3, "the connections outlived the pause");
}

#[test]
fn pauses_may_be_said_twice_and_resumed_when_not_paused() {
    let lab = Lab::new(closed(1, 4.0))
        .command(500 * MS, Command::Resume)
        .command(S, Command::Pause)
        .command(1_100 * MS, Command::Pause)
        .command(2 * S, Command::Resume)
        .command(2_100 * MS, Command::Resume);
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(10 * MS));
    out.check();
    assert!((298..=302).contains(&out.count(SeriesSum::Finished)), "{}", out.count(SeriesSum::Finished));
}

#[test]
fn the_level_sinks_and_rises_by_command_but_never_above_the_users_made() {
    let lab = Lab::new(closed(10, 4.0))
        .command(S, Command::SetLevel(3.0))
        .command(2 * S, Command::SetLevel(0.0))
        .command(3 * S, Command::SetLevel(1_000.0))
        .command(3 * S + 1, Command::SetLevel(f64::NAN))
        .command(3 * S + 2, Command::SetLevel(f64::INFINITY));
    let out = lab.run(|_: &SimRequest<'_>| Answer::ok(30 * MS));
    out.check();
    let sent: Vec<u64> = out.ticks.iter().map(|t| t.0.series[0].sums[SeriesSum::Sent.id()]).collect();
    // In flight at 1 s: sent at 990 ms; the remaining three continue from 1,020 ms to 1,980 ms; ten again from 3,000
    // ms.
    assert_eq!(sent, [10 * 34, 3 * 33, 0, 10 * 34]);
    assert_eq!(out.sum(RunSum::UsersNs), 10 * S + 3 * S + 10 * S);
}
