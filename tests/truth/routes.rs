//! Routes to a server: Unix domain sockets, the PROXY protocol, HTTP and SOCKS5 proxies, and network interfaces. The
//! relays are written from the RFCs; counts are those of the ruler or of nginx.

mod over_tls;

use crate::counts::adds_up;
use crate::help::count;
use crate::support::peers::{Nginx, Options};
use crate::support::relay::{Relay, Speaks, unix_relay};
use crate::support::{Output, Ruler, Scratch, Tool, run_alongside};
use std::net::{SocketAddr, TcpListener};

/// Runs 300 requests of 5 users over 5 connections, by a route; `args` begin with the URL.
fn load(args: &[&str]) -> Output {
    Tool::run(&[args, &["-c", "5", "-n", "300", "-t", "2", "--json"]].concat())
}

/// Checks the arithmetic of [`load`]: 300 requests, and 5 connections.
#[track_caller]
fn is_exact(output: &Output, ruler: &Ruler) {
    let said = output.json();
    assert_eq!(output.code, 0, "{}", output.stderr);
    adds_up(&said, ruler);
    assert_eq!((count(&said, "/totals/requests"), ruler.requests()), (300, 300));
    assert_eq!(count(&said, "/client/connections/opened"), 5);
}

/// Checks that nothing was sent, and returns the message.
#[track_caller]
fn refused(output: &Output, code: i32) -> String {
    assert_eq!(output.code, code, "{}", output.stderr);
    output.stderr.clone()
}

#[test]
fn requests_by_a_unix_socket_are_counted_exactly_and_keep_the_host_of_their_url() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&["--keep-requests", "first:300"]), Scratch::new());
    let path = scratch.path("app.sock");
    unix_relay(path.as_ref(), ruler.address());
    // The host does not exist, and no resolver is asked for it.
    is_exact(&load(&["http://shop.invalid/a", "--unix-socket", &path]), &ruler);
    let kept = ruler.json("/_test-server/requests");
    let host = kept["requests"][0]["headers"].to_string();
    assert!(host.contains("shop.invalid"), "{host}");
}

#[test]
fn a_relative_unix_socket_starts_at_the_folder_of_the_experiment() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    unix_relay(scratch.path("app.sock").as_ref(), ruler.address());
    let text = "target: http://shop.invalid\nconnection: { unix_socket: app.sock }\n\
                scenarios: { s: [ { get: / } ] }\nload: { users: 5, iterations_per_user: 60 }\n";
    is_exact(&Tool::run(&["run", &scratch.file("unix.yaml", text), "-t", "2", "--json"]), &ruler);
}

#[test]
fn large_bodies_by_a_unix_socket_are_read_to_their_last_byte() {
    let _turn = run_alongside();
    // Only TCP discards bytes in the kernel: 200 KB are above the size from which it would.
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let path = scratch.path("app.sock");
    unix_relay(path.as_ref(), ruler.address());
    // A small buffer is full before the body ends, on every machine.
    let line = ["http://h/?body=200000", "--unix-socket", &path, "-c", "3", "-n", "60", "--json"];
    let small = [&line[..], &["--limit", "read_buffer_bytes=16k"]].concat();
    for line in [&line[..], &small] {
        let said = Tool::run(line).json();
        assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (60, 0));
        assert_eq!(count(&said, "/totals/body_bytes"), 60 * 200_000);
    }
}

#[test]
fn nginx_serves_http2_over_tls_and_plain_http_by_unix_sockets() {
    let _turn = run_alongside();
    let nginx = Nginx::start(Options { http2: true, ..Options::default() });
    let ca = nginx.ca_file().display().to_string();
    let args = ["https://localhost/plain", "--ca", &ca, "--unix-socket", &nginx.unix_socket("https")];
    let said = load(&args).json();
    assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (300, 0));
    assert_eq!(count(&said, "/client/connections/opened"), 5);
    let said = load(&["http://localhost/plain", "--unix-socket", &nginx.unix_socket("http")]).json();
    assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (300, 0));
    assert_eq!(nginx.wait_for_log_lines(600).iter().filter(|line| line.status == 200).count(), 600);
}

#[test]
fn a_unix_socket_that_nothing_listens_on_is_one_sentence() {
    let _turn = run_alongside();
    let scratch = Scratch::new();
    let path = scratch.path("none.sock");
    let said = refused(&load(&["http://h/", "--unix-socket", &path]), 1);
    assert!(said.contains(&format!("the Unix socket `{path}` does not exist")), "{said}");
    // A socket whose listener is gone.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let said = refused(&load(&["http://h/", "--unix-socket", &path]), 1);
    assert!(said.contains(&format!("nothing listens on the Unix socket `{path}`")), "{said}");
    let long = format!("/{}", "x".repeat(120));
    let said = refused(&load(&["http://h/", "--unix-socket", &long]), 2);
    assert!(said.contains("121 bytes of at most 107"), "{said}");
}

