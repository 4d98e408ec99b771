//! Proxies that are reached over TLS: Node unwraps it in front of a relay.

use super::{is_exact, load, refused};
use crate::help::count;
use crate::support::peers::{LOCAL, Nginx, Node, Options, Pki};
use crate::support::relay::{Relay, Speaks};
use crate::support::{Ruler, Scratch, Tool, run_alongside};
use std::net::SocketAddr;

/// TLS in front of a relay.
struct TlsProxy {
    node: Node,
    pki: Pki,
}

impl TlsProxy {
    fn start(to: SocketAddr, more: &[&str]) -> TlsProxy {
        let pki = Pki::new(LOCAL);
        let (certificate, key) = pki.server();
        let words = [certificate.display().to_string(), key.display().to_string(), to.ip().to_string()];
        let port = to.port().to_string();
        let args = [&[words[0].as_str(), &words[1], &words[2], &port], more].concat();
        TlsProxy { node: Node::start_with("tls-relay.mjs", &args), pki }
    }

    fn url(&self, login: &str) -> String {
        format!("https://{login}localhost:{}", self.node.address().port())
    }

    fn ca(&self) -> String {
        self.pki.ca_file().display().to_string()
    }
}

#[test]
fn a_proxy_over_tls_forwards_requests_and_large_bodies_in_both_directions() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let relay = Relay::start(Speaks::Http, Some(("me", "pass")), ruler.address());
    let outer = TlsProxy::start(relay.address(), &[]);
    let (proxy, ca) = (outer.url("me:pass@"), outer.ca());
    is_exact(&load(&["http://localhost:81/a?b=1", "--proxy", &proxy, "--ca", &ca]), &ruler);
    let log = relay.log();
    assert!(log.requests.iter().all(|line| line == "GET http://localhost:81/a?b=1 HTTP/1.1"));
    assert_eq!((log.requests.len(), log.passed.len(), log.denied), (300, 5, 0));
    let scratch = Scratch::new();
    let body = scratch.file("large.txt", &"0123456789abcde\n".repeat(60_000));
    let url = "http://localhost:81/echo?body=900000";
    let line =
        [url, "--proxy", &proxy, "--ca", &ca, "-b", &format!("@{body}"), "-c", "3", "-n", "12", "--json"];
    let said = Tool::run(&line).json();
    assert_eq!(
        (count(&said, "/totals/requests"), count(&said, "/totals/errors")),
        (12, 0),
        "{}",
        said["errors"]
    );
    // The ruler returns what it has received, as JSON.
    assert!(count(&said, "/totals/body_bytes") > 12 * 960_000, "{}", said["totals"]);
}

#[test]
fn a_proxy_over_tls_opens_tunnels_for_tls_http2_and_websockets() {
    let _turn = run_alongside();
    let nginx = Nginx::start(Options { http2: true, ..Options::default() });
    let relay = Relay::start(Speaks::Http, None, SocketAddr::from(([127, 0, 0, 1], nginx.ports()[1])));
    let outer = TlsProxy::start(relay.address(), &[]);
    let both = [outer.ca(), nginx.ca_file().display().to_string()];
    let line = ["https://localhost:444/plain", "--ca", &both[0], "--ca", &both[1], "--proxy", &outer.url("")];
    let said = load(&line).json();
    assert_eq!(
        (count(&said, "/totals/requests"), count(&said, "/totals/errors")),
        (300, 0),
        "{}",
        said["errors"]
    );
    assert_eq!((count(&said, "/client/connections/opened"), relay.log().requests.len()), (5, 0));
    let (ruler, scratch) = (Ruler::start(&["--http2"]), Scratch::new());
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let outer = TlsProxy::start(relay.address(), &[]);
    is_exact(
        &load(&["http://localhost:81/", "--http2", "--proxy", &outer.url(""), "--ca", &outer.ca()]),
        &ruler,
    );
    let text = format!(
        "target: ws://localhost:81\nconnection: {{ proxy: \"{}\" }}\ntls: {{ ca: {} }}\n\
         scenarios: {{ s: [ {{ connect: /websocket }}, {{ send: hi }}, {{ expect: hi }}, {{ close: 1000 }} ] }}\n\
         load: {{ users: 4, iterations_per_user: 2 }}\n",
        outer.url(""),
        outer.ca()
    );
    let said = Tool::run(&["run", &scratch.file("chat.yaml", &text), "--json"]).expect_code(0).json();
    assert_eq!(count(&said, "/totals/errors"), 0);
    assert_eq!(ruler.counters()["websockets_opened"], 8);
}

#[test]
fn tls_of_a_proxy_that_fails_is_the_failure_of_the_proxy() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let outer = TlsProxy::start(relay.address(), &[]);
    // Its authority is unknown.
    let text = refused(&load(&["http://localhost:81/", "--proxy", &outer.url("")]), 1);
    assert!(
        text.contains("opened no connection to `localhost:81`: the TLS handshake with it failed"),
        "{text}"
    );
    is_exact(&load(&["http://localhost:81/", "--proxy", &outer.url(""), "--insecure"]), &ruler);
    // It speaks no TLS, and waits for the end of a request that never comes.
    let plain = format!("https://{}", relay.address());
    let args =
        ["http://localhost:81/", "--proxy", &plain, "--insecure", "--limit", "connect_timeout_ns=300ms"];
    let text = refused(&load(&args), 1);
    assert!(text.contains("it did not respond"), "{text}");
    // It accepts the connection by which this test waits for it, the two trial connections, and 30 more.
    let (ruler, args) = (Ruler::start(&[]), ["http://localhost:81/", "--no-keepalive", "-t", "1", "--json"]);
    let relay = Relay::start(Speaks::Http, None, ruler.address());
    let outer = TlsProxy::start(relay.address(), &["33"]);
    let (proxy, ca) = (outer.url(""), outer.ca());
    let output =
        Tool::run(&[&args[..], &["--proxy", &proxy, "--ca", &ca, "-r", "200", "-d", "400ms"]].concat());
    let said = output.json();
    assert_eq!((output.code, ruler.requests()), (99, 30), "{}", output.stderr);
    assert_eq!(count(&said, "/totals/errors"), 50);
    // It may end a connection before or after it has read the first bytes: `proxy_failed`, or `connection_reset`.
    let errors = said["errors"].as_array().expect("a list");
    assert!(errors.iter().all(|error| error["side"] == "network"), "{errors:?}");
}
