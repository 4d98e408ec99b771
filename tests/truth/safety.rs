//! Safety: no load on other people's services, no secrets in files, no run without limits.
//!
//! Tests load public and forbidden addresses only inside a network namespace. There, the addresses belong to the
//! loopback interface, and a counter sees every packet that plimsoll sends to them.

use crate::help::count;
use crate::provoke::{Then, canned, json, shell};
use crate::support::{BINARY, Output, Ruler, Scratch, Tool, namespace, run_alongside};
use std::path::Path;
use std::process::Command;

/// Reserved for documentation (RFC 5737): public by their range, and never assigned.
const PUBLIC: &str = "203.0.113.5";
const OTHER: &str = "203.0.113.6";
const METADATA: &str = "169.254.169.254";

/// All three are addresses of this network, and what is sent to the last two is counted.
fn setup() -> String {
    let addresses = [PUBLIC, OTHER, METADATA].map(|ip| format!("ip addr add {ip}/32 dev lo\n")).concat();
    format!(
        "{addresses}nft add table inet test\n\
         nft 'add chain inet test out {{ type filter hook output priority 0; }}'\n\
         nft add rule inet test out ip daddr '{{ {OTHER}, {METADATA} }}' counter"
    )
}

/// Packets sent to the addresses that must be left alone.
fn packets() -> u64 {
    let rules = shell("nft list chain inet test out");
    let mut words = rules.split_whitespace().skip_while(|word| *word != "packets");
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("no counter:\n{rules}"))
}

#[test]
fn no_packet_goes_to_a_metadata_service_with_any_permission() {
    let test = "safety::no_packet_goes_to_a_metadata_service_with_any_permission";
    namespace::inside(test, &setup(), run_alongside, || {
        // A server would respond, and even permit the load.
        let port = canned(METADATA, permit(METADATA), Then::Close);
        // All the ways in which an address can be written.
        let hosts = [
            METADATA,
            "[::ffff:169.254.169.254]",
            "[::ffff:a9fe:a9fe]",
            "2852039166",
            "0xa9fea9fe",
            "0251.254.169.254",
        ];
        for host in hosts {
            let bare = host.trim_matches(['[', ']']);
            let args = [
                &format!("http://{host}:{port}/"),
                "-n",
                "1",
                "--allow",
                host,
                "--allow",
                bare,
                "--allow",
                METADATA,
            ];
            let output = Tool::run(&args);
            // A form that plimsoll does not parse as an address is rejected, too.
            assert!([1, 2, 4].contains(&output.code), "{host}: {output:?}");
            assert_eq!(output.stdout, "");
            if host == METADATA || output.code == 4 {
                assert!(output.stderr.contains("cannot be loaded"), "{host}: {}", output.stderr);
            }
        }
        for host in [METADATA, "[::ffff:169.254.169.254]"] {
            Tool::run(&[&format!("http://{host}:{port}/"), "-n", "1"]).expect_code(4);
        }
        assert_eq!(packets(), 0);
        // The counter does count.
        let _ = std::net::TcpStream::connect((METADATA, port)).unwrap();
        assert!(packets() > 0);
    });
}

/// Permission depends on all addresses that a name resolves to.
#[test]
fn a_name_is_judged_by_its_addresses() {
    namespace::inside("safety::a_name_is_judged_by_its_addresses", &setup(), run_alongside, || {
        let ruler = Ruler::start(&[]);
        let resolved = |lines: &str, more: &[&str]| with_hosts(lines, &ruler, more);
        resolved("127.0.0.1 service.test", &[]).expect_code(0);
        let refused =
            resolved(&format!("{METADATA} service.test"), &["--allow", "service.test"]).expect_code(4);
        assert!(refused.stderr.contains("cannot be loaded"), "{}", refused.stderr);
        // One of two is enough to be refused.
        let mixed = format!("127.0.0.1 service.test\n{METADATA} service.test");
        resolved(&mixed, &["--allow", "service.test"]).expect_code(4);
        assert_eq!(packets(), 0);
        let mixed = format!("127.0.0.1 service.test\n{PUBLIC} service.test");
        assert!(resolved(&mixed, &[]).expect_code(4).stderr.contains("public address"));
        resolved(&mixed, &["--allow", "service.test"]).expect_code(0);
        // Two runs were permitted; the request for the ownership file does not count as load.
        assert_eq!(ruler.counters()["by_path"]["/"], 2 * 5);
    });
}