#[test]
fn nginx_reads_the_header_of_the_proxy_protocol_with_the_real_and_with_claimed_addresses() {
    let _turn = run_alongside();
    let nginx = Nginx::start(Options { http2: true, ..Options::default() });
    let url = nginx.proxied_url("/plain");
    for version in ["v1", "v2"] {
        let said = load(&[&url, "--proxy-protocol", version]).json();
        assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (300, 0), "{version}");
    }
    let clients = nginx.wait_for_proxied_clients(600);
    assert_eq!(clients.len(), 600);
    assert!(clients.iter().all(|client| client == "127.0.0.1"), "{:?}", clients[0]);
    // 6 connections of 3 claimed clients: each of them 2 connections, and 20 of 60 requests.
    let scratch = Scratch::new();
    let file = scratch.file(
        "clients.yaml",
        &format!(
            "target: {}\nscenarios: {{ s: [ {{ get: /plain }} ] }}\nload: {{ users: 6, iterations_per_user: 10 }}\n\
             connection: {{ proxy_protocol: {{ version: v2, source_addresses: 198.51.100.1-198.51.100.3 }} }}\n",
            nginx.proxied_url("")
        ),
    );
    assert_eq!(Tool::run(&["run", &file, "-t", "2"]).code, 0);
    let clients = nginx.wait_for_proxied_clients(660);
    for last in 1..=3 {
        let address = format!("198.51.100.{last}");
        assert_eq!(clients[600..].iter().filter(|client| **client == address).count(), 20, "{address}");
    }
}

#[test]
fn a_server_of_the_proxy_protocol_gets_one_header_per_connection() {
    let _turn = run_alongside();
    for version in ["v1", "v2"] {
        let ruler = Ruler::start(&[]);
        let relay = Relay::start(Speaks::ProxyHeader, None, ruler.address());
        let url = format!("http://{}/", relay.address());
        is_exact(&load(&[&url, "--proxy-protocol", version]), &ruler);
        // The trial connection has one, too.
        assert_eq!(relay.log().passed.len(), 6, "{version}");
    }
}

#[test]
fn an_http_proxy_forwards_whole_urls_with_the_login_and_every_request_arrives() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--keep-requests", "first:300"]);
    let relay = Relay::start(Speaks::Http, Some(("me", "p:ss")), ruler.address());
    let proxy = format!("http://me:p%3Ass@{}", relay.address());
    is_exact(&load(&["http://localhost:81/a?b=1", "--proxy", &proxy]), &ruler);
    let log = relay.log();
    assert_eq!(log.requests.len(), 300);
    assert!(
        log.requests.iter().all(|line| line == "GET http://localhost:81/a?b=1 HTTP/1.1"),
        "{:?}",
        log.requests[0]
    );
    assert_eq!((log.passed.len(), log.denied), (5, 0));
    let kept = ruler.json("/_test-server/requests");
    assert_eq!(kept["requests"][0]["target"], "/a?b=1");
}

#[test]
fn rendered_requests_redirects_and_bodies_go_through_an_http_proxy() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&["--keep-requests", "first:300"]), Scratch::new());
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let file = scratch.file(
        "shop.yaml",
        &format!(
            "target: http://localhost:81\nconnection: {{ proxy: \"http://{}\" }}\n\
             scenarios: {{ s: [ {{ post: \"/order?n=${{iteration}}\", body: \"x=${{user}}\" }}, {{ get: /b }} ] }}\n\
             load: {{ users: 4, iterations_per_user: 10 }}\n",
            relay.address()
        ),
    );
    let output = Tool::run(&["run", &file, "--json"]);
    let said = output.json();
    assert_eq!(output.code, 0, "{}", output.stderr);
    adds_up(&said, &ruler);
    assert_eq!((ruler.requests(), relay.log().requests.len()), (80, 80));
    let orders = relay
        .log()
        .requests
        .iter()
        .filter(|line| line.starts_with("POST http://localhost:81/order?n="))
        .count();
    assert_eq!(orders, 40);
}

