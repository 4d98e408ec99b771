//! The goals as data. Each is looked up in the results of the benches and printed as met, missed, or
//! not measured.

use std::collections::BTreeMap;

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

struct Goal {
    measure: &'static str,
    what: &'static str,
    bound: Bound,
    unit: &'static str,
}

const GOALS: &[Goal] = &[
    Goal {
        measure: "plain.ratio",
        what: "plain GET, 100 connections, requests per CPU-s",
        bound: Bound::AtLeast(1.25),
        unit: "x wrk",
    },
    Goal {
        measure: "large.unread_ratio",
        what: "683,481-byte bodies, unread",
        bound: Bound::AtLeast(4.0),
        unit: "x wrk",
    },
    Goal {
        measure: "large.read_ratio",
        what: "683,481-byte bodies, read",
        bound: Bound::AtLeast(1.8),
        unit: "x wrk",
    },
    Goal {
        measure: "large.chosen_buffer",
        what: "the same with the chosen buffer, compared with the better of 64 and 256 KiB",
        bound: Bound::AtLeast(0.95),
        unit: "x",
    },
    Goal {
        measure: "open.own_p50_us",
        what: "open loop, 10,000/s: sends off their instant, own record, p50",
        bound: Bound::AtMost(1.0),
        unit: "us",
    },
    Goal {
        measure: "open.own_p99_over_floor_us",
        what: "open loop: the same, p99 above the machine's own floor",
        bound: Bound::AtMost(1000.0),
        unit: "us",
    },
    Goal {
        measure: "open.grid_p50_us",
        what: "open loop: off the grid as the server sees it, p50",
        bound: Bound::AtMost(30.0),
        unit: "us",
    },
    Goal {
        measure: "open.unaccounted",
        what: "open loop: arrivals lost silently",
        bound: Bound::AtMost(0.0),
        unit: "arrivals",
    },
    Goal {
        measure: "idle.kib_per_connection",
        what: "10,000 idle connections, user memory each",
        bound: Bound::AtMost(1.0),
        unit: "KiB",
    },
    Goal {
        measure: "plain.peak_rss_mib",
        what: "peak RSS of the plain run",
        bound: Bound::AtMost(16.0),
        unit: "MiB",
    },
    Goal {
        measure: "start.median_ms",
        what: "start to first byte sent",
        bound: Bound::AtMost(30.0),
        unit: "ms",
    },
    Goal {
        measure: "scripted.ratio",
        what: "templated POST with two checks, requests per CPU-s",
        bound: Bound::AtLeast(0.9),
        unit: "x wrk's plain GET",
    },
    Goal {
        measure: "mix.ratio",
        what: "nine requests by weight out of a CSV file, requests per CPU-s",
        bound: Bound::AtLeast(0.85),
        unit: "x wrk's plain GET",
    },
    Goal {
        measure: "https.ratio",
        what: "HTTPS, 100 keep-alive connections, requests per CPU-s",
        bound: Bound::AtLeast(1.3),
        unit: "x wrk",
    },
    Goal {
        measure: "handshakes.ratio",
        what: "a full TLS handshake per request, per CPU-s",
        bound: Bound::AtLeast(2.0),
        unit: "x wrk",
    },
    Goal {
        measure: "streams.kib_per_stream",
        what: "10,000 accounted event streams, user memory each",
        bound: Bound::AtMost(1.0),
        unit: "KiB",
    },
    Goal {
        measure: "streams.held",
        what: "event streams held at once by one process",
        bound: Bound::AtLeast(19_000.0),
        unit: "streams",
    },
    Goal {
        measure: "console.cpu_percent",
        what: "the console's CPU with two viewers, compared with the generator's",
        bound: Bound::AtMost(2.0),
        unit: "%",
    },
    Goal {
        measure: "http2.batching_ratio",
        what: "HTTP/2, server that batches, 8 x 100, requests per CPU-s",
        bound: Bound::AtLeast(3.0),
        unit: "x h2load",
    },
    Goal {
        measure: "http2.nginx_ratio",
        what: "HTTP/2, nginx, 8 x 10",
        bound: Bound::AtLeast(1.2),
        unit: "x h2load",
    },
    Goal {
        measure: "http2.nginx_single_ratio",
        what: "HTTP/2, nginx, 1 x 100",
        bound: Bound::AtLeast(1.2),
        unit: "x h2load",
    },
    Goal {
        measure: "http2.tls_ratio",
        what: "HTTP/2 over TLS, nginx, 8 x 10",
        bound: Bound::AtLeast(1.15),
        unit: "x h2load",
    },
    Goal {
        measure: "http2.tls_single_ratio",
        what: "HTTP/2 over TLS, nginx, 1 x 100",
        bound: Bound::AtLeast(1.4),
        unit: "x h2load",
    },
    Goal {
        measure: "http2.large_ratio",
        what: "HTTP/2, nginx, 100 KiB bodies, 8 x 10",
        bound: Bound::AtLeast(1.5),
        unit: "x h2load",
    },
    Goal {
        measure: "http2-open.own_p99_over_floor_us",
        what: "open loop over HTTP/2, 10,000/s: off their instant, p99 above the floor",
        bound: Bound::AtMost(1000.0),
        unit: "us",
    },
    Goal {
        measure: "http2-open.unaccounted",
        what: "open loop over HTTP/2: arrivals lost silently",
        bound: Bound::AtMost(0.0),
        unit: "arrivals",
    },
    Goal {
        measure: "http2-held.bytes_with_1",
        what: "connection of HTTP/2 with 1 open stream, user memory",
        bound: Bound::AtMost(700.0),
        unit: "B",
    },
    Goal {
        measure: "http2-held.bytes_with_10",
        what: "connection of HTTP/2 with 10 open streams, user memory",
        bound: Bound::AtMost(2000.0),
        unit: "B",
    },
    Goal {
        measure: "websocket.ratio",
        what: "WebSocket, messages of 32 bytes returned, per CPU-s",
        bound: Bound::AtLeast(1.5),
        unit: "x tungstenite",
    },
    Goal {
        measure: "grpc.ratio",
        what: "unary gRPC calls, per CPU-s",
        bound: Bound::AtLeast(2.0),
        unit: "x ghz",
    },
    Goal { measure: "grpc.tonic", what: "the same", bound: Bound::AtLeast(1.2), unit: "x tonic" },
    Goal {
        measure: "script.get_k6",
        what: "script with a GET and two checks, requests per CPU-s",
        bound: Bound::AtLeast(14.0),
        unit: "x k6",
    },
    Goal {
        measure: "script.get_wrk",
        what: "the same",
        bound: Bound::AtLeast(0.8),
        unit: "x wrk's plain GET",
    },
    Goal {
        measure: "script.post_k6",
        what: "script with a POST of JSON, a value from the response, and three checks",
        bound: Bound::AtLeast(8.0),
        unit: "x k6",
    },
    Goal {
        measure: "script.async_k6",
        what: "script with an asynchronous function",
        bound: Bound::AtLeast(8.0),
        unit: "x k6",
    },
    Goal {
        measure: "script-open.own_p99_over_floor_us",
        what: "5,000 arrivals/s with a script: sends off their instant, p99 above the floor",
        bound: Bound::AtMost(1000.0),
        unit: "us",
    },
    Goal {
        measure: "script-open.unaccounted",
        what: "the same: arrivals lost silently",
        bound: Bound::AtMost(0.0),
        unit: "arrivals",
    },
    Goal {
        measure: "script-held.kib_per_user",
        what: "user of a script that waits for a response, user memory each",
        bound: Bound::AtMost(10.0),
        unit: "KiB",
    },
    Goal {
        measure: "jmeter.plan_jmeter",
        what: "test plan with a function, a header, and an assertion, requests per CPU-s",
        bound: Bound::AtLeast(20.0),
        unit: "x JMeter",
    },
    Goal {
        measure: "jmeter.plan_yaml",
        what: "the same",
        bound: Bound::AtLeast(0.91),
        unit: "x the same in an experiment file",
    },
    Goal {
        measure: "lua.pipeline",
        what: "pipeline.lua of wrk, requests per CPU-s",
        bound: Bound::AtLeast(1.0),
        unit: "x wrk",
    },
    Goal {
        measure: "lua.post",
        what: "post.lua of wrk, requests per CPU-s",
        bound: Bound::AtLeast(1.0),
        unit: "x wrk",
    },
    Goal {
        measure: "lua.counter",
        what: "counter.lua of wrk, requests per CPU-s",
        bound: Bound::AtLeast(1.0),
        unit: "x wrk",
    },
    Goal {
        measure: "lua.auth",
        what: "auth.lua of wrk, requests per CPU-s",
        bound: Bound::AtLeast(1.0),
        unit: "x wrk",
    },
    Goal {
        measure: "agents.merge_percent",
        what: "coordinator of 1,000 agents with 20 series each, its CPU",
        bound: Bound::AtMost(15.0),
        unit: "% of a core",
    },
    Goal {
        measure: "agents.view_many_s",
        what: "age of the live view of 1,000 agents, at most",
        bound: Bound::AtMost(2.0),
        unit: "s",
    },
    Goal {
        measure: "agents.view_few_s",
        what: "age of the live view of 2 agents, at most",
        bound: Bound::AtMost(2.0),
        unit: "s",
    },
    Goal {
        measure: "agents.start_s",
        what: "start of a load on 100 played agents that wait, compared with one process",
        bound: Bound::AtMost(3.0),
        unit: "s",
    },
    Goal {
        measure: "agents.start_real_s",
        what: "the same on 100 agents on this machine",
        bound: Bound::AtMost(3.0),
        unit: "s",
    },
    Goal {
        measure: "agents.agent_percent",
        what: "agent alongside its load generator, its CPU",
        bound: Bound::AtMost(1.0),
        unit: "% of a core",
    },
    Goal {
        measure: "agents.later_p50_us",
        what: "sends later with an agent on the same core, p50",
        bound: Bound::AtMost(1.0),
        unit: "us",
    },
    Goal { measure: "agents.later_p99_us", what: "the same, p99", bound: Bound::AtMost(20.0), unit: "us" },
    Goal {
        measure: "agents.share_ratio",
        what: "requests of ten agents on this machine",
        bound: Bound::AtLeast(0.95),
        unit: "x one process with ten workers",
    },
    Goal {
        measure: "agents.memory_ratio",
        what: "memory of the coordinator after nine hours in simulated time",
        bound: Bound::AtMost(1.05),
        unit: "x that after one",
    },
];

