//! Load sizing: every step with its numbers, in both directions, and rejected input.

use plimsoll_plan::sizing::{Period, Sizing, SizingInput, Visitors, number, size};
use plimsoll_plan::unit::duration_ns;

fn ns(text: &str) -> Option<u64> {
    Some(duration_ns(text).expect("a duration"))
}

fn visitors(text: &str) -> Option<Visitors> {
    Some(Visitors::parse(text).expect("visitors"))
}

#[track_caller]
fn good(asked: &SizingInput) -> Sizing {
    size(asked).unwrap_or_else(|wrong| panic!("{asked:?}: {wrong:?}"))
}

#[track_caller]
fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("it follows");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

fn describe(sizing: &Sizing) -> Vec<String> {
    let line = |line: &plimsoll_plan::sizing::Line| {
        format!("{}: {} = {:.4} {}", line.name, line.formula, line.value, line.unit)
    };
    sizing.lines.iter().map(line).collect()
}

/// 100,000 / 30 / 12 = 277.78 per hour; × 300 / 3,600 = 23.15 users, not 2.314.
#[test]
fn monthly_visitors_become_users_step_by_step() {
    let asked = SizingInput {
        visitors: visitors("100000/month"),
        active_ns: ns("12h"),
        session_ns: ns("5min"),
        ..SizingInput::default()
    };
    let sizing = good(&asked);
    assert_eq!(
        describe(&sizing),
        [
            "visitors per day: 100000/month / 30 days = 3333.3333 /day",
            "visitors per hour: 3333/day / 12 h = 277.7778 /h",
            "arrivals: 277.8/h / 3600 = 0.0772 /s",
            "concurrent users: 277.8/h x 300 s / 3600 = 23.1481 users",
        ]
    );
    close(sizing.users, 100_000.0 / 30.0 / 12.0 * 300.0 / 3600.0);
    assert_eq!((sizing.rate_per_s, sizing.visitors_per_month), (None, Some(100_000.0)));
    assert_eq!(sizing.assumptions.len(), 2, "the month and the peak: {:?}", sizing.assumptions);
}

#[test]
fn a_peak_and_a_think_time_lead_to_requests_per_second() {
    let asked = SizingInput {
        visitors: visitors("100000/month"),
        active_ns: ns("12h"),
        session_ns: ns("5min"),
        peak: Some(3.0),
        think_ns: ns("8s"),
        response_ns: ns("300ms"),
        ..SizingInput::default()
    };
    let sizing = good(&asked);
    let users = 3.0 * 100_000.0 / 30.0 / 12.0 * 300.0 / 3600.0;
    close(sizing.users, users);
    close(sizing.rate_per_s, users / 8.3);
    let lines = describe(&sizing);
    assert!(
        lines.contains(&"visitors in the busiest hour: 277.8/h x 3 = 833.3333 /h".to_owned()),
        "{lines:?}"
    );
    assert!(lines.contains(&"requests: 69.44 / (8 s + 0.3 s) = 8.3668 /s".to_owned()), "{lines:?}");
    assert!(lines.contains(&"pages per session: 300 s / (8 s + 0.3 s) = 36.1446 ".to_owned()), "{lines:?}");
}

#[test]
fn pages_per_session_determine_the_think_time() {
    let asked = SizingInput {
        visitors: visitors("2400/day"),
        session_ns: ns("60s"),
        pages: Some(6.0),
        response_ns: ns("1s"),
        ..SizingInput::default()
    };
    let sizing = good(&asked);
    close(sizing.users, 100.0 / 3600.0 * 60.0);
    close(sizing.rate_per_s, 100.0 / 3600.0 * 6.0);
    let lines = describe(&sizing);
    assert!(lines.contains(&"think time: 10 s - 1 s = 9.0000 s".to_owned()), "{lines:?}");
    let slow = SizingInput { response_ns: ns("11s"), ..asked };
    assert!(
        size(&slow).expect_err("no time is left")[0]
            .to_string()
            .contains("the response time of `11 s` exceeds")
    );
}

#[test]
fn a_rate_leads_back_to_visitors() {
    let asked = SizingInput {
        rate_per_s: Some(100.0),
        pages: Some(6.0),
        active_ns: ns("12h"),
        peak: Some(3.0),
        ..SizingInput::default()
    };
    let month = 100.0 / 6.0 * 3600.0 / 3.0 * 12.0 * 30.0;
    close(good(&asked).visitors_per_month, month);
    let users = SizingInput {
        users: Some(50.0),
        think_ns: ns("9s"),
        response_ns: ns("1s"),
        ..SizingInput::default()
    };
    close(good(&users).rate_per_s, 5.0);
    let rate = SizingInput { rate_per_s: Some(5.0), think_ns: ns("10s"), ..SizingInput::default() };
    close(good(&rate).users, 50.0);
    assert!(good(&rate).assumptions.iter().any(|sentence| sentence.contains("--response")));
}