/// Runs the tool against `service.test` with these lines as the whole of /etc/hosts, in a mount namespace.
fn with_hosts(lines: &str, ruler: &Ruler, more: &[&str]) -> Output {
    let scratch = Scratch::new();
    let hosts = scratch.file("hosts", &format!("{lines}\n"));
    let mut command = Command::new("unshare");
    command.args([
        "-m",
        "sh",
        "-c",
        "mount --bind \"$1\" /etc/hosts && shift && exec \"$@\"",
        "sh",
        &hosts,
        BINARY,
    ]);
    command
        .arg(format!("http://service.test:{}/", ruler.port()))
        .args(["-n", "5", "-c", "1", "-q"])
        .args(more);
    Tool::of(command).start().wait()
}

#[test]
fn a_public_host_gets_nothing_but_the_question_whether_it_permits() {
    let test = "safety::a_public_host_gets_nothing_but_the_question_whether_it_permits";
    namespace::inside(test, &setup(), run_alongside, || {
        let ruler = Ruler::start(&["--listen", &format!("{PUBLIC}:0")]);
        for more in [
            &[][..],
            &["--allow", OTHER],
            &["--allow", "*"],
            &["--allow", ""],
            &["--allow", "203.0.113.0/24"],
        ] {
            ruler.get("/_test-server/clear");
            let output =
                Tool::run(&[&[ruler.url("/").as_str(), "-n", "5", "-c", "2"], more].concat()).expect_code(4);
            assert!(output.stderr.contains(&format!("--allow {PUBLIC}")), "{}", output.stderr);
            assert_eq!(output.state_files, [""; 0], "no file of a run that was not");
            assert_eq!(ruler.counters()["by_path"], serde_json::json!({"/.well-known/plimsoll.txt": 1}));
            // Names of fields have no case.
            let asked = ruler.last_request().to_ascii_lowercase();
            let agent = format!("user-agent: plimsoll/{}", env!("CARGO_PKG_VERSION"));
            assert!(asked.contains(&agent), "{asked}");
        }
        ruler.get("/_test-server/clear");
        let said = json(&[&ruler.url("/"), "-n", "5", "-c", "2", "--allow", PUBLIC], 0);
        assert_eq!(count(&said, "/totals/requests"), 5);
        assert_eq!(ruler.counters()["by_path"], serde_json::json!({"/": 5}), "asked by flag, not by file");
    });
}

/// An ownership file and everything else in one answer.
fn permit(host: &str) -> String {
    let text = format!("allow: {host}\n");
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len())
}

#[test]
fn an_ownership_file_permits_its_own_host_only() {
    namespace::inside("safety::an_ownership_file_permits_its_own_host_only", &setup(), run_alongside, || {
        let run = |answer: String| {
            let port = canned(PUBLIC, answer, Then::Close);
            Tool::run(&[&format!("http://{PUBLIC}:{port}/"), "-n", "3", "-c", "1", "-q"])
        };
        run(permit(PUBLIC)).expect_code(0);
        for other in [OTHER, "203.0.113.55", "", "*"] {
            run(permit(other)).expect_code(4);
        }
        // A permission that is not from the host itself, but from the target of a redirect or from a 404 page.
        run(permit(PUBLIC).replace("200 OK", "404 Not Found")).expect_code(4);
        let elsewhere = canned(OTHER, permit(PUBLIC), Then::Close);
        let moved = format!(
            "HTTP/1.1 302 Found\r\nLocation: http://{OTHER}:{elsewhere}/\r\nContent-Length: 0\r\n\r\n"
        );
        run(moved).expect_code(4);
        assert_eq!(packets(), 0, "a redirect to another host was followed");
    });
}

#[test]
fn redirects_are_counted_and_not_followed() {
    namespace::inside("safety::redirects_are_counted_and_not_followed", &setup(), run_alongside, || {
        let elsewhere = canned(OTHER, permit(OTHER), Then::Close);
        let moved = format!(
            "HTTP/1.1 302 Found\r\nLocation: http://{OTHER}:{elsewhere}/\r\nContent-Length: 0\r\n\r\n"
        );
        let port = canned("127.0.0.1", moved, Then::KeepOpen);
        let said = json(&[&format!("http://127.0.0.1:{port}/"), "-n", "20", "-c", "2"], 0);
        assert_eq!(said["status_codes"], serde_json::json!({"302": 20}));
        assert_eq!(packets(), 0);
    });
}

