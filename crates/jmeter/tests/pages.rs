//! What pages embed.

use crate::simulator::{Answer, Trace, run, text};
use crate::xml::{element, group, plan};
use plimsoll_plan::Fault;

const PAGE: &str =
    "<html><link rel=stylesheet href=a.css><script src=b.js></script><img src=c.png><img src=c.png></html>";

fn request(more: &[(&str, &str, &str)]) -> String {
    let fixed = [
        ("s", "HTTPSampler.domain", "127.0.0.1"),
        ("s", "HTTPSampler.port", "8080"),
        ("s", "HTTPSampler.path", "/dir/page"),
        ("s", "HTTPSampler.method", "GET"),
        ("b", "HTTPSampler.follow_redirects", "true"),
        ("b", "HTTPSampler.use_keepalive", "true"),
        ("b", "HTTPSampler.image_parser", "true"),
    ];
    element("HTTPSamplerProxy", "A", &[more, &fixed[..]].concat(), "")
}

fn of(media: &str, body: &str) -> Answer {
    Answer { head: format!("Content-Type: {media}\r\n"), ..text(200, body) }
}

fn server(request: &str) -> Answer {
    let path = request.split(' ').nth(1).unwrap();
    match path {
        "/dir/page" => of("text/html; charset=utf-8", PAGE),
        "/dir/a.css" => of("text/css", "@import 'inner.css'; x { background: url(no.png) }"),
        "/dir/inner.css" => of("text/css", ""),
        "/dir/b.js" => of("text/javascript", "<img src=no.png>"),
        _ => of("image/png", "png"),
    }
}

fn loaded(more: &[(&str, &str, &str)], server: impl FnMut(&str) -> Answer) -> Trace {
    run(&plan(&[], &group(1, 1, &request(more))), server)
}

#[test]
fn a_page_loads_what_it_embeds_one_after_another() {
    let trace = loaded(&[], server);
    assert_eq!(trace.paths(), ["/dir/page", "/dir/a.css", "/dir/inner.css", "/dir/b.js", "/dir/c.png"]);
    assert_eq!(trace.times_ms, [0, 10, 20, 30, 40]);
    // One sample, with the page and its files as sub-samples; the style sheet has its own.
    let lines: Vec<&str> = trace.lines[0].lines().collect();
    let labels: Vec<&str> = lines.iter().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(labels, ["A", "A-0", "A-1", "A-0", "A-1", "A-2", "A-3"]);
    let elapsed: Vec<&str> = lines.iter().map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(elapsed, ["50", "10", "20", "10", "10", "10", "10"]);
    assert_eq!(trace.series["A"], 1);
    assert_eq!(trace.series["A (embedded)"], 4);
}

#[test]
fn concurrent_downloads_have_a_limit() {
    let pool =
        |number| [("b", "HTTPSampler.concurrentDwn", "true"), ("s", "HTTPSampler.concurrentPool", number)];
    let trace = loaded(&pool("2"), server);
    // The import takes the place of its style sheet.
    assert_eq!(trace.times_ms, [0, 10, 10, 20, 20]);
    assert!(trace.lines[0].contains(",30,A,"), "{}", trace.lines[0]);
    let trace = loaded(&pool("6"), server);
    assert_eq!(trace.times_ms, [0, 10, 10, 10, 20]);
    // As in JMeter, the order of the sub-samples is that of the page.
    let urls: Vec<&str> =
        trace.lines[0].lines().map(|line| line.split("http://127.0.0.1:8080/dir/").nth(1).unwrap()).collect();
    let names: Vec<&str> = urls.iter().map(|rest| rest.split(',').next().unwrap()).collect();
    assert_eq!(names, ["page", "page", "a.css", "a.css", "inner.css", "b.js", "c.png"]);
}

#[test]
fn patterns_select_urls() {
    let trace = loaded(&[("s", "HTTPSampler.embedded_url_re", ".*png")], server);
    assert_eq!(trace.paths(), ["/dir/page", "/dir/c.png"]);
    let trace = loaded(&[("s", "HTTPSampler.embedded_url_exclude_re", ".*css")], server);
    assert_eq!(trace.paths(), ["/dir/page", "/dir/b.js", "/dir/c.png"]);
    // The whole URL must match.
    let trace = loaded(&[("s", "HTTPSampler.embedded_url_re", "png")], server);
    assert_eq!(trace.paths(), ["/dir/page"]);
}

#[test]
fn a_file_that_fails_fails_the_page_and_is_named() {
    for broken in [404, 0] {
        let trace = loaded(&[], |request| match request.starts_with("GET /dir/b.js ") {
            true if broken == 0 => Answer { fault: Some(Fault::ConnectionReset), ..text(200, "") },
            true => text(broken, "gone"),
            false => server(request),
        });
        assert_eq!(trace.paths().len(), 5, "the others are loaded");
        let line = trace.lines[0].lines().next().unwrap();
        assert!(
            line.contains("Embedded resource download error:http://127.0.0.1:8080/dir/b.js code:"),
            "{line}"
        );
        assert!(line.contains(",false,"), "{line}");
    }
}

#[test]
fn only_texts_of_successful_responses_embed_anything() {
    let page = |status, media: &'static str| {
        loaded(&[], move |request| match request.starts_with("GET /dir/page ") {
            true => Answer { status, ..of(media, PAGE) },
            false => server(request),
        })
    };
    assert_eq!(page(500, "text/html").paths(), ["/dir/page"]);
    assert_eq!(page(200, "text/plain").paths(), ["/dir/page"]);
    assert_eq!(page(200, "application/xhtml+xml").paths().len(), 5);
    let plain =
        run(&plan(&[], &group(1, 1, &request(&[("b", "HTTPSampler.image_parser", "false")]))), server);
    assert_eq!(plain.paths().len(), 1, "{:?}", plain.paths());
}

#[test]
fn frames_have_a_depth_limit_and_files_of_a_redirected_page_follow_its_redirects() {
    let mut number = 0;
    let trace = loaded(&[], |_| {
        number += 1;
        of("text/html", &format!("<iframe src=f{number}></iframe>"))
    });
    assert_eq!(trace.paths().len(), 7, "the page, five levels with a frame, and one whose frame is too deep");
    let errors =
        trace.lines[0].lines().filter(|line| line.contains("Maximum frame/iframe nesting depth exceeded."));
    assert_eq!(errors.count(), 1, "{:?}", trace.lines);
    let trace = loaded(&[], |request| match request.split(' ').nth(1).unwrap() {
        "/dir/page" => Answer { head: "Location: /new/page\r\n".into(), ..text(302, "") },
        "/new/page" => of("text/html", "<img src=x.png>"),
        _ => of("image/png", "png"),
    });
    assert_eq!(trace.paths(), ["/dir/page", "/new/page", "/new/x.png"]);
    let labels: Vec<&str> = trace.lines[0].lines().map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(labels, ["A", "A-0", "A-1", "A-2"]);
}
