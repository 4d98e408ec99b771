//! What samplers send, and how their results are named.

use crate::simulator::{Answer, Folder, run, run_in, text};
use crate::xml::{arguments, element, get, group, headers, plan, request};
use plimsoll_plan::Fault;

fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn samples_are_threads_times_loops() {
    let trace = run(&plan(&[], &group(3, 4, &get("Home", "/", ""))), |_| text(200, "hello"));
    assert_eq!(trace.requests.len(), 12);
    assert_eq!(trace.series["Home"], 12);
    assert_eq!(trace.lines.len(), 12);
    assert_eq!(trace.lines[0].split(',').nth(5), Some("Group 1-1"));
}

#[test]
fn a_line_of_results_has_the_columns_of_jmeter() {
    let trace = run(&plan(&[], &group(1, 1, &get("Home", "/", ""))), |_| text(200, "hello"));
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n".len();
    let sent = trace.requests[0].len();
    assert_eq!(
        trace.lines,
        [format!(
            "1800000000000,10,Home,200,OK,Group 1-1,text,true,,{},{sent},1,1,http://server.test/,10,0,0",
            head + 5
        )]
    );
}

#[test]
fn arguments_of_get_are_a_query_and_those_of_post_a_form() {
    let given = arguments(&[("a", "x y&z", true), ("b", "p%20q", false), ("", "left out", false)]);
    let more = [("x", "", given.as_str())];
    let below = request("G", "GET", "/search?q=1", &more, "") + &request("P", "POST", "/form", &more, "");
    let trace = run(&plan(&[], &group(1, 1, &below)), |_| text(200, ""));
    assert_eq!(trace.paths(), ["/search?q=1&a=x+y%26z&b=p%20q", "/form"]);
    assert_eq!(body(&trace.requests[1]), "a=x+y%26z&b=p+q");
    assert!(trace.requests[1].contains("Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n"));
}

#[test]
fn a_raw_body_and_a_file_are_sent_as_they_are() {
    let folder = Folder::new(&[("data.bin", "from a file")]);
    let raw = arguments(&[("", "{\"id\": ${__threadNum}}", false)]);
    let file = "<elementProp name=\"HTTPsampler.Files\" elementType=\"HTTPFileArgs\">\
     <collectionProp name=\"HTTPFileArgs.files\"><elementProp name=\"data.bin\" elementType=\"HTTPFileArg\">\
     <stringProp name=\"File.path\">data.bin</stringProp><stringProp name=\"File.paramname\"></stringProp>\
     <stringProp name=\"File.mimetype\">application/gzip</stringProp></elementProp></collectionProp>\
     </elementProp>";
    let below = request("R", "PUT", "/raw", &[("b", "HTTPSampler.postBodyRaw", "true"), ("x", "", &raw)], "")
        + &request("F", "POST", "/file", &[("x", "", file)], "");
    let trace = run_in(&folder, &plan(&[], &group(1, 1, &below)), &[], |_| text(200, ""));
    assert_eq!(body(&trace.requests[0]), "{\"id\": 1}");
    assert_eq!(body(&trace.requests[1]), "from a file");
    assert!(trace.requests[1].contains("Content-Type: application/gzip\r\n"));
}

#[test]
fn a_url_in_the_path_replaces_the_host() {
    let trace =
        run(&plan(&[("u", "http://other.test:81/a?b=c")], &group(1, 1, &get("A", "${u}", ""))), |_| {
            text(200, "")
        });
    assert!(trace.requests[0].contains("\r\nHost: other.test:81\r\n"), "{}", trace.requests[0]);
    assert_eq!(trace.paths(), ["/a?b=c"]);
}

#[test]
fn the_inner_header_replaces_the_outer_one() {
    let below =
        headers(&[("X-A", "outer"), ("X-B", "outer")]) + &get("A", "/", &headers(&[("x-a", "inner")]));
    let trace = run(&plan(&[], &group(1, 1, &below)), |_| text(200, ""));
    assert!(trace.requests[0].contains("x-a: inner\r\n") && trace.requests[0].contains("X-B: outer\r\n"));
    assert!(!trace.requests[0].contains("X-A: outer"));
}

