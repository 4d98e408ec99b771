//! Pasted curl command lines: plimsoll sends each as curl would, or rejects the option by name.

use plimsoll_lines::curl;
use plimsoll_plan::Draft;
use plimsoll_plan::diag::Place;

/// One argument that holds the whole command line, as when it is pasted in quotes.
fn line(text: &str) -> Draft {
    curl::parse(&[text.to_owned()]).unwrap_or_else(|all| panic!("refused: {text}\n{all:#?}"))
}

/// `METHOD path`, a line for each header, and the body after `> `.
fn sent(draft: &Draft) -> Vec<String> {
    let request = &draft.requests[0];
    let mut all = vec![format!("{} {}", request.method, request.path)];
    all.extend(request.headers.iter().map(|(n, v)| format!("{n}: {v}")));
    all.extend(request.body.as_ref().map(|b| format!("> {}", String::from_utf8_lossy(b))));
    all
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";
const JSON: &str = "Content-Type: application/json";

#[test]
fn each_option_changes_the_request_as_in_curl() {
    let table: &[(&str, &[&str])] = &[
        ("curl http://h/a", &["GET /a"]),
        ("curl h:8080", &["GET /"]),
        ("curl 'h/go?to=http://i/'", &["GET /go?to=http://i/"]),
        ("curl --url http://h/a#part", &["GET /a"]),
        ("curl -H 'Content-Length: 3' -d abc http://h/", &["POST /", "Content-Length: 3", FORM, "> abc"]),
        ("curl -X DELETE http://h/a", &["DELETE /a"]),
        ("curl -XPUT http://h/a", &["PUT /a"]),
        ("curl --request=PUT http://h/a", &["PUT /a"]),
        ("curl -I http://h/a", &["HEAD /a"]),
        ("curl -d a=1 -d b=2 http://h/a", &["POST /a", FORM, "> a=1&b=2"]),
        ("curl -da=1 http://h/a", &["POST /a", FORM, "> a=1"]),
        ("curl -d '' http://h/a", &["POST /a", FORM, "> "]),
        ("curl -X GET -d x http://h/a", &["GET /a", FORM, "> x"]),
        ("curl --data-raw @x http://h/a", &["POST /a", FORM, "> @x"]),
        ("curl --data-ascii x --data-binary y http://h/a", &["POST /a", FORM, "> x&y"]),
        (
            "curl -d x -H 'content-type: text/plain' http://h/a",
            &["POST /a", "content-type: text/plain", "> x"],
        ),
        ("curl -d x -H 'Content-Type:' http://h/a", &["POST /a", "> x"]),
        (
            "curl --data-urlencode 'q=a b&c' --data-urlencode 'x y' --data-urlencode '=z' http://h/a",
            &["POST /a", FORM, "> q=a+b%26c&x+y&z"],
        ),
        ("curl -G -d a=1 --data-urlencode 'q=é' 'http://h/a?z=0'", &["GET /a?z=0&a=1&q=%C3%A9"]),
        ("curl -G -I -d a=1 'http://h/a#part'", &["HEAD /a?a=1"]),
        ("curl -G -d '' http://h/a", &["GET /a"]),
        ("curl --json '{\"a\":1}' http://h/a", &["POST /a", JSON, "Accept: application/json", "> {\"a\":1}"]),
        ("curl --json 1 --json 2 -H 'Accept: x' http://h/a", &["POST /a", "Accept: x", JSON, "> 12"]),
        ("curl -H 'X-A: b' -H 'X-E;' -H 'X-None:' http://h/a", &["GET /a", "X-A: b", "X-E: "]),
        ("curl -u user:pa:ss http://h/a", &["GET /a", "Authorization: Basic dXNlcjpwYTpzcw=="]),
        ("curl http://us%40er:pw@h/a", &["GET /a", "Authorization: Basic dXNAZXI6cHc="]),
        ("curl -u a:b -H 'authorization: Bearer t' http://h/a", &["GET /a", "authorization: Bearer t"]),
        ("curl --oauth2-bearer t http://h/a", &["GET /a", "Authorization: Bearer t"]),
        (
            "curl -A mine -e 'http://from/;auto' http://h/a",
            &["GET /a", "User-Agent: mine", "Referer: http://from/"],
        ),
        ("curl -b a=1 -b 'b=2; c=3' http://h/a", &["GET /a", "Cookie: a=1;b=2; c=3"]),
        (
            "curl -r 0-99 --compressed http://h/a",
            &["GET /a", "Range: bytes=0-99", "Accept-Encoding: deflate, gzip"],
        ),
        ("curl http://h/a/../b/./c?x=../y", &["GET /b/c?x=../y"]),
        ("curl http://h//a//../..//b", &["GET ///b"]),
        ("curl --path-as-is http://h/a/../b", &["GET /a/../b"]),
        ("curl -g 'http://h/a[1]{b}'", &["GET /a[1]{b}"]),
        ("curl -sSfkvo /dev/null -w '%{http_code}' --http1.1 http://h/a", &["GET /a"]),
        ("curl -s -- http://h/a", &["GET /a"]),
        ("/usr/bin/curl http://h/a", &["GET /a"]),
        ("-H 'A: b' http://h/a", &["GET /a", "A: b"]),
    ];
    for (text, expected) in table {
        assert_eq!(sent(&line(text)), *expected, "{text}");
    }
}

/// curl asks by itself before it sends more than 1 MiB over HTTP/1.1.
#[test]
fn a_body_waits_for_the_server_where_that_of_curl_waits() {
    let large = "x".repeat((1 << 20) + 1);
    for (options, waits) in [
        ("-H 'Expect: 100-continue' -d x http://h/", true),
        ("-H 'expect: 100-Continue' -X PUT -d x http://h/", true),
        ("-d x http://h/", false),
        ("-H 'Expect: 100-continue' http://h/", false),
        ("-d LARGE http://h/", true),
        ("-H 'Expect:' -d LARGE http://h/", false),
        ("-0 -d LARGE http://h/", false),
        ("--http2-prior-knowledge -d LARGE http://h/", false),
        // The server may choose HTTP/2.
        ("-d LARGE https://h/", false),
        ("--http1.1 -d LARGE https://h/", true),
    ] {
        let draft = line(&format!("curl {}", options.replace("LARGE", &large)));
        assert_eq!(draft.continue_ns.is_some(), waits, "{options}");
        let is_sent = draft.requests[0].headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("expect"));
        // Waiting sends the header by itself; without a body, nothing waits.
        assert_eq!(is_sent, !waits && options.starts_with("-H 'Expect: "), "{options}");
    }
}

