//! Messages: sent, received, lost, repeated, and how long a response took.

use super::{adds_up, counter, row, run};
use crate::help::{number, patiently};
use crate::provoke::no_faults;
use crate::support::{Ruler, alone, run_alongside};

#[test]
fn every_message_and_every_response_is_counted() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket
    - repeat: 25
      steps:
        - send: { json: { n: \"${counter}\" } }
        - expect: { json: { $.n: { exists: true } } }
    - send: { binary: \"\\x00\\x01\" }
    - expect: { kind: binary, length: 2 }
    - close: 1000";
    let said = run(&ruler, steps, "load: { users: 4, iterations: 20 }", 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    let told = ["opened", "closed_by_client", "messages_sent", "messages_received"].map(|f| row(&said, f));
    assert_eq!(told, [20, 20, 20 * 26, 20 * 26], "{}", said["websockets"]);
    assert_eq!(row(&said, "round_trip/count"), 20 * 26);
    assert_eq!(counter(&ruler, "websockets_closed_by_peer"), 20);
    assert_eq!(ruler.counters()["websocket_close_codes"]["1000"], 20);
}

/// A response that the ruler holds for 20 ms took 20 ms, and no less.
#[test]
fn a_round_trip_is_as_long_as_the_server_holds_the_response() {
    let _turn = alone();
    patiently("round trips of 20 ms", || {
        let ruler = Ruler::start(&[]);
        let steps = "    - connect: /websocket?echo_delay=20ms
    - repeat: 10
      steps: [ { send: hello }, { expect: hello } ]";
        let said = run(&ruler, steps, "load: { users: 2, iterations: 10 }", 0);
        let (least, most) = (
            number(&said, "/websockets/0/round_trip/min_ns"),
            number(&said, "/websockets/0/round_trip/max_ns"),
        );
        assert!(least >= 20e6, "{least} ns is less than the delay");
        if most < 35e6 { Ok(()) } else { Err(format!("{most} ns")) }
    });
}

/// Several messages are on their way at once, and their IDs say which response belongs to which.
#[test]
fn responses_are_matched_by_their_ids() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = |place: &str| {
        format!(
            "    - connect: /websocket?echo_delay=10ms&drop=3&swap=6
      correlation: {place}
    - repeat: 8
      steps: [ {{ send: {{ json: {{ id: \"${{uuid}}\" }} }} }} ]
    - think: 100ms
    - close: 1000"
        )
    };
    for place in ["$.id", "{ regex: 'id\":\"([^\"]+)' }"] {
        let said = run(&ruler, &steps(place), "load: { users: 3, iterations: 6 }", 0);
        assert_eq!(row(&said, "round_trip/count"), 6 * 7, "one of eight was not returned");
        assert_eq!((row(&said, "messages_unanswered"), row(&said, "responses_unmatched")), (6, 0));
    }
    // Without IDs, the oldest message counts as the one that is responded to.
    let said = run(&ruler, &steps("next"), "load: { users: 3, iterations: 6 }", 0);
    assert_eq!((row(&said, "round_trip/count"), row(&said, "messages_unanswered")), (6 * 7, 6));
}

#[test]
fn lost_repeated_and_swapped_messages_are_counted_exactly() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket?every=5ms&count=20&drop=4,9,10&repeat=6,7&swap=14
      sequence: $.seq
      timestamp: { json: $.sent_ns, unit: ns }
      closed_by: server";
    let said = run(&ruler, steps, "load: { users: 10, iterations: 10 }", 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    let told = ["received", "lost", "duplicated", "out_of_order", "expected"]
        .map(|field| row(&said, &format!("messages_{field}")));
    assert_eq!(told, [190, 30, 20, 10, 200], "{}", said["websockets"]);
    assert_eq!(row(&said, "age/count"), 190);
    assert_eq!((row(&said, "closed_by_server"), row(&said, "close_codes/1000")), (10, 10));
}

#[test]
fn fragments_and_pings_do_not_change_the_messages() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket?fragment=3&ping_every=2ms
    - repeat: 20
      steps: [ { send: \"grüße, ${user}\" }, { expect: { text: { equals: \"grüße, ${user}\" } } }, { think: 1ms } ]";
    let said = run(&ruler, steps, "load: { users: 2, iterations: 4 }", 0);
    adds_up(&said, &ruler);
    let (pings, pongs) = (row(&said, "pings_received"), counter(&ruler, "websocket_pongs_received"));
    assert!(pongs > 0 && pongs <= pings, "{pongs} pongs for {pings} pings");
    assert_eq!(counter(&ruler, "websocket_frames_malformed"), 0);
}

/// One user sends, and every socket of the room receives: N messages for each.
#[test]
fn a_message_to_a_room_reaches_every_socket() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket?room=a
      timestamp: { json: $.at, unit: ns }
      duration: 900ms
      while_open:
        - think: 300ms
        - if: \"${user} == 1\"
          then:
            - repeat: 20
              steps: [ { send: { json: { at: \"${now(unix_ns)}\" } } }, { think: 5ms } ]";
    let said = run(&ruler, steps, "load: { users: 30, iterations_per_user: 1 }", 0);
    adds_up(&said, &ruler);
    assert_eq!((row(&said, "messages_sent"), row(&said, "messages_received")), (20, 600));
    assert_eq!(row(&said, "age/count"), 600, "the age of each message at each receiver");
}

/// A missing message fails its check and the iteration; the twin that arrives passes.
#[test]
fn a_message_that_does_not_come_in_time_is_a_failure() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = |delay: &str| {
        format!(
            "    - connect: /websocket?echo_delay={delay}\n    - send: hello\n    - {{ expect: hello, within: 60ms }}"
        )
    };
    let load = "load: { users: 2, iterations: 6 }";
    let late = run(&ruler, &steps("400ms"), load, 99);
    assert_eq!(crate::provoke::only(&late, "message_timeout", "server"), 6);
    assert_eq!(late["checks"][0]["failures"], 6, "{}", late["checks"]);
    let good = run(&ruler, &steps("1ms"), load, 0);
    no_faults(&good);
    assert_eq!((&good["checks"][0]["evaluations"], &good["checks"][0]["failures"]), (&6.into(), &0.into()));
}

/// The time of a pong is that of the ruler; one that does not come fails the iteration.
#[test]
fn a_ping_takes_as_long_as_its_pong_is_delayed() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = |query: &str, within: &str| {
        format!(
            "    - connect: /websocket?{query}\n    - {{ ping: \"${{uuid}}\", within: {within} }}\n    \
             - {{ ping: \"\", within: {within} }}\n    - send: hello\n    - expect: hello"
        )
    };
    let load = "load: { users: 2, iterations: 6 }";
    let said = run(&ruler, &steps("pong_delay=30ms&echo_delay=1ms", "5s"), load, 0);
    no_faults(&said);
    adds_up(&said, &ruler);
    let told = ["pings_sent", "pongs_received", "ping/count"].map(|field| row(&said, field));
    assert_eq!(told, [12, 12, 12], "{}", said["websockets"]);
    assert_eq!(counter(&ruler, "websocket_pings_received"), 12);
    assert!(row(&said, "ping/min_ns") >= 30_000_000, "{}", said["websockets"]);
    assert_eq!((&said["checks"][0]["evaluations"], &said["checks"][0]["failures"]), (&6.into(), &0.into()));

    let silent = run(&ruler, &steps("answer_ping=0", "60ms"), load, 99);
    assert_eq!(crate::provoke::only(&silent, "message_timeout", "server"), 6);
    assert_eq!((row(&silent, "pings_sent"), row(&silent, "pongs_received")), (6, 0));
}

/// A pong answers all earlier pings, and one that answers none changes nothing.
#[test]
fn pings_of_parallel_steps_have_their_own_pongs() {
    let _beside = run_alongside();
    let ruler = Ruler::start(&[]);
    let steps = "    - connect: /websocket?pong_delay=10ms
    - parallel:
        - [ { ping: a }, { ping: a } ]
        - [ { ping: b }, { think: 25ms }, { ping: b } ]";
    let said = run(&ruler, steps, "load: { users: 2, iterations: 4 }", 0);
    no_faults(&said);
    assert_eq!((row(&said, "pings_sent"), row(&said, "ping/count")), (16, 16));
}
