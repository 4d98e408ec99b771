//! The libraries that come with the program: utilities, forms, clients, data formats.

use super::lines::{lines, lines_with};
use super::run::{factory, json, run_script, settings};
use plimsoll_js::{Builtin, resolve};

#[test]
fn draws_and_finds_values() {
    let body = "const u = m0; const n = Array.from({ length: 200 }, () => u.randomIntBetween(3, 5)); \
                console.log(Math.min(...n), Math.max(...n), new Set(n).size, [1, 2].includes(u.randomItem([1, 2]))); \
                console.log(/^[ab]{8}$/.test(u.randomString(8, 'ab')), /^[a-z]{3}$/.test(u.randomString(3)), \
                /^[0-9a-f-]{36}$/.test(u.uuidv4()), u.uuidv4(true).length); \
                console.log(u.findBetween('<a>1</a><a>2</a>', '<a>', '</a>'), u.findBetween('<a>1</a><a>2</a>', \
                '<a>', '</a>', true).join(), u.findBetween('x', '<', '>') === ''); \
                console.log(u.parseDuration('1h2m3s4ms'), u.parseDuration('1.5s')); try { u.parseDuration('1 \
                hour') } catch (e) { console.log(e.message) } \
                const s = u.normalDistributionStages(10, 20, 5); console.log(s.length, s.map((one) => \
                one.target).join(), s[0].duration);";
    assert_eq!(
        lines(&["jslib/k6-utils"], body),
        [
            "3 5 3 true",
            "true true true 36",
            "1 1,2 true",
            "3723004 1500",
            "invalid duration `1 hour`",
            "5 2,9,9,2,0 4s",
        ]
    );
}

#[test]
fn knows_the_stage_and_tags_with_it() {
    let mut own = settings();
    own.options_json = r#"{"scenarios": {"default": {"executor": "ramping-vus", "startVUs": 0, "stages": [
        {"duration": "10s", "target": 5}, {"duration": "10s", "target": 5},
        {"duration": "1m", "target": 0}]}}}"#
        .into();
    let body = "exports.default = () => { const seen = []; for (const s of [0, 12, 10, 100]) { m1.sleep(s); \
                m0.tagWithCurrentStageIndex(); m0.tagWithCurrentStageProfile(); const t = \
                m2.default.vu.metrics.tags; \
                seen.push(m0.getCurrentStageIndex() + t.stage + t.stage_profile) } console.log(seen.join()) }";
    let modules = vec![factory(&["jslib/k6-utils", "k6", "k6/execution"], body)];
    let trace = run_script(modules, 1, 1, own, |_| json(200, ""));
    assert_eq!(trace.console, ["info: 00ramp-up,11steady,22ramp-down,22ramp-down"]);
}

#[test]
fn checks_promises() {
    let body = "exports.default = async () => { console.log(m0.check(1, { sync: (v) => v === 1 })); \
                console.log(await m0.check(Promise.resolve(2), { later: async (v) => v === 2, wrong: (v) => v \
                === 3 })) };";
    let mut own = settings();
    own.isolation = plimsoll_js::Isolation::Runtime;
    let trace = run_script(vec![factory(&["jslib/k6-utils"], body)], 1, 1, own, |_| json(200, ""));
    assert_eq!(trace.console, ["info: true", "info: false"]);
    assert_eq!(
        (trace.checks["sync"], trace.checks["later"], trace.checks["wrong"]),
        ((1, 0), (1, 0), (1, 1))
    );
}

#[test]
fn writes_forms() {
    let body = "const f = new m0.FormData(); f.append('a', 'b\"c'); f.append('file', { data: new Uint8Array([1, \
            2]), filename: 'x.bin', content_type: 'a/b' }); \
                const text = String.fromCharCode(...new Uint8Array(f.body())).replaceAll(f.boundary, \
                'B').replace(/[\\r\\n]+/g, '|').replace('\\x01\\x02', '12'); \
                console.log(text); console.log(m1.default({ a: [1, { b: 2 }], c: { d: 'e f', n: null } })); \
                console.log(m1.default({ b: 1, a: [1, 2], c: { d: 3 } }, { sorted: true, skipIndex: true, \
                useDot: true }));";
    assert_eq!(
        lines(&["jslib/formdata", "jslib/form-urlencoded"], body),
        [
            "--B|Content-Disposition: form-data; name=\"a\"|b\"c|--B|Content-Disposition: form-data; name=\"file\"; \
         filename=\"x.bin\"|Content-Type: a/b|12|--B--|",
            "a%5B0%5D=1&a%5B1%5D%5Bb%5D=2&c%5Bd%5D=e+f&c%5Bn%5D=",
            "a%5B%5D=1&a%5B%5D=2&b=1&c.d=3",
        ]
    );
}