/// The breaker is for a ramp that only makes errors; here every answer is one from the start.
#[test]
fn a_ramp_that_only_makes_errors_is_stopped() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "20ms", "--status", "500"]);
    let said = json(&[&ruler.url("/"), "--stages", "60s:60"], 99);
    let elapsed = said["generators"][0]["elapsed_s"].as_f64().unwrap();
    assert!((10.0..14.0).contains(&elapsed), "stopped after {elapsed} s of 60");
    assert_eq!(said["stopped_by"], "command");
    assert_eq!(ruler.requests(), count(&said, "/totals/requests_sent"));
}

// ---- secrets -----------------------------------------------------------------------------------------------

/// Values that only the server may see.
const SECRETS: [&str; 8] = [
    "Tk-header-9f3a71",
    "Ck-session-77be02",
    "Qs-token-15cd90",
    "Qs-apikey-aa41f8",
    "Pw-inurl-60d2be",
    "Xk-apikey-38c1d4",
    "Bd-password-5e5e21",
    "Px-proxy-0b7d13",
];

/// Basic credentials are no less a secret in base64.
const BASIC: &str = "Y2Fyb2w6UHctaW51cmwtNjBkMmJl";

fn secret_free(what: &str, bytes: &[u8]) {
    for secret in SECRETS.iter().chain([&BASIC]) {
        let at = bytes.windows(secret.len()).position(|window| window == secret.as_bytes());
        let around =
            at.map(|at| String::from_utf8_lossy(&bytes[at.saturating_sub(80)..(at + 60).min(bytes.len())]));
        assert!(at.is_none(), "{what} tells `{secret}`: ...{}...", around.unwrap_or_default());
    }
}

/// Returns the flags of a run with all of [`SECRETS`].
fn secret_args(ruler: &Ruler) -> Vec<String> {
    let [header, cookie, token, key, password, api, body, proxy] = SECRETS;
    let url =
        format!("http://carol:{password}@{}/login?a=1&token={token}&api_key={key}&b=2", ruler.address());
    let mut args = vec![url];
    for header in [
        format!("X-Api-Key: {api}"),
        format!("Cookie: theme=dark; sid={cookie}"),
        format!("Proxy-Authorization: Bearer {proxy}"),
        format!("X-Auth-Token: {header}"),
    ] {
        args.extend(["-H".into(), header]);
    }
    args.extend(["-b".into(), format!("{{\"password\":\"{body}\"}}")]);
    args
}

fn run_with(args: &[String], more: &[&str]) -> Output {
    let all: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
    Tool::run(&all)
}

#[test]
fn secrets_go_over_the_wire_and_nowhere_else() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&["--delay", "1ms"]), Scratch::new());
    let args = secret_args(&ruler);
    let (one, two, merged) =
        (scratch.path("one.plim"), scratch.path("two.plim"), scratch.path("merged.plim"));
    let live = run_with(&args, &["-c", "2", "-d", "1200ms", "--out", &one]).expect_code(0);
    let sent = ruler.last_request();
    for secret in SECRETS.iter().filter(|secret| !secret.starts_with("Pw-")).chain([&BASIC]) {
        assert!(sent.contains(secret), "`{secret}` was not sent:\n{sent}");
    }
    let json = run_with(&args, &["-c", "2", "-n", "20", "--json", "--out", &two]).expect_code(0);
    Tool::run(&["merge", &one, &two, "--out", &merged]);
    for (what, text) in [
        ("the report", &live.stdout),
        ("the live view", &live.stderr),
        ("the document", &json.stdout),
        ("stderr with the document", &json.stderr),
    ] {
        assert!(what.starts_with("stderr") || !text.is_empty(), "{what} is empty");
        secret_free(what, text.as_bytes());
    }
    assert!(live.stdout.contains("/login?a=1"), "values that are not secret are shown:\n{}", live.stdout);
    for file in [&one, &two, &merged] {
        secret_free(file, &std::fs::read(file).unwrap());
        for form in [&[][..], &["--json"], &["--markdown"], &["--csv"], &["--ndjson"]] {
            let output = Tool::run(&[&["report", file], form].concat());
            assert!(!output.stdout.is_empty(), "{form:?}");
            secret_free(&format!("report {form:?}"), output.stdout.as_bytes());
            secret_free(&format!("report {form:?}, stderr"), output.stderr.as_bytes());
        }
    }
}

