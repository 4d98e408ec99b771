//! What a page embeds, as JMeter finds it: tags in the order of the text, and imports of style sheets.

use super::url;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use regex::Regex;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Returns the URLs that a response of this media type embeds, each once, in the order of the text. A media type that
/// embeds nothing has none.
pub fn urls(media: &str, text: &str, base: &str) -> Vec<String> {
    let found = match media {
        "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => {
            let page = Page(RefCell::new(Found { base: base.to_owned(), all: Vec::new() }));
            let tokenizer = Tokenizer::new(page, Default::default());
            let input = BufferQueue::default();
            input.push_back(text.into());
            // Scripts do not run, so the tokenizer never waits for one.
            let _ = tokenizer.feed(&input);
            tokenizer.end();
            tokenizer.sink.0.into_inner().all
        }
        "text/css" => imports(text).map(|import| (import, base.to_owned())).collect(),
        _ => Vec::new(),
    };
    let mut known = BTreeSet::new();
    let absolute = found.into_iter().filter_map(|(reference, base)| absolute(&reference, &base));
    absolute.filter(|url| known.insert(url.clone())).collect()
}

/// Returns the URL of a reference; none for other schemes, such as `data:`.
fn absolute(reference: &str, base: &str) -> Option<String> {
    let reference: String = reference.trim().chars().filter(|c| !"\n\r\u{8}\u{c}".contains(*c)).collect();
    if reference.is_empty() {
        return None;
    }
    // What precedes the first colon is a scheme, if it has no other separator.
    let scheme = reference.split_once(':').map(|(scheme, _)| scheme);
    let scheme = scheme.filter(|scheme| !scheme.is_empty() && !scheme.contains(['/', '?', '#']));
    if scheme.is_some_and(|scheme| !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str())) {
        return None;
    }
    Some(url::encoded_illegal(&url::join(base, &reference)))
}

/// References with the base URL at their place.
#[derive(Debug)]
struct Found {
    base: String,
    all: Vec<(String, String)>,
}

struct Page(RefCell<Found>);

impl TokenSink for Page {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind == TagKind::EndTag {
            return TokenSinkResult::Continue;
        }
        self.0.borrow_mut().add(&tag);
        match &*tag.name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "noembed" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}

impl Found {
    fn add(&mut self, tag: &Tag) {
        let of = |name: &str| tag.attrs.iter().find(|one| &*one.name.local == name).map(|one| &*one.value);
        let is = |name: &str, values: &[&str]| {
            of(name).is_some_and(|value| values.iter().any(|known| value.eq_ignore_ascii_case(known)))
        };
        match &*tag.name {
            "base" => {
                if let Some(base) = of("href").and_then(|href| absolute(href, &self.base)) {
                    self.base = base;
                }
            }
            "img" | "script" | "frame" | "iframe" | "embed" | "bgsound" => self.put(of("src")),
            "applet" => match of("codebase").filter(|base| !base.trim().is_empty()) {
                Some(base) => {
                    let archive = of("archive").filter(|archive| !archive.trim().is_empty());
                    let file = archive.or(of("code")).unwrap_or_default();
                    self.put(Some(&format!("{base}/{file}")));
                }
                None => self.put(of("code")),
            },
            "object" => {
                self.put(of("codebase"));
                self.put(of("data"));
            }
            "input" if is("type", &["image"]) => self.put(of("src")),
            "link" if is("rel", &["stylesheet", "icon", "shortcut icon", "preload"]) => self.put(of("href")),
            "input" | "link" => {}
            _ => self.put(of("background")),
        }
        if let Some(style) = of("style") {
            for found in STYLE.captures_iter(style) {
                self.put(found.get(1).or(found.get(2)).map(|reference| reference.as_str()));
            }
        }
    }

    fn put(&mut self, reference: Option<&str>) {
        self.all.extend(reference.map(|reference| (reference.to_owned(), self.base.clone())));
    }
}

/// `url('x')` in a `style` attribute; JMeter ignores those without quotes.
static STYLE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"(?i)url\(\s*(?:'([^']*)'|"([^"]*)")\s*\)"#));
/// `@import "x"` and `@import url(x)`.
static IMPORT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)@import\s+(?:url\(\s*)?(?:'([^']*)'|"([^"]*)"|([^\s'"();]+))"#));
static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)/\*.*?\*/"));

#[allow(clippy::expect_used, reason = "see the proof")]
fn pattern(text: &str) -> Regex {
    // proof: the patterns are constants, and the tests below use each of them.
    Regex::new(text).expect("a valid pattern")
}

/// Returns the imports of a style sheet: like a browser without a rule that matches, JMeter loads nothing else of it.
fn imports(text: &str) -> impl Iterator<Item = String> {
    let text = COMMENT.replace_all(text, " ").into_owned();
    let of = |found: regex::Captures<'_>| {
        let part = found.get(1).or(found.get(2)).or(found.get(3));
        part.map(|part| part.as_str().to_owned()).unwrap_or_default()
    };
    let all: Vec<String> = IMPORT.captures_iter(&text).map(of).collect();
    all.into_iter().filter(|import| !import.is_empty())
}

#[cfg(test)]
mod tests {
    use super::urls;

    const BASE: &str = "http://a/dir/page.html";

    #[test]
    fn tags_are_found_in_the_order_of_the_text_and_each_url_once() {
        let page = r#"<html><head><link REL=stylesheet href="s.css"><link rel=alternate href=no.xml>
            <script src="/a.js">document.write("<img src=no.png>")</script><style>x { b: url(no.gif) }</style>
            <base href="http://b/x/"></head><body background=bg.png style="background: url('st.png'), url(no.png)">
            <img src="i.png?a=1&amp;b=2"><IMG SRC=i.png?a=1&b=2><input type=image src=in.png><input src=no.png>
            <!-- <img src=no.png> --><iframe src="f.html#top"></iframe><object codebase=o data=d></object>
            <applet codebase=ap archive=x.jar></applet><td background="td.png"><a href=no.html>x</a>
            <img src="data:image/png;base64,AA"><img src=""><img src="//c/y z.png"></body>"#;
        assert_eq!(
            urls("text/html", page, BASE),
            [
                "http://a/dir/s.css",
                "http://a/a.js",
                "http://b/x/bg.png",
                "http://b/x/st.png",
                "http://b/x/i.png?a=1&b=2",
                "http://b/x/in.png",
                "http://b/x/f.html",
                "http://b/x/o",
                "http://b/x/d",
                "http://b/x/ap/x.jar",
                "http://b/x/td.png",
                "http://c/y%20z.png",
            ]
        );
    }

    #[test]
    fn of_a_style_sheet_only_imports_are_loaded() {
        let sheet = "/* @import 'no.css'; */ @import url( \"a.css\" ) print; @IMPORT 'b.css';\n@import url(c.css);\n\
                     body { background: url(no.png) }";
        assert_eq!(
            urls("text/css", sheet, BASE),
            ["http://a/dir/a.css", "http://a/dir/b.css", "http://a/dir/c.css"]
        );
        assert!(urls("image/png", "<img src=a.png>", BASE).is_empty());
        assert!(urls("text/html", "no tags < here", BASE).is_empty());
    }
}
