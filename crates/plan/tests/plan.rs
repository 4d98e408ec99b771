//! The manual of the nouns: units, URLs, stages, thresholds, what sealing refuses.

use plimsoll_plan::draft::Draft;
use plimsoll_plan::draft::LoadDraft;
use plimsoll_plan::link::{Link, Tls, TlsFiles};
use plimsoll_plan::load::{Load, Share, stages};
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::request::{check_header, redacted_header, redacted_path, url};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::watch::Trust;
use plimsoll_plan::{Plan, Request, Target, threshold, unit};

fn draft() -> Draft {
    let url = url("http://127.0.0.1:8080/pick?token=abc&x=1").unwrap();
    Draft {
        target: Some(url.target),
        requests: vec![Request {
            origin: 0,
            name: "GET /pick".into(),
            method: "GET".into(),
            path: url.path,
            headers: vec![("Authorization".into(), "Bearer sesame".into())],
            body: None,
        }],
        ..Draft::default()
    }
}

fn sealed(draft: Draft) -> Result<Plan, Vec<&'static str>> {
    seal(draft, Machine { cpus: 2, seed: 7 }).map_err(|all| all.iter().map(|d| d.code).collect())
}

#[test]
fn what_is_said_of_tls_for_a_plain_target_is_for_its_monitors() {
    let files = TlsFiles { ca: vec![b"PEM".to_vec()], ..TlsFiles::default() };
    let link = Link { tls: Some(Tls { insecure: true, ..Tls::default() }), ..Link::default() };
    let plan = sealed(Draft { link: link.clone(), tls_files: files, ..draft() }).unwrap();
    assert_eq!(plan.outline.link.tls, None, "the target is plain");
    assert_eq!(plan.watch_trust, Trust { ca: vec![b"PEM".to_vec()], insecure: true });
    let target = url("https://127.0.0.1/").unwrap().target;
    let plan = sealed(Draft { target: Some(target), link, ..draft() }).unwrap();
    assert!(plan.watch_trust.insecure && plan.outline.link.tls.unwrap().insecure);
    assert_eq!(sealed(draft()).unwrap().watch_trust, Trust::default());
}

