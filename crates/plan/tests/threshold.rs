//! The grammar of thresholds: scopes, windows, aborts, and what is rejected before the load.

use plimsoll_plan::draft::Draft;
use plimsoll_plan::link::Tls;
use plimsoll_plan::outline::{CheckOutline, Outline, RequestOutline};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::threshold::{
    Scope, Statistic, Subject, check_scopes, parse, parse_with_metrics, with_defaults,
};
use plimsoll_plan::{Request, Target};

fn outline() -> Outline {
    let draft = Draft {
        target: Some(Target { host: "127.0.0.1".into(), port: 1, tls: false }),
        requests: vec![Request {
            origin: 0,
            name: "home".into(),
            method: "GET".into(),
            path: "/".into(),
            headers: Vec::new(),
            body: None,
        }],
        ..Draft::default()
    };
    let mut outline = seal(draft, Machine { cpus: 1, seed: 1 }).expect("a plain plan").outline;
    let request = |name: &str, group: &str, tag: &str, stream: bool, aside: bool| RequestOutline {
        name: name.into(),
        scenario: (!aside).then(|| "buyer".into()),
        group: Some(group.into()),
        tags: vec![("kind".into(), tag.into())],
        is_stream: stream,
        is_websocket: false,
        is_grpc: false,
        is_outside_load: aside,
        ..outline.requests[0].clone()
    };
    outline.requests = vec![
        request("login", "checkout", "write", false, false),
        request("search", "checkout / find", "read", false, false),
        request("feed", "news", "read", true, false),
        request("make users", "setup", "write", false, true),
    ];
    outline.checks = vec![CheckOutline { name: "has a token".into(), request: 0 }];
    outline
}

/// Codes and hints.
fn refused(texts: &[&str], outline: &Outline) -> Vec<(&'static str, String)> {
    let thresholds: Vec<_> = texts.iter().map(|text| parse(text).expect(text)).collect();
    check_scopes(&thresholds, outline).into_iter().map(|wrong| (wrong.code, wrong.hint)).collect()
}

#[test]
fn a_scope_a_window_and_an_abort_are_read_in_this_order() {
    let t = parse("response_time{request: login}  p99<250ms over 10s  abort after 1m").expect("the grammar");
    assert_eq!(t.text, "response_time{request: login} p99<250ms over 10s abort after 1m");
    assert_eq!((t.subject, t.statistic), (Subject::ResponseTime, Statistic::Quantile(0.99)));
    assert_eq!(t.scope, Some(Scope::Request("login".into())));
    assert_eq!((t.value, t.over_ns, t.abort_after_ns), (250e6, Some(10_000_000_000), Some(60_000_000_000)));
    assert_eq!(t.left(), "response_time{request: login} p99");
    let t = parse("error_rate < 1% abort after 0").expect("at once");
    assert_eq!((t.value, t.over_ns, t.abort_after_ns, t.scope), (0.01, None, Some(0), None));
}

#[test]
fn an_old_subject_is_unknown_and_the_help_names_the_new_one() {
    for (old, new) in
        [("errors < 1%", "error_rate"), ("rate > 5/s", "throughput"), ("events_lost == 0%", "event_loss")]
    {
        let problem = parse(old).expect_err(old);
        let name = old.split(' ').next().expect("a name");
        assert_eq!(problem.message, format!("unknown metric `{name}`"));
        assert_eq!(problem.hint, format!("did you mean `{new}`?"));
    }
}

#[test]
fn a_space_before_the_unit_is_named_wherever_a_duration_stands() {
    for (text, bad) in [
        ("response_time p95 < 300 ms", "300 ms"),
        ("response_time p95 < 300 ms over 10s", "300 ms"),
        ("p95 < 300ms over 10 s", "10 s"),
        ("p95 < 300ms over 10 s abort after 30s", "10 s"),
        ("p95 < 300ms abort after 30 s", "30 s"),
    ] {
        let problem = parse(text).expect_err(text);
        assert_eq!(problem.message, format!("invalid duration `{bad}`: remove the space"), "{text}");
        assert_eq!(problem.hint, format!("write `{}`", bad.replace(' ', "")));
    }
    let words = parse("p95 < 300ms over 10s junk").expect_err("junk");
    assert_eq!(words.message, "unexpected `junk` after the value");
}