#[test]
fn every_period_of_visitors_counts_only_active_hours() {
    for (text, per_hour) in [("84/hour", 84.0), ("84/day", 7.0), ("588/week", 7.0), ("2520/month", 7.0)] {
        let asked = SizingInput { visitors: visitors(text), active_ns: ns("12h"), ..SizingInput::default() };
        close(good(&asked).arrivals_per_s, per_hour / 3600.0);
    }
}

/// There and back: users and rate from visitors, visitors from users or from the rate.
#[test]
fn both_directions_agree() {
    let mut state = 7u64;
    let mut draw = |low: f64, high: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low * (high / low).powf((state >> 11) as f64 / (1u64 << 53) as f64)
    };
    for _ in 0..2_000 {
        let per = [Period::Hour, Period::Day, Period::Week, Period::Month][draw(1.0, 4.999) as usize - 1];
        let there = SizingInput {
            visitors: Some(Visitors { number: draw(1e2, 1e9), per }),
            active_ns: Some(draw(3600e9, 86_400e9) as u64),
            peak: Some(draw(1.0, 10.0)),
            session_ns: Some(draw(1e9, 3600e9) as u64),
            think_ns: Some(draw(1e8, 60e9) as u64),
            response_ns: Some(draw(1e6, 5e9) as u64),
            ..SizingInput::default()
        };
        let found = good(&there);
        let month = found.visitors_per_month.expect("it follows");
        let from_users = SizingInput { visitors: None, users: found.users, ..there.clone() };
        close(good(&from_users).visitors_per_month, month);
        close(good(&from_users).rate_per_s, found.rate_per_s.expect("it follows"));
        let from_rate = SizingInput { visitors: None, rate_per_s: found.rate_per_s, ..there.clone() };
        close(good(&from_rate).visitors_per_month, month);
        // All of these numbers together are consistent; with one of them 5% off, they are not.
        let all = SizingInput { users: found.users, rate_per_s: found.rate_per_s, ..there.clone() };
        good(&all);
        let off = SizingInput { users: found.users.map(|users| users * 1.05), ..there };
        assert!(size(&off).expect_err("inconsistent")[0].to_string().contains("remove one of these numbers"));
    }
}

#[test]
fn impossible_input_is_rejected_with_a_fix() {
    let visitors = visitors("100/day");
    let session_ns = ns("60s");
    let plain = SizingInput { visitors, session_ns, ..SizingInput::default() };
    for (asked, word) in [
        (SizingInput::default(), "`--visitors`"),
        (SizingInput { users: Some(5.0), ..SizingInput::default() }, "`--think`"),
        (SizingInput { rate_per_s: Some(5.0), ..SizingInput::default() }, "`--pages`"),
        (SizingInput { session_ns, ..SizingInput::default() }, "`--visitors`"),
        (SizingInput { users: Some(0.0), ..plain.clone() }, "`users`"),
        (SizingInput { users: Some(f64::NAN), ..plain.clone() }, "`users`"),
        (SizingInput { rate_per_s: Some(f64::INFINITY), ..plain.clone() }, "`rate`"),
        (SizingInput { pages: Some(-1.0), ..plain.clone() }, "`pages`"),
        (SizingInput { peak: Some(0.5), ..plain.clone() }, "at least 1"),
        (SizingInput { active_ns: Some(0), ..plain.clone() }, "active hours"),
        (SizingInput { active_ns: ns("25h"), ..plain.clone() }, "active hours"),
        (SizingInput { session_ns: Some(0), ..plain.clone() }, "longer than 0"),
        (SizingInput { think_ns: Some(0), ..plain.clone() }, "`--response"),
        (SizingInput { users: Some(f64::MAX), think_ns: Some(1), ..SizingInput::default() }, "out of range"),
    ] {
        let wrong = size(&asked).expect_err("refused");
        assert!(wrong[0].to_string().contains(word), "{asked:?}: {wrong:?}");
        assert!(wrong.iter().all(|problem| !problem.hint.is_empty()), "without a fix: {wrong:?}");
    }
}

