//! `wss`: the same sockets through TLS. nginx ends it, because the ruler's TLS speaks only HTTP/2.

use super::{adds_up, counter, row};
use crate::provoke::{json, no_faults};
use crate::support::peers::{Nginx, Options};
use crate::support::{Ruler, Scratch, run_alongside};

const STEPS: &str = "scenarios:
  s:
    - connect: /websocket?fragment=1000
      correlation: $.id
    - repeat: 5
      steps:
        - send: { json: { id: \"${uuid}\", pad: \"${random_string(3000)}\" } }
        - expect: { json: { $.pad: { matches: \"^.{3000}$\" } } }
    - ping: x
    - close: 4000
load: { users: 8, iterations: 16 }
";

#[test]
fn every_message_of_a_secure_socket_is_counted() {
    let _beside = run_alongside();
    for protocol in ["TLSv1.2", "TLSv1.3"] {
        let ruler = Ruler::start(&[]);
        let nginx = Nginx::start(Options {
            protocols: vec![protocol],
            proxy_to: Some(ruler.address()),
            ..Options::default()
        });
        let scratch = Scratch::new();
        let target = nginx.https_url("").replace("https://", "wss://");
        let trust = format!("tls: {{ ca: \"{}\" }}\n", nginx.ca_file().display());
        let said =
            json(&["run", &scratch.file("plan.yaml", &format!("target: {target}\n{trust}{STEPS}"))], 0);
        no_faults(&said);
        adds_up(&said, &ruler);
        assert_eq!((row(&said, "messages_sent"), row(&said, "round_trip/count")), (80, 80));
        assert_eq!(row(&said, "ping/count"), 16);
        assert_eq!(ruler.counters()["websocket_close_codes"]["4000"], 16);
        let lines = nginx.wait_for_log_lines(16);
        assert!(lines.iter().all(|line| line.tls.as_deref() == Some(protocol)), "{lines:?}");
        assert!(lines.iter().filter(|line| line.status == 101).count() >= 16, "{lines:?}");
    }
}

/// The twin: without the authority, no socket opens.
#[test]
fn a_socket_of_an_unknown_authority_does_not_open() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let nginx = Nginx::start(Options { proxy_to: Some(ruler.address()), ..Options::default() });
    let scratch = Scratch::new();
    let target = nginx.https_url("").replace("https://", "wss://");
    let file = scratch.file("plan.yaml", &format!("target: {target}\n{STEPS}"));
    let output = crate::support::Tool::new(&["run", &file]).start().wait();
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert!(output.stderr.contains("certificate"), "{}", output.stderr);
    assert_eq!(counter(&ruler, "websockets_opened"), 0);
}
