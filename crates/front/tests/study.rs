//! Files of several combinations: what spans the matrix, what each combination contains, and what applies to all.

use plimsoll_front::{Overrides, Study, own, read_with, show_study, study_with};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_plan::experiment::{Bound, Find, Limit, Step, Until};
use plimsoll_plan::load::Arrivals;
use plimsoll_plan::seal::{Machine, seal};
use std::path::Path;

const HEAD: &str = "target: http://h\nscenarios: { s: [ { get: / } ] }\n";

fn overrides(set: &[(&str, &str)]) -> Overrides {
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Overrides {
        set,
        env: Box::new(|name| (name == "HOST").then(|| "http://127.0.0.1:1".into())),
        keep_to: None,
        reflect: None,
    }
}

fn read(text: &str, set: &[(&str, &str)]) -> Result<Study, Vec<Diagnostic>> {
    own::study(text, "folder/probe.yaml", Path::new(env!("CARGO_MANIFEST_DIR")), &overrides(set))
}

#[track_caller]
fn good(text: &str, set: &[(&str, &str)]) -> Study {
    let study = read(text, set).unwrap_or_else(|all| panic!("{text}\n{}", lines(&all)));
    let machine = Machine { cpus: 2, seed: 7 };
    for cell in &study.cells {
        // A combination is a file like any other, so it can run.
        if let Err(all) = seal(cell.located.draft.clone(), machine) {
            panic!("{text}\n{:?}\n{}", cell.settings, lines(&all));
        }
    }
    study
}

/// The settings of each cell, as `users=1 payload=a`.
fn cells(study: &Study) -> Vec<String> {
    let told = study.cells.iter().map(|cell| {
        let all: Vec<String> = cell.settings.iter().map(|s| format!("{}={}", s.parameter, s.value)).collect();
        all.join(" ")
    });
    told.collect()
}

