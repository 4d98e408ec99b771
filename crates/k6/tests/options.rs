//! Options of scripts: shortcuts, executors, defaults, sources, and mistakes with their paths.

use plimsoll_k6::go_duration;
use plimsoll_k6::options::{Layer, Overrides, read};
use plimsoll_k6::requirements::requirements;
use plimsoll_k6::settings::network::{Dns, Select};
use plimsoll_k6::settings::{HttpDebug, TimeUnit};
use plimsoll_k6::test::{Executor, Pool, Stage, Test};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::link::Versions;
use plimsoll_plan::load::Share;
use serde_json::{Value, json};

const S: u64 = 1_000_000_000;

fn exports() -> Vec<String> {
    ["default", "login", "setup"].map(String::from).to_vec()
}

fn test(options: Value) -> Test {
    read(&options, &Overrides::default(), &exports()).expect("valid options")
}

fn wrong(options: Value) -> Vec<Diagnostic> {
    read(&options, &Overrides::default(), &exports()).expect_err("invalid options")
}

/// Returns the code and the message of the only mistake.
fn mistake(options: Value) -> (&'static str, String) {
    let all = wrong(options);
    assert_eq!(all.len(), 1, "{all:?}");
    (all[0].code, all[0].message.clone())
}

fn only(test: &Test) -> &Executor {
    assert_eq!(test.scenarios.len(), 1);
    &test.scenarios[0].executor
}

#[test]
fn a_test_without_load_is_one_iteration_of_one_user() {
    let once = Executor::PerVuIterations { vus: 1, iterations: 1, max_duration_ns: 600 * S };
    for options in [json!(null), json!({}), json!({ "stages": [] }), json!({ "scenarios": {} })] {
        let test = test(options);
        assert_eq!(only(&test), &once);
        let scenario = &test.scenarios[0];
        assert_eq!((scenario.name.as_str(), scenario.exec.as_str()), ("default", "default"));
        assert_eq!((scenario.start_ns, scenario.graceful_stop_ns), (0, 30 * S));
    }
}

#[test]
fn each_shortcut_becomes_its_executor() {
    let cases = [
        (
            json!({ "iterations": 10 }),
            Executor::SharedIterations { vus: 1, iterations: 10, max_duration_ns: 600 * S },
        ),
        (
            json!({ "iterations": "10", "vus": "2", "duration": "5s" }),
            Executor::SharedIterations { vus: 2, iterations: 10, max_duration_ns: 5 * S },
        ),
        (json!({ "duration": 1500, "vus": 3 }), Executor::ConstantVus { vus: 3, duration_ns: 1_500_000_000 }),
        (json!({ "vus": 4 }), Executor::SharedIterations { vus: 4, iterations: 4, max_duration_ns: 600 * S }),
        (
            json!({ "stages": [{ "duration": "1m30s", "target": 5 }, { "duration": "0", "target": 0 }] }),
            Executor::RampingVus {
                start_vus: 1,
                stages: vec![Stage { duration_ns: 90 * S, target: 5 }, Stage { duration_ns: 0, target: 0 }],
                graceful_ramp_down_ns: 30 * S,
            },
        ),
    ];
    for (options, executor) in cases {
        assert_eq!(only(&test(options.clone())), &executor, "{options}");
    }
}

#[test]
fn shortcuts_that_contradict_each_other_are_refused() {
    let stages = json!([{ "duration": "1s", "target": 1 }]);
    let scenarios = json!({ "a": { "executor": "constant-vus", "duration": "1s" } });
    let cases = [
        (json!({ "iterations": 1, "stages": stages }), "`iterations` and `stages`"),
        (json!({ "iterations": 1, "scenarios": scenarios }), "`iterations` and `scenarios`"),
        (json!({ "duration": "1s", "stages": stages }), "`duration` and `stages`"),
        (json!({ "duration": "1s", "scenarios": scenarios }), "`duration` and `scenarios`"),
        (json!({ "stages": stages, "scenarios": scenarios }), "`stages` and `scenarios`"),
    ];
    for (options, names) in cases {
        assert_eq!(mistake(options), ("K103", format!("{names} contradict each other")));
    }
}