#[test]
fn tunnels_of_an_http_proxy_carry_tls_http2_and_are_one_per_connection() {
    let _turn = run_alongside();
    let nginx = Nginx::start(Options { http2: true, ..Options::default() });
    let relay = Relay::start(
        Speaks::Http,
        Some(("me", "pass")),
        SocketAddr::from(([127, 0, 0, 1], nginx.ports()[1])),
    );
    let proxy = format!("http://me:pass@{}", relay.address());
    let ca = nginx.ca_file().display().to_string();
    let said = load(&["https://localhost:444/plain", "--ca", &ca, "--proxy", &proxy]).json();
    assert_eq!((count(&said, "/totals/requests"), count(&said, "/totals/errors")), (300, 0));
    assert_eq!(count(&said, "/client/connections/opened"), 5);
    let log = relay.log();
    // 5 connections of the load; the trials before it open one or two.
    assert!((6..=7).contains(&log.passed.len()), "{:?}", log.passed);
    assert!(log.passed.iter().all(|to| to == "localhost:444"), "{:?}", log.passed);
    // HTTP/2 over plain text needs a tunnel as well.
    let ruler = Ruler::start(&["--http2"]);
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let proxy = format!("http://{}", relay.address());
    is_exact(&load(&["http://localhost:81/", "--http2", "--proxy", &proxy]), &ruler);
    assert!(relay.log().requests.is_empty());
}

#[test]
fn websockets_over_plain_text_go_through_tunnels() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&[]), Scratch::new());
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let file = scratch.file(
        "chat.yaml",
        &format!(
            "target: ws://localhost:81\nconnection: {{ proxy: \"http://{}\" }}\n\
             scenarios: {{ s: [ {{ connect: /websocket }}, {{ send: hi }}, {{ expect: hi }}, {{ close: 1000 }} ] }}\n\
             load: {{ users: 4, iterations_per_user: 2 }}\n",
            relay.address()
        ),
    );
    let output = Tool::run(&["run", &file, "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(count(&ruler.counters(), "/websockets_opened"), 8);
    let log = relay.log();
    assert!(log.requests.is_empty(), "{:?}", log.requests);
    assert!(log.passed.iter().all(|to| to == "localhost:81"), "{:?}", log.passed);
}

#[test]
fn the_proxy_protocol_names_an_address_that_each_connection_looks_up() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let relay = Relay::start(Speaks::ProxyHeader, None, ruler.address());
    let url = format!("http://localhost:{}/", relay.address().port());
    is_exact(&load(&[&url, "--proxy-protocol", "v2", "--dns", "each_connection"]), &ruler);
    assert!(relay.log().passed.iter().all(|from| from == "127.0.0.1"), "{:?}", relay.log().passed);
}

#[test]
fn socks_proxies_resolve_the_name_or_get_its_address() {
    let _turn = run_alongside();
    for (scheme, to) in [("socks5", "127.0.0.1:81"), ("socks5h", "localhost:81")] {
        let ruler = Ruler::start(&[]);
        let relay = Relay::start(Speaks::Socks5, Some(("me", "pass")), ruler.address());
        let proxy = format!("{scheme}://me:pass@{}", relay.address());
        let scratch = Scratch::new();
        let file = scratch.file(
            "socks.yaml",
            &format!(
                "target: http://localhost:81\nscenarios: {{ s: [ {{ get: / }} ] }}\n\
                 load: {{ users: 5, iterations_per_user: 60 }}\nconnection: {{ proxy: \"{proxy}\"{} }}\n",
                // `localhost` may be an IPv6 address first.
                if scheme == "socks5" { ", resolve: { localhost: 127.0.0.1 }" } else { "" }
            ),
        );
        is_exact(&Tool::run(&["run", &file, "-t", "2", "--json"]), &ruler);
        let log = relay.log();
        assert_eq!((log.passed.len(), log.denied), (6, 0), "with the trial connection");
        assert!(log.passed.iter().all(|passed| passed == to), "{scheme}: {:?}", log.passed);
    }
}

#[test]
fn a_proxy_that_refuses_ends_the_run_before_the_load_with_its_reason() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let me = Some(("me", "pass"));
    for (speaks, login, url, scheme, why) in [
        (Speaks::Http, me, "http://localhost:81/", "http", "it requires other credentials (status 407)"),
        (Speaks::Http, me, "https://localhost:81/", "http", "it requires other credentials (status 407)"),
        (
            Speaks::Http,
            me,
            "http://localhost:81/",
            "http://me:wrong@",
            "it requires other credentials (status 407)",
        ),
        (
            Speaks::Status(502),
            None,
            "https://localhost:81/",
            "http",
            "it refused to open a tunnel (status 502)",
        ),
        (Speaks::Reply(5), None, "http://localhost:81/", "socks5h", "(SOCKS5 reply 5: connection refused)"),
        (Speaks::Socks5, me, "http://localhost:81/", "socks5h", "it requires a user name and a password"),
        (Speaks::Socks5, None, "https://localhost:81/", "http", "its response is not HTTP"),
    ] {
        let (scheme, login_text) = scheme.split_once("://").unwrap_or((scheme, ""));
        let relay = Relay::start(speaks, login, ruler.address());
        let proxy = format!("{scheme}://{login_text}{}", relay.address());
        let text = refused(&load(&[url, "--proxy", &proxy]), 1);
        let shown =
            format!("the proxy `{scheme}://{}` opened no connection to `localhost:81`: ", relay.address());
        assert!(text.contains(&shown) && text.contains(why), "{speaks:?} {scheme}: {text}");
        assert!(!text.contains("wrong"), "the password is shown: {text}");
    }
    assert_eq!(ruler.requests(), 0);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = refused(&load(&["http://localhost:81/", "--proxy", &format!("http://{closed}")]), 1);
    assert!(text.contains(&format!("nothing listens on the proxy `http://{closed}`")), "{text}");
}

