//! The sentences of an experiment: steps, ends of ladders, expectations.

use plimsoll_plan::experiment::{Bound, By, Direction, Expectation, Figure, Limit, Step, Until};

#[test]
fn steps_lead_upwards() {
    assert_eq!(Step::parse("x1.10"), Ok(Step::Times(1.1)));
    assert_eq!(Step::parse("+50"), Ok(Step::Plus(50.0)));
    assert_eq!(Step::parse(" +50/s "), Ok(Step::Plus(50.0)));
    for wrong in ["x1", "x0.9", "+0", "-5", "50", "x", "+", "xNaN", "+inf", ""] {
        let sentence = Step::parse(wrong).expect_err("no step upwards").to_string();
        assert!(sentence.contains("write a step such as `x1.10` or `+50`"), "{sentence}");
    }
    assert!((Step::Times(1.1).next(100.0) - 110.0).abs() < 1e-9);
    assert!((Step::Plus(50.0).next(100.0) - 150.0).abs() < 1e-9);
}

#[test]
fn ends_of_ladders_are_read() {
    let shortfall = |limit, inclusive| Ok(Until::Shortfall(Bound { limit, inclusive }));
    assert_eq!(Until::parse("offered - achieved >= 50/s"), shortfall(Limit::PerSecond(50.0), true));
    assert_eq!(Until::parse("offered - achieved > 50/s"), shortfall(Limit::PerSecond(50.0), false));
    assert_eq!(Until::parse("offered-achieved > 5%"), shortfall(Limit::Ratio(0.05), false));
    assert_eq!(Until::parse("offered-achieved>=5%"), shortfall(Limit::Ratio(0.05), true));
    assert_eq!(Until::parse("offered - achieved > 0/s"), shortfall(Limit::PerSecond(0.0), false));
    assert_eq!(Until::parse("socket_errors > 0"), Ok(Until::SocketErrors(0)));
    assert_eq!(Until::parse("socket_errors >= 3"), Ok(Until::SocketErrors(2)));
    assert_eq!(Until::parse("missed"), Ok(Until::Missed));
    for wrong in [
        "offered - achieved > 5",
        "offered - achieved = 5%",
        "offered - achieved >> 5%",
        "offered - achieved > -5%",
        "socket_errors > -1",
        "error_rate > 1%",
        "",
        "offered - achieved > x%",
    ] {
        assert!(Until::parse(wrong).expect_err("not understood").to_string().contains("`missed`"), "{wrong}");
    }
}

#[test]
fn an_end_that_always_or_never_holds_is_refused() {
    for (wrong, told) in [
        ("offered - achieved >= 0/s", "is always met"),
        ("offered - achieved >= 0%", "is always met"),
        ("socket_errors >= 0", "is always met"),
        ("offered - achieved > 100%", "is never met"),
        ("offered - achieved >= 101%", "is never met"),
    ] {
        let sentence = Until::parse(wrong).expect_err("refused").to_string();
        assert!(sentence.contains(told) && sentence.contains("; write"), "{wrong}: {sentence}");
    }
    assert!(Until::parse("offered - achieved >= 100%").is_ok(), "nothing is answered at all");
}

/// Sentences quote the rule: it must be the one that was written.
#[test]
fn an_end_is_told_as_it_is_read() {
    for text in [
        "offered - achieved >= 50/s",
        "offered - achieved > 7%",
        "offered - achieved >= 0.1%",
        "socket_errors > 4",
        "missed",
    ] {
        assert_eq!(Until::parse(text).expect("a rule").to_string(), text);
    }
}

#[test]
fn expectations_are_read_word_by_word() {
    let one = Expectation::parse("bcrypt lowers capacity by 2x").expect("a sentence");
    assert_eq!(
        (one.who.as_str(), one.direction, one.figure),
        ("bcrypt", Direction::Lowers, Figure::Capacity)
    );
    assert_eq!((one.by, one.against), (Some(By::Factor(2.0)), None));

    let two = Expectation::parse("go raises throughput by 24% against node 22").expect("a sentence");
    assert_eq!((two.by, two.against.as_deref()), (Some(By::Ratio(0.24)), Some("node 22")));

    let three = Expectation::parse("new build keeps response_time p99.9 within 5%").expect("a sentence");
    assert_eq!(three.who, "new build");
    assert_eq!(three.figure, Figure::Percentile { q: 0.999, service: false });
    let four = Expectation::parse("a lowers service_time p50").expect("a sentence");
    assert_eq!((four.figure, four.by), (Figure::Percentile { q: 0.5, service: true }, None));
}

#[test]
fn half_an_expectation_is_refused_with_what_is_missing() {
    for (wrong, part) in [
        ("", "missing `raises`"),
        ("lowers capacity", "missing `raises`"),
        ("bcrypt slows capacity", "missing `raises`"),
        ("bcrypt lowers happiness", "`happiness`"),
        ("bcrypt lowers capacity by two", "`two`"),
        ("bcrypt lowers capacity by", "missing value after `by`"),
        ("a keeps throughput", "within 5%"),
        ("a lowers p0", "`p0`"),
        ("a lowers response_time p100", "p100"),
    ] {
        let sentence = Expectation::parse(wrong).expect_err("refused").to_string();
        assert!(sentence.contains(part), "{wrong}: {sentence}");
    }
}

#[test]
fn an_amount_that_can_never_or_always_be_found_is_refused() {
    for (wrong, part) in [
        ("bcrypt lowers capacity by 2x by 30%", "unexpected second amount"),
        ("a keeps throughput within 5% within 10%", "unexpected second amount"),
        ("a raises throughput by 2x within 5%", "`within 5%`"),
        ("bcrypt lowers capacity by 100%", "by 100% or more"),
        ("bcrypt lowers capacity by 250% against plain", "`250%`"),
        ("bcrypt lowers capacity by 1x", "must be above 1"),
        ("go raises throughput by 0.5x", "`0.5x`"),
        ("go keeps throughput within 0.9x", "must be above 1"),
    ] {
        let sentence = Expectation::parse(wrong).expect_err("refused").to_string();
        assert!(sentence.contains(part) && sentence.contains("; "), "{wrong}: {sentence}");
    }
    for right in
        ["go raises throughput by 300%", "a lowers throughput by 99.9%", "a keeps throughput within 1.05x"]
    {
        assert!(Expectation::parse(right).is_ok(), "{right}");
    }
}

/// It is kept as its text, and read back from it.
#[test]
fn an_expectation_survives_json() {
    let one = Expectation::parse("go raises throughput by 24% against node").expect("a sentence");
    let text = serde_json::to_string(&one).expect("plain text");
    assert_eq!(text, "\"go raises throughput by 24% against node\"");
    assert_eq!(serde_json::from_str::<Expectation>(&text).expect("the same text"), one);
    assert!(serde_json::from_str::<Expectation>("\"nonsense\"").is_err());
}