#[test]
fn users_alone_replace_scenarios_and_say_so() {
    let scenarios = json!({ "a": { "executor": "constant-vus", "duration": "1s" } });
    let both = test(json!({ "vus": 7, "scenarios": scenarios }));
    let once_each = Executor::SharedIterations { vus: 7, iterations: 7, max_duration_ns: 600 * S };
    assert_eq!((only(&both), both.scenarios[0].name.as_str()), (&once_each, "default"));
    assert!(both.notes.iter().any(|note| note.contains("`vus` replaces all scenarios")), "{:?}", both.notes);
    // Stages that are set, but empty, leave the scenarios.
    let left = test(json!({ "vus": 7, "stages": [], "scenarios": scenarios }));
    assert_eq!(left.scenarios[0].name, "a");
    assert!(test(json!({ "vus": 7 })).notes.is_empty());
}

#[test]
fn every_executor_is_read_with_its_defaults() {
    let test = test(json!({ "scenarios": {
        "a": { "executor": "constant-vus", "duration": "10s" },
        "b": { "executor": "ramping-vus", "stages": [{ "duration": "1s", "target": "3" }], "gracefulRampDown": 0 },
        "c": { "executor": "shared-iterations", "vus": 2, "iterations": 5 },
        "d": { "executor": "per-vu-iterations", "maxDuration": "1h" },
        "e": { "executor": "constant-arrival-rate", "rate": 30, "duration": "2s", "preAllocatedVUs": 5 },
        "f": { "executor": "ramping-arrival-rate", "timeUnit": "1m", "preAllocatedVUs": 5, "maxVUs": 9,
               "stages": [{ "duration": "3s", "target": 60 }] },
        "g": { "executor": "externally-controlled", "vus": 1, "maxVUs": 4 },
    }}));
    let found: Vec<&Executor> = test.scenarios.iter().map(|scenario| &scenario.executor).collect();
    let expected = [
        Executor::ConstantVus { vus: 1, duration_ns: 10 * S },
        Executor::RampingVus {
            start_vus: 1,
            stages: vec![Stage { duration_ns: S, target: 3 }],
            graceful_ramp_down_ns: 0,
        },
        Executor::SharedIterations { vus: 2, iterations: 5, max_duration_ns: 600 * S },
        Executor::PerVuIterations { vus: 1, iterations: 1, max_duration_ns: 3_600 * S },
        Executor::ConstantArrivalRate {
            rate: 30,
            time_unit_ns: S,
            duration_ns: 2 * S,
            vus: Pool { allocated: 5, max: 5 },
        },
        Executor::RampingArrivalRate {
            start_rate: 0,
            time_unit_ns: 60 * S,
            stages: vec![Stage { duration_ns: 3 * S, target: 60 }],
            vus: Pool { allocated: 5, max: 9 },
        },
        Executor::ExternallyControlled { vus: 1, max_vus: 4, duration_ns: None },
    ];
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
    assert_eq!(test.scenarios[6].graceful_stop_ns, 0, "it has no graceful stop");
}

#[test]
fn a_scenario_has_its_function_variables_tags_and_times() {
    let test = test(json!({ "scenarios": { "users": {
        "executor": "constant-vus", "vus": 2, "duration": "1s", "exec": "login", "startTime": "5s",
        "gracefulStop": "1s", "env": { "A": "1" }, "tags": { "kind": "read" },
    }}}));
    let scenario = &test.scenarios[0];
    assert_eq!((scenario.exec.as_str(), scenario.start_ns, scenario.graceful_stop_ns), ("login", 5 * S, S));
    assert_eq!(scenario.env, [("A".to_owned(), "1".to_owned())]);
    assert_eq!(scenario.tags, [("kind".to_owned(), "read".to_owned())]);
}