#[test]
fn a_proxy_and_a_host_that_only_it_knows_require_permission() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let relay = Relay::start(Speaks::Socks5, None, ruler.address());
    let proxy = format!("socks5h://{}", relay.address());
    // The relay always connects to the ruler, so no packet leaves this machine.
    let text = refused(&load(&["http://shop.invalid:81/", "--proxy", &proxy]), 4);
    assert!(text.contains("only the proxy can resolve `shop.invalid`"), "{text}");
    let text = refused(&load(&["http://203.0.113.7:81/", "--proxy", &proxy]), 4);
    assert!(text.contains("`203.0.113.7` is a public address"), "{text}");
    let text =
        refused(&load(&["http://169.254.169.254/", "--proxy", &proxy, "--allow", "169.254.169.254"]), 4);
    assert!(text.contains("cannot be loaded, even with permission"), "{text}");
    let text = refused(&load(&[&ruler.url("/"), "--proxy", "http://203.0.113.7:3128"]), 4);
    assert!(text.contains("the proxy `203.0.113.7` is a public address"), "{text}");
    assert_eq!((ruler.requests(), relay.log().passed.len()), (0, 0));
    is_exact(&load(&["http://shop.invalid:81/", "--proxy", &proxy, "--allow", "shop.invalid"]), &ruler);
}

#[test]
fn connections_are_bound_to_the_interface() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let url = ruler.url("/");
    is_exact(&load(&[&url, "--interface", "lo"]), &ruler);
    let text = refused(&load(&[&url, "--interface", "nosuch0"]), 1);
    assert!(text.contains("network interface `nosuch0`: it does not exist"), "{text}");
}

#[test]
fn routes_that_contradict_each_other_are_refused() {
    let _turn = run_alongside();
    for (flags, why) in [
        (&["--proxy", "http://h:1", "--unix-socket", "/x"][..], "P034"),
        (&["--proxy", "http://h:1", "--proxy-protocol", "v1"], "P034"),
        (&["--unix-socket", "/x", "--interface", "lo"], "P034"),
        (&["--proxy", "https://h:1", "--cert", "x.pem"], "the target uses plain HTTP"),
        (&["--proxy", "socks4://h:1"], "unsupported kind of proxy `socks4`"),
        (&["--proxy", "http://me:secret@h"], "missing port of the proxy `http://***@h`"),
        (&["--proxy-protocol", "v3"], "unknown version of the PROXY protocol `v3`"),
        (&["--interface", "a/b"], "invalid name of a network interface `a/b`"),
    ] {
        let text = refused(&load(&[&["http://127.0.0.1:1/"], flags].concat()), 2);
        assert!(text.contains(why) && !text.contains("secret"), "{flags:?}: {text}");
    }
}

#[test]
fn a_proxy_that_refuses_during_the_load_is_a_failure_of_the_network() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    // The trial connection and 49 requests pass; then the proxy refuses. Each of 100 arrivals has its own connection.
    let relay = Relay::start(Speaks::ReplyAfter(1, 50), None, ruler.address());
    let proxy = format!("socks5h://{}", relay.address());
    let args = ["http://localhost:81/", "--proxy", &proxy, "--no-keepalive", "-t", "1", "--json"];
    let output = Tool::run(&[&args[..], &["-r", "200", "-d", "500ms"]].concat());
    let said = output.json();
    assert_eq!((output.code, ruler.requests()), (99, 49), "{}", output.stderr);
    assert_eq!(count(&said, "/totals/errors"), 51);
    let errors = said["errors"].to_string();
    assert!(errors.contains("proxy_refused") && errors.contains("network"), "{errors}");
    let examples = said["failure_examples"].to_string();
    assert!(examples.contains("SOCKS5 reply 1: general failure"), "{examples}");
}

#[test]
fn a_proxy_that_says_nothing_ends_the_trial_in_time() {
    let _turn = run_alongside();
    let relay = Relay::start(Speaks::Nothing, None, SocketAddr::from(([127, 0, 0, 1], 1)));
    let proxy = format!("socks5h://{}", relay.address());
    let output = load(&["http://localhost:81/", "--proxy", &proxy, "--limit", "connect_timeout_ns=300ms"]);
    let text = refused(&output, 1);
    assert!(text.contains("it did not respond"), "{text}");
}