#[test]
fn a_killed_run_leaves_no_secret() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&["--delay", "1ms"]), Scratch::new());
    let file = scratch.path("run.plim");
    let args = secret_args(&ruler);
    let all: Vec<&str> =
        args.iter().map(String::as_str).chain(["-c", "2", "-d", "20s", "--out", &file]).collect();
    let running = Tool::new(&all).start();
    ruler.wait_for_requests(2_500);
    running.signal("KILL");
    running.wait().expect_code(-9);
    // The file, and the other files of the database.
    let files = every_file(scratch.folder());
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        secret_free(&file, &std::fs::read(&file).unwrap());
    }
}

fn every_file(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().display().to_string()).collect()
}

#[test]
fn secrets_in_files_and_curl_lines_are_kept_as_well() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let [header, cookie, token, _, password, ..] = SECRETS;
    let url = format!("http://{}/login?a=1&access_token={token}", ruler.address());
    let target = ruler.address();
    let headers = format!("{{ Authorization: 'Bearer {header}', Cookie: 'sid={cookie}' }}");
    let lines = [
        format!("target: http://carol:{password}@{target}"),
        "scenarios:".into(),
        "  login:".into(),
        format!("    - get: /login?a=1&access_token={token}"),
        format!("      headers: {headers}"),
        "load: { users: 2, requests: 20 }".into(),
    ];
    let experiment = scratch.file("login.yaml", &(lines.join("\n") + "\n"));
    let bearer = format!("Authorization: Bearer {header}");
    let (basic, sid) = (format!("carol:{password}"), format!("sid={cookie}"));
    for (name, args) in [
        ("curl -u", vec!["-n", "20", "-c", "2", "curl", &url, "-u", &basic, "-b", &sid]),
        ("curl -H", vec!["-n", "20", "-c", "2", "curl", &url, "-H", &bearer, "--cookie", &sid]),
        ("run", vec!["run", &experiment]),
    ] {
        let file = scratch.path(&format!("{}.plim", name.replace(' ', "")));
        let args = [&["--out", &file][..], &args[..]].concat();
        let output = Tool::run(&args).expect_code(0);
        let sent = ruler.last_request();
        assert!(sent.contains(token) && sent.contains(cookie), "{name}:\n{sent}");
        secret_free(name, output.stdout.as_bytes());
        secret_free(name, output.stderr.as_bytes());
        secret_free(name, &std::fs::read(&file).unwrap());
    }
}

/// A mistake is quoted so that it can be found; a secret in it is not.
#[test]
fn sentences_about_mistakes_do_not_quote_secrets() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let [header, cookie, token, _, password, ..] = SECRETS;
    let closed = canned_port_that_is_closed();
    let header_of = |text: &str| vec!["-H".to_owned(), text.to_owned()];
    for (url, more) in [
        (ruler.url("/"), header_of(&format!("Authorization Bearer {header}"))),
        (ruler.url("/"), header_of(&format!("Cookie: sid={cookie}\r\nX: 1"))),
        (format!("http://carol:{password}@127.0.0.1:{closed}/?token={token}"), vec![]),
        (format!("ftp://carol:{password}@127.0.0.1/?token={token}"), vec![]),
        (format!("https//carol:{password}@127.0.0.1/?token={token}"), vec![]),
        (format!("http://carol:{password}@127.0.0.1:99999/?token={token}"), vec![]),
        (format!("http://carol:{password}@/?token={token}"), vec![]),
        (format!("http://carol:{password}@127.0.0.1:{closed}/?token={token}"), vec!["-c".into(), "0".into()]),
    ] {
        let output = run_with(&[vec![url.clone(), "-n".into(), "1".into()], more.clone()].concat(), &[]);
        assert!([1, 2].contains(&output.code), "{url} {more:?}: {output:?}");
        secret_free(&format!("{url} {more:?}"), output.stderr.as_bytes());
    }
    assert_eq!(ruler.requests(), 0);
}

/// Returns a port that is no longer listened on.
fn canned_port_that_is_closed() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