#[test]
fn mistakes_in_scenarios_name_their_path() {
    let scenario = |fields: Value| json!({ "scenarios": { "a": fields } });
    let cases = [
        (json!({ "executor": "constant-vus" }), "K101", "missing `duration` in `scenarios.a`"),
        (json!({ "vus": 1 }), "K101", "missing `executor` in `scenarios.a`"),
        (json!({ "executor": "constant-vu" }), "K101", "unknown executor `constant-vu` in `scenarios.a`"),
        (
            json!({ "executor": "constant-vus", "duration": "1s", "startVUs": 3 }),
            "K102",
            "unknown key `startVUs` in `scenarios.a` (executor `constant-vus`)",
        ),
        (
            json!({ "executor": "constant-vus", "duration": "100ms" }),
            "K101",
            "`scenarios.a.duration`: the duration must be at least 1 s",
        ),
        (
            json!({ "executor": "constant-vus", "duration": "1s", "vus": 1.5 }),
            "K101",
            "`scenarios.a.vus`: invalid value `1.5`: expected a whole number",
        ),
        (
            json!({ "executor": "constant-vus", "duration": "1s", "exec": "logn" }),
            "K105",
            "unknown function `logn` of scenario `a`: the script does not export it",
        ),
        (
            json!({ "executor": "shared-iterations", "vus": 5, "iterations": 4 }),
            "K101",
            "`scenarios.a.iterations`: each of 5 users needs an iteration, and there are 4",
        ),
        (
            json!({ "executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 5,
                "maxVUs": 4 }),
            "K101",
            "`scenarios.a.maxVUs`: must not be below `preAllocatedVUs`",
        ),
        (
            json!({ "executor": "ramping-vus", "stages": [{ "duration": "1s", "target": 1, "vus": 2 }] }),
            "K102",
            "unknown key `vus` in `scenarios.a.stages[0]`",
        ),
        (
            json!({ "executor": "externally-controlled", "vus": 1, "gracefulStop": "1s" }),
            "K103",
            "`scenarios.a.gracefulStop`: the executor `externally-controlled` does not have it",
        ),
        (
            json!({ "executor": "constant-vus", "duration": "1s", "options": { "browser": { "type": "chromium" } } }),
            "K104",
            "`scenarios.a.options.browser` is not supported: plimsoll has no browser",
        ),
    ];
    for (fields, code, message) in cases {
        assert_eq!(mistake(scenario(fields)), (code, message.to_owned()));
    }
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let all = wrong(
        json!({ "vus": -1, "batch": "many", "duration": "1x", "thresholds": { "http_reqz": ["count>1"] } }),
    );
    let messages: Vec<&str> = all.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert!(messages.iter().any(|text| text.contains("`vus`: invalid value `-1`")), "{messages:?}");
}

#[test]
fn an_unknown_option_is_only_a_warning() {
    let test = test(json!({ "treshold": 1, "ext": { "loadimpact": {} }, "thresholdz": {} }));
    assert_eq!(
        test.notes,
        [
            "`ext` has no effect on a local run.",
            "Unknown option `thresholdz` has no effect. Did you mean `thresholds`?",
            "Unknown option `treshold` has no effect. Did you mean `thresholds`?",
        ]
    );
}

#[test]
fn flags_have_priority_over_variables_and_these_over_the_script_and_the_file() {
    let file = Some(json!({ "vus": 1, "batch": 1, "maxRedirects": 1, "throw": true }));
    let mut cli = Overrides { file, ..Overrides::default() };
    let script = json!({ "vus": 2, "duration": "2s", "batch": 2, "maxRedirects": 2, "iterations": 5 });
    cli.variables = Layer { vus: Some(3), ..Layer::default() };
    cli.variables.settings.batch = Some(3);
    cli.flags = Layer { duration_ns: Some(4 * S), ..Layer::default() };
    let test = read(&script, &cli, &exports()).unwrap();
    // The duration of the flag replaces the iterations of the script; the users come from the variable.
    assert_eq!(only(&test), &Executor::ConstantVus { vus: 3, duration_ns: 4 * S });
    let settings = &test.settings;
    assert_eq!((settings.batch, settings.max_redirects, settings.throw), (3, 2, true));
}

