//! `URL` and `URLSearchParams`, by examples of the WHATWG standard.

use super::lines::lines;

fn href(pairs: &[(&str, &str)]) -> Vec<String> {
    let list = serde_json::to_string(pairs).expect("JSON");
    lines(
        &[],
        &format!(
            "for (const [url, base] of {list}) {{ try {{ console.log(new URL(url, base === '' ? undefined : \
            base).href) }} \
         catch (e) {{ console.log(e.name) }} }}"
        ),
    )
}

#[test]
fn normalizes_absolute_urls() {
    let found = href(&[
        ("HTTP://User:p%40@EXAMPLE.com:80/a/../b/./c?x=a b#f g", ""),
        ("https://example.com:8443", ""),
        ("http:\\\\h\\p", ""),
        ("  http://h/%7Eé\n ", ""),
        ("http://münchen.example/ä?ü", ""),
        ("http://bücher-straße.日本.example/", ""),
        ("http://0x7f.1/", ""),
        ("http://[2001:DB8:0:0:0:0:0:1]:80/", ""),
        ("mailto:a@b.c?x#y", ""),
        ("file:///etc/../x", ""),
        ("wss://h:443/s", ""),
    ]);
    assert_eq!(
        found,
        [
            "http://User:p%40@example.com/b/c?x=a%20b#f%20g",
            "https://example.com:8443/",
            "http://h/p",
            "http://h/%7E%C3%A9",
            "http://xn--mnchen-3ya.example/%C3%A4?%C3%BC",
            "http://xn--bcher-strae-46a18a.xn--wgv71a.example/",
            "http://127.0.0.1/",
            "http://[2001:db8::1]/",
            "mailto:a@b.c?x#y",
            "file:///x",
            "wss://h/s",
        ]
    );
}

#[test]
fn resolves_references() {
    let base = "http://h/a/b/c?q#f";
    let references = [
        "",
        "d",
        "../d",
        "./",
        "/x/./y",
        "//o/p",
        "////o/p",
        "?z",
        "#g",
        "http:e",
        "https://s",
        "..",
        "d?e#f",
    ];
    let pairs: Vec<(&str, &str)> = references.iter().map(|one| (*one, base)).collect();
    assert_eq!(
        href(&pairs),
        [
            "http://h/a/b/c?q",
            "http://h/a/b/d",
            "http://h/a/d",
            "http://h/a/b/",
            "http://h/x/y",
            "http://o/p",
            "http://o/p",
            "http://h/a/b/c?z",
            "http://h/a/b/c?q#g",
            "http://h/a/b/e",
            "https://s/",
            "http://h/a/",
            "http://h/a/b/d?e#f",
        ]
    );
}

#[test]
fn rejects_invalid_urls() {
    let invalid = [
        "",
        "/a",
        "http://",
        "http://a b/",
        "http://h:99999/",
        "http://h:x/",
        "http://[::1",
        "http://1.2.3.256/",
        "http://%80/",
    ];
    let pairs: Vec<(&str, &str)> = invalid.iter().map(|one| (*one, "")).collect();
    assert_eq!(href(&pairs), ["TypeError"; 9]);
}

#[test]
fn changes_parts_of_a_url() {
    let body = "const u = new URL('http://a:b@h:81/p?x=1#f'); \
                console.log(u.origin, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.username, \
                u.password, u.protocol); \
                u.searchParams.append('y', 'a b&c'); console.log(u.search); u.search = '?q=ü'; \
                console.log(u.searchParams.get('q'), u.href); \
                u.port = '80'; u.hash = ''; u.pathname = 'n m'; u.host = 'o:9'; u.username = ''; u.password = ''; \
                u.searchParams.delete('q'); console.log(String(u), JSON.stringify({ u })); \
                u.host = 'p:x'; u.hostname = 'o:1'; u.hash = 'a b'; u.hash = ''; \
                u.protocol = 'https'; u.port = '443'; console.log(u.href, URL.canParse('x'), URL.canParse('x', \
                'http://h'));";
    assert_eq!(
        lines(&[], body),
        [
            "http://h:81 h:81 h 81 /p ?x=1 #f a b http:",
            "?x=1&y=a+b%26c",
            "ü http://a:b@h:81/p?q=%C3%BC#f",
            r#"http://o:9/n%20m {"u":"http://o:9/n%20m"}"#,
            "https://p/n%20m false true",
        ]
    );
}

#[test]
fn reads_and_writes_search_parameters() {
    let body = "const p = new URLSearchParams('?a=1&b=2%20+x&a=3&c'); console.log(new \
            URL('http://h/??').searchParams.toString()); \
                console.log(p.get('a'), \
            p.getAll('a').join(), p.get('b'), p.get('z'), p.has('c'), p.size); \
                p.set('a', '9'); p.delete('b'); p.append('é', '~!()*\\''); console.log(p.toString(), [...p].length); \
                console.log(new URLSearchParams({ x: 1, y: 'z' }).toString(), new URLSearchParams([['k', 'v'], \
                ['k', 'w']]).toString()); \
                const s = new URLSearchParams('b=1&a=2'); s.sort(); console.log(String(s), [...s.keys()].join()); \
                try { new URLSearchParams([['a']]) } catch (e) { console.log(e.name) }";
    assert_eq!(
        lines(&[], body),
        [
            "%3F=",
            "1 1,3 2  x null true 4",
            "a=9&c=&%C3%A9=%7E%21%28%29*%27 3",
            "x=1&y=z k=v&k=w",
            "a=2&b=1 a,b",
            "TypeError",
        ]
    );
}