fn lines(all: &[Diagnostic]) -> String {
    let lines = all.iter().map(|d| {
        let place = match &d.place {
            Place::Text { line, column, .. } => format!("{line}:{column}"),
            place => format!("{place:?}"),
        };
        let hint = if d.hint.is_empty() { String::new() } else { format!("\n    {}", d.hint) };
        format!("{place} {}: {}{hint}", d.code, d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plain_file_is_one_cell_without_settings() {
    let study = good(&format!("{HEAD}load: {{ users: 3, duration: 1s }}\nseed: 5\n"), &[]);
    assert_eq!(study.cells.len(), 1);
    assert!(study.cells[0].settings.is_empty() && study.experiment.axes.is_empty());
    assert_eq!(
        (study.experiment.name.as_str(), study.experiment.seed),
        ("probe", Some(5)),
        "named after its file"
    );
    assert_eq!(study.cells[0].located.draft.load.users, Some(3));
    let named = good(&format!("name: bench\n{HEAD}"), &[]);
    assert_eq!(named.experiment.name, "bench");
}

#[test]
fn lists_span_the_full_matrix_in_the_order_of_the_file() {
    let text = "vars: { page: [a, b] }\ntarget: http://h\nscenarios: { s: [ { get: \"/${page}\" } ] }\n\
                load: { users: [1, 10], duration: 1s }\nkeep_alive: [true, false]\n\
                variants: { go: , node: { target: http://n } }\n";
    let study = good(text, &[]);
    let axes: Vec<(&str, bool)> =
        study.experiment.axes.iter().map(|axis| (axis.name.as_str(), axis.is_numeric)).collect();
    assert_eq!(axes, [("variant", false), ("page", false), ("users", true), ("keep_alive", false)]);
    let told = cells(&study);
    assert_eq!(told.len(), 16);
    assert_eq!(told[0], "variant=go page=a users=1 keep_alive=true");
    assert_eq!(told[1], "variant=go page=a users=1 keep_alive=false");
    assert_eq!(told[13], "variant=node page=b users=1 keep_alive=false");
    let draft = &study.cells[13].located.draft;
    assert_eq!(draft.target.as_ref().unwrap().authority(), "n");
    assert_eq!((draft.load.users, draft.keep_alive), (Some(1), Some(false)));
    assert_eq!(draft.requests[0].path, "/b");
}

#[test]
fn every_single_value_of_the_load_and_the_link_spans_an_axis() {
    for (more, axis, values) in [
        ("load: { users: [1, 2] }", "users", ["1", "2"]),
        ("load: { rate: [100/s, 6000/m] }", "rate", ["100", "100"]),
        ("load: { rate: [100/s, 250] }", "rate", ["100", "250"]),
        ("load: { rate: 10/s, max_connections: [1, 100] }", "max_connections", ["1", "100"]),
        ("load: { rate: 10/s, arrivals: [constant, poisson] }", "arrivals", ["constant", "poisson"]),
        ("load: { duration: [1s, 2s] }", "duration", ["1s", "2s"]),
        ("load: { requests: [100, 200] }", "requests", ["100", "200"]),
        ("timeout: [1s, 30s]", "timeout", ["1s", "30s"]),
        ("workers: [1, 2]", "workers", ["1", "2"]),
        ("read_bodies: [true, false]", "read_bodies", ["true", "false"]),
        ("keep_alive: [true, false]", "keep_alive", ["true", "false"]),
        ("redirects: [true, 3]", "redirects", ["true", "3"]),
        ("connection: { reuse: [user, request] }", "reuse", ["user", "request"]),
        ("connection: { http: [1.0, 1.1] }", "http", ["1.0", "1.1"]),
        ("connection: { max_requests: [1, 100] }", "max_requests", ["1", "100"]),
    ] {
        let text = format!("{HEAD}{more}\n");
        if values[0] == values[1] {
            let wrong = lines(&read(&text, &[]).expect_err("the same rate, twice"));
            assert!(wrong.contains("duplicate value `100` in the list `rate`"), "{wrong}");
            continue;
        }
        let study = good(&text, &[]);
        let [one] = study.experiment.axes.as_slice() else { panic!("{text}") };
        assert_eq!((one.name.as_str(), one.values.as_slice()), (axis, values.map(String::from).as_slice()));
        assert_eq!(cells(&study), values.map(|value| format!("{axis}={value}")));
        let [first, second] = [0, 1].map(|i| format!("{:?}", study.cells[i].located.draft));
        assert_ne!(first, second, "{text}: the cells are the same");
    }
    let tls =
        good("target: https://h\nscenarios: { s: [ { get: / } ] }\ntls: { versions: [1.2, 1.3] }\n", &[]);
    assert_eq!(cells(&tls), ["versions=1.2", "versions=1.3"]);
}

#[test]
fn lists_that_are_one_value_span_no_axis() {
    let text = "target: http://h\nscenarios: { s: [ { get: /, query: { q: [a, b] } } ] }\n\
                headers: { X: [a, b] }\nbuckets: [1ms, 2ms]\nload: { stages: [ \"1s:5\", \"1s:9\" ] }\n\
                connection: { source_addresses: [127.0.0.2, 127.0.0.3] }\nthresholds: [ \"error_rate < 1%\" ]\n";
    assert_eq!(good(text, &[]).cells.len(), 1);
}

#[test]
fn a_variant_is_merged_over_the_file() {
    let text = "variants:\n  plain:\n  deep: { headers: { B: 3, C: 4 }, load: { users: 9 }, vars: { v: w } }\n\
                vars: { v: u }\ntarget: http://h\nscenarios: { s: [ { get: \"/${v}\" } ] }\n\
                headers: { A: 1, B: 2 }\nload: { users: 3, duration: 2s }\n";
    let study = good(text, &[]);
    let [plain, deep] = [0, 1].map(|i| &study.cells[i].located.draft);
    assert_eq!((plain.load.users, deep.load.users), (Some(3), Some(9)));
    assert_eq!((plain.load.duration_ns, deep.load.duration_ns), (Some(2_000_000_000), Some(2_000_000_000)));
    assert_eq!((plain.requests[0].path.as_str(), deep.requests[0].path.as_str()), ("/u", "/w"));
    let headers = |i: usize| {
        let headers = &study.cells[i].located.draft.requests[0].headers;
        headers.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(headers(0).replace('"', ""), "A=1 B=2");
    assert_eq!(headers(1).replace('"', ""), "A=1 B=3 C=4");
}

#[test]
fn set_keeps_one_value_of_an_axis() {
    let text = format!(
        "{HEAD}variants: {{ a: , b: {{ workers: 1 }} }}\nvars: {{ n: [1, 2] }}\nload: {{ rate: [5/s, 10/s] }}\n"
    );
    assert_eq!(good(&text, &[]).cells.len(), 8);
    assert_eq!(
        cells(&good(&text, &[("variant", "b"), ("n", "2")])),
        ["variant=b n=2 rate=5", "variant=b n=2 rate=10"]
    );
    for rate in ["10/s", "10", "600/m"] {
        assert_eq!(
            cells(&good(&text, &[("variant", "a"), ("n", "1"), ("rate", rate)])),
            ["variant=a n=1 rate=10"]
        );
    }
    let other = good(&text, &[("n", "7")]);
    assert_eq!(other.experiment.axes[1].values, ["7"], "`vars` take any value, as without a list");
    let users = format!("{HEAD}load: {{ users: [1, 10] }}\n");
    assert!(read(&users, &[("users", "600/m")]).is_err(), "a rate is not a number of users");
    let wrong = lines(&read(&text, &[("variant", "c"), ("rate", "7/s"), ("m", "1")]).unwrap_err());
    assert!(wrong.contains("unknown value for `variant`\n    use one of `a` or `b`"), "{wrong}");
    assert!(wrong.contains("unknown value for `rate`\n    use one of `5` or `10`"), "{wrong}");
    assert!(wrong.contains("unknown variable `m`"), "{wrong}");
}

#[test]
fn one_level_is_one_cell_however_it_is_written() {
    for (more, told) in [
        ("load: { users: [1, 01] }", "duplicate value `1` in the list `users`"),
        ("load: { users: [007, 5, 7] }", "duplicate value `7` in the list `users`"),
        ("load: { requests: [100, 0100] }", "duplicate value `100` in the list `requests`"),
        ("workers: [2, 02]", "duplicate value `2` in the list `workers`"),
        ("redirects: [true, 3, 03]", "duplicate value `3` in the list `redirects`"),
        ("keep_alive: [true, TRUE]", "duplicate value `true` in the list `keep_alive`"),
        (
            "load: { duration: [1s, 2s, 1000ms] }",
            "duplicate value in the list `duration`: `1s` equals `1000ms`",
        ),
    ] {
        let wrong = lines(&read(&format!("{HEAD}{more}\n"), &[]).expect_err(more));
        assert!(wrong.contains("F034") && wrong.contains(told), "{more}: {wrong}");
    }
    let text = format!("{HEAD}load: {{ users: [01, 010], duration: [1s, 2s] }}\n");
    assert_eq!(
        cells(&good(&text, &[("duration", "2000ms")])),
        ["users=1 duration=2s", "users=10 duration=2s"]
    );
    assert_eq!(cells(&good(&text, &[("users", "0010"), ("duration", "1s")])), ["users=10 duration=1s"]);
    // Text of the author: `/1` and `/01` are two paths.
    assert_eq!(good(&format!("{HEAD}vars: {{ n: [1, 01] }}\n"), &[]).cells.len(), 2);
}

#[test]
fn a_variable_of_one_variant_can_be_set() {
    let text = format!("{HEAD}variants: {{ a: {{ vars: {{ x: 1 }} }}, b: }}\n");
    assert_eq!(good(&text, &[("x", "2")]).cells.len(), 2);
}

#[test]
fn settings_of_the_whole_experiment_are_parsed() {
    let text = format!(
        "{HEAD}variants: {{ go: , node js: }}\nload: {{ users: [1, 2] }}\nrepeat: 3\ncooldown: 2s\nmin_duration: 5s\n\
         trim_to_steady_state: true\nstop_on_miss: true\nexpect:\n  - go raises throughput by 2x vs. node js\n  \
         - 1 lowers p99\n"
    );
    let experiment = good(&text, &[]).experiment;
    assert_eq!(
        (experiment.repeat, experiment.cooldown_ns, experiment.min_duration_ns),
        (3, 2_000_000_000, 5_000_000_000)
    );
    assert!(experiment.trim_to_steady_state && experiment.stop_on_miss && experiment.find.is_none());
    let who: Vec<&str> = experiment.expects.iter().map(|expect| expect.who.as_str()).collect();
    assert_eq!(who, ["go", "1"]);
    let narrowed = good(&text, &[("variant", "go")]);
    assert_eq!(
        narrowed.experiment.expects.len(),
        2,
        "expectations may still name the other values of a narrowed axis"
    );
}

#[test]
fn a_search_sets_the_kind_of_load() {
    let text = format!(
        "{HEAD}find: {{ from: 100/s, to: 6000/m, vary: rate }}\nload: {{ max_connections: 9, arrivals: poisson }}\n"
    );
    let wrong = lines(&read(&text, &[]).unwrap_err());
    assert!(wrong.starts_with("3:22 F017: `to` must be above `from`"), "{wrong}");
    let study = good(&text.replace("6000/m", "60000/m"), &[]);
    let expected = Find { from: Some(100.0), to: Some(1000.0), ..Find::default() };
    assert_eq!(study.experiment.find, Some(expected));
    let draft = &study.cells[0].located.draft;
    assert_eq!((draft.load.rate_per_s, draft.load.max_connections), (Some(100.0), Some(9)));
    assert_eq!(draft.load.arrivals, Some(Arrivals::Poisson));

    let text = format!(
        "{HEAD}warmup: 1s\nfind: {{ step: +10, stop_when: socket_errors > 0, step_duration: 5s, vary: users, \
         from: 10, to: 50 }}\n"
    );
    let study = good(&text, &[]);
    let expected = Find {
        users: true,
        from: Some(10.0),
        to: Some(50.0),
        step: Some(Step::Plus(10.0)),
        stop_when: Some(Until::SocketErrors(0)),
        step_duration_ns: Some(5_000_000_000),
        ..Find::default()
    };
    assert_eq!(study.experiment.find, Some(expected));
    assert_eq!(study.cells[0].located.draft.load.users, Some(10));
    let closest = good(&format!("{HEAD}find: {{ precision: 1%, confirm: 5, max_time: 10m }}\n"), &[])
        .experiment
        .find
        .unwrap();
    assert_eq!((closest.precision, closest.confirm), (Some(0.01), Some(5)));
    assert_eq!(closest.max_time_ns, Some(600_000_000_000));
}

#[test]
fn a_staircase_in_the_load_is_a_search_from_that_level() {
    let ladder = "step: x1.10, step_duration: 15s, stop_when: offered - achieved > 5%";
    let study = good(&format!("{HEAD}load: {{ rate: 100/s, arrivals: poisson, {ladder} }}\n"), &[]);
    let expected = Find {
        from: Some(100.0),
        step: Some(Step::Times(1.1)),
        stop_when: Some(Until::Shortfall(Bound { limit: Limit::Ratio(0.05), inclusive: false })),
        step_duration_ns: Some(15_000_000_000),
        ..Find::default()
    };
    assert_eq!(study.experiment.find.as_ref(), Some(&expected));
    assert_eq!(study.cells[0].located.draft.load.rate_per_s, Some(100.0));
    let users = good(&format!("{HEAD}load: {{ users: 10, {ladder} }}\n"), &[]).experiment.find;
    assert_eq!(users, Some(Find { users: true, from: Some(10.0), ..expected }));
}

/// `study-mistakes.txt` holds a text and, after `-----`, the complete output for it.
#[test]
fn every_mistake_of_an_experiment_has_its_place_and_a_fix() {
    let mut failures = Vec::new();
    for case in include_str!("study-mistakes.txt").split("=====\n") {
        let (text, expected) = case.split_once("-----\n").unwrap();
        let found = read(text, &[]).map_or_else(|all| lines(&all), |_| "accepted".to_owned());
        if found != expected.trim_end() {
            failures.push(format!("{text}-----\n{found}\n=====\n"));
        }
    }
    assert!(failures.is_empty(), "found instead:\n{}", failures.concat());
}

#[test]
fn the_same_mistake_in_every_combination_is_reported_once() {
    let text =
        "target: http://h\nscenarios: { s: [ { get: /, timeout: soon } ] }\nload: { users: [1, 2, 3] }\n";
    let all = read(text, &[]).unwrap_err();
    assert_eq!(all.len(), 1, "{}", lines(&all));
    let one = "target: http://h\nscenarios: { s: [ { get: / } ] }\nload: { duration: [1s, soon, 3s] }\n";
    assert!(lines(&read(one, &[]).unwrap_err()).starts_with("3:24 F015"), "a mistake of a single cell");
}

#[test]
fn one_run_is_never_picked_out_of_several() {
    let one = |text: &str, set: &[(&str, &str)]| {
        own::parse_with(text, "f", Path::new(""), &overrides(set))
            .map_or_else(|all| lines(&all), |_| "one".into())
    };
    let text = format!("{HEAD}load: {{ users: [1, 10] }}\n");
    let told = one(&text, &[]);
    assert!(told.starts_with("3:16 F033: expected one run, but `users` makes 2"), "{told}");
    assert!(told.contains("--set users=..."), "{told}");
    assert_eq!(one(&text, &[("users", "10")]), "one");
    assert_eq!(one(&format!("{HEAD}load: {{ users: [1] }}\n"), &[]), "one");
    assert!(
        one(&format!("{HEAD}variants: {{ a: , b: }}\n"), &[])
            .starts_with("3:1 F033: expected one run, but `variant`")
    );
    for key in [
        "repeat: 2",
        "find: {}",
        "trim_to_steady_state: true",
        "min_duration: 1s",
        "cooldown: 1s",
        "stop_on_miss: true",
    ] {
        let name = key.split(':').next().unwrap();
        let told = one(&format!("{HEAD}{key}\n"), &[]);
        assert!(told.starts_with(&format!("3:1 F033: expected one run, but `{name}` belongs to")), "{told}");
    }
    let ladder = "load: { rate: 9/s, step: x2, stop_when: missed }\n";
    assert!(
        one(&format!("{HEAD}{ladder}"), &[])
            .starts_with("3:20 F033: expected one run, but `step` belongs to")
    );
}

#[test]
fn a_sweep_is_a_study_and_not_a_single_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sweep.yaml");
    let study = study_with(&file, &Overrides::default()).expect("the example is right");
    assert!(study.cells.len() > 1);
    let refused = read_with(&file, &Overrides::default()).expect_err("several runs");
    assert_eq!(refused[0].code, "F033");
    assert_eq!(study_with(Path::new("gone.yaml"), &Overrides::default()).unwrap_err()[0].code, "F001");
}

#[test]
fn a_thousand_combinations_are_accepted_and_one_more_is_not() {
    let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let text = |n| format!("{HEAD}vars: {{ a: [{}], b: [{}] }}\n", list(10), list(n));
    assert_eq!(read(&text(100), &[]).unwrap().cells.len(), 1_000);
    let wrong = lines(&read(&text(101), &[]).unwrap_err());
    assert!(wrong.contains("F034: too many combinations: 10 x 101, but the maximum is 1000"), "{wrong}");
}

/// The printed description of an experiment.
fn describe(text: &str) -> String {
    let study = good(text, &[]);
    let seal = |cell: &plimsoll_front::StudyCell| {
        seal(cell.located.draft.clone(), Machine { cpus: 2, seed: 7 }).expect("sealed before")
    };
    let plans: Vec<_> = study.cells.iter().map(seal).collect();
    let cells: Vec<_> = study.cells.iter().zip(&plans).map(|(cell, plan)| (&*cell.settings, plan)).collect();
    show_study(&study.experiment, &cells)
}

#[test]
fn an_experiment_is_shown_with_each_of_its_combinations() {
    let text = describe(&format!(
        "name: both\n{HEAD}variants: {{ go: , node: {{ target: http://n }} }}\n\
         load: {{ users: [1, 10], duration: 2s }}\nrepeat: 3\ncooldown: 2s\nmin_duration: 1s\n\
         trim_to_steady_state: true\nstop_on_miss: true\nexpect: go raises throughput\n"
    ));
    assert_eq!(text, include_str!("show-study.txt"), "found:\n{text}");
}

#[test]
fn a_search_is_shown_without_a_level_that_the_file_does_not_set() {
    let text = describe(&format!(
        "name: line\n{HEAD}load: {{ arrivals: poisson, max_connections: 9 }}\n\
         find: {{ to: 500/s, precision: 2%, confirm: 3 }}\n"
    ));
    assert_eq!(text, include_str!("show-find.txt"), "found:\n{text}");
    let ladder = "load: { users: 4, step: +2, step_duration: 3s, stop_when: offered - achieved >= 50/s }";
    let text = describe(&format!("{HEAD}{ladder}\nrepeat: 2\n"));
    let search = "number of users in steps, each level 2 users above the previous one, from 4 users, 3s per level, \
                  until achieved falls at least 50/s below offered";
    assert!(text.contains(search), "{text}");
    for (until, words) in [
        ("> 50/s", "achieved falls more than 50/s below offered"),
        (">= 5%", "achieved falls at least 5% below offered"),
        ("> 5%", "achieved falls more than 5% below offered"),
        ("> 0%", "achieved falls below offered"),
    ] {
        let other = describe(&format!("{HEAD}{}\n", ladder.replace(">= 50/s", until)));
        assert!(other.contains(&format!(", until {words}\n")), "{until}: {other}");
    }
    assert!(
        text.contains("searches     2, 2 of each combination\n") && text.contains("set by the search\n"),
        "{text}"
    );
}

#[test]
fn many_combinations_are_shown_in_part() {
    let list: Vec<String> = (1..=100).map(|i| i.to_string()).collect();
    let text = describe(&format!("{HEAD}load: {{ users: [{}] }}\n", list.join(", ")));
    assert!(
        text.contains("and 76 more combinations\n") && text.contains("\ncombination users=24\n"),
        "{text}"
    );
    assert!(!text.contains("combination users=25\n"), "{text}");
}