#[test]
fn settings_have_the_defaults_of_k6() {
    let settings = test(json!({})).settings;
    assert_eq!((settings.setup_timeout_ns, settings.teardown_timeout_ns), (60 * S, 60 * S));
    assert_eq!((settings.max_redirects, settings.batch, settings.batch_per_host), (10, 20, 6));
    assert_eq!(settings.summary_trend_stats, ["avg", "min", "med", "max", "p(90)", "p(95)"]);
    assert!(settings.has_system_tag("expected_response") && !settings.has_system_tag("vu"));
    assert_eq!(settings.dns, Dns { ttl_ns: 300 * S, select: Select::Random });
    assert_eq!((settings.rps, settings.http_debug, settings.summary_time_unit), (None, None, None));
}

#[test]
fn settings_are_read_with_their_types() {
    let settings = test(json!({
        "tags": { "a": "b" }, "systemTags": ["status", "vu"], "summaryTimeUnit": "ms", "httpDebug": "full",
        "setupTimeout": "90s", "userAgent": "x/1", "rps": 50, "minIterationDuration": 250,
        "tlsVersion": { "min": "tls1.1", "max": "tls1.2" },
        "tlsCipherSuites": ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
        "hosts": { "shop.test": "127.0.0.1:8080", "*.test": "127.0.0.2", "shop.test:443": "::1" },
        "localIPs": "10.0.0.1,10.0.0.8-10.0.0.9,10.0.1.0/30", "blacklistIPs": ["10.0.0.0/8", "fd00::/8"],
        "blockHostnames": ["*.Evil.test"], "dns": { "ttl": "0", "select": "first", "policy": "any" },
    }))
    .settings;
    assert_eq!(settings.system_tags, ["status", "vu"]);
    assert_eq!(
        (settings.summary_time_unit, settings.http_debug),
        (Some(TimeUnit::Milliseconds), Some(HttpDebug::Full))
    );
    assert_eq!(
        (settings.setup_timeout_ns, settings.rps, settings.min_iteration_duration_ns),
        (90 * S, Some(50), 250_000_000)
    );
    let tls = settings.tls_version.unwrap();
    assert_eq!((tls.versions, tls.allows_older), (Versions::Tls12, true));
    let ip = |text: &str| text.parse().unwrap();
    assert_eq!(settings.host("shop.test", 80), Some((ip("127.0.0.1"), Some(8080))));
    assert_eq!(settings.host("SHOP.test", 443), Some((ip("::1"), None)));
    assert_eq!(settings.host("api.test", 80), Some((ip("127.0.0.2"), None)));
    assert_eq!(settings.host("test", 80), None);
    let local: Vec<String> = settings.local_ips.iter().map(ToString::to_string).collect();
    assert_eq!(local, ["10.0.0.1", "10.0.0.8", "10.0.0.9", "10.0.1.1", "10.0.1.2"]);
    assert_eq!(settings.blacklisted_by(ip("10.9.9.9")).unwrap().to_string(), "10.0.0.0/8");
    assert!(
        settings.blacklisted_by(ip("11.0.0.1")).is_none() && settings.blacklisted_by(ip("fd01::1")).is_some()
    );
    assert_eq!(settings.blocked_by("A.evil.TEST"), Some("*.evil.test"));
    assert_eq!(settings.dns, Dns { ttl_ns: 0, select: Select::First });
}

#[test]
fn values_that_plimsoll_does_not_support_are_refused_by_name() {
    let pem = "-----BEGIN X-----";
    let cases = [
        (json!({ "tlsVersion": "tls1.1" }), "TLS 1.0, TLS 1.1, and SSL 3.0 are not supported"),
        (json!({ "dns": { "policy": "onlyIPv6" } }), "the DNS policy `onlyIPv6` is not supported"),
        (
            json!({ "tlsAuth": [{ "cert": pem, "key": pem, "password": "x" }] }),
            "`password` of a client certificate",
        ),
        (json!({ "executionSegment": "0:2/3" }), "the segment `0:2/3` is not supported"),
    ];
    for (options, part) in cases {
        let (code, message) = mistake(options);
        assert!(code == "K104" && message.contains(part), "{code} {message}");
    }
}

