//! HTTP/2 frame by frame: connections, streams, windows, and what is counted of them.

use crate::common::{Ruler, number};
use crate::frames::{
    ACK, DATA, END_STREAM, Frame, Frames, GOAWAY, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, body, frame,
};
use std::net::Shutdown;

const NO_ERROR: u32 = 0;
const INTERNAL_ERROR: u32 = 2;
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;

fn start(flags: &[&str]) -> Ruler {
    Ruler::start(&[&["--http2"], flags].concat())
}

fn connect(ruler: &Ruler) -> Frames {
    Frames::connect(ruler.address, &[])
}

/// The code of the RST_STREAM on this stream, if there is one.
fn reset(frames: &[Frame], stream: u32) -> Option<u32> {
    frames.iter().find(|it| it.kind == RST_STREAM && it.stream == stream).map(|it| it.number(0))
}

fn goaway(frames: &[Frame]) -> Option<(u32, u32)> {
    frames.iter().find(|it| it.kind == GOAWAY).map(|it| (it.number(0), it.number(4)))
}

#[test]
fn both_versions_share_a_port_and_a_record() {
    let ruler = start(&[]);
    let mut http1 = ruler.connect();
    let mut http2 = connect(&ruler);
    assert_eq!(http1.get("/one?body=3").body, b"abc");
    http2.ask(&["/two?body=3"]);
    let frames = http2.until(|frame| frame.ends(1));
    assert_eq!((body(&frames, 1), frames.iter().any(|it| it.kind == HEADERS)), (b"abc".to_vec(), true));
    let counters = ruler.command("counters");
    assert!(counters.contains(r#""by_path":{"/one":1,"/two":1}"#), "{counters}");
    for (name, count) in
        [("requests", 2), ("responses", 2), ("accepted", 2), ("http2_connections", 1), ("http2_streams", 1)]
    {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
    let log = ruler.connect().get("/_test-server/log").body;
    let word = |entry: usize, at: usize| {
        u64::from_le_bytes(log[entry * 40 + at..entry * 40 + at + 8].try_into().unwrap())
    };
    assert_eq!(log.len(), 80);
    for entry in 0..2 {
        let [arrive, begin, end] = [0, 8, 16].map(|at| word(entry, at));
        assert!(arrive > 0 && begin == arrive && end > arrive, "{arrive} {begin} {end}");
    }
}

#[test]
fn without_the_key_the_preface_is_malformed() {
    let ruler = Ruler::start(&[]);
    let mut http2 = connect(&ruler);
    http2.socket.shutdown(Shutdown::Write).unwrap();
    http2.rest();
    assert_eq!((ruler.count("malformed"), ruler.count("http2_connections")), (1, 0));
    ruler.command("set?http2=1");
    let mut http2 = connect(&ruler);
    http2.ask(&["/"]);
    http2.until(|frame| frame.ends(1));
}

#[test]
fn settings_are_as_configured() {
    let ruler = start(&["--max-streams", "7", "--initial-window", "99", "--max-frame", "20000"]);
    let settings = |ruler: &Ruler| {
        let frames = connect(ruler).until(|frame| frame.kind == SETTINGS && frame.flags == 0);
        let payload = &frames.last().unwrap().payload;
        let entry = |six: &[u8]| {
            (u16::from_be_bytes([six[0], six[1]]), u32::from_be_bytes([six[2], six[3], six[4], six[5]]))
        };
        payload.chunks(6).map(entry).collect::<Vec<_>>()
    };
    let announced = settings(&ruler);
    for entry in [(3, 7), (4, 99), (5, 20_000)] {
        assert!(announced.contains(&entry), "{announced:?}");
    }
    ruler.command("set?max_streams=none");
    assert!(settings(&ruler).iter().all(|entry| entry.0 != 3));
    ruler.command("set?connection_window=1000000");
    let frames = connect(&ruler).until(|frame| frame.kind == WINDOW_UPDATE);
    let update = frames.last().unwrap();
    assert_eq!((update.stream, update.number(0)), (0, 1_000_000 - 65_535));
}

#[test]
fn more_streams_than_allowed_are_refused() {
    let ruler = start(&["--max-streams", "2", "--delay", "1m"]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/", "/", "/"]);
    let frames = http2.until(|frame| frame.ends(5));
    assert_eq!(reset(&frames, 5), Some(REFUSED_STREAM));
    let counters = ruler.command("counters");
    assert!(counters.contains(r#""http2_resets_sent":{"REFUSED_STREAM":1}"#), "{counters}");
    assert_eq!(
        (number(&counters, "requests"), number(&counters, "http2_streams_most")),
        (2, 3),
        "{counters}"
    );
}

#[test]
fn a_goaway_names_the_last_request_that_is_processed() {
    let ruler = start(&["--goaway-after", "3", "--delay", "5ms"]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/", "/", "/", "/", "/"]);
    let frames = http2.until(|frame| frame.ends(5));
    assert_eq!(goaway(&frames), Some((5, NO_ERROR)));
    let place = |wanted: &dyn Fn(&Frame) -> bool| frames.iter().position(wanted);
    assert!(place(&|it| it.kind == GOAWAY) < place(&|it| it.kind == HEADERS), "before the delayed responses");
    for stream in [1, 3, 5] {
        assert_eq!(body(&frames, stream).len(), 76);
    }
    // The rest is silence and a FIN, also for a request that comes after it.
    http2.ask(&["/late"]);
    assert!(http2.rest().iter().all(|frame| frame.stream == 0), "streams 7, 9, and 11 get nothing");
    let counters = ruler.command("counters");
    for (name, count) in [
        ("requests", 3),
        ("responses", 3),
        ("open", 1),
        ("http2_goaways_commanded", 1),
        // Streams 7, 9, and 11: also the one that comes after the GOAWAY.
        ("http2_unprocessed", 3),
    ] {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
    drop(http2);
    ruler.wait_for("closed_by_server", 1);
}

#[test]
fn a_goaway_has_the_configured_code() {
    let ruler = start(&["--goaway-after", "1", "--goaway-code", "ENHANCE_YOUR_CALM"]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/"]);
    assert_eq!(goaway(&http2.rest()), Some((1, 11)));
    ruler.command("set?goaway_after=0");
    let mut http2 = connect(&ruler);
    http2.ask(&["/", "/?close=1"]);
    let frames = http2.rest();
    assert_eq!((goaway(&frames), body(&frames, 1).len(), body(&frames, 3).len()), (Some((3, 0)), 76, 76));
    assert_eq!(ruler.count("responses"), 3);
}

#[test]
fn faults_have_the_meaning_of_http2() {
    let ruler = start(&[]);
    for (query, code, length) in [
        ("fault=reset_before", INTERNAL_ERROR, 0),
        ("fault=reset_before&reset_code=8", CANCEL, 0),
        ("fault=refused", REFUSED_STREAM, 0),
        ("fault=reset_mid_body&body=1000", INTERNAL_ERROR, 500),
        ("fault=reset_mid_body&body=30000&reset_code=CANCEL", CANCEL, 15_000),
    ] {
        let mut http2 = connect(&ruler);
        http2.ask(&[&format!("/?{query}"), "/after"]);
        let mut frames = http2.until(|frame| frame.ends(1));
        if !frames.iter().any(|frame| frame.ends(3)) {
            frames.extend(http2.until(|frame| frame.ends(3)));
        }
        assert_eq!((reset(&frames, 1), body(&frames, 1).len()), (Some(code), length), "{query}");
        assert_eq!(body(&frames, 3).len(), 76, "{query}: the connection lives on");
    }
    for (query, length) in [("fault=close_before", 0), ("fault=close_mid_body&body=1000", 500)] {
        let mut http2 = connect(&ruler);
        http2.ask(&[&format!("/?{query}")]);
        let frames = http2.rest();
        assert_eq!((body(&frames, 1).len(), reset(&frames, 1), goaway(&frames)), (length, None, None));
    }
    for (query, length) in [("fault=no_response", 0), ("fault=stall_mid_body&body=1000", 500)] {
        let mut http2 = connect(&ruler);
        http2.ask(&[&format!("/?{query}"), "/after?delay=50ms"]);
        let frames = http2.until(|frame| frame.ends(3));
        assert_eq!(body(&frames, 1).len(), length);
        assert!(!frames.iter().any(|frame| frame.ends(1)), "{query}");
    }
    let counters = ruler.command("counters");
    let counted = concat!(
        r#""by_fault":{"reset_before":2,"close_before":1,"reset_mid_body":2,"close_mid_body":1,"#,
        r#""no_response":1,"stall_mid_body":1,"refused":1}"#
    );
    assert!(counters.contains(counted), "{counters}");
    assert_eq!((number(&counters, "requests"), number(&counters, "responses")), (16, 7), "{counters}");
}

#[test]
fn malformed_responses_are_complete_and_wrong() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/?fault=two_responses"]);
    http2.until(|frame| frame.ends(1));
    let second = http2.frame().unwrap();
    assert_eq!((second.kind, second.stream, second.payload.as_slice()), (HEADERS, 1, [0x88].as_slice()));
    http2.ask(&["/?fault=garbage_after"]);
    http2.until(|frame| frame.ends(3));
    http2.socket.shutdown(Shutdown::Write).unwrap();
    let mut garbage = String::new();
    std::io::Read::read_to_string(&mut http2.socket, &mut garbage).unwrap();
    // What the frame reader has taken already begins with the length, `the` read as a number.
    assert!(
        garbage.is_empty() || "these bytes belong to no response\r\n\r\n".ends_with(&garbage),
        "{garbage}"
    );
    assert_eq!(ruler.count("responses"), 2);
}

#[test]
fn faults_without_a_meaning_in_http2_are_refused_with_400() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    for (turn, query) in ["fault=bad_chunk", "fault=half_close", "reason=Fine", "status=101", "header=TE:x"]
        .into_iter()
        .enumerate()
    {
        http2.ask(&[&format!("/?{query}")]);
        let stream = turn as u32 * 2 + 1;
        let frames = http2.until(|frame| frame.ends(stream));
        let text = String::from_utf8(body(&frames, stream)).unwrap();
        assert!(text.contains("HTTP/"), "{query}: {text}");
    }
    let counters = ruler.command("counters");
    assert!(counters.contains(r#""by_status":{"400":5}"#), "{counters}");
}

#[test]
fn a_full_queue_model_refuses_streams() {
    let ruler = start(&["--workers", "1", "--service", "5ms", "--queue", "2", "--overflow", "reset"]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/", "/", "/", "/", "/"]);
    let frames = http2.until(|frame| frame.ends(5));
    for stream in [1, 3, 5] {
        assert_eq!(body(&frames, stream).len(), 76);
    }
    assert_eq!([7, 9].map(|stream| reset(&frames, stream)), [Some(REFUSED_STREAM); 2]);
    let counters = ruler.command("counters");
    for (name, count) in [("requests", 5), ("responses", 3), ("overflowed", 2), ("queue_max", 2)] {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
    let quantiles = ruler.command("quantiles?q=0,0.5,1");
    let commanded = quantiles.split("\"commanded_ns\":").nth(1).unwrap();
    assert_eq!(
        ["0", "0.5", "1"].map(|q| number(commanded, q)),
        [5_000_000, 10_000_000, 15_000_000],
        "{quantiles}"
    );
}

#[test]
fn delays_and_pauses_of_streams_run_side_by_side() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    ruler.command("set?pause=30ms/60m");
    http2.ask(&["/?delay=90ms", "/?delay=60ms", "/"]);
    let frames = http2.until(|frame| frame.ends(1));
    let ends = frames.iter().filter(|frame| frame.kind == DATA).map(|frame| frame.stream);
    assert_eq!(ends.collect::<Vec<_>>(), [5, 3, 1]);
    let quantiles = ruler.command("quantiles?q=0,0.5,1");
    let commanded = quantiles.split("\"commanded_ns\":").nth(1).unwrap();
    assert_eq!(["0.5", "1"].map(|q| number(commanded, q)), [60_000_000, 90_000_000], "{quantiles}");
    // The pause held the third.
    assert!((1..=30_000_000).contains(&number(commanded, "0")), "{quantiles}");
}

#[test]
fn a_reset_by_the_client_abandons_its_request() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/?delay=1m", "/?delay=1m"]);
    ruler.wait_for("requests", 2);
    http2.send(&frame(RST_STREAM, 0, 1, &CANCEL.to_be_bytes()));
    ruler.wait_for("abandoned", 1);
    let counters = ruler.command("counters");
    assert!(counters.contains(r#""http2_resets_received":{"CANCEL":1}"#), "{counters}");
    // A request that is taken back before its end is none.
    let (stream, head) = http2.head("POST", "/up", 0);
    http2.send(&[head, frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())].concat());
    http2.ask(&["/"]);
    http2.until(|frame| frame.ends(stream + 2));
    assert_eq!((ruler.count("requests"), ruler.count("abandoned")), (3, 1));
    drop(http2);
    ruler.wait_for("abandoned", 2);
}

#[test]
fn windows_of_the_client_stop_a_body() {
    let ruler = start(&[]);
    const INITIAL_WINDOW: u16 = 4;
    let mut http2 = Frames::connect(ruler.address, &[(INITIAL_WINDOW, 10)]);
    http2.ask(&["/?body=30", "/?body=100k"]);
    let frames = http2.until(|frame| frame.kind == DATA && frame.stream == 3);
    assert_eq!((body(&frames, 1), body(&frames, 3).len()), (b"abcdefghij".to_vec(), 10));
    http2.send(&frame(WINDOW_UPDATE, 0, 1, &20u32.to_be_bytes()));
    let frames = http2.until(|frame| frame.ends(1));
    assert_eq!(body(&frames, 1), b"klmnopqrstuvwxyzabcd");
    // Both windows of the other stream are too small: 65,535 bytes for the connection.
    http2.send(&frame(WINDOW_UPDATE, 0, 3, &200_000u32.to_be_bytes()));
    http2.send(&frame(WINDOW_UPDATE, 0, 0, &200_000u32.to_be_bytes()));
    let frames = http2.until(|frame| frame.ends(3));
    assert_eq!(body(&frames, 3).len(), 102_390);
    let counters = ruler.command("counters");
    assert!(counters.contains(r#""http2_settings":{"initial_window_size":10}"#), "{counters}");
    assert_eq!(number(&counters, "http2_window_updates_received"), 3, "{counters}");
}

#[test]
fn a_window_of_the_ruler_stops_an_upload() {
    let ruler = start(&["--initial-window", "0"]);
    let mut http2 = connect(&ruler);
    // The window is in force when the client has acknowledged it.
    http2.until(|frame| frame.kind == SETTINGS && frame.flags == 0);
    let (stream, head) = http2.head("POST", "/up", 0);
    http2.send(&[frame(SETTINGS, ACK, 0, &[]), head, frame(DATA, END_STREAM, stream, b"too much")].concat());
    let frames = http2.until(|frame| frame.kind == RST_STREAM || frame.kind == GOAWAY);
    let code = frames.last().map(|frame| frame.number(if frame.kind == GOAWAY { 4 } else { 0 }));
    assert_eq!(code, Some(3), "FLOW_CONTROL_ERROR");
}

#[test]
fn responses_share_a_write_or_have_one_each() {
    for (mode, writes) in [("batched", 1..=4), ("single", 20..=24)] {
        let ruler = start(&["--writes", mode]);
        let mut http2 = connect(&ruler);
        http2.ask(&["/first"]);
        http2.until(|frame| frame.ends(1));
        ruler.command("clear");
        http2.ask(&["/"; 20]);
        http2.until(|frame| frame.ends(41));
        let counted = ruler.count("http2_writes");
        assert!(writes.contains(&counted), "{mode}: {counted}");
    }
}

#[test]
fn an_idle_connection_gets_a_goaway_and_a_fin() {
    let ruler = start(&["--idle-close", "20ms"]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/?delay=60ms"]);
    let frames = http2.rest();
    assert_eq!((goaway(&frames), body(&frames, 1).len()), (Some((1, NO_ERROR)), 76));
    assert_eq!((ruler.count("closed_by_server"), ruler.count("responses")), (1, 1));
}

#[test]
fn a_client_that_breaks_a_rule_gets_a_goaway() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    http2.send(&frame(DATA, 0, 0, b"no stream"));
    assert_eq!(goaway(&http2.rest()), Some((0, 1)), "PROTOCOL_ERROR");
    assert_eq!((ruler.count("malformed"), ruler.count("closed_by_server")), (1, 1));
}

#[test]
fn requests_of_a_client_that_leaves_are_counted() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/?delay=1m", "/", "/?delay=1m"]);
    drop(http2);
    ruler.wait_for("open", 0);
    let counters = ruler.command("counters");
    let over = number(&counters, "responses") + number(&counters, "abandoned");
    assert_eq!((number(&counters, "requests"), over), (3, 3), "{counters}");
}

#[test]
fn a_connection_that_is_reset_is_counted_as_that() {
    let ruler = start(&[]);
    let mut http2 = connect(&ruler);
    http2.ask(&["/", "/?delay=1m"]);
    ruler.wait_for("responses", 1);
    // A response left unread makes the close of the client's socket an RST.
    drop(http2);
    ruler.wait_for("open", 0);
    let counters = ruler.command("counters");
    for (name, count) in [("resets_received", 1), ("closed_by_peer", 1), ("abandoned", 1)] {
        assert_eq!(number(&counters, name), count, "{name}: {counters}");
    }
}