#[test]
fn quoted_names_may_contain_anything() {
    for (text, scope) in [
        (r#"throughput {request: "GET  /a}<b>"} > 5/s"#, Scope::Request("GET  /a}<b>".into())),
        ("error_rate{scenario: 'say \"x\"'} == 0%", Scope::Scenario("say \"x\"".into())),
        ("error_rate{group: a / b} == 0%", Scope::Group("a / b".into())),
        ("error_rate{tag: kind=read} == 0%", Scope::Tag("kind".into(), "read".into())),
        ("error_rate{agent: region=eu} == 0%", Scope::Agent("region=eu".into())),
    ] {
        let t = parse(text).expect(text);
        assert_eq!(t.scope.as_ref(), Some(&scope), "{text}");
        // The printed form can be parsed again.
        let again = parse(&format!("error_rate{scope} == 0%")).expect("its own text");
        assert_eq!(again.scope, Some(scope));
    }
}

#[test]
fn a_scope_of_agents_selects_them_by_name_or_label_and_takes_no_windows() {
    let labels = [("region".to_owned(), "eu".to_owned())].into();
    for (agents, is_covered) in [
        ("a", true),
        ("b", false),
        ("region=eu", true),
        ("region=us", false),
        ("zone=eu", false),
        ("eu", false),
    ] {
        let scope =
            parse(&format!("p99{{agent: {agents}}} < 1s")).expect("the grammar").scope.expect("a scope");
        assert_eq!(scope.covers_agent("a", &labels), is_covered, "{agents}");
        assert_eq!(scope.agents(), Some(agents));
    }
    assert!(Scope::Request("b".into()).covers_agent("a", &labels));
    for (text, what) in [
        ("p99{agent: a} < 1s over 10s", "`over` and `abort after` apply to the load of all agents"),
        ("p99{agent: a} < 1s abort after 10s", "`over` and `abort after` apply to the load of all agents"),
        ("longest_outage{agent: a} < 5s", "outages apply to the load of all agents"),
        ("achieved{agent: a} > 99%", "`achieved` applies to the whole run"),
    ] {
        let wrong = parse(text).expect_err(text).to_string();
        assert!(wrong.contains(what), "{text}: {wrong}");
    }
}

#[test]
fn every_subject_has_its_kind_of_limit() {
    for subject in Subject::ALL {
        let name = subject.name();
        let scope = match subject {
            Subject::GroupTime => "{group: a}",
            Subject::GrpcStatus => "{status: OK}",
            _ => "",
        };
        let readable =
            ["p99 < 5ms", "< 5%", "> 5/s", "< 5"].map(|rest| parse(&format!("{name}{scope} {rest}")).is_ok());
        // A bare number is a rate, too.
        let expected = match name {
            "error_rate" | "checks" | "achieved" | "event_loss" | "message_loss" | "availability"
            | "grpc_status" => [false, true, false, false],
            // It has no percentiles, and its limit is at least 1 s.
            "longest_outage" => {
                assert!(parse("longest_outage < 1s").is_ok() && parse("longest_outage < 999ms").is_err());
                assert!(parse("longest_outage < 5s over 10s").is_err());
                [false, false, false, false]
            }
            "throughput" => [false, false, true, true],
            "requests" | "events" | "messages_sent" | "messages_received" | "iterations_failed" => {
                [false, false, false, true]
            }
            _ => [true, false, false, false],
        };
        assert_eq!(readable, expected, "{name}");
    }
}

#[test]
fn group_time_requires_one_group() {
    let t =
        parse("group_time{group: checkout / find} p95 < 2s over 10s abort after 5s").expect("the grammar");
    assert_eq!((t.subject, t.statistic), (Subject::GroupTime, Statistic::Quantile(0.95)));
    assert_eq!(t.scope, Some(Scope::Group("checkout / find".into())));
    assert_eq!((t.value, t.over_ns, t.abort_after_ns), (2e9, Some(10_000_000_000), Some(5_000_000_000)));
    assert_eq!(t.left(), "group_time{group: checkout / find} p95");
    for text in
        ["group_time p95 < 2s", "group_time{request: login} p95 < 2s", "group_time{tag: kind=read} max < 2s"]
    {
        let wrong = parse(text).expect_err(text).to_string();
        assert!(wrong.contains("as in `group_time{group: NAME} p95 < 2s`"), "{text}: {wrong}");
    }
    let wrong = parse("group_time{group: checkout} < 2s").expect_err("no figure").to_string();
    assert!(wrong.contains("missing statistic after `group_time`"), "{wrong}");
}

#[test]
fn group_time_requires_the_exact_name_of_a_group() {
    let mut outline = outline();
    outline.groups = vec!["checkout".into(), "checkout / find".into(), "setup".into()];
    let fine = ["group_time{group: checkout} p95 < 2s", "group_time{group: checkout / find} max < 2s"];
    assert_eq!(refused(&fine, &outline), []);
    let unknown = refused(&["group_time{group: chekout} p95 < 2s"], &outline);
    assert_eq!(unknown, [("P030", "did you mean `checkout`?".into())]);
    // Groups of setup are not measured.
    assert_eq!(refused(&["group_time{group: setup} p95 < 2s"], &outline)[0].0, "P030");
    // Requests are still in the group `checkout`, but nothing times a pass through it.
    outline.groups.remove(0);
    assert_eq!(refused(&["response_time{group: checkout} p95 < 2s"], &outline), []);
    let found = refused(&["group_time{group: checkout} p95 < 2s"], &outline);
    assert_eq!(found, [("P030", "use one of `checkout / find`, `setup`".into())]);
}

#[test]
fn invalid_thresholds_are_rejected_with_a_reason() {
    for (text, part) in [
        ("connect{request: a} p99 < 1s", "applies to the whole run"),
        ("achieved{scenario: a} >= 99%", "applies to the whole run"),
        ("achieved >= 99% over 10s", "do not apply to `achieved`"),
        ("requests > 100 abort after 5s", "add a window, such as `over 10s`, before `abort after`"),
        ("error_rate < 1% over 1500ms", "whole seconds"),
        ("error_rate < 1% over 20m", "600 s"),
        ("error_rate < 1% abort after 5s over 10s", "in this order"),
        ("error_rate < 1% sometimes", "ratio"),
        ("error_rate{request login} < 1%", "invalid scope"),
        ("error_rate{verb: GET} < 1%", "unknown kind of scope `verb`"),
        ("error_rate{tag: read} < 1%", "KEY=VALUE"),
        ("error_rate{request: } < 1%", "empty name"),
        ("error_rate{request: 'a < 1%", "unclosed quote"),
        ("error_rate{request: a < 1%", "missing `}`"),
        ("speed p99 < 1s", "`event_loss`"),
    ] {
        let wrong = parse(text).expect_err(text).to_string();
        assert!(wrong.contains(part), "{text}: {wrong}");
    }
    assert!(parse("requests > 100 over 10s abort after 5s").is_ok());
    assert!(parse("requests < 100 abort after 5s").is_ok());
}

#[test]
fn an_unknown_scope_is_rejected_with_the_closest_name() {
    let outline = outline();
    let fine = [
        "error_rate{request: login} == 0%",
        "throughput{scenario: buyer} > 1/s",
        "response_time{group: checkout} p50 < 1s",
        "error_rate{tag: kind=read} < 1%",
        "checks{request: login} == 100%",
        "event_loss < 1%",
        "event_age{request: feed} p99 < 1s",
    ];
    assert_eq!(refused(&fine, &outline), []);
    assert_eq!(
        refused(&["error_rate{request: logn} == 0%"], &outline),
        [("P030", "did you mean `login`?".into())]
    );
    assert_eq!(
        refused(&["error_rate{tag: kind=raed} < 1%"], &outline),
        [("P030", "did you mean `kind=read`?".into())]
    );
    let found = refused(&["error_rate{scenario: administrator} == 0%"], &outline);
    assert_eq!(found, [("P030", "use one of `buyer`".into())]);
    // Requests sent before the load do not belong to it.
    assert_eq!(refused(&["error_rate{request: make users} == 0%"], &outline)[0].0, "P030");
}

#[test]
fn a_threshold_on_a_value_that_is_never_measured_is_rejected() {
    let mut outline = outline();
    let without_code = "iterations_failed == 0";
    for text in [
        "events{request: login} > 1",
        "checks{request: search} > 99%",
        "tls_handshake p99 < 1s",
        without_code,
    ] {
        assert_eq!(refused(&[text], &outline)[0].0, "P031", "{text}");
    }
    outline.link.tls = Some(Tls::default());
    assert_eq!(refused(&["tls_handshake p99 < 1s"], &outline), []);
    outline.requests[2].is_stream = false;
    outline.checks.clear();
    for text in ["event_gap p99 < 1s", "checks == 100%"] {
        assert_eq!(refused(&[text], &outline)[0].0, "P031", "{text}");
    }
}

#[test]
fn a_group_covers_its_nested_groups_and_not_groups_with_the_same_prefix() {
    let outline = outline();
    let covered = |name: &str| -> Vec<&str> {
        let scope = Scope::Group(name.into());
        outline.requests.iter().filter(|one| scope.covers(one)).map(|one| one.name.as_str()).collect()
    };
    assert_eq!(covered("checkout"), ["login", "search"]);
    assert_eq!(covered("checkout / find"), ["search"]);
    assert_eq!(covered("check"), Vec::<&str>::new());
    assert_eq!(covered("setup"), Vec::<&str>::new());
}

#[test]
fn only_a_threshold_for_the_whole_run_replaces_a_default() {
    let texts = |rule: &str| -> Vec<String> {
        with_defaults(vec![parse(rule).expect(rule)], true, false).into_iter().map(|t| t.text).collect()
    };
    let scoped = "error_rate{request: login} < 1%";
    assert_eq!(texts(scoped), [scoped, "error_rate == 0%", "longest_outage < 1s", "achieved >= 99%"]);
    assert_eq!(
        texts("error_rate < 1% over 10s"),
        ["error_rate < 1% over 10s", "longest_outage < 1s", "achieved >= 99%"]
    );
    // Each of the two outage metrics replaces both: a run of only errors is also a run without a success.
    for rule in ["availability >= 99%", "longest_outage < 5s"] {
        assert_eq!(texts(rule), [rule, "error_rate == 0%", "achieved >= 99%"]);
    }
    assert_eq!(texts("error_rate <= 100%"), ["error_rate <= 100%", "achieved >= 99%"]);
    let scoped = "availability{request: login} >= 90%";
    assert_eq!(texts(scoped), [scoped, "error_rate == 0%", "longest_outage < 1s", "achieved >= 99%"]);
}

#[test]
fn a_threshold_of_an_early_version_can_still_be_parsed() {
    let old = r#"{"text":"error_rate == 0%","subject":"error_rate","statistic":"value","comparison":"==","value":0.0}"#;
    let read: plimsoll_plan::threshold::Threshold = serde_json::from_str(old).expect("an early outline");
    assert_eq!((read.scope, read.over_ns, read.abort_after_ns), (None, None, None));
    let t = parse("error_rate{tag: kind=read} < 1% over 5s abort after 9s").expect("the grammar");
    let again = serde_json::from_str(&serde_json::to_string(&t).expect("plain data")).expect("its own JSON");
    assert_eq!(t, again);
}

#[test]
fn a_status_of_grpc_is_a_share_of_calls_and_requires_one() {
    let t = parse("grpc_status{status: \"unavailable, 5\"} < 0.5% over 10s abort after 30s")
        .expect("the grammar");
    assert_eq!((t.subject, t.statistic, t.value), (Subject::GrpcStatus, Statistic::Value, 0.005));
    assert_eq!(t.scope, Some(Scope::Status("NOT_FOUND, UNAVAILABLE".into())));
    assert_eq!(parse(&t.text).expect("its own text"), t);
    assert_eq!(t.left(), "grpc_status{status: NOT_FOUND, UNAVAILABLE}");
    let json = serde_json::to_string(&t).expect("a run file holds it");
    assert_eq!(serde_json::from_str::<plimsoll_plan::threshold::Threshold>(&json).expect("its own JSON"), t);
    for (text, why) in [
        ("grpc_status < 1%", "missing status"),
        ("grpc_status{status: UNAVAILIABLE} < 1%", "unknown gRPC status `UNAVAILIABLE`"),
        ("grpc_status{request: login} < 1%", "a gRPC status has no request"),
        ("grpc_status{metric: x} < 1%", "unknown kind of scope"),
        ("grpc_status{status: OK} p99 < 1%", "one number"),
        ("grpc_status{status: OK} >= 5", "ambiguous share"),
        ("error_rate{status: OK} < 1%", "unknown kind of scope"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    let mut outline = outline();
    let rule = [parse("grpc_status{status: OK} >= 99%").expect("the grammar")];
    let said = check_scopes(&rule, &outline);
    assert!(
        said.len() == 1 && said[0].code == "P031" && said[0].message.contains("requires a gRPC call"),
        "{said:?}"
    );
    outline.requests[0].is_grpc = true;
    assert!(check_scopes(&rule, &outline).is_empty());
}

#[test]
fn user_defined_metrics_have_subjects_and_labels_where_they_can_be_defined() {
    let t = parse_with_metrics("trend{metric: cart, tag: shop=b, scenario: \"a, b\"}  p95<30.5")
        .expect("the grammar");
    let parts = vec![
        Scope::Metric("cart".into()),
        Scope::Tag("shop".into(), "b".into()),
        Scope::Scenario("a, b".into()),
    ];
    assert_eq!((t.subject, t.statistic, t.value), (Subject::Trend, Statistic::Quantile(0.95), 30.5));
    assert_eq!(t.scope, Some(Scope::All(parts)));
    assert_eq!(t.left(), "trend{metric: cart, tag: shop=b, scenario: \"a, b\"} p95");
    assert_eq!(parse_with_metrics(&t.text).expect("its own text"), t);
    let json = serde_json::to_string(&t).expect("a run file holds it");
    assert_eq!(
        serde_json::from_str::<plimsoll_plan::threshold::Threshold>(&json).expect("and gives it back"),
        t
    );
    let t = parse_with_metrics("gauge{metric: depth} max < 7").expect("the grammar");
    assert_eq!((t.statistic, t.scope), (Statistic::Max, Some(Scope::Metric("depth".into()))));
    assert_eq!(parse_with_metrics("true_ratio{metric: ok} > 95%").expect("the grammar").value, 0.95);
    assert!(
        check_scopes(&[parse_with_metrics("counter{metric: x} > 1").expect("the grammar")], &outline())
            .is_empty()
    );
    for (text, why) in [
        ("counter > 5", "missing metric name"),
        ("counter{tag: a=b} > 5", "missing metric name"),
        ("counter{metric: orders} p95 > 5", "one number"),
        ("trend{metric: cart} < 5", "missing statistic"),
        ("counter{metric: orders} > 5ms", "invalid number"),
        ("counter{metric: orders} > 5 over 10s", "do not apply to user-defined metrics"),
        ("counter{metric: orders > 5", "missing `}`"),
        ("error_rate{metric: orders} > 5%", "unknown kind of scope"),
    ] {
        let error = parse_with_metrics(text).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
    }
    // A table of requests cannot define one.
    let error = parse("counter > 5").expect_err("not here");
    assert!(error.to_string().contains("unknown metric"), "{error}");
}
