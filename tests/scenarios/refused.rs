//! All mistakes of a file are reported at once, with file, line, and column, and nothing is sent.

use crate::bench::{Trial, all_at_once, trial};

/// The mistake, the text after its first line `target: TARGET`, and for each message its place and a word.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const ROWS: &[Row] = &[
    ("an undefined variable", "scenarios: { a: [ { get: \"/x/${tokn}\" } ] }\n", &[("2:30", "`tokn`")]),
    (
        "a value that is extracted after its use",
        "scenarios:\n  a:\n    - get: /x/${id}\n    - { get: /y, extract: { id: $.id } }\n",
        &[("4:15", "`${id}`")],
    ),
    ("a token of JMeter", "scenarios: { a: [ { get: \"/x/${__P(host)}\" } ] }\n", &[("2:30", "JMeter")]),
    (
        "a token of a template",
        "scenarios:\n  a:\n    - get: /x\n      headers: { X-A: \"{{name}}\" }\n",
        &[("5:24", "`${name}`")],
    ),
    ("a token of k6", "scenarios: { a: [ { post: /x, body: \"__ENV.HOST\" } ] }\n", &[("2:38", "k6")]),
    (
        "an environment variable that is not set",
        "scenarios: { a: [ { get: \"/x/${env.PLIMSOLL_NOT_SET}\" } ] }\n",
        &[("2:30", "PLIMSOLL_NOT_SET")],
    ),
    (
        "a secret that is not set",
        "scenarios: { a: [ { get: \"/x/${secret.PLIMSOLL_NOT_SET}\" } ] }\n",
        &[("2:30", "PLIMSOLL_NOT_SET")],
    ),
    (
        "a data file that is missing",
        "data: { d: { file: gone.csv } }\nscenarios: { a: [ { get: \"/x/${d.id}\" } ] }\n",
        &[("2:20", "gone.csv")],
    ),
    (
        "a column that is missing",
        "data: { d: { file: d.csv } }\nscenarios: { a: [ { get: \"/x/${d.nme}\" } ] }\n",
        &[("3:30", "`nme`")],
    ),
    (
        "a body file that is missing",
        "scenarios: { a: [ { post: /x, body_file: gone.bin } ] }\n",
        &[("2:42", "gone.bin")],
    ),
    (
        "a part whose file is missing",
        "scenarios: { a: [ { post: /x, multipart: { f: { path: gone.bin } } } ] }\n",
        &[("2:55", "gone.bin")],
    ),
    (
        "a recorded file that is missing",
        "scenarios: { a: [ { get: /x } ] }\nload: { replay: gone.txt }\n",
        &[("3:17", "gone.txt")],
    ),
    (
        "a key with a slip",
        "scenarios: { a: [ { get: /x, chek: { status: 200 } } ] }\n",
        &[("2:30", "`check`")],
    ),
    ("a key of another section", "scenarios: { a: [ { get: /x, weight: 3 } ] }\n", &[("2:30", "`weight`")]),
    (
        "a step that is none",
        "scenarios: { a: [ { get: /x }, { repet: 3, steps: [ { get: /y } ] } ] }\n",
        &[("2:34", "`repeat`")],
    ),
    (
        "a ramp without a unit",
        "scenarios: { a: [ { get: /x } ] }\nload: { schedule: [ { users: 5, ramp_up: 10, hold: 10s } ] }\n",
        &[("3:42", "unit")],
    ),
    ("a pause without a unit", "scenarios: { a: [ { get: /x }, { think: 3 } ] }\n", &[("2:41", "unit")]),
    (
        "a regular expression that is none",
        "scenarios: { a: [ { get: /x, check: { body: { matches: \"([a\" } } } ] }\n",
        &[("2:56", "regular expression")],
    ),
    (
        "a pattern with a look-around",
        "scenarios: { a: [ { get: /x, extract: { t: { regex: \"(?=a)(b)\" } } } ] }\n",
        &[("2:53", "look-aro")],
    ),
    (
        "a group that a pattern has not",
        "scenarios: { a: [ { get: /x, extract: { t: { regex: \"(a)\", group: 2 } } } ] }\n",
        &[("2:60", "invalid group `2`")],
    ),
    (
        "a JSONPath that is none",
        "scenarios: { a: [ { get: /x, extract: { t: \"$.a[\" } } ] }\n",
        &[("2:44", "JSONPath")],
    ),
    (
        "a condition that is none",
        "scenarios: { a: [ { if: \"${user} === 5\", then: [ { get: /x } ] } ] }\n",
        &[("2:25", "===")],
    ),
    (
        "a threshold of a request that is not there",
        "scenarios: { a: [ { get: /x, name: login } ] }\nthresholds: [ \"error_rate{request: logn} < 1%\" ]\n",
        &[("3:", "did you mean `login`")],
    ),
    (
        "a threshold of no kind of scope",
        "scenarios: { a: [ { get: /x } ] }\nthresholds: [ \"error_rate{step: a} < 1%\" ]\n",
        &[("3:15", "unknown kind of scope")],
    ),
    (
        "a threshold of streams without one",
        "scenarios: { a: [ { get: /x } ] }\nthresholds: [ \"event_loss < 1%\" ]\n",
        &[("3:", "stream")],
    ),
    (
        "two bodies",
        "scenarios: { a: [ { post: /x, body: a, json: 1 } ] }\n",
        &[("2:40", "both set the body")],
    ),
    (
        "two loads",
        "scenarios: { a: [ { get: /x } ] }\nload: { users: 5, schedule: [ { users: 1, hold: 1s } ] }\n",
        &[("3:19", "both set the load")],
    ),
    (
        "`keep_alive` against `reuse`",
        "keep_alive: false\nconnection: { reuse: user }\nscenarios: { a: [ { get: /x } ] }\n",
        &[("", "`keep_alive`")],
    ),
    (
        "`--set` of a name that nothing uses",
        "vars: { a: 1 }\nscenarios: { a: [ { get: \"/${a}\" } ] }\n",
        &[("", "`bb`")],
    ),
    (
        "a variable that is not a number",
        "vars: { n: many }\nscenarios: { a: [ { get: /x } ] }\nload: { users: \"${n}\", iterations: 5 }\n",
        &[("4:16", "`many`")],
    ),
    (
        "a redirect loop that is asked for",
        "redirects: 1000\nscenarios: { a: [ { get: /x } ] }\n",
        &[("2:12", "1000")],
    ),
    (
        "a stream with a body to check",
        "scenarios: { a: [ { get: /x, stream: true, check: { body: a } } ] }\n",
        &[("2:", "stream")],
    ),
    (
        "a certificate that is none",
        "tls: { ca: d.csv }\nscenarios: { a: [ { get: /x } ] }\n",
        &[("2:12", "PEM"), ("2:1", "https")],
    ),
    ("not yet supported: agents", "agents: {}\nscenarios: { a: [ { get: /x } ] }\n", &[("2:1", "`agents`")]),
    (
        "not yet supported: monitor",
        "monitor: {}\nscenarios: { a: [ { get: /x } ] }\n",
        &[("2:1", "`monitor`")],
    ),
    ("not yet supported: agents", "agents: []\nscenarios: { a: [ { get: /x } ] }\n", &[("2:1", "`agents`")]),
    (
        "not yet supported: hypothesis",
        "hypothesis: x\nscenarios: { a: [ { get: /x } ] }\n",
        &[("2:1", "`hypothesis`")],
    ),
    ("not yet supported: sweep", "sweep: {}\nscenarios: { a: [ { get: /x } ] }\n", &[("2:1", "`sweep`")]),
    (
        "not yet supported: protocol",
        "protocol: grpc\nscenarios: { a: [ { get: /x } ] }\n",
        &[("2:1", "`protocol`")],
    ),
    (
        "websocket instead of connect",
        "scenarios: { a: [ { get: /x, websocket: {} } ] }\n",
        &[("2:30", "`websocket`")],
    ),
    ("not yet supported: grpc", "scenarios: { a: [ { get: /x, grpc: {} } ] }\n", &[("2:30", "`grpc`")]),
    (
        "all at once",
        "timeout: 5\nheaders: { X: \"${missing}\" }\ndata: { d: { file: gone.csv } \
            }\nscenarios:\n  a:\n    - get: /x\n      \
         chek: 1\n    - get: /${never}\n      extract: { t: \"$.[\" }\nload: { users: 0, ramp: 3 }\n",
        &[
            ("2:10", "unit"),
            ("3:16", "`missing`"),
            ("4:20", "gone.csv"),
            ("8:7", "`check`"),
            ("9:13", "`never`"),
            ("10:21", "JSONPath"),
            ("11:19", "`ramp`"),
        ],
    ),
];

