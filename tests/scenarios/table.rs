//! Feature compatibility: every feature with every `reuse` of connections, plain and with TLS. Each cell runs and is
//! counted at the ruler, or is rejected before anything is sent. The page is generated from the results.

use crate::bench::{SentRequest, all_at_once};
use crate::support::peers::{Nginx, Options};
use crate::support::{Ruler, Scratch, Tool};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Two users make two rounds each.
const ROUNDS: usize = 4;
const REUSE: [&str; 4] = ["user", "pool", "iteration", "request"];

/// A feature by keys and steps; `CELL` is replaced with a query that identifies the cell.
struct Feature {
    name: &'static str,
    /// Top-level keys; those of `connection` are in the field `connection`.
    top: &'static str,
    connection: &'static str,
    steps: &'static str,
    /// Requests of a round, and those of the setup.
    requests: usize,
    aside: usize,
    judge: fn(&[SentRequest]),
}

const PLAIN: Feature =
    Feature { name: "", top: "", connection: "", steps: "", requests: 1, aside: 0, judge: |_| () };

const FEATURES: &[Feature] = &[
    Feature {
        name: "templated requests",
        steps: "- { get: \"/x?CELL&u=${user}\", headers: { X-N: \"${random_int(1, 6)}\" } }",
        judge: |all| {
            let users: BTreeSet<_> = all.iter().map(|asked| asked.query("u")).collect();
            assert_eq!(users.len(), 2, "{users:?}");
            assert!(all.iter().all(|a| a.header("X-N").is_some_and(|n| ("1"..="6").contains(&n))));
        },
        ..PLAIN
    },
    Feature {
        name: "checks",
        steps: "- { get: \"/x?CELL&text=good\", check: { status: 200, body: good } }",
        ..PLAIN
    },
    Feature {
        name: "extraction",
        steps: "- { get: \"/token?CELL\", extract: { t: $.token } }\n- { get: \"/secure?CELL\", \
            auth: { bearer: \"${t}\" } }",
        requests: 2,
        judge: |all| {
            let tokens: BTreeSet<_> = all.iter().filter_map(|asked| asked.header("Authorization")).collect();
            assert_eq!(tokens.len(), ROUNDS, "{tokens:?}");
        },
        ..PLAIN
    },
    Feature {
        name: "cookies",
        top: "cookies: true",
        steps: "- get: \"/cart?CELL\"\n- get: \"/cart?CELL\"",
        requests: 2,
        judge: |all| {
            let without = all.iter().filter(|asked| asked.header("Cookie").is_none()).count();
            let distinct: BTreeSet<_> = all.iter().filter_map(|asked| asked.header("Cookie")).collect();
            assert!(without == distinct.len() && without >= 2, "{without} first ones, {distinct:?}");
        },
        ..PLAIN
    },
    Feature {
        name: "redirects",
        top: "redirects: 3",
        steps: "- get: \"/go?CELL&status=302&location=/there%3FCELL\"",
        requests: 2,
        judge: |all| assert_eq!(all.iter().filter(|asked| asked.path() == "/there").count(), ROUNDS),
        ..PLAIN
    },
    Feature {
        name: "compressed responses",
        steps: "- { get: \"/x?CELL&encoding=gzip&body=3000\", headers: { \
            Accept-Encoding: gzip }, check: { body: xyzabc } }",
        ..PLAIN
    },
    Feature {
        name: "multipart bodies",
        steps: "- { post: \"/up?CELL\", multipart: { note: hello, f: { path: rows.csv } } }",
        judge: |all| {
            assert!(all.iter().all(|asked| asked.body.contains("hello") && asked.body.contains("row-1")))
        },
        ..PLAIN
    },
    Feature {
        name: "rows of data",
        top: "data: { d: { file: rows.csv, sharing: unique } }",
        steps: "- get: \"/x?CELL&id=${d.id}\"",
        judge: |all| {
            let rows: BTreeSet<_> = all.iter().filter_map(|asked| asked.query("id")).collect();
            assert_eq!(rows.len(), ROUNDS, "{rows:?}");
        },
        ..PLAIN
    },
    Feature {
        name: "event streams",
        steps: "- { get: \"/events?CELL&every=5ms&count=4\", stream: { sequence: id } }",
        ..PLAIN
    },
    Feature {
        name: "values of setup",
        top: "setup: [ { get: \"/token?CELL\", extract: { t: $.token } } ]",
        steps: "- { get: \"/secure?CELL\", auth: { bearer: \"${t}\" } }",
        aside: 1,
        judge: |all| {
            let tokens: BTreeSet<_> = all.iter().filter_map(|asked| asked.header("Authorization")).collect();
            assert_eq!(tokens.len(), 1, "{tokens:?}");
        },
        ..PLAIN
    },
    Feature { name: "think time", steps: "- { get: \"/x?CELL\", think: { uniform: [5ms, 15ms] } }", ..PLAIN },
    Feature { name: "HTTP/1.0", connection: ", http: \"1.0\"", steps: "- get: \"/x?CELL\"", ..PLAIN },
];

struct Cell {
    number: usize,
    feature: &'static Feature,
    reuse: &'static str,
    tls: bool,
}

