//! Cost of one response in user space. It prints nothing and reads no clock: run it twice under a profiler or timer
//! with different counts, and divide the difference of the times by the difference of the counts.
//!
//! `perf stat target/release/examples/feed_cost <case> <answers>`, where the case is one of `empty` (the loop alone),
//! `same` (the usual response: 230 bytes, one head), `read` (the same with a sink that reads), `dated` (another Date
//! each time), `mixed` (four heads in rotation), `unique` (a new identifier in each head), `bare` (a status line and a
//! length only), `chunked` (a small body in one chunk), `bulk` (1 MiB in chunks of 8 KiB, fed in 64 KiB), `split` (the
//! head in two pieces), `event` (a server-sent event of 96 bytes instead of a response), `torn` (the same in two
//! pieces).

use std::hint::black_box;
use std::process::ExitCode;

use plimsoll_wire::h1::{Ask, Head, Limits, Malformed, Session, Shared, Sink};
use plimsoll_wire::sse::{Parser, Spares};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().unwrap_or_else(|| "same".to_owned());
    let Ok(answers) = arguments.next().unwrap_or_else(|| "1000".to_owned()).parse::<usize>() else {
        return ExitCode::from(2);
    };
    let fed = match case.as_str() {
        "empty" => {
            (0..answers).for_each(|index| {
                black_box(index);
            });
            Ok(())
        }
        "same" => feed(answers, &whole(&[usual("Sun, 06 Nov 1994 08:49:37 GMT", "")]), &mut ()),
        "read" => feed(answers, &whole(&[usual("Sun, 06 Nov 1994 08:49:37 GMT", "")]), &mut EventCounter(0)),
        "dated" => {
            let dates = (0..60).map(|second| format!("Sun, 06 Nov 1994 08:49:{second:02} GMT"));
            feed(answers, &whole(&dates.map(|date| usual(&date, "")).collect::<Vec<_>>()), &mut ())
        }
        "mixed" => {
            let kinds = ["a", "bb", "ccc", "dddd"].map(|kind| format!("X-Kind: {kind}\r\n"));
            let answer = |kind: &String| usual("Sun, 06 Nov 1994 08:49:37 GMT", kind);
            feed(answers, &whole(&kinds.iter().map(answer).collect::<Vec<_>>()), &mut ())
        }
        "unique" => {
            let ids = (0..64).map(|id| format!("X-Request-Id: {:016x}\r\n", id * 0x9e37_79b9_7f4a_u64));
            let answer = |id: String| usual("Sun, 06 Nov 1994 08:49:37 GMT", &id);
            feed(answers, &whole(&ids.map(answer).collect::<Vec<_>>()), &mut ())
        }
        "bare" => {
            feed(answers, &whole(&[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".to_vec()]), &mut ())
        }
        "chunked" => {
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
            let body = format!("4c\r\n{}\r\n0\r\n\r\n", "x".repeat(76));
            feed(answers, &whole(&[format!("{head}{body}").into_bytes()]), &mut ())
        }
        "bulk" => {
            let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            for _ in 0..128 {
                answer.extend_from_slice(b"2000\r\n");
                answer.extend_from_slice(&[b'x'; 8192]);
                answer.extend_from_slice(b"\r\n");
            }
            answer.extend_from_slice(b"0\r\n\r\n");
            feed(answers, &[answer.chunks(65_536).map(<[u8]>::to_vec).collect()], &mut ())
        }
        "split" => {
            let answer = usual("Sun, 06 Nov 1994 08:49:37 GMT", "");
            let (first, second) = answer.split_at(100);
            feed(answers, &[vec![first.to_vec(), second.to_vec()]], &mut ())
        }
        "event" | "torn" => return read_events(answers, case == "torn"),
        _ => return ExitCode::from(2),
    };
    fed.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Feeds the scripts (each the pieces of one response) in rotation until `answers` are done.
fn feed<S: Sink>(answers: usize, scripts: &[Vec<Vec<u8>>], sink: &mut S) -> Result<(), Malformed> {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    for pieces in scripts.iter().cycle().take(answers) {
        session.submit(black_box(Ask::default()));
        for piece in pieces {
            black_box(session.feed(black_box(piece), &mut shared, sink)?);
        }
    }
    Ok(())
}

/// Feeds events as an LLM sends them, each whole or split in the middle.
fn read_events(events: usize, torn: bool) -> ExitCode {
    let event = format!("event: token\ndata: {}\n\n", "x".repeat(75));
    let cut = if torn { event.len() / 2 } else { event.len() };
    let (mut parser, mut spares, mut bytes) = (Parser::new(), Spares::new(), 0);
    for _ in 0..events {
        for piece in [&event[..cut], &event[cut..]] {
            let piece = black_box(piece.as_bytes());
            if parser.feed(piece, &mut spares, 65_536, &mut |event| bytes += event.data.len()).is_err() {
                return ExitCode::FAILURE;
            }
        }
    }
    if black_box(bytes) == events * 75 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn whole(answers: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
    answers.iter().map(|answer| vec![answer.clone()]).collect()
}

/// Returns 230 bytes as a common server sends them: 76 of body, the rest head.
fn usual(date: &str, extra: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: {date}\r\nContent-Type: application/json\r\n\
         Content-Length: 76\r\nConnection: keep-alive\r\n{extra}\r\n"
    );
    format!("{head}{}", "x".repeat(76)).into_bytes()
}

/// Reads every header and counts every byte.
struct EventCounter(usize);

impl Sink for EventCounter {
    const READS: bool = true;

    fn head(&mut self, head: &Head<'_>) {
        self.0 += head.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len();
    }
}
