//! Reports that scripts make from the data of `handleSummary()`.

use super::lines::lines;

const DATA: &str = r#"const data = {
    options: { summaryTrendStats: ['avg', 'p(95)'], summaryTimeUnit: '' }, state: { testRunDurationMs: 61500 },
    root_group: {
        name: '', path: '', checks: [{ name: 'status', passes: 5, fails: 0 }],
        groups: [{ name: 'cart', groups: [], checks: [{ name: 'is <ok>', passes: 97, fails: 3 }] }],
    },
    metrics: {
        http_req_duration: {
            type: 'trend', contains: 'time', values: { avg: 1.23456, 'p(95)': 1500 },
            thresholds: { 'p(95)<1000': { ok: false } },
        },
        'http_req_duration{a:b}': { type: 'trend', contains: 'time', values: { avg: 0.0005, 'p(95)': 0.25 } },
        http_reqs: { type: 'counter', contains: 'default', values: { count: 100, rate: 9.5 } },
        data_sent: { type: 'counter', contains: 'data', values: { count: 12345, rate: 120 } },
        checks: {
            type: 'rate', contains: 'default', values: { rate: 0.97143, passes: 102, fails: 3 },
            thresholds: { 'rate>0.9': { ok: true } },
        },
        vus: { type: 'gauge', contains: 'default', values: { value: 1, min: 1, max: 5 } },
    },
};"#;

#[test]
fn writes_the_text_at_the_end_of_a_test() {
    let found =
        lines(&["jslib/k6-summary"], &format!("{DATA} console.log(m0.textSummary(data, {{ indent: ' ' }}))"));
    let expected = [
        "     ✓ status",
        "",
        "     █ cart",
        "",
        "       ✗ is <ok>",
        "        ↳  97% — ✓ 97 / ✗ 3",
        "",
        "   ✓ checks..............: 97.14% ✓ 102   ✗ 3",
        "     data_sent...........: 12 kB  120 B/s",
        "   ✗ http_req_duration...: avg=1.23ms p(95)=1.5s",
        "       { a:b }...........: avg=500ns  p(95)=250µs",
        "     http_reqs...........: 100    9.5/s",
        "     vus.................: 1      min=1   max=5",
    ];
    assert_eq!(found[0].lines().collect::<Vec<_>>(), expected);
    let colored = lines(
        &["jslib/k6-summary"],
        &format!("{DATA} console.log(m0.textSummary(data, {{ enableColors: true }}).includes('\\x1b[31m'))"),
    );
    assert_eq!(colored, ["true"]);
}

#[test]
fn writes_values_with_their_units() {
    let body = "const t = (v, unit) => m0.humanizeValue(v, { type: 'trend', contains: 'time' }, unit); \
                console.log(t(0), t(0.5), t(12.3456), t(61000), t(3723000), t(1500, 's'), t(1.5, 'us')); \
                console.log(m0.humanizeValue(0.5, { type: 'rate' }), m0.humanizeValue(1234567, { contains: \
                'data' }), m0.humanizeValue(1.5, { type: 'counter' }))";
    assert_eq!(
        lines(&["jslib/k6-summary"], body),
        ["0s 500µs 12.34ms 1m1s 1h2m3s 1.50s 1500.00µs", "50.00% 1.2 MB 1.5"]
    );
}

#[test]
fn writes_junit_and_a_page() {
    let found = lines(
        &["jslib/k6-summary", "jslib/k6-reporter"],
        &format!(
            "{DATA} console.log(m0.jUnit(data, {{ name: 'a & b' }})); const page = m1.htmlReport(data, {{ title: \
            '<T>' }}); \
         console.log(page.includes('<title>&lt;T&gt;</title>'), page.includes('is &lt;ok&gt;'), \
            /https?:|<script/.test(page), page.includes('1.23ms'), page.includes('97.00%'))"
        ),
    );
    assert!(found[0].contains("<testsuites tests=\"2\" failures=\"1\">"), "{found:?}");
    assert!(found[0].contains("<testcase name=\"http_req_duration - p(95)&lt;1000\""), "{found:?}");
    assert!(found[0].contains("<testsuite name=\"a &amp; b\""), "{found:?}");
    assert_eq!(found[1], "true true false true true");
}