#[test]
fn redirects_are_sub_samples_of_one_sample() {
    let server = |request: &str| match request.starts_with("GET /old") || request.starts_with("POST /old") {
        true => Answer { head: "Location: /new?x=1\r\n".into(), ..text(302, "") },
        false => text(200, "new"),
    };
    let trace = run(&plan(&[], &group(1, 1, &request("Move", "POST", "/old", &[], ""))), server);
    assert_eq!(trace.paths(), ["/old", "/new?x=1"]);
    assert!(trace.requests[1].starts_with("GET "));
    assert_eq!(trace.series.keys().collect::<Vec<_>>(), ["Move", "Move-1"]);
    let lines: Vec<&str> = trace.lines[0].lines().collect();
    assert_eq!(lines.len(), 3, "the sample, and both sub-samples");
    assert!(lines[1].contains(",Move-0,302,") && lines[2].contains(",Move-1,200,"));
    let fields: Vec<&str> = lines[0].split(',').collect();
    assert_eq!(
        (fields[1], fields[2], fields[3], fields[13]),
        ("20", "Move", "200", "http://server.test/new?x=1")
    );
}

#[test]
fn cookies_stay_with_their_thread() {
    let cookies = element(
        "CookieManager",
        "Cookies",
        &[
            ("x", "", "<collectionProp name=\"CookieManager.cookies\"/>"),
            ("b", "CookieManager.clearEachIteration", "false"),
        ],
        "",
    );
    let mut count = 0;
    let server = |_: &str| {
        count += 1;
        Answer { head: format!("Set-Cookie: s={count}; Path=/\r\n"), ..text(200, "") }
    };
    let trace = run(&plan(&[], &group(1, 2, &(cookies + &get("A", "/", "")))), server);
    assert!(!trace.requests[0].contains("Cookie:"));
    assert!(trace.requests[1].contains("\r\nCookie: s=1\r\n"));
}

#[test]
fn a_failed_connection_has_the_code_of_java() {
    let server = |_: &str| Answer { fault: Some(Fault::ConnectionRefused), ..text(0, "") };
    let trace = run(&plan(&[], &group(1, 1, &get("A", "/", ""))), server);
    assert_eq!(trace.column(3), ["Non HTTP response code: org.apache.http.conn.HttpHostConnectException"]);
    assert_eq!(trace.column(7), ["false"]);
}

#[test]
fn an_invalid_url_fails_without_a_request() {
    let trace = run(&plan(&[], &group(1, 1, &get("A", "/a{b}", ""))), |_| text(200, ""));
    assert!(trace.requests.is_empty());
    assert_eq!(trace.column(3), ["Non HTTP response code: java.net.URISyntaxException"]);
}

#[test]
fn what_precedes_a_path_is_kept_only_while_its_texts_stay_the_same() {
    let line = |request: &str, name: &str| {
        let found =
            request.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned));
        found.unwrap_or_default()
    };
    let sent = |below: &str| {
        let trace = run(&plan(&[("h", "one.test")], &group(1, 3, below)), |_| text(200, ""));
        let all: Vec<String> = trace
            .requests
            .iter()
            .map(|one| {
                format!("{} {} {}", one.split(' ').nth(1).unwrap(), line(one, "Host"), line(one, "X-N"))
            })
            .collect();
        all.join("; ")
    };
    // A counter in a header, and another one in the path only.
    let counted = headers(&[("X-N", "${__counter(TRUE)}")]);
    assert_eq!(sent(&get("A", "/", &counted)), "/ server.test 1; / server.test 2; / server.test 3");
    let fixed = headers(&[("X-N", "a")]);
    let path = get("A", "/${__counter(TRUE)}", &fixed);
    assert_eq!(sent(&path), "/1 server.test a; /2 server.test a; /3 server.test a");
    // A host that a variable changes, and a body between two requests without one.
    let counter = element(
        "CounterConfig",
        "c",
        &[
            ("s", "CounterConfig.name", "n"),
            ("s", "CounterConfig.start", "1"),
            ("s", "CounterConfig.incr", "1"),
        ],
        "",
    );
    let host = request("A", "GET", "/", &[], &fixed).replace("server.test", "h${n}.test");
    assert_eq!(sent(&(counter + &host)), "/ h1.test a; / h2.test a; / h3.test a");
    // The text of a property that the run changes is not fixed.
    let changed = get("A", "/${__P(p)}${__setProperty(p,${__counter(TRUE)})}", &fixed);
    assert_eq!(sent(&changed), "/1 server.test a; /1 server.test a; /2 server.test a");
}