fn of(row: &Row) -> Trial {
    let made = trial(format!("target: TARGET\n{}", row.1)).file("d.csv", "id,name\n1,a\n");
    if row.0.contains("--set") { made.args(&["--set", "bb=1"]) } else { made }
}

#[test]
fn every_mistake_has_its_place_and_nothing_is_sent() {
    all_at_once(
        ROWS,
        |row| row.0.to_owned(),
        |row| {
            let seen = of(row).run();
            seen.refused(&[]);
            let stderr = &seen.output.stderr;
            for (place, word) in row.2 {
                let at = if place.is_empty() { String::new() } else { format!("experiment.yaml:{place}") };
                assert!(stderr.contains(&at), "`{at}` is not in:\n{stderr}");
                assert!(stderr.contains(word), "`{word}` is not in:\n{stderr}");
            }
            assert_eq!(
                stderr.matches("error[").count(),
                row.2.len().max(1),
                "another number of messages:\n{stderr}"
            );
            assert!(!seen.scratch.folder().join("run.plim").exists(), "a run file of nothing");
        },
    );
}

/// `check` says the same as `run`, and neither connects.
#[test]
fn check_says_what_run_says_and_sends_nothing() {
    let (_, text, _) = ROWS[ROWS.len() - 1];
    let scratch = crate::support::Scratch::new();
    let ruler = crate::support::Ruler::start(&[]);
    let file = scratch.file("experiment.yaml", &format!("target: {}\n{text}", ruler.url("")));
    let said = ["check", "run"].map(|verb| crate::support::Tool::run(&[verb, &file]).expect_code(2));
    assert_eq!(said[0].stderr, said[1].stderr);
    assert_eq!((said[0].stdout.as_str(), ruler.requests(), ruler.accepted()), ("", 0, 0));
}
