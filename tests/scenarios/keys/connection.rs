//! `connection:`: which connections carry which requests, by the ruler's own numbers.

use super::{Case, case};
use crate::bench::{Trial, trial};

/// Two users, two rounds of two requests.
fn eight(connection: &str) -> Trial {
    trial(format!(
        "connection: {connection}\nscenarios: {{ one: [ {{ get: \"/x?u=${{user}}\" }}, \
            {{ get: \"/x?u=${{user}}\" }} ] }}\nload: {{ users: 2, iterations_per_user: 2 }}"
    ))
}

pub const CASES: &[Case] = &[
    case(
        &["experiment.connection", "connection.reuse"],
        || eight("{ reuse: iteration }"),
        |s| {
            s.expect_run(0);
            assert_eq!(s.connections().into_values().collect::<Vec<_>>(), [2; 4], "one an iteration");
            assert_eq!(s.value_at("/client/connections/opened"), 4);
        },
    ),
    case(
        &[],
        || eight("{ reuse: user }"),
        |s| {
            s.expect_run(0);
            assert_eq!(s.connections().into_values().collect::<Vec<_>>(), [4; 2]);
            for asked in &s.asked {
                let same = s.asked.iter().filter(|other| other.connection == asked.connection);
                assert!(same.clone().all(|other| other.query("u") == asked.query("u")), "{:?}", s.asked);
            }
        },
    ),
    case(
        &[],
        || eight("{ reuse: request }"),
        |s| {
            s.expect_run(0);
            assert_eq!(s.connections().into_values().collect::<Vec<_>>(), [1; 8]);
        },
    ),
    case(
        &[],
        || eight("{ reuse: pool }"),
        |s| {
            s.expect_run(0);
            assert!(s.connections().len() <= 2, "{:?}", s.connections());
            assert_eq!(s.asked.len(), 8);
        },
    ),
    case(
        &["connection.max_requests"],
        || eight("{ reuse: user, max_requests: 3 }"),
        |s| {
            s.expect_run(0);
            assert_eq!(s.connections().into_values().collect::<Vec<_>>().iter().max(), Some(&3));
            assert_eq!(s.connections().len(), 4, "3 and 1, twice");
        },
    ),
    case(
        &["connection.http"],
        || eight("{ http: \"1.0\" }"),
        |s| {
            s.expect_run(0);
            assert!(s.asked.iter().all(|asked| asked.version.ends_with("1.0")), "{:?}", s.asked[0]);
            assert_eq!(s.asked.len(), 8);
        },
    ),
    case(
        &["connection.resolve"],
        || {
            trial(
                "target: http://shop.test:PORT\nconnection: { resolve: { shop.test: 127.0.0.1 } }\n\
                 scenarios: { one: [ { get: /x } ] }",
            )
        },
        |s| {
            s.expect_run(0);
            let host = s.only().header("Host").expect("a host");
            assert!(host.starts_with("shop.test:"), "{host}");
        },
    ),
    case(
        &["connection.source_addresses"],
        || eight("{ reuse: request, source_addresses: 127.0.0.2-127.0.0.4 }"),
        |s| {
            s.expect_run(0);
            let mut of: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
            for asked in &s.asked {
                *of.entry(asked.peer.as_str()).or_default() += 1;
            }
            assert_eq!(
                of.keys().copied().collect::<Vec<_>>(),
                ["127.0.0.2", "127.0.0.3", "127.0.0.4"],
                "{of:?}"
            );
            assert!(of.values().all(|n| (2..=4).contains(n)), "they take turns: {of:?}");
        },
    ),
    case(
        &[],
        || eight("{ reuse: user, source_addresses: [127.0.0.9] }"),
        |s| {
            s.expect_run(0);
            assert!(s.asked.iter().all(|asked| asked.peer == "127.0.0.9"), "{:?}", s.asked[0].peer);
        },
    ),
];