#[test]
fn sends_requests_of_a_session() {
    let body = "const s = new m0.Httpx({ baseURL: 'http://127.0.0.1:8080', headers: { A: '1' }, timeout: 1000 \
            }); s.addHeader('B', '2'); s.addTag('t', 'x'); \
                const r = s.post('/p', 'body', { headers: { A: '9' } }); console.log(r.status, \
                s.get('http://127.0.0.1:8080/q').status); \
                const all = s.batch([new m0.Get('/g'), new m0.Post('/h', 'x'), '/i']); console.log(all.map((one) \
                => one.status).join()); \
                console.log((await s.asyncGet('/k')).status);";
    let mut requests = Vec::new();
    let found = lines_with(&["jslib/httpx"], body, |request| {
        requests.push(request.to_owned());
        json(200 + requests.len() as u16, "{}")
    });
    assert_eq!(found, ["201 202", "203,204,205", "206"]);
    assert!(
        requests[0].starts_with("POST /p HTTP/1.1\r\n") && requests[0].contains("A: 9\r\nB: 2\r\n"),
        "{requests:?}"
    );
    assert!(requests[3].starts_with("POST /h ") && requests[4].starts_with("GET /i "), "{requests:?}");
    assert!(requests[5].contains("A: 1\r\n"), "{requests:?}");
}

