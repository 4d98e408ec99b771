//! The version: what the flags demand, what the server offers, and what happens if these differ.

use super::{counter, run, streams};
use crate::help::count;
use crate::provoke::{json, no_faults};
use crate::support::peers::{Nginx, Options, Pki};
use crate::support::{Ruler, Tool, run_alongside};

#[test]
fn a_server_without_http2_is_named_before_any_load() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let output = Tool::run(&[&ruler.url("/"), "--http2", "-n", "10", "--json"]).expect_code(1);
    let sentence = format!("error: `{}` does not speak HTTP/2: ", ruler.address());
    assert!(output.stderr.contains(&sentence), "{}", output.stderr);
    assert!(output.stderr.contains("help: use HTTP/1.1: remove `--http2`"), "{}", output.stderr);
    assert_eq!((ruler.requests(), output.stdout.as_str()), (0, ""));
    let said = json(&[&ruler.url("/"), "-n", "10"], 0);
    assert!(said["client"]["connections"]["http2"].is_null());
}

#[test]
fn prior_knowledge_is_never_guessed() {
    let _beside = run_alongside();
    let ruler = super::server(&[]);
    let said = json(&[&ruler.url("/"), "-n", "10"], 0);
    assert_eq!((counter(&ruler, "requests"), counter(&ruler, "http2_streams")), (10, 0));
    assert!(said["client"]["connections"]["http2"].is_null());
    no_faults(&run(&ruler, "/", &["-n", "10"], 0));
    assert_eq!((counter(&ruler, "requests"), counter(&ruler, "http2_streams")), (20, 10));
}

/// The ruler offers only `h2` over TLS.
#[test]
fn tls_chooses_http2_unless_a_flag_forbids_it() {
    let _beside = run_alongside();
    let pki = Pki::new("IP:127.0.0.1");
    let (certificate, key) = pki.server();
    let [certificate, key, ca] = [certificate, key, pki.ca_file()].map(|path| path.display().to_string());
    let files = ["--tls-certificate", &certificate, "--tls-key", &key];
    let ruler = Ruler::start(&[&["--tls-listen", "127.0.0.1:0"], &files[..]].concat());
    let url = ruler.https_url("/");
    let args = [url.as_str(), "--ca", &ca, "-c", "2", "-n", "500"];
    for (more, users) in [(&[][..], 1), (&["--http2"], 1), (&["--streams", "10"], 10)] {
        ruler.get("/_test-server/clear");
        let said = json(&[&args[..], more].concat(), 0);
        no_faults(&said);
        assert_eq!(streams(&said, "streams_per_connection"), users, "{more:?}");
        assert_eq!((counter(&ruler, "requests"), counter(&ruler, "http2_streams")), (500, 500), "{more:?}");
        assert_eq!(count(&said, "/client/connections/opened"), 2, "{more:?}");
    }
    ruler.get("/_test-server/clear");
    // A handshake that fails for another reason keeps its reason.
    let distrusted = Tool::run(&[&url, "--http2", "-n", "50", "--json"]).expect_code(1);
    assert!(!distrusted.stderr.contains("HTTP/2"), "{}", distrusted.stderr);
    let output = Tool::run(&[&args[..], &["--http1.1", "--json"]].concat()).expect_code(1);
    assert!(output.stderr.contains("error: "), "{}", output.stderr);
    assert_eq!((counter(&ruler, "requests"), counter(&ruler, "http2_streams")), (0, 0));
}

/// nginx offers only HTTP/1.1 over TLS here.
#[test]
fn tls_falls_back_to_http1_unless_http2_is_demanded() {
    let _beside = run_alongside();
    let nginx = Nginx::start(Options::default());
    let (url, ca) = (nginx.https_url("/plain"), nginx.ca_file().display().to_string());
    let args = [url.as_str(), "--ca", &ca, "-c", "2", "-n", "50", "--json"];
    let said = Tool::run(&args).expect_code(0).json();
    assert!(said["client"]["connections"]["http2"].is_null());
    assert_eq!(count(&said, "/totals/requests"), 50);
    let output = Tool::run(&[&args[..], &["--http2"]].concat()).expect_code(1);
    // Offered only HTTP/2, nginx ends the handshake with an alert (RFC 7301, 3.2).
    for part in ["does not speak HTTP/2", "remove `--http2`"] {
        assert!(output.stderr.contains(part) && output.stdout.is_empty(), "{}", output.stderr);
    }
    // nginx says so before it shows its certificate, so trust does not matter.
    let distrusted = Tool::run(&[&url, "--http2", "-n", "50", "--json"]).expect_code(1);
    assert!(distrusted.stderr.contains("does not speak HTTP/2"), "{}", distrusted.stderr);
}