/// The table of goals, in Markdown. A smoke run is not judged, because one second says nothing about a goal.
pub fn table(measures: &BTreeMap<&'static str, f64>, judged: bool) -> String {
    let mut text = String::from("| goal | to hold | measured | |\n|---|---|---|---|\n");
    for goal in GOALS {
        let (sign, limit) = match goal.bound {
            Bound::AtLeast(limit) => (">=", limit),
            Bound::AtMost(limit) => ("<=", limit),
        };
        let (measured, verdict) = match measures.get(goal.measure) {
            Some(&value) => (format!("{value:.2} {}", goal.unit), verdict(goal, value, judged)),
            None => ("-".to_string(), "not measured"),
        };
        text.push_str(&format!(
            "| {} | {sign} {limit} {} | {measured} | {verdict} |\n",
            goal.what, goal.unit
        ));
    }
    text
}

fn verdict(goal: &Goal, value: f64, judged: bool) -> &'static str {
    let holds = match goal.bound {
        Bound::AtLeast(limit) => value >= limit,
        Bound::AtMost(limit) => value <= limit,
    };
    match (judged, holds) {
        (false, _) => "not judged",
        (true, true) => "met",
        (true, false) => "MISSED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_missed_or_not_measured() {
        let measures = BTreeMap::from([("plain.ratio", 1.25), ("start.median_ms", 30.1)]);
        let text = table(&measures, true);
        assert!(text.contains("| 1.25 x wrk | met |"), "{text}");
        assert!(text.contains("| 30.10 ms | MISSED |"), "{text}");
        assert_eq!(text.matches("not measured").count(), GOALS.len() - 2);
        assert!(table(&measures, false).contains("| 30.10 ms | not judged |"));
    }
}