#[test]
fn durations_need_a_unit_and_add_up() {
    assert_eq!(unit::duration_ns("1m30s"), Ok(90_000_000_000));
    assert_eq!(unit::duration_ns("1.5ms"), Ok(1_500_000));
    for bad in ["10", "", "5 parsecs", "1.2.3s", "s", "-1s", "9999999h"] {
        assert!(unit::duration_ns(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_space_in_a_duration_is_rejected_with_the_duration_without_it() {
    for (text, message, hint) in [
        ("300 ms", "invalid duration `300 ms`: remove the space", "write `300ms`"),
        ("1 m 30 s", "invalid duration `1 m 30 s`: remove the spaces", "write `1m30s`"),
        (
            "1 m 30",
            "missing unit in duration `1 m 30`",
            "write `1m30s` for seconds, or `1m30ms` for milliseconds",
        ),
        ("0.3", "missing unit in duration `0.3`", "write `0.3s` for seconds, or `0.3ms` for milliseconds"),
    ] {
        let problem = unit::duration_ns(text).unwrap_err();
        assert_eq!((problem.message.as_str(), problem.hint.as_str()), (message, hint));
    }
    let unit = unit::duration_ns("5 parsecs").unwrap_err();
    assert_eq!(unit.message, "unknown unit `parsecs` in duration `5 parsecs`");
}

#[test]
fn rates_sizes_ratios_and_shares_read_as_people_write_them() {
    assert_eq!(unit::rate_per_s("6000/m"), Ok(100.0));
    assert!(
        unit::rate_per_s("0/s").is_err()
            && unit::rate_per_s("inf").is_err()
            && unit::rate_per_s("5/x").is_err()
    );
    assert_eq!(unit::rate_per_s("1k/s"), Ok(1_000.0));
    assert_eq!(unit::rate_per_s("1e3"), Ok(1_000.0));
    for (text, n) in [("1000", 1_000), ("1k", 1_000), ("1.1k", 1_100), ("2M", 2_000_000), ("1e3", 1_000)] {
        assert_eq!(unit::count(text), Ok(n), "{text}");
    }
    for bad in ["", "k", "1.5", "-1", "inf", "nan", "1kk", "0x10", "1m", "1e30"] {
        assert!(unit::count(bad).is_err(), "{bad}");
    }
    assert_eq!(unit::size_bytes("64k"), Ok(65_536));
    assert_eq!(unit::ratio("0.1%"), Ok(0.001));
    assert_eq!(unit::share("2/2"), Ok((2, 2)));
    assert!(unit::share("3/2").is_err() && unit::share("0/2").is_err() && unit::share("half").is_err());
}

#[test]
fn urls_come_apart_and_say_what_is_wrong() {
    let u = url("http://user:p%40ss@[::1]:81/a?b=c#frag").unwrap();
    assert_eq!((u.target.host.as_str(), u.target.port, u.path.as_str()), ("::1", 81, "/a?b=c"));
    assert_eq!(u.credentials.as_deref(), Some("user:p@ss"));
    assert_eq!(u.target.authority(), "[::1]:81");
    assert_eq!(url("example.test").unwrap().path, "/");
    assert_eq!(url("http://h?x=1").unwrap().path, "/?x=1");
    assert_eq!(url("h/go?to=http://x").unwrap().path, "/go?to=http://x");
    for (bad, word) in [
        ("ftp://x/", "ftp"),
        ("wss://x/", "wss"),
        ("http://", "missing host"),
        ("http://h:0/", "port"),
        ("http://h:99999/", "port"),
        ("http://h/a b", "%20"),
        ("http://::1/", "brackets"),
        ("http://ex\u{e4}mple/", "xn--"),
    ] {
        let sentence = url(bad).unwrap_err().to_string();
        assert!(sentence.contains(word), "{bad}: {sentence}");
    }
}

#[test]
fn stages_are_users_or_rates_never_both() {
    let (profile, open) = stages("10s:100,1m:500,0s:50,5s:50").unwrap();
    assert!(!open);
    assert_eq!(profile.level_at(5_000_000_000), 50.0);
    assert_eq!(profile.level_at(70_000_000_000), 50.0);
    assert_eq!(profile.peak(), 500.0);
    assert!(stages("10s:100/s,10s:200/s").unwrap().1);
    for bad in ["10s:100,5s:10/s", "10s", "0s:5", "10s:0", "x:1", "10s:many"] {
        assert!(stages(bad).is_err(), "{bad}");
    }
}

#[test]
fn thresholds_speak_the_terms_of_the_field() {
    let t = threshold::parse("response_time  p99<250ms").unwrap();
    assert_eq!((t.text.as_str(), t.value), ("response_time p99<250ms", 250e6));
    assert_eq!(threshold::parse("error_rate < 0.1%").unwrap().value, 0.001);
    assert_eq!(threshold::parse("error_rate < 0.001").unwrap().value, 0.001);
    for unclear in ["error_rate < 1", "error_rate < 200%", "achieved >= 99"] {
        assert!(threshold::parse(unclear).is_err(), "{unclear}");
    }
    assert_eq!(threshold::parse("p99 < 1s").unwrap().left(), "response_time p99");
    for bad in [
        "response_time < 1s",
        "response_time p101 < 1s",
        "error_rate p99 < 1%",
        "error_rate",
        "rate ! 5",
        "response_time p99 < 250",
    ] {
        assert!(threshold::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn defaults_make_a_closed_run_of_ten_seconds() {
    let plan = sealed(draft()).unwrap();
    let o = plan.outline;
    assert!(matches!(o.load, Load::Closed { .. }));
    assert_eq!(
        (o.connections, o.workers, o.stop.duration_ns, o.stop.requests),
        (50, 2, Some(10_000_000_000), None)
    );
    assert_eq!(o.thresholds.len(), 2);
    assert_eq!(
        sealed(Draft { load: LoadDraft { rate_per_s: Some(10.0), ..draft().load }, ..draft() })
            .unwrap()
            .outline
            .thresholds
            .len(),
        3
    );
    assert_eq!(
        sealed(Draft { load: LoadDraft { requests_total: Some(3), ..draft().load }, ..draft() })
            .unwrap()
            .outline
            .connections,
        3
    );
}

#[test]
fn errors_and_a_missed_rate_are_judged_unless_a_threshold_names_them() {
    let judged = |rate_per_s, rules: &[&str]| -> Vec<(String, bool)> {
        let thresholds = rules.iter().map(|rule| threshold::parse(rule).unwrap()).collect();
        let plan =
            sealed(Draft { load: LoadDraft { rate_per_s, ..draft().load }, thresholds, ..draft() }).unwrap();
        plan.outline.thresholds.into_iter().map(|t| (t.text, t.is_default)).collect()
    };
    let of = |rows: &[(&str, bool)]| rows.iter().map(|(t, i)| ((*t).to_owned(), *i)).collect::<Vec<_>>();
    let p99 = "response_time p99 < 1s";
    assert_eq!(
        judged(None, &[p99]),
        of(&[(p99, false), ("error_rate == 0%", true), ("longest_outage < 1s", true)])
    );
    assert_eq!(
        judged(None, &["error_rate < 1%"]),
        of(&[("error_rate < 1%", false), ("longest_outage < 1s", true)])
    );
    assert_eq!(
        judged(Some(10.0), &["error_rate < 1%", p99]),
        of(&[
            ("error_rate < 1%", false),
            (p99, false),
            ("longest_outage < 1s", true),
            ("achieved >= 99%", true)
        ])
    );
    assert_eq!(
        judged(Some(10.0), &["achieved >= 50%"]),
        of(&[("achieved >= 50%", false), ("error_rate == 0%", true), ("longest_outage < 1s", true)])
    );
}

#[test]
fn contradictions_and_empty_loads_are_refused_all_at_once() {
    let bad = Draft {
        load: LoadDraft {
            users: Some(0),
            rate_per_s: Some(5.0),
            stages: Some(stages("1s:5").unwrap()),
            duration_ns: Some(1),
            ..draft().load
        },
        warmup_ns: Some(2_000_000_000),
        ..draft()
    };
    assert_eq!(sealed(bad).unwrap_err(), ["P002", "P003", "P028", "P004", "P006", "P010"]);
    let rate = LoadDraft { rate_per_s: Some(5.0), ..draft().load };
    let users = Draft { load: LoadDraft { users: Some(3), ..rate.clone() }, ..draft() };
    assert_eq!(sealed(users).unwrap_err(), ["P028"], "arrivals have no users");
    let capped = LoadDraft { max_connections: Some(3), ..draft().load };
    assert_eq!(
        sealed(Draft { load: capped.clone(), ..draft() }).unwrap_err(),
        ["P028"],
        "users hold one each"
    );
    let capped = Draft { load: LoadDraft { rate_per_s: Some(5.0), ..capped }, ..draft() };
    assert_eq!(sealed(capped).unwrap().outline.connections, 3);
    let arrivals = Some(plimsoll_plan::load::Arrivals::Poisson);
    assert_eq!(
        sealed(Draft { load: LoadDraft { arrivals, ..draft().load }, ..draft() }).unwrap_err(),
        ["P005"]
    );
    let achieved = vec![threshold::parse("achieved >= 99%").unwrap()];
    assert_eq!(sealed(Draft { thresholds: achieved, ..draft() }).unwrap_err(), ["P015"]);
    assert_eq!(sealed(Draft { target: None, ..draft() }).unwrap_err(), ["P001"]);
}

/// However many users there are by default or by `-c`: more than the requests would never send one.
#[test]
fn fewer_requests_than_users_lower_the_users() {
    let users = |connections, requests| {
        sealed(Draft {
            load: LoadDraft { requests_total: Some(requests), users: connections, ..draft().load },
            ..draft()
        })
        .unwrap()
        .outline
        .connections
    };
    assert_eq!((users(Some(10), 5), users(None, 5), users(Some(10), 500)), (5, 5, 10));
}

/// A plain list of requests becomes a scenario that says the same and follows.
#[test]
fn following_redirects_keeps_the_requests() {
    let plan = sealed(Draft { redirects: Some(3), ..draft() }).unwrap();
    let plain = sealed(draft()).unwrap();
    let script = plan.script.as_ref().unwrap();
    assert_eq!((script.asks.len(), script.asks[0].redirects), (1, 3));
    assert_eq!(plan.outline.requests[0].path, plain.outline.requests[0].path);
    assert_eq!(plan.outline.requests[0].headers, plain.outline.requests[0].headers);
    assert!(sealed(Draft { redirects: Some(0), ..draft() }).unwrap().script.is_none());
}

#[test]
fn a_statistic_alone_is_that_of_the_response_time() {
    for (text, whole) in [
        ("p99<200ms", "response_time p99 <200ms"),
        ("p99.9 < 1s over 10s", "response_time p99.9 < 1s over 10s"),
        ("mean <= 20ms", "response_time mean <= 20ms"),
        ("max{request: log in} < 2s", "response_time{request: log in} max < 2s"),
    ] {
        let told = threshold::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(told, threshold::parse(whole).unwrap(), "{text}");
    }
    for bad in ["p99", "p101 < 1s", "p99 p50 < 1s", "latency < 5ms", "p99{request} < 1s"] {
        assert!(threshold::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn headers_that_break_a_message_are_refused() {
    let mut d = draft();
    d.requests[0].headers = vec![("Bad Name".into(), "x".into()), ("X".into(), "a\r\nEvil: 1".into())];
    assert_eq!(sealed(d).unwrap_err(), ["P014", "P014"]);
    let mut d = draft();
    d.requests[0].headers =
        vec![("content-length".into(), "5".into()), ("Transfer-Encoding".into(), "chunked".into())];
    assert_eq!(sealed(d).unwrap_err(), ["P017", "P018"]);
}

#[test]
fn no_secret_reaches_the_outline() {
    let plan = sealed(draft()).unwrap();
    let shown = format!("{} {:?}", serde_json::to_string(&plan.outline).unwrap(), plan);
    assert!(!shown.contains("sesame") && !shown.contains("abc"), "{shown}");
}

#[test]
fn what_may_be_a_secret_is_hidden_wherever_it_stands() {
    for key in [
        "token",
        "accessKey",
        "secretKey",
        "api_key",
        "sid",
        "pwd",
        "PASSWORD",
        "sig",
        "X-Amz-Credential",
        "X-Vault-Pass",
        "X-Auth-Token",
        "Authorization",
        "Proxy-Authorization",
        "Cookie",
        "Set-Cookie",
        "JSESSIONID",
        "id_token",
        "jwt",
        "code",
    ] {
        assert_eq!(redacted_header(key, "v"), "***", "{key}");
        assert_eq!(redacted_path(&format!("/a?x=1&{key}=v&q=2")), format!("/a?x=1&{key}=***&q=2"));
    }
    for key in ["Accept", "X-Request-Id", "barcode", "status_code", "page", "User-Agent", "Content-Type"] {
        assert_eq!(redacted_header(key, "v"), "v", "{key}");
        assert_eq!(redacted_path(&format!("/a?{key}=v")), format!("/a?{key}=v"));
    }
    for (path, shown) in [
        ("/a;jsessionid=v/b;x=1?q=2", "/a;jsessionid=***/b;x=1?q=2"),
        ("/a?x=1;token=v;w&q=2", "/a?x=1;token=***&q=2"),
        ("/a?to%6ben=v", "/a?to%6ben=***"),
        ("/a?token=v?w", "/a?token=***"),
        ("/reset/token=v", "/reset/token=***"),
        ("/a?token", "/a?token"),
        ("/token/a", "/token/a"),
    ] {
        assert_eq!(redacted_path(path), shown);
    }
}

#[test]
fn what_is_wrong_with_a_url_is_said_without_its_secrets() {
    for (text, shown) in [
        ("ftp://me:pw@h/a?token=t&q=2", "ftp://***@h/a?token=***&q=2"),
        ("https://me:p@w@h:0?key=t", "https://***@h:0?key=***"),
        ("http://me:pw@h:99999/", "http://***@h:99999/"),
        ("me:pw@/", "***@/"),
        ("http://h/a b?token=t", "http://h/a b?token=***"),
        ("h:x/go?token=t&to=http://me@x", "h:x/go?token=***&to=http://me@x"),
    ] {
        let sentence = url(text).unwrap_err().to_string();
        assert!(sentence.contains(&format!("`{shown}`")), "{sentence}");
    }
}

#[test]
fn header_values_hold_no_control_characters_but_tabs() {
    assert_eq!(check_header("X", "a\tb"), Ok(()));
    for bad in ["a\r\nY: 1", "a\0", "a\u{1}", "a\u{7f}"] {
        let sentence = check_header("X", bad).unwrap_err().to_string();
        assert!(sentence.contains("in the value of header `X`"), "{sentence}");
    }
}

#[test]
fn the_outline_survives_its_own_json() {
    let outline = sealed(draft()).unwrap().outline;
    let back: plimsoll_plan::Outline =
        serde_json::from_str(&serde_json::to_string(&outline).unwrap()).unwrap();
    assert_eq!(outline, back);
}

#[test]
fn an_edge_of_a_tick_falls_on_the_end_of_the_warmup() {
    let o = sealed(Draft { warmup_ns: Some(2_500_000_000), ..draft() }).unwrap().outline;
    assert_eq!(o.tick_bounds_ns(0), (0, 500_000_000));
    assert_eq!(o.tick_bounds_ns(2), (1_500_000_000, 2_500_000_000));
    assert!(o.is_warmup(2) && !o.is_warmup(3));
}

#[test]
fn a_share_has_users_of_its_own_and_no_more_workers_than_users() {
    for (part, of, users, mine) in [(1, 1, 5, 5), (1, 3, 5, 2), (2, 3, 5, 2), (3, 3, 5, 1), (3, 3, 2, 0)] {
        let share = Share { part, of };
        assert_eq!(share.count_of(users), mine, "{users} users, part {part} of {of}");
        let d =
            Draft { load: LoadDraft { users: Some(users), ..draft().load }, shard: Some(share), ..draft() };
        match sealed(d) {
            Ok(plan) => assert_eq!(plan.outline.workers, mine.min(2)),
            Err(codes) => assert_eq!((codes, mine), (vec!["P019"], 0)),
        }
    }
    // The most connections of the open model are each machine's own.
    let share = Some(Share { part: 3, of: 3 });
    let d = Draft {
        load: LoadDraft { max_connections: Some(2), rate_per_s: Some(10.0), ..draft().load },
        shard: share,
        ..draft()
    };
    assert_eq!(sealed(d).unwrap().outline.workers, 2);
}

#[test]
fn hard_caps_hold_for_stages_as_well() {
    for (text, codes) in [
        ("49h:10", &["P009"][..]),
        ("10s:1000001", &["P007"]),
        ("10s:10000001/s", &["P007"]),
        ("49h:10000001/s", &["P009", "P007"]),
        ("48h:1000000", &[]),
    ] {
        let staged =
            Draft { load: LoadDraft { stages: Some(stages(text).unwrap()), ..draft().load }, ..draft() };
        assert_eq!(sealed(staged).err().unwrap_or_default(), codes, "{text}");
    }
}

#[test]
fn a_title_that_nobody_wrote_tells_how_many_requests_there_are() {
    let one = draft();
    let first = one.requests[0].clone();
    let titled = |n: usize, name: Option<&str>| {
        let requests = vec![first.clone(); n];
        let d = Draft { requests, name: name.map(str::to_owned), ..draft() };
        sealed(d).unwrap().outline.name
    };
    let alone = titled(1, None);
    assert!(alone.starts_with("GET ") && !alone.contains(" and "), "{alone}");
    assert_eq!(titled(2, None), format!("{alone} and 1 more"));
    assert_eq!(titled(5, None), format!("{alone} and 4 more"));
    assert_eq!(titled(5, Some("shop")), "shop");
}

#[test]
fn every_request_of_several_origins_goes_to_one_that_is_there() {
    let at = |host: &str, port, tls| Target { host: host.into(), port, tls };
    let more = |name: &str, target| NamedTarget { name: name.into(), target };
    let mut several = draft();
    several.more_origins =
        vec![more("users", at("10.0.0.2", 443, true)), more("", at("10.0.0.3", 81, false))];
    let request = several.requests[0].clone();
    several.requests.extend((1..3).map(|origin| Request {
        origin,
        name: format!("{origin}"),
        ..request.clone()
    }));
    let outline = sealed(several.clone()).unwrap().outline;
    let names: Vec<(String, String)> =
        outline.all_origins().iter().map(|origin| (origin.name.clone(), origin.authority())).collect();
    let pair = |name: &str, authority: &str| (name.to_owned(), authority.to_owned());
    assert_eq!(
        names,
        [
            pair("127.0.0.1:8080", "127.0.0.1:8080"),
            pair("users", "10.0.0.2"),
            pair("10.0.0.3:81", "10.0.0.3:81")
        ]
    );
    // The target's own settings stay its own; who speaks TLS is verified by the own host.
    assert!(outline.link.tls.is_none() && outline.tls().is_some_and(|tls| tls.server_name == "10.0.0.2"));
    let tags: Vec<&str> = outline.requests.iter().map(|request| request.tags[0].1.as_str()).collect();
    assert_eq!(tags, ["127.0.0.1:8080", "users", "10.0.0.3:81"]);

    // Plain and over TLS: the same host, two rows.
    let mut twice = several.clone();
    let ports = [at("10.0.0.9", 80, false), at("10.0.0.9", 443, true)];
    twice.more_origins = ports.map(|target| more("", target)).to_vec();
    let outline = sealed(twice).unwrap().outline;
    let names: Vec<&str> = outline.origins.iter().map(|origin| origin.name.as_str()).collect();
    assert_eq!(names, ["127.0.0.1:8080", "http://10.0.0.9", "https://10.0.0.9"]);
    assert_eq!(outline.origins[2].describe(), "https://10.0.0.9");

    let mut stray = several.clone();
    stray.requests[1].origin = 3;
    assert_eq!(sealed(stray).unwrap_err(), ["P027"]);
    let mut many = several;
    many.more_origins = (0..256).map(|n| more("", at("10.0.1.1", 1_000 + n, false))).collect();
    assert_eq!(sealed(many).unwrap_err(), ["P026"]);
    // A plan of one origin says nothing of origins: its documents are as before.
    let alone = sealed(draft()).unwrap().outline;
    assert!(alone.origins.is_empty() && alone.requests[0].tags.is_empty() && alone.all_origins().len() == 1);
}

#[test]
fn connections_are_shared_only_where_http2_allows_it() {
    use plimsoll_plan::link::{Http, Reuse};
    let shared = |http: Http| {
        let mut shared = draft();
        (shared.link.http, shared.link.streams) = (http, 10);
        shared
    };
    assert_eq!(sealed(shared(Http::V2)).unwrap().outline.link.streams, 10);
    for http in [Http::V10, Http::V11, Http::Auto] {
        assert_eq!(sealed(shared(http)).unwrap_err(), ["P029"], "{http:?} over plain text");
    }
    let mut secure = shared(Http::Auto);
    secure.target.as_mut().unwrap().tls = true;
    assert!(sealed(secure).is_ok(), "the server may choose HTTP/2");
    for reuse in [Reuse::Iteration, Reuse::Request] {
        let mut short = shared(Http::V2);
        short.link.reuse = reuse;
        assert_eq!(sealed(short).unwrap_err(), ["P029"], "{reuse:?}");
    }
    let mut closing = shared(Http::V2);
    closing.keep_alive = Some(false);
    assert_eq!(sealed(closing).unwrap_err(), ["P029"], "keep-alive is off");
    let mut many = shared(Http::V2);
    (many.load.users, many.load.rate_per_s) = (None, Some(100.0));
    many.load.max_connections = Some(100_000);
    assert!(sealed(many.clone()).is_ok(), "a million streams");
    many.load.max_connections = Some(100_001);
    assert_eq!(sealed(many).unwrap_err(), ["P007"]);
}
