//! The documents that extractors and assertions read.

/// Returns the media type and the text of a document.
pub fn named(path: &str) -> Option<(&'static str, &'static str)> {
    Some(match path {
        "/json" => ("application/json", JSON),
        "/html" => ("text/html; charset=utf-8", HTML),
        "/xml" => ("application/xml", XML),
        "/page" => ("text/html", PAGE),
        "/nested" => ("text/html", NESTED),
        "/large" => ("text/plain", LARGE),
        _ => return None,
    })
}

const JSON: &str = r#"{"id":7,"name":"line","is_open":true,"ratio":0.25,"nothing":null,"empty":"","tags":["a","b","c"],
"items":[{"id":1,"name":"first","price":9.5},{"id":2,"name":"second","price":12},{"id":3,"name":"third","price":0.5}],
"deep":{"a":{"b":{"c":"found"}},"list":[[1,2],[3]]}}"#;

const HTML: &str = r#"<!DOCTYPE html>
<html lang="en"><head><title>A page</title><meta name="csrf" content="t0k3n"></head>
<body><h1 id="top" class="big bold">Heading</h1>
<p class="lead">First <b>bold</b> paragraph.</p>
<p>Second paragraph with <a href="/link?a=1&amp;b=2" data-index="4">a link</a> and <a href="/other">another</a>.</p>
<form action="/echo"><input type="hidden" name="token" value="abc-123"><input name="user" value=""></form>
</body></html>
"#;

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<shop open="true"><item id="1"><name>first</name><price>9.5</price></item><item id="2"><name>second</name>
<price>12</price></item><note>a &amp; b</note></shop>
"#;

/// A page with embedded resources.
const PAGE: &str = r#"<html><head><link rel="stylesheet" href="/style.css"><script src="/script.js"></script></head>
<body background="/back.png"><img src="/a.png"><img src="/b.png"><img src="/a.png"><a href="/no">link</a>
<iframe src="/frame"></iframe><input type="image" src="/button.png"></body></html>
"#;

/// A page that is its own frame.
const NESTED: &str = "<html><body><iframe src=\"/nested\"></iframe></body></html>";

const LARGE: &str =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