#[test]
fn adds_a_trace_context() {
    let body = "m0.instrumentHTTP({ propagator: 'w3c' }); m0.instrumentHTTP({ propagator: 'w3c', sampling: 0 }); \
            const h = m1.default; \
                h.get('http://127.0.0.1:8080/'); h.batch(['http://127.0.0.1:8080/']); \
                const c = new m0.Client({ propagator: 'jaeger' }); c.post('http://127.0.0.1:8080/', 'x'); \
                try { m0.instrumentHTTP({ propagator: 'b3' }) } catch (e) { console.log(e.message) }";
    let mut requests = Vec::new();
    let found = lines_with(&["jslib/tempo", "k6/http"], body, |request| {
        requests.push(request.to_owned());
        json(200, "{}")
    });
    assert_eq!(found, ["unknown propagator `b3`"]);
    for request in &requests[..2] {
        let value = request
            .split("traceparent: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next())
            .expect("a header");
        assert!(value.len() == 55 && value.starts_with("00-") && value.ends_with("-00"), "{value}");
        assert_eq!(request.matches("traceparent").count(), 1);
    }
    assert!(requests[2].contains("uber-trace-id: "), "{requests:?}");
}

#[test]
fn gives_each_user_its_own_libraries() {
    let body = "const s = m0.default; exports.default = () => { s.addHeader('X-User', String(__VU)); \
            m1.default.config.logFailures = m1.default.config.logFailures || __VU; \
                if (__VU === 1) m2.instrumentHTTP(); const r = s.get('http://127.0.0.1:8080/'); \
                m3.default.get('http://127.0.0.1:8080/'); \
                console.log(r.request.headers['X-User'], 'Traceparent' in r.request.headers, \
                m1.default.config.logFailures) };";
    let mut requests = Vec::new();
    let modules = vec![factory(&["jslib/httpx", "jslib/k6chaijs", "jslib/tempo", "k6/http"], body)];
    let trace = run_script(modules, 2, 1, settings(), |request| {
        requests.push(request.contains("traceparent: "));
        json(200, "{}")
    });
    assert_eq!(trace.console, ["info: [ \"1\" ] true 1", "info: [ \"2\" ] false 2"]);
    assert_eq!(requests, [true, true, false, false]);
}

#[test]
fn parses_and_writes_csv() {
    let text = r#"id;name;ok\r\n1;"a;""b""\nc";true\r\n\r\n2;;x;9\r\n"#;
    let body = format!(
        "const r = m0.default.parse('{text}', {{ header: true, dynamicTyping: true, skipEmptyLines: true }}); \
            console.log(JSON.stringify(r.data)); \
         console.log(r.meta.delimiter, r.meta.fields.join(), r.errors.map((e) => e.code + e.row).join()); \
         console.log(JSON.stringify(m0.default.parse('a,b\\n1,2').data), JSON.stringify(m0.parse('# x\\n1\\t2', \
            {{ comments: '#' }}).data)); \
         console.log(JSON.stringify(m0.unparse([{{ a: 1, b: 'x,\"y\"' }}, {{ a: null, b: ' z' }}])), \
            m0.unparse([[1, 2]], {{ delimiter: ';' }})); \
         try {{ m0.parse('', {{ worker: true }}) }} catch (e) {{ console.log(e.message) }}"
    );
    assert_eq!(
        lines(&["jslib/papaparse"], &body),
        [
            r#"[{"id":1,"name":"a;\"b\"\nc","ok":true},{"id":2,"name":null,"ok":"x","__parsed_extra":[9]}]"#,
            "; id,name,ok TooManyFields1",
            r#"[["a","b"],["1","2"]] [["1","2"]]"#,
            r#""a,b\r\n1,\"x,\"\"y\"\"\"\r\n,\" z\"" 1;2"#,
            "papaparse: the option `worker` is not supported",
        ]
    );
}

#[test]
fn follows_json_paths() {
    let body = "const t = { store: { book: [{ p: 8, t: 'a' }, { p: 22, t: 'b', isbn: 1 }, { p: 9, t: 'c' }], \
            bike: { p: 19 } } }; \
                const j = m0.default, q = (path) => JSON.stringify(j.query(t, path)); \
                console.log(q('$.store.book[*].t'), q('$..p'), q('$.store.book[-1].t'), \
                q('$.store.book[0,2].t'), q('$.store.book[1:].t')); \
                console.log(q('$..book[?(@.p<10)].t'), q('$..book[?(@.isbn)].t'), q(\"$..book[?(@.p>5 && \
                @.t=='b')].p\"), q(\"$['store']['bike'].p\")); \
                console.log(j.value(t, '$.store.bike.p'), JSON.stringify(j.paths(t, '$..bike')), j.value(t, \
                '$.none')); \
                try { q('$..book[(@.length-1)]') } catch (e) { console.log(e.message) } try { q('$..book[?(@.p + \
                1)]') } catch (e) { console.log(e.message) }";
    assert_eq!(
        lines(&["jslib/jsonpath"], body),
        [
            r#"["a","b","c"] [8,22,9,19] ["c"] ["a","c"] ["b","c"]"#,
            r#"["a","c"] ["b"] [22] [19]"#,
            r#"19 [["$","store","bike"]] undefined"#,
            "jsonpath `$..book[(@.length-1)]`: the script expression `(@.length-1)` is not supported",
            "jsonpath `$..book[?(@.p + 1)]`: the script expression `@.p + 1` is not supported",
        ]
    );
}

#[test]
fn generates_one_time_passwords() {
    // RFC 4226, appendix D: counters are times of 30 s; here by their distance from the simulated time.
    let body = "const t = new m0.TOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'); \
                console.log(await t.gen(-60000000 + 0), await t.gen(-60000000 + 9), (await new \
                m0.TOTP('GEZDGNBVGY3TQOJQ', 8).gen()).length); \
                console.log(await t.verify(await t.gen()), await t.verify(await t.gen(1)), await t.verify(await \
                t.gen(5)), await t.verify('x')); \
                try { new m0.TOTP('1!') } catch (e) { console.log(e.message) }";
    assert_eq!(
        lines(&["jslib/totp"], body),
        ["755224 520489 8", "true true false false", "invalid base32 secret: unexpected `1`",]
    );
}

#[test]
fn validates_with_schemas() {
    let body = "const ajv = new m0.default({ allErrors: true }); \
                const v = ajv.compile({ type: 'object', required: ['a'], properties: { list: { items: { type: \
                'number' } } } }); \
                console.log(v({ a: 1 }), v.errors, v({ list: [1, 'x'] }), v.errors.map((e) => e.keyword + \
                e.dataPath).sort().join()); \
                console.log(ajv.validate({ type: 'string' }, 5), ajv.errorsText().startsWith('data '), \
                ajv.validateSchema({ type: 'odd' })); \
                try { ajv.compile({ type: 'odd' }) } catch (e) { console.log(e.message.split('`')[0]) }";
    assert_eq!(
        lines(&["jslib/ajv"], body),
        ["true null false required,type.list[1]", "false true false", "invalid schema at ",]
    );
}

#[test]
fn resolves_addresses_of_any_version() {
    for (address, name) in [
        ("https://jslib.k6.io/k6-utils/1.4.0/index.js", "jslib/k6-utils"),
        ("https://raw.githubusercontent.com/benc-uk/k6-reporter/main/dist/bundle.js", "jslib/k6-reporter"),
        ("https://jslib.k6.io/k6chaijs/4.3.4.3/index.js", "jslib/k6chaijs"),
        ("k6", "k6"),
        ("k6/http", "k6/http"),
        ("k6/experimental/timers", "k6/timers"),
        ("k6/experimental/tracing", "jslib/tempo"),
        ("k6/experimental/redis", "k6/experimental/redis"),
        ("k6/x/redis", "k6/experimental/redis"),
        ("k6/experimental/webcrypto", "k6/experimental/webcrypto"),
    ] {
        assert_eq!(resolve(address), Builtin::Known(name), "{address}");
    }
    for address in ["k6/browser", "k6/x/sql", "k6/else", "https://jslib.k6.io/aws/0.14.0/s3.js"] {
        let Builtin::Refused { reason, hint } = resolve(address) else { panic!("{address} is not refused") };
        assert!(
            reason.contains(address) && reason.ends_with("is not supported") && !hint.is_empty(),
            "{reason}"
        );
    }
    for other in ["./lib.js", "lodash", "https://example.com/x.js", "~url", "jslib/url"] {
        assert_eq!(resolve(other), Builtin::Unknown, "{other}");
    }
}