/// Returns the text of a cell of the page.
fn run(cell: &Cell, ruler: &Ruler, nginx: &Nginx) -> String {
    let scratch = Scratch::new();
    scratch
        .file("rows.csv", &format!("id\n{}", (1..=ROUNDS).map(|n| format!("row-{n}\n")).collect::<String>()));
    let Cell { number, feature, reuse, tls } = cell;
    let target = match tls {
        true => format!("{}\ntls: {{ ca: {} }}", nginx.https_url(""), nginx.ca_file().display()),
        false => ruler.url(""),
    };
    let steps: String = feature.steps.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "target: {target}\nconnection: {{ reuse: {reuse}{} }}\n{}\nscenarios:\n  \
            one:\n{steps}load: {{ users: 2, iterations_per_user: {} }}\n",
        feature.connection,
        feature.top,
        ROUNDS / 2
    );
    let mark = format!("cell={number}");
    let file = scratch.file("experiment.yaml", &text.replace("CELL", &mark));
    let output = Tool::run(&["run", &file, "--json", "--out", &scratch.path("run.plim")]);
    let kept = ruler.json("/_test-server/requests");
    let all = kept["requests"].as_array().expect("a list").iter().map(SentRequest::of);
    let asked: Vec<SentRequest> =
        all.filter(|asked| asked.query("cell") == Some(&number.to_string())).collect();
    if output.code == 2 {
        assert!(asked.is_empty(), "refused, and sent all the same");
        let code = output.stderr.split_once("error[").and_then(|(_, rest)| rest.split(']').next());
        return format!(
            "refused ({})",
            code.unwrap_or_else(|| panic!("refused without a code:\n{}", output.stderr))
        );
    }
    assert!([0, 3].contains(&output.code), "code {}\n{}\n{text}", output.code, output.stderr);
    let said = output.json();
    let wanted = feature.requests * ROUNDS;
    assert_eq!(
        (asked.len(), &said["totals"]["errors"]),
        (wanted + feature.aside, &0.into()),
        "{said:#}\n{text}"
    );
    assert_eq!(said["totals"]["requests"], wanted, "{}", said["totals"]);
    (feature.judge)(&asked);
    // With nginx as a proxy, the ruler sees nginx's connections, so only plimsoll's count is checked.
    let load = &asked[feature.aside..];
    let seen: BTreeSet<u64> = load.iter().map(|asked| asked.connection).collect();
    let opened = said["client"]["connections"]["opened"].as_u64().expect("a count") as usize;
    assert!(*tls || opened == seen.len(), "{opened} opened, {seen:?} at the ruler\n{text}");
    // With HTTP/1.0, the server closes after every response.
    let of_their_own = feature.connection.is_empty();
    match *reuse {
        "request" => assert_eq!(opened, wanted),
        "iteration" if of_their_own => assert_eq!(opened, ROUNDS),
        "user" if of_their_own => assert_eq!(opened, 2),
        _ if of_their_own => assert!((1..=2).contains(&opened), "{opened}"),
        _ => assert!(opened <= wanted, "{opened}"),
    }
    "runs".into()
}

const PAGE: &str = "docs/reference/feature-table.md";
const HEAD: &str = "<!-- Made by `UPDATE_TABLE=1 cargo test --test scenarios table`; do not edit. -->

# Features and connection reuse

Each cell is a test. It runs an experiment with this feature and this `reuse` of connections, without and with TLS, and
compares what plimsoll reports with the server's own counters. In a cell `refused`, plimsoll sends nothing.
";

fn page(cells: &[Cell], said: &[String]) -> String {
    let mut text = HEAD.to_owned();
    let heads = ["", " (TLS)"].map(|tls| REUSE.map(|reuse| format!(" `{reuse}`{tls} |")).concat()).concat();
    text += &format!("\n| feature |{heads}\n|{}\n", " --- |".repeat(1 + 2 * REUSE.len()));
    for feature in FEATURES {
        let row = cells.iter().zip(said).filter(|(cell, _)| cell.feature.name == feature.name);
        text += &format!(
            "| {} |{}\n",
            feature.name,
            row.map(|(_, said)| format!(" {said} |")).collect::<String>()
        );
    }
    text
}

#[test]
fn every_feature_goes_with_every_reuse_plain_and_secured() {
    let ruler = Ruler::start(&["--keep-requests", "first:100000"]);
    let nginx = Nginx::start(Options { proxy_to: Some(ruler.address()), ..Options::default() });
    let mut cells = Vec::new();
    for feature in FEATURES {
        for tls in [false, true] {
            for reuse in REUSE {
                cells.push(Cell { number: 1_000 + cells.len(), feature, reuse, tls });
            }
        }
    }
    let said = Mutex::new(vec![String::new(); cells.len()]);
    all_at_once(
        &cells,
        |cell| format!("{}, reuse: {}{}", cell.feature.name, cell.reuse, if cell.tls { ", TLS" } else { "" }),
        |cell| {
            let found = run(cell, &ruler, &nginx);
            said.lock().expect("no thread panics while holding it")[cell.number - 1_000] = found;
        },
    );
    let made = page(&cells, &said.into_inner().expect("all are done"));
    let path = format!("{}/{PAGE}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_TABLE").is_some() {
        std::fs::write(&path, &made).expect("the checkout is writable");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, made, "{PAGE} is old: UPDATE_TABLE=1 cargo test --test scenarios table");
}
