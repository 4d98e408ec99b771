//! HTTP/2 as curl sees it: heads, bodies, uploads, endpoints, TLS. Its HTTP/2 is that of nghttp2.

use crate::common::{Ruler, number};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What curl prints, and its exit code.
fn curl(arguments: &[&str]) -> (String, i32) {
    let output = Command::new("curl")
        .args(["--silent", "--max-time", "10", "--http2-prior-knowledge"])
        .args(arguments)
        .output()
        .expect("curl is installed");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

/// Head and body of a GET.
fn get(ruler: &Ruler, target: &str) -> String {
    let (text, code) = curl(&["--include", "--globoff", &format!("http://{}{target}", ruler.address)]);
    assert_eq!(code, 0, "{target}: {text}");
    text
}

#[test]
fn heads_are_as_configured() {
    let ruler = Ruler::start(&["--http2", "--header", "X-Server: all"]);
    let text = get(
        &ruler,
        "/?status=302&location=/x&header=X-Shard:7&header=X-Shard:8&set_cookie=a%3D1%3B+Path%3D/\
         &content_type=text/csv&text=hello",
    );
    let head = "HTTP/2 302 \r\nserver: ruler\r\ncontent-type: text/csv\r\ncontent-length: 5\r\nlocation: /x\r\n\
                x-server: all\r\nx-shard: 7\r\nx-shard: 8\r\nset-cookie: a=1; Path=/\r\n\r\nhello";
    assert_eq!(text, head);
    assert!(get(&ruler, "/?error_rate=1&error_status=503").starts_with("HTTP/2 503 \r\n"));
    let hints = get(&ruler, "/?informational=2&body=3");
    assert!(hints.starts_with("HTTP/2 103 \r\nlink: "), "{hints}");
    assert!(hints.contains("\r\n\r\nHTTP/2 100 \r\n\r\nHTTP/2 200 \r\n"), "{hints}");
    let url = format!("http://{}/?etag=v1", ruler.address);
    let (unchanged, _) = curl(&["--include", "--header", "If-None-Match: \"v1\"", &url]);
    assert_eq!(unchanged, "HTTP/2 304 \r\nserver: ruler\r\netag: \"v1\"\r\nx-server: all\r\n\r\n");
    let (head, _) = curl(&["--head", &format!("http://{}/?body=1000", ruler.address)]);
    assert!(head.contains("content-length: 1000\r\n") && head.ends_with("\r\n\r\n"), "{head}");
    let padded = get(&ruler, "/?head_bytes=20000");
    assert!(padded.contains(&format!("x-pad: {}\r\n", "x".repeat(20_000))));
}

#[test]
fn bodies_are_as_configured() {
    let ruler = Ruler::start(&["--http2"]);
    let plain = String::from_utf8(ruler.connect().get("/?body=300000").body).unwrap();
    let url = |query: &str| format!("http://{}/?{query}", ruler.address);
    for query in ["body=300000", "body=300000&framing=chunked&chunk=1000"] {
        assert!(curl(&[&url(query)]) == (plain.clone(), 0), "{query}");
    }
    for encoding in ["gzip", "br", "zstd", "deflate"] {
        let (text, code) = curl(&["--compressed", &url(&format!("body=300000&encoding={encoding}"))]);
        assert!(code == 0 && text == plain, "{encoding}");
    }
    let trailers = get(&ruler, "/?framing=chunked&chunk=2&trailers=1&text=hello");
    assert!(!trailers.contains("content-length") && trailers.contains("\r\n\r\nhello"), "{trailers}");
    assert!(trailers.contains("x-ruler-trailer: the end"), "{trailers}");
    assert_eq!(curl(&[&url("fault=drip&drip_every=1ms&text=drops")]), ("drops".into(), 0));
    // A length that is not that of the body is a protocol error for curl (92).
    assert_eq!(curl(&[&url("fault=conflicting_length&text=hello")]).1, 92);
    let (size, code) = curl(&["--output", "/dev/null", "--write-out", "%{size_download}", &url("body=50m")]);
    assert_eq!((size.as_str(), code), ("52428800", 0));
}

#[test]
fn requests_are_kept_and_shown() {
    let ruler = Ruler::start(&["--http2", "--keep-requests", "10"]);
    let echo = format!("http://{}/echo?a=1", ruler.address);
    let (shown, _) = curl(&["--header", "X-Mine: 7", "--data", "hello", &echo]);
    let authority = format!(r#"[[":scheme","http"],[":authority","{}"],"#, ruler.address);
    for part in [
        r#""method":"POST","target":"/echo?a=1","http_version":"HTTP/2.0""#,
        &authority,
        r#"["x-mine","7"]"#,
        r#""body":"hello","body_bytes":5,"connection":1,"request_on_connection":1"#,
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let kept = ruler.command("requests");
    assert!(
        kept.contains(r#""head":"POST /echo?a=1 HTTP/2.0\u000d\u000a:scheme: http\u000d\u000a"#),
        "{kept}"
    );
    let last = ruler.command("last_request");
    assert!(last.starts_with("POST /echo?a=1 HTTP/2.0\r\n") && last.ends_with("\r\n\r\nhello"), "{last}");
    let upload = std::env::temp_dir().join(format!("ruler-upload-{}", ruler.pid()));
    std::fs::write(&upload, vec![b'u'; 5_000_000]).unwrap();
    let data = format!("@{}", upload.display());
    let url = format!("http://{}/up", ruler.address);
    let (answer, code) =
        curl(&["--header", "Expect: 100-continue", "--data-binary", &data, "--include", &url]);
    std::fs::remove_file(&upload).unwrap();
    assert!(code == 0 && answer.starts_with("HTTP/2 100 \r\n\r\nHTTP/2 200 \r\n"), "{answer}");
    assert!(ruler.count("bytes_in") > 5_000_000);
}

#[test]
fn endpoints_and_commands_work_over_both_versions() {
    let ruler = Ruler::start(&["--http2"]);
    let url = |target: &str| format!("http://{}{target}", ruler.address);
    let token = curl(&[&url("/token")]).0.split('"').nth(3).unwrap().to_owned();
    let bearer = format!("Authorization: Bearer {token}");
    assert!(curl(&["--include", "--header", &bearer, &url("/secure")]).0.starts_with("HTTP/2 200"));
    assert!(curl(&["--include", &url("/secure")]).0.starts_with("HTTP/2 401"));
    assert_eq!(curl(&[&url("/_test-server/set?status=404")]).0, "ok\n");
    assert_eq!(ruler.connect().get("/").status, 404);
    assert!(curl(&["--include", &url("/_test-server/set?nonsense=1")]).0.starts_with("HTTP/2 400"));
    let (counters, _) = curl(&[&url("/_test-server/counters")]);
    for (name, count) in [("requests", 4), ("http2_streams", 3), ("http2_connections", 3), ("accepted", 4)] {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
}

#[test]
fn event_streams_come_in_pieces_and_end() {
    let ruler = Ruler::start(&["--http2"]);
    let text = get(&ruler, "/events?every=1ms&count=3&drop=3&retry=7&event=tick");
    assert!(text.contains("content-type: text/event-stream\r\n"), "{text}");
    let events: Vec<&str> = text.lines().filter(|line| line.starts_with("id: ")).collect();
    assert_eq!(events, ["id: 1", "id: 2"], "{text}");
    let mut open = Command::new("curl")
        .args(["--silent", "--no-buffer", "--http2-prior-knowledge"])
        .arg(format!("http://{}/events?every=1ms", ruler.address))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(open.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "id: 1");
    assert_eq!(ruler.count("streams_open"), 1);
    let (closed, _) = curl(&["--request", "POST", &format!("http://{}/events/stop", ruler.address)]);
    assert_eq!(closed, r#"{"closed":1}"#);
    assert!(lines.all(|line| line.is_ok()) && open.wait().unwrap().success());
    let counters = ruler.command("counters");
    for (name, count) in
        [("streams_opened", 2), ("streams_ended", 1), ("streams_closed_by_server", 1), ("responses", 3)]
    {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
}

/// A certificate for 127.0.0.1 that ends with the test.
struct Identity(PathBuf);

impl Identity {
    fn new() -> Identity {
        let folder = std::env::temp_dir().join(format!("ruler-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let made = Command::new("openssl")
            .current_dir(&folder)
            .args(["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-days", "2", "-subj", "/CN=ruler", "-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-keyout", "key.pem", "-out", "certificate.pem"])
            .output()
            .expect("openssl is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Identity(folder)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(&self.0));
    }
}

#[test]
fn tls_speaks_http2_by_alpn_and_nothing_else() {
    let identity = Identity::new();
    let (certificate, key) = (identity.file("certificate.pem"), identity.file("key.pem"));
    let ruler = Ruler::start(&[
        "--tls-listen",
        "127.0.0.1:0",
        "--tls-certificate",
        &certificate,
        "--tls-key",
        &key,
        "--goaway-after",
        "2",
    ]);
    let address = ruler.second_line().strip_prefix("listening with TLS on ").unwrap().to_owned();
    let (big, small) = (format!("https://{address}/?body=1m"), format!("https://{address}/?body=3"));
    let show = ["--cacert", &certificate, "--write-out", "%{size_download} %{http_version} %{num_connects};"];
    let quiet = ["--output", "/dev/null", "--output", "/dev/null", "--output", "/dev/null"];
    // The third request needs a second connection.
    let all = [show.as_slice(), &quiet, &[&big, &small, &small]].concat();
    assert_eq!(curl(&all), ("1048576 2 1;3 2 0;3 2 1;".into(), 0));
    // An upload comes back as it was sent.
    let echo = curl(&["--cacert", &certificate, "--data", "hello", &format!("https://{address}/echo")]).0;
    assert!(echo.contains(r#"[":scheme","https"]"#) && echo.contains(r#""body":"hello""#), "{echo}");
    // 35: the handshake failed.
    assert_eq!(curl(&["--cacert", &certificate, "--http1.1", &small]).1, 35);
    let counters = ruler.command("counters");
    for (name, count) in [
        ("requests", 4),
        ("responses", 4),
        ("http2_tls_handshakes", 3),
        ("http2_tls_handshakes_failed", 1),
        ("http2_goaways_commanded", 1),
    ] {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
}

#[test]
fn flags_for_tls_need_each_other() {
    let run = |flags: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ruler")).args(flags).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = run(&["--tls-listen", "127.0.0.1:0"]);
    assert_eq!((code, text.contains("--tls-certificate")), (Some(2), true), "{text}");
    let missing = ["--tls-listen", "127.0.0.1:0", "--tls-certificate", "/none.pem", "--tls-key", "/none.key"];
    let (code, text) = run(&missing);
    assert_eq!((code, text.contains("`/none.pem`")), (Some(1), true), "{text}");
}