#[test]
fn arguments_that_a_shell_has_split_are_used_unchanged() {
    let words = ["http://h/a", "-H", "X: it's $HOME", "-d", "a b"].map(str::to_owned);
    assert_eq!(sent(&curl::parse(&words).unwrap()), ["POST /a", "X: it's $HOME", FORM, "> a b"]);
    let with_its_name = ["curl", "http://h/a"].map(str::to_owned);
    assert_eq!(sent(&curl::parse(&with_its_name).unwrap()), ["GET /a"]);
    assert_eq!(sent(&curl::parse(&["http://h/a".to_owned()]).unwrap()), ["GET /a"]);
}

#[test]
fn curl_timeouts_become_timeouts_of_the_run() {
    let draft = line("curl -m 2.5 --connect-timeout 1 http://h/");
    assert_eq!((draft.timeout_ns, draft.limits.connect_timeout_ns), (Some(2_500_000_000), 1_000_000_000));
}

#[test]
fn a_line_copied_from_chrome_runs_unchanged() {
    let draft = line(
        "curl 'http://127.0.0.1:3000/api/users?page=1' \\\n\
         \x20 -H 'Accept: application/json, text/plain, */*' \\\n\
         \x20 -H 'Connection: keep-alive' \\\n\
         \x20 -H 'Content-Type: application/json' \\\n\
         \x20 -b 'sid=abc; theme=dark' \\\n\
         \x20 -H 'sec-ch-ua: \"Chromium\";v=\"128\", \"Not;A=Brand\";v=\"24\"' \\\n\
         \x20 -H 'sec-ch-ua-mobile: ?0' \\\n\
         \x20 --data-raw $'{\"name\":\"O\\'Brien\\u0021\"}' \\\n\
         \x20 --compressed --insecure\n",
    );
    assert_eq!(draft.target.as_ref().unwrap().authority(), "127.0.0.1:3000");
    assert_eq!(
        sent(&draft),
        [
            "POST /api/users?page=1",
            "Accept: application/json, text/plain, */*",
            "Connection: keep-alive",
            "Content-Type: application/json",
            "sec-ch-ua: \"Chromium\";v=\"128\", \"Not;A=Brand\";v=\"24\"",
            "sec-ch-ua-mobile: ?0",
            "Accept-Encoding: deflate, gzip",
            "Cookie: sid=abc; theme=dark",
            "> {\"name\":\"O'Brien!\"}",
        ]
    );
}

