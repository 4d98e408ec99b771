//! Lists of URLs: one request a line, with its headers and body below.

use plimsoll_lines::urls;
use plimsoll_plan::diag::Place;
use std::path::Path;

#[test]
fn each_request_has_its_headers_and_its_body() {
    let folder = std::env::temp_dir().join(format!("plimsoll-urls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("order.json"), "{}").unwrap();
    let text = "# the shop\nGET http://h:81/a?b=c\nX-One: 1\n\n\nPOST http://h:81/orders\n\
                Content-Type: application/json\n@order.json\nhttp://h:81/plain\n";
    let draft = urls::parse(text, "list.txt", &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let shown: Vec<String> = draft
        .requests
        .iter()
        .map(|r| format!("{} {:?} {:?}", r.name, r.headers, r.body.as_deref().map(String::from_utf8_lossy)))
        .collect();
    assert_eq!(
        shown,
        [
            "GET /a?b=c [(\"X-One\", \"1\")] None",
            "POST /orders [(\"Content-Type\", \"application/json\")] Some(\"{}\")",
            "GET /plain [] None",
        ]
    );
    assert_eq!(draft.target.unwrap().authority(), "h:81");
}

#[test]
fn each_url_names_its_origin() {
    let text = "GET http://h/a\nGET https://i/b\nGET http://h:80/c\nGET https://i:443/d\nGET http://i/e";
    let draft = urls::parse(text, "list.txt", Path::new("")).unwrap();
    let requests: Vec<_> = draft.requests.iter().map(|r| (r.origin, r.name.as_str())).collect();
    assert_eq!(requests, [(0, "GET /a"), (1, "GET i/b"), (0, "GET /c"), (1, "GET i/d"), (2, "GET i/e")]);
    let more: Vec<_> = draft.more_origins.iter().map(|more| (more.target.tls, more.target.port)).collect();
    assert_eq!(more, [(true, 443), (false, 80)]);
}

#[test]
fn every_mistake_has_its_line() {
    for (text, line, part) in [
        ("X-One: 1\nGET http://h/", 1, "before the first request"),
        ("GET http://h/a\nnonsense", 2, "colon"),
        ("GET http://h/a\n@none.json", 2, "no such file"),
        ("GET ws://h/a", 1, "WebSocket"),
    ] {
        let wrong = urls::parse(text, "list.txt", Path::new("")).unwrap_err();
        let at = matches!(&wrong[0].place, Place::Text { line: at, file, .. } if *at == line && file == "list.txt");
        assert!(at && wrong[0].message.contains(part), "{text}: {wrong:?}");
    }
    assert!(
        urls::parse("# nothing\n", "list.txt", Path::new("")).unwrap_err()[0].message.contains("no request")
    );
}