#[test]
fn a_segment_of_equal_parts_is_a_shard() {
    let cases = [
        ("0:1/4", Some((1, 4))),
        ("1/4", Some((1, 4))),
        ("1/4:2/4", Some((2, 4))),
        ("1/2:3/4", Some((3, 4))),
        ("25%:50%", Some((2, 4))),
        ("0.9:1", Some((10, 10))),
        ("0:1", None),
    ];
    for (segment, expected) in cases {
        let share = test(json!({ "executionSegment": segment })).shard;
        assert_eq!(share, expected.map(|(part, of)| Share { part, of }), "{segment}");
    }
    let sequence = json!({ "executionSegment": "0:1/3", "executionSegmentSequence": "0,1/3,2/3,1" });
    assert_eq!(test(sequence).shard, Some(Share { part: 1, of: 3 }));
    let uneven = json!({ "executionSegment": "0:1/3", "executionSegmentSequence": "0,1/3,1" });
    assert_eq!(mistake(uneven).0, "K104");
}

#[test]
fn durations_are_those_of_go_with_days_and_plain_numbers_in_milliseconds() {
    let cases = [
        (json!("1d2h"), 26 * 3_600 * S),
        (json!("1.5s"), 1_500_000_000),
        (json!("1500"), 1_500_000_000),
        (json!(2_000), 2 * S),
        (json!("1h0m2s500ms"), 3_602 * S + 500_000_000),
    ];
    for (duration, ns) in cases {
        let test = test(json!({ "duration": duration }));
        assert_eq!(only(&test).length_ns(), Some(ns), "{duration}");
    }
    for text in ["1 s", "s", "1x", "-5s", ""] {
        assert_eq!(mistake(json!({ "duration": text })).0, "K101", "{text}");
    }
}

#[test]
fn a_threshold_that_is_not_evaluated_is_named_in_a_note() {
    let thresholds = json!({ "iteration_duration": ["avg<1"], "http_req_duration": ["avg<1"] });
    let test = test(json!({ "thresholds": thresholds }));
    assert_eq!(
        test.notes,
        ["Threshold `iteration_duration: avg<1` is not evaluated: plimsoll does not measure this."]
    );
}

#[test]
fn requirements_are_the_last_end_and_the_most_users_at_one_moment() {
    let of = |options: Value| {
        let found = requirements(&test(options));
        (found.duration_ns.map(go_duration).unwrap_or_default(), found.max_vus)
    };
    assert_eq!(of(json!({ "vus": 2, "iterations": 2 })), ("10m30s".into(), 2));
    let down = json!({
        "executor": "ramping-vus", "gracefulStop": "0s", "gracefulRampDown": "0s",
        "stages": [{ "duration": "10s", "target": 10 }, { "duration": "10s", "target": 0 }],
    });
    let later = json!({ "executor": "constant-vus", "vus": 5, "duration": "10s", "startTime": "15s" });
    let pool = json!({
        "executor": "constant-arrival-rate", "rate": 5, "duration": "10s", "preAllocatedVUs": 2, "maxVUs": 7,
        "startTime": "1m",
    });
    // At 15 s, 5 users of the ramp are left.
    assert_eq!(of(json!({ "scenarios": { "a": down, "b": later, "c": pool } })), ("1m40s".into(), 10));
    let mut slow = down;
    slow["gracefulRampDown"] = json!("7s");
    slow["gracefulStop"] = json!("7s");
    assert_eq!(of(json!({ "scenarios": { "a": slow, "b": later } })), ("55s".into(), 15));
}

#[test]
fn a_timeout_of_handle_summary_is_known_and_has_no_effect() {
    let notes = test(json!({ "handleSummaryTimeout": "10s" })).notes;
    assert!(notes[0].contains("`handleSummaryTimeout` has no effect"), "{notes:?}");
    let (_, message) = mistake(json!({ "handleSummaryTimeout": "soon" }));
    assert!(message.contains("handleSummaryTimeout"), "{message}");
}