#[test]
fn a_line_copied_from_firefox_runs_unchanged() {
    let draft = line(
        "curl 'http://localhost/login' --compressed -X POST -H 'Accept-Encoding: gzip, deflate' \
         -H 'Referer: http://localhost/' --data-raw 'user=a%40b&pw=x'\r\n",
    );
    assert_eq!(
        sent(&draft),
        [
            "POST /login",
            "Accept-Encoding: gzip, deflate",
            "Referer: http://localhost/",
            FORM,
            "> user=a%40b&pw=x"
        ]
    );
}

#[test]
fn quoting_follows_bash() {
    for (quoted, plain) in [
        (r"'it'\''s'", "it's"),
        (r#""a\"b\\c\d $ $5""#, r#"a"b\c\d $ $5"#),
        ("\"two \\\nlines\"", "two lines"),
        ("a\\ b", "a b"),
        (r"$'tab\t nl\n q\' bs\\ bell\a\e'", "tab\t nl\n q' bs\\ bell\x07\x1b"),
        (r"$'\x41\101\u00e9\U0001f600\xc3\xa9'", "AAé😀é"),
        (r"$'\ud83d\ude00'", "😀"),
        (r"$'\q \x'", r"\q \x"),
        ("$\"plain\"", "plain"),
        ("x'y'\"z\"", "xyz"),
    ] {
        let draft = line(&format!("curl http://h/ --data-raw {quoted} # a comment"));
        assert_eq!(draft.requests[0].body.as_deref(), Some(plain.as_bytes()), "{quoted}");
    }
}

/// The rejected option (empty for the whole command line), and a part of the message and hint.
#[test]
fn unsupported_options_are_rejected_by_name() {
    for (text, flag, part) in [
        ("curl -F file=@/no/such http://h/", "-F", "no such file"),
        ("curl -F 'a=b;encoder=base64' http://h/", "-F", "unsupported setting `encoder` in a form part"),
        ("curl -F nothing http://h/", "-F", "missing `=` in a form part"),
        ("curl -F a=b -d c=d http://h/", "-F", "both set the body"),
        ("curl -L --max-redirs many http://h/", "--max-redirs", "invalid number of redirects"),
        ("curl -L -e 'http://x;auto' http://h/", "-e", "`;auto`"),
        ("curl --http3 http://h/", "--http3", "only HTTP/2, HTTP/1.1, and HTTP/1.0"),
        ("curl -x https://p/x http://h/", "-x", "a proxy has no path"),
        ("curl --digest -u a:b http://h/", "--digest", "this authentication method"),
        ("curl -u name http://h/", "-u", "missing password"),
        ("curl -b jar.txt http://h/", "-b", "cookie files are not supported"),
        ("curl -c jar.txt http://h/", "-c", "a cookie jar is not supported"),
        ("curl -H @heads http://h/", "-H", "headers from a file are not supported (`heads`)"),
        ("curl -H nocolon http://h/", "-H", "missing colon in a header"),
        ("curl -H 'User-Agent:' http://h/", "-H", "header `User-Agent` cannot be removed"),
        ("curl -H 'Transfer-Encoding: chunked' http://h/", "-H", "`Transfer-Encoding` cannot be set"),
        ("curl -H 'content-length: 5' -d abc http://h/", "-H", "contradicts the body of 3 bytes"),
        ("curl -A '' http://h/", "-A", "header `User-Agent` cannot be removed"),
        ("curl -d @/no/such/file http://h/", "-d", "no such file: `/no/such/file`"),
        ("curl -d @- http://h/", "-d", "standard input"),
        ("curl -m soon http://h/", "-m", "invalid duration `soon`"),
        ("curl --resolve a:1:b http://h/", "--resolve", "invalid `--resolve` value"),
        ("curl -E none.pem:pw https://h/", "-E", "keys with a password"),
        ("curl --cert Cargo.toml https://h/", "--key", "require each other"),
        ("curl --cacert /no/such.pem https://h/", "--cacert", "no such file"),
        ("curl -T file http://h/", "-T", "--data-binary @file"),
        ("curl --reqest PUT http://h/", "--reqest", "did you mean `--request`?"),
        ("curl -s -? http://h/", "-?", "unsupported option `-?`"),
        ("curl --silent=1 http://h/", "--silent", "takes no value"),
        ("curl http://h/ -H", "-H", "missing value of `-H`"),
        ("curl -I -d x http://h/", "-I", "`-d` sends a POST"),
        ("curl http://h/ --next http://i/", "--next", "several requests"),
        ("curl -s -v", "", "missing URL"),
        ("curl http://h/ http://i/", "", "unexpected second URL `http://i/`"),
        ("curl ftp://h/", "", "unsupported scheme `ftp`"),
        ("curl 'http://h/a b'", "", "percent-encode"),
        ("curl 'http://h/{a,b}'", "", "add `-g`"),
        ("curl http://h/?a=1&b=2", "", "unquoted `&`"),
        ("curl http://h/ | jq .", "", "unquoted `|`"),
        ("curl http://h/ > out", "", "unquoted `>`"),
        ("curl -H \"T: $TOKEN\" http://h/", "", "`$TOKEN` requires a shell"),
        ("curl -H \"T: `id`\" http://h/", "", "requires a shell"),
        ("curl -H \"T: $(id)\" http://h/", "", "`$(...)` requires a shell"),
        ("curl 'http://h/", "", "unclosed quote `'`"),
        ("curl http://h/\n-H 'A: b'", "", "second line"),
        ("curl http://h/ -d $'\\xff'", "", "UTF-8"),
        ("curl http://h/ -d $'a\\0b'", "", "zero byte"),
        ("curl http://h/ -d $'\\ud83d'", "", "character"),
        ("curl ^\"http://h/^\"", "", "Copy as cURL (bash)"),
    ] {
        let wrong = curl::parse(&[text.to_owned()]).expect_err(text);
        let place = if flag.is_empty() { Place::Whole } else { Place::Flag(flag.to_owned()) };
        let found =
            wrong.iter().any(|d| d.place == place && format!("{}\n{}", d.message, d.hint).contains(part));
        assert!(found, "{text}: {wrong:#?}");
    }
}

#[test]
fn all_rejected_options_are_named_at_once() {
    let wrong = curl::parse(&["curl --digest --preproxy p --http3 http://h/".to_owned()]).unwrap_err();
    assert_eq!(wrong.len(), 3);
    // The place names the option, so the message does not repeat it.
    for (one, option) in wrong.iter().zip(["--digest", "--preproxy", "--http3"]) {
        assert_eq!(one.place, Place::Flag(option.into()));
        assert!(!one.message.contains(&format!("`{option}`")), "{one:?}");
    }
}

#[test]
fn redirects_are_followed_where_curl_follows_them() {
    for (text, redirects) in [
        ("curl http://h/", None),
        ("curl --max-redirs 5 http://h/", None),
        ("curl -L http://h/", Some(50)),
        ("curl -sL --max-redirs 5 http://h/", Some(5)),
        ("curl --location 'http://h/'", Some(50)),
    ] {
        assert_eq!(line(text).redirects, redirects, "{text}");
    }
}

/// The parts as curl 8 writes them, except for the boundary.
#[test]
fn a_form_is_a_multipart_body() {
    let folder = std::env::temp_dir().join(format!("plimsoll-form-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (text, image) = (folder.join("note.txt"), folder.join("a.png"));
    std::fs::write(&text, "from a file").unwrap();
    std::fs::write(&image, [0x89, b'P', 0xff]).unwrap();
    let draft = line(&format!(
        "curl -F name=value -F 'note=<{}' -F 'file=@{};filename=\"b \\\"c\\\".png\"' -F 'page=@{};type=text/html' \
         --form-string 'raw=@x;type=y' http://h/up",
        text.display(),
        image.display(),
        text.display()
    ));
    std::fs::remove_dir_all(&folder).unwrap();
    let request = &draft.requests[0];
    assert_eq!(request.method, "POST");
    // A `Content-Type` without a boundary gets one, as in curl.
    let typed = line("curl -H 'content-type: multipart/form-data' -F a=b http://h/");
    let (_, typed) = &typed.requests[0].headers[0];
    assert!(typed.starts_with("multipart/form-data; boundary="), "{typed}");
    let (_, kind) = request.headers.iter().find(|(name, _)| name == "Content-Type").unwrap();
    let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
    let body = request.body.as_ref().unwrap();
    let part = |head: &str, content: &[u8]| {
        let head = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        [head.as_bytes(), content, b"\r\n"].concat()
    };
    let expected = [
        part("name=\"name\"", b"value"),
        part("name=\"note\"", b"from a file"),
        part("name=\"file\"; filename=\"b %22c%22.png\"\r\nContent-Type: image/png", &[0x89, b'P', 0xff]),
        part("name=\"page\"; filename=\"note.txt\"\r\nContent-Type: text/html", b"from a file"),
        part("name=\"raw\"", b"@x;type=y"),
        format!("--{boundary}--\r\n").into_bytes(),
    ]
    .concat();
    assert_eq!(String::from_utf8_lossy(body), String::from_utf8_lossy(&expected));
}

#[test]
fn no_message_repeats_a_secret() {
    for text in ["curl -u sesame http://h/", "curl -H sesame http://h/", "curl -b sesame http://h/"] {
        let wrong = curl::parse(&[text.to_owned()]).unwrap_err();
        assert!(!format!("{wrong:?}").contains("sesame"), "{wrong:?}");
    }
}

#[test]
fn data_from_a_file_loses_its_line_ends_unless_binary() {
    let file = std::env::temp_dir().join(format!("plimsoll-front-curl-{}", std::process::id()));
    std::fs::write(&file, "a=1\r\nb=2\n").unwrap();
    let body =
        |option: &str| line(&format!("curl {option}@{} http://h/", file.display())).requests.remove(0).body;
    let found = [body("-d "), body("--data-binary "), body("--json "), body("--data-urlencode n")];
    std::fs::remove_file(&file).unwrap();
    let expected = ["a=1b=2", "a=1\r\nb=2\n", "a=1\r\nb=2\n", "n=a%3D1%0D%0Ab%3D2%0A"];
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.as_deref(), Some(expected.as_bytes()));
    }
}

#[test]
fn connection_options_are_kept() {
    let draft =
        line("curl -k -0 --tlsv1.3 --cacert Cargo.toml --resolve A.test:443:127.0.0.2 https://a.test/");
    let tls = draft.link.tls.as_ref().unwrap();
    assert!(tls.insecure && draft.link.http == plimsoll_plan::link::Http::V10);
    assert_eq!(tls.versions, plimsoll_plan::link::Versions::Tls13);
    assert_eq!(draft.link.resolve, [("a.test".to_owned(), "127.0.0.2".parse().unwrap())]);
    assert_eq!((draft.tls_files.ca.len(), draft.target.unwrap().port), (1, 443));
    assert!(line("curl -k http://h/").link.tls.is_none());
}

#[test]
fn routes_are_those_of_curl() {
    let route = |text: &str| line(&format!("curl {text} http://h/")).link.route;
    let proxy = |text: &str| {
        let proxy = route(text).proxy.unwrap();
        let login =
            proxy.login.as_ref().map(|login| format!("{}:{}", login.user.reveal(), login.password.reveal()));
        (proxy.url(), login.unwrap_or_default())
    };
    // Without a scheme, a proxy is one for HTTP, and without a port, it is 1080.
    assert_eq!(proxy("-x 127.0.0.1"), ("http://127.0.0.1:1080".into(), String::new()));
    assert_eq!(proxy("-U a:b -x http://127.0.0.1:81/"), ("http://127.0.0.1:81".into(), "a:b".into()));
    assert_eq!(proxy("--proxy socks5://a:b@p"), ("socks5://p:1080".into(), "a:b".into()));
    assert_eq!(proxy("--socks5-hostname p:9"), ("socks5h://p:9".into(), String::new()));
    assert_eq!(route("--unix-socket /run/x").unix_socket.unwrap(), "/run/x");
    assert_eq!(route("--interface if!lo").interface.unwrap(), "lo");
    assert!(route("--haproxy-protocol").proxy_protocol.is_some());
    let link = line("curl --interface 127.0.0.3 http://h/").link;
    assert_eq!((link.source_addresses, link.route.interface), (vec!["127.0.0.3".parse().unwrap()], None));
    assert_eq!(route("-x https://p").proxy.unwrap().url(), "https://p:443");
    for refused in ["--socks4 p", "--preproxy p", "--noproxy h"] {
        assert!(curl::parse(&[format!("curl {refused} http://h/")]).is_err(), "{refused}");
    }
}

#[test]
fn cipher_suites_of_one_version_leave_those_of_the_other_as_they_are() {
    let ciphers = |options: &str| line(&format!("curl {options} https://h/")).link.tls.map(|tls| tls.ciphers);
    let tls13 = ["TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"];
    let tls12 = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    let both = [&tls13[..], &[tls12]].concat();
    assert_eq!(ciphers("--ciphers ECDHE-RSA-AES128-GCM-SHA256").unwrap(), both);
    assert_eq!(ciphers("--ciphers ECDHE-RSA-AES128-GCM-SHA256 --tls-max 1.2").unwrap(), [tls12]);
    assert_eq!(
        ciphers("--tls13-ciphers TLS_AES_128_GCM_SHA256 --tlsv1.3").unwrap(),
        ["TLS_AES_128_GCM_SHA256"]
    );
    assert_eq!(ciphers("-s"), None);
}