/// A number in the input would look like part of the result.
#[test]
fn a_number_that_no_step_uses_is_rejected() {
    let users = SizingInput { users: Some(50.0), think_ns: ns("8s"), ..SizingInput::default() };
    let rate = SizingInput { rate_per_s: Some(50.0), think_ns: ns("8s"), ..SizingInput::default() };
    let visits = SizingInput { users: Some(50.0), session_ns: ns("5min"), ..SizingInput::default() };
    let visitors = SizingInput { visitors: visitors("100000/month"), ..SizingInput::default() };
    for (asked, flags) in [
        (SizingInput { peak: Some(3.0), ..users.clone() }, &["--peak"][..]),
        (SizingInput { active_ns: ns("12h"), ..users.clone() }, &["--active"]),
        (SizingInput { peak: Some(3.0), active_ns: ns("24h"), ..rate.clone() }, &["--active", "--peak"]),
        (SizingInput { response_ns: ns("300ms"), ..visits.clone() }, &["--response"]),
        (SizingInput { think_ns: ns("8s"), ..visitors.clone() }, &["--think"]),
        (
            SizingInput { think_ns: ns("8s"), response_ns: ns("1s"), ..visitors.clone() },
            &["--think", "--response"],
        ),
    ] {
        let wrong = size(&asked).expect_err("refused");
        assert_eq!(wrong.len(), flags.len(), "{wrong:?}");
        for (problem, flag) in wrong.iter().zip(flags) {
            assert_eq!(problem.message, format!("`{flag}` has no effect"));
            assert!(!problem.hint.is_empty(), "{problem}");
        }
    }
    // The suggested fixes work.
    for asked in [
        SizingInput { peak: Some(3.0), active_ns: ns("12h"), session_ns: ns("5min"), ..users },
        SizingInput { peak: Some(3.0), active_ns: ns("12h"), pages: Some(6.0), ..rate },
        SizingInput { response_ns: ns("300ms"), pages: Some(6.0), ..visits.clone() },
        SizingInput { response_ns: ns("300ms"), think_ns: ns("8s"), ..visits },
        SizingInput { think_ns: ns("8s"), session_ns: ns("5min"), ..visitors.clone() },
        SizingInput { think_ns: ns("0s"), response_ns: ns("1s"), pages: Some(3.0), ..visitors.clone() },
        SizingInput { active_ns: ns("24h"), peak: Some(1.0), ..visitors },
    ] {
        good(&asked);
    }
}

#[test]
fn visitors_are_parsed_with_their_period() {
    let read = |text| Visitors::parse(text).map(|v| (v.number, v.per));
    assert_eq!(read("100000/month"), Ok((100_000.0, Period::Month)));
    assert_eq!(read(" 1_000 / d "), Ok((1_000.0, Period::Day)));
    assert_eq!(read("3.5k/week"), Ok((3_500.0, Period::Week)));
    assert_eq!(read("2M/h"), Ok((2e6, Period::Hour)));
    for text in [
        "",
        "100",
        "/day",
        "x/day",
        "0/day",
        "-5/day",
        "inf/day",
        "NaN/day",
        "1e999/day",
        "5/year",
        "1,000/day",
    ] {
        assert!(Visitors::parse(text).is_err(), "{text}");
    }
    assert!(Visitors::parse("100/m").is_err_and(|wrong| wrong.hint.contains("write `/month`")));
}

#[test]
fn a_comma_separates_thousands_or_is_rejected() {
    for (text, expected) in [
        ("1500", 1500.0),
        ("1,500", 1500.0),
        ("12,345,678.5", 12_345_678.5),
        ("1_500", 1500.0),
        (" 1.5 ", 1.5),
    ] {
        assert_eq!(number(text), Ok(expected), "{text}");
    }
    for (text, fix) in [
        ("1,5", "write `1.5`"),
        ("3,25", "write `3.25`"),
        ("1,2345", "write `1.2345`"),
        ("1234,567", "write `1234.567`"),
        ("1,000,5", "before a fraction"),
        ("1.000,5", "before a fraction"),
        ("1_000,000", "before a fraction"),
        (",500", "write `.500`"),
        ("1_5", "before a fraction"),
    ] {
        let sentence = number(text).expect_err(text).to_string();
        assert!(sentence.ends_with(fix), "{text}: {sentence}");
    }
    for text in ["", ",", "0", "-3", "-1,000", "many", "inf", "NaN", "1e999", "1.2.3", "1,é00"] {
        assert!(number(text).is_err_and(|problem| !problem.hint.is_empty()), "{text}");
    }
}

#[test]
fn numbers_of_every_magnitude_are_shown() {
    for number in [1e-300, 1e-9, 0.5, 999.9996, 1e6, 1e18, 1e300] {
        let asked = SizingInput { users: Some(number), think_ns: ns("3s"), ..SizingInput::default() };
        let sizing = good(&asked);
        let line = &sizing.lines[0];
        assert!(line.formula.len() < 30 && line.value == number / 3.0, "{line:?}");
    }
    let json = serde_json::to_value(good(&SizingInput {
        users: Some(5.0),
        think_ns: ns("1s"),
        ..SizingInput::default()
    }));
    let json = json.expect("it is plain data");
    assert_eq!(json["lines"][0]["formula"], "5 / 1 s");
    assert_eq!(json["rate_per_s"], 5.0);
}
