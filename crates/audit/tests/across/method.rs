//! Words about method: formulas, rates, what is left out.

use super::Case;
use super::made::{WRK, outputs};

const REPORT: &str =
    "# Load test\n\nThe shop was measured by requests. It has one page. It is small. It is old.\n\n";

fn report(text: &str) -> String {
    format!("{REPORT}{text}\n")
}

const K6: &str = "\
     data_received..................: 2.9 MB  817 B/s
     http_req_duration..............: avg=30s min=29s med=30s max=31s p(90)=31s p(95)=31s
     http_req_waiting...............: avg=5.1s min=26.8ms med=5.2s max=9.8s p(90)=9.1s p(95)=9.4s
     http_reqs......................: 300    5.000000/s
     vus............................: 300    min=300    max=300
     vus_max........................: 300    min=300    max=300
";

pub fn cases() -> Vec<Case> {
    vec![
        Case {
            rule: "duration_differs_from_dates",
            fires: report(
                "The soak test ran for 60 hours at 40 users.\n\n- Start: 2026-03-02 08:00:00\n\
                 - End: 2026-03-04 15:54:00",
            ),
            fix: &[("15:54", "20:06")],
            second: report(
                "A 12-hour run, without a pause.\n\nIt took from 2026-03-02T08:00 to 2026-03-02T19:00.",
            ),
        },
        Case {
            rule: "equation_wrong",
            fires: "Each user sends 40 x 25 = 1,200 messages.\n".into(),
            fix: &[("1,200", "1,000")],
            second: "```\nbatches = 12\nper_batch = 250\ntotal = batches * per_batch = 2500\n```\n".into(),
        },
        Case {
            rule: "division_cut_off",
            fires: "That makes 590 / 20 = 29 events.\n".into(),
            fix: &[("590", "580")],
            second: "```\nlength = 104\ngap = 7\nexpected = length / gap = 14\n```\n".into(),
        },
        Case {
            rule: "visitors_to_concurrency",
            fires: "The shop has 600,000 visitors per month, with a visit of 6 minutes, over 10 \
                 hours of a day. So the concurrency is 20.\n"
                .into(),
            fix: &[("concurrency is 20", "concurrency is 200")],
            second: "We expect 48,000 sessions a day of 3 minutes per session, which gives 1,000 \
                 concurrent users, or a concurrency of 1000.\n"
                .into(),
        },
        Case {
            rule: "arrivals_are_not_concurrency",
            fires: "## The site handles 6,000 users over a period of 60 seconds\n\nAn average of 50 \
                 ms was seen.\n"
                .into(),
            fix: &[("of 50 ms", "of 45 s")],
            second: "## 900 clients connect over the course of 30 s\n\nThe average response was 120 \
                 ms.\n"
                .into(),
        },
        Case {
            rule: "clients_at_a_fixed_rate",
            fires: "```\nvegeta attack -rate=500 -duration=30s\n```\n\nTwice the workers made no \
                 difference to the rate, so the client is not the limit.\n"
                .into(),
            fix: &[("vegeta attack -rate=500", "wrk -c 500")],
            second: "We used a fixed rate of 300 requests per second.\n\nWith double the clients \
                 the rate was the same, which doubles our trust.\n"
                .into(),
        },
        Case {
            rule: "absolute_shortfall",
            fires: "The search starts at 20 and ends when it is 10 requests per second below the \
                 target.\n"
                .into(),
            fix: &[("10 requests per second below", "5% below")],
            second: "```\nwhile rate_gap < 25: rate = rate * 1.2\n```\n".into(),
        },
        Case {
            rule: "latency_set_by_length",
            fires: "Each step is run at a fixed rate.\n\nduration: 40 s\n\nBeyond the limit latency \
                 rises steeply.\n"
                .into(),
            fix: &[("at a fixed rate", "with ten users")],
            second: "```\nvegeta attack -rate=900 -duration=20s\n```\n\nAt 900 the response time \
                 shoots up.\n"
                .into(),
        },
        Case {
            rule: "step_is_the_resolution",
            fires: "The rate is increased by 25 % each step.\n".into(),
            fix: &[("each step.", "each step, and then bisected to the limit.")],
            second: "Raising the load by 50 % every minute.\n".into(),
        },
        Case {
            rule: "first_byte_follows_a_clock",
            fires: format!("Events come every 10 s.\n\n```\n{K6}```\n"),
            fix: &[("every 10 s", "every 60 s")],
            second: format!(
                "```\nEVENT_INTERVAL=20 k6 run \
                 a.js\n```\n\n```\n{}```\n",
                K6.replace("9.8s", "19.2s").replace("avg=5.1s", "avg=9.7s")
            ),
        },
        Case {
            rule: "volumes_differ",
            fires: "We expected 40 MB of data.\n\nAbove we calculated 62 MB, and saw that.\n".into(),
            fix: &[("62 MB", "41 MB")],
            second: "```\ntotal_data = 500 * 4000 B = 2000000B\nexpected = 2000000B\n```\n\nThe \
                 estimated volume was 900 KB.\n"
                .into(),
        },
        Case {
            rule: "one_of_several_shown",
            fires: format!("There were 900 connections.\n\nThey came from three machines.\n\n```\n{K6}```\n"),
            fix: &[("900 connections", "300 connections")],
            second: format!("In all it had 400 users from 4 generators.\n\n{}", outputs(&[WRK])),
        },
        Case {
            rule: "one_machine",
            fires: report("```\nwrk -c 10 http://localhost:8080/\n```"),
            fix: &[("localhost", "10.0.0.7")],
            second: report("Client and server ran on the same machine."),
        },
        Case {
            rule: "only_pictures",
            fires: report("![Latency](latency.png)"),
            fix: &[(
                "![Latency](latency.png)",
                "| users | rps |\n|-|-|\n| 5 | 90 \
                 |\n\n![Latency](latency.png)",
            )],
            second: report("Results of the benchmark: ![a](out/one.svg)"),
        },
        Case {
            rule: "reuse_of_connections",
            fires: report("We use siege with 20 users."),
            fix: &[("with 20 users", "with 20 users and keep-alive")],
            second: report("The tool is Apache Bench, run five times."),
        },
        Case {
            rule: "no_repeats",
            fires: report("It ran for a minute."),
            fix: &[("for a minute", "for a minute, and was repeated ten times")],
            second: format!(
                "A benchmark of a queue. It is new. It is fast. It is \
                 small.\n\n{}",
                outputs(&[WRK])
            ),
        },
        Case {
            rule: "no_warm_up",
            fires: report("It ran for a minute."),
            fix: &[("for a minute", "for a minute after a warm-up of 20 s")],
            second: format!(
                "A benchmark of a queue. It is new. It is fast. It is \
                 small.\n\n{}",
                outputs(&[WRK])
            ),
        },
        Case {
            rule: "latency_without_percentile",
            fires: report("The latency was 20 ms."),
            fix: &[("latency was 20 ms", "p99 latency was 20 ms")],
            second: report("Response time stayed low throughout."),
        },
    ]
}
