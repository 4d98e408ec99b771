//! The small grammars of an experiment: steps, ends of ladders, expectations.

#![allow(clippy::expect_used, reason = "a test may stop")]

use plimsoll_plan::experiment::{By, Direction, Expectation, Figure, Limit, Step, Until};

#[test]
fn a_step_leads_upwards() {
    assert_eq!(Step::parse("x1.10"), Ok(Step::Times(1.1)));
    assert_eq!(Step::parse(" +50/s "), Ok(Step::Plus(50.0)));
    assert_eq!((Step::Times(2.0).next(3.0), Step::Plus(2.0).next(3.0)), (6.0, 5.0));
    for text in ["", "x", "x1", "x0.9", "xNaN", "xinf", "+0", "+-1", "1.1", "-5", "50"] {
        assert!(Step::parse(text).is_err_and(|wrong| wrong.contains("; expected")), "{text}");
    }
}

#[test]
fn a_ladder_ends_by_a_rule() {
    assert_eq!(Until::parse("offered - achieved >= 50/s"), Ok(Until::Shortfall(Limit::PerSecond(50.0))));
    assert_eq!(Until::parse("offered-achieved>5%"), Ok(Until::Shortfall(Limit::Ratio(0.05))));
    assert_eq!(Until::parse("socket_errors > 0"), Ok(Until::SocketErrors(0)));
    assert_eq!(Until::parse("missed"), Ok(Until::Missed));
    for text in
        ["", "offered > 5%", "offered - achieved > 5", "offered - achieved > -5%", "socket_errors > x"]
    {
        assert!(Until::parse(text).is_err_and(|wrong| wrong.contains("; expected")), "{text}");
    }
}

#[test]
fn an_expectation_is_a_sentence_about_two_values() {
    let read = |text: &str| Expectation::parse(text).expect("a sentence");
    let one = read("bcrypt lowers capacity by 2x");
    assert_eq!(
        (one.who.as_str(), one.direction, one.figure),
        ("bcrypt", Direction::Lowers, Figure::Capacity)
    );
    assert_eq!((one.by, one.against), (Some(By::Factor(2.0)), None));
    let one = read("node js keeps service_time p99.9 within 5% against the other one");
    assert_eq!((one.who.as_str(), one.against.as_deref()), ("node js", Some("the other one")));
    assert_eq!(one.by, Some(By::Ratio(0.05)));
    assert!(matches!(one.figure, Figure::Percentile { q, service: true } if (q - 0.999).abs() < 1e-12));
    for text in [
        "",
        "raises rate",
        "a is faster",
        "a raises speed",
        "a raises p0",
        "a raises p100",
        "a raises rate by much",
        "a raises rate by 0x",
        "a raises rate by",
        "a raises rate against",
        "a keeps rate",
    ] {
        assert!(Expectation::parse(text).is_err(), "{text}");
    }
}
