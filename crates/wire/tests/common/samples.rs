//! Responses as real servers send them, and responses that no server should send.

use plimsoll_wire::h1::{Ask, Malformed};

use super::{GET, GET_10, GET_CLOSE, HEAD};

/// Bytes after a request, with any outcome.
pub struct Sample {
    pub ask: Ask,
    pub bytes: Vec<u8>,
}

fn sample(ask: Ask, bytes: impl AsRef<[u8]>) -> Sample {
    Sample { ask, bytes: bytes.as_ref().to_vec() }
}

/// Returns one head of about 32 KB, as single sign-on systems send them.
pub fn head_of_32_kb() -> Vec<u8> {
    let cookies = (0..8).map(|at| format!("Set-Cookie: part{at}={}\r\n", "c".repeat(4000)));
    let cookies: String = cookies.collect();
    format!("HTTP/1.1 200 OK\r\n{cookies}Content-Length: 2\r\n\r\nok").into_bytes()
}

/// Returns small responses that end well, some followed by bytes of the next one.
pub fn small() -> Vec<Sample> {
    let plain = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
                 Content-Type: text/html\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5\r\nhello\r\n1;name=value;flag=\"a b\"\r\n \r\n06  \r\nworld!\r\n0\r\n\
                   Expires: never\r\nX-Sum: 0\r\n\r\n";
    vec![
        sample(GET, plain),
        sample(GET, plain.replace("08:49:37", "08:49:38")),
        sample(GET, format!("{plain}{plain}")),
        sample(GET_CLOSE, plain),
        sample(GET_10, plain),
        sample(HEAD, plain.trim_end_matches("hello")),
        sample(GET, chunked),
        sample(GET, format!("{chunked}HTTP/1.1 200 OK\r\n")),
        sample(GET, "HTTP/1.1 200 Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
        sample(GET, "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}"),
        sample(GET, "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n{}"),
        sample(GET, b"HTTP/1.1 404 introuv\xe9\r\nContent-Length: 0\r\n\r\n"),
        sample(GET, "HTTP/1.1 200 OK\r\n\r\nuntil the end"),
        sample(GET, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nuntil the end"),
        sample(GET, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nzip\r\n0\r\n\r\n"),
        sample(GET, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        sample(GET, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nok"),
        sample(GET, "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
        sample(GET, "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        sample(
            GET,
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ),
        sample(GET, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x01\x02"),
        sample(GET, "HTTP/1.1 204 No Content\r\n\r\n"),
        sample(GET, "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n"),
        sample(GET, "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\nhello"),
        sample(GET, "HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\nok"),
        sample(GET, "HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Space:   \r\nContent-Length: 2\r\n\r\nok"),
        sample(GET, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"),
        sample(GET, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort"),
        sample(GET, "HTTP/1.1 200 OK\r\nContent-Le"),
        sample(GET, ""),
    ]
}

/// Returns each danger with its class; all with the default limits.
pub fn refused() -> Vec<(&'static str, Malformed)> {
    use Malformed::*;
    vec![
        ("SSH-2.0-OpenSSH_9.6\r\n", StatusLine),
        ("<html>no head at all</html>", StatusLine),
        ("HTTP/1.1 20x OK\r\n\r\n", StatusLine),
        ("HTTP/1.1 099 Low\r\n\r\n", StatusLine),
        ("HTTP/1.1 2000 OK\r\n\r\n", StatusLine),
        ("HTTP/1.1 200 a\rb\r\n\r\n", StatusLine),
        ("HTTP/2.0 200 OK\r\n\r\n", Version),
        ("HTTP/1.2 200 OK\r\n\r\n", Version),
        ("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello", HeaderLine),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", HeaderLine),
        ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", HeaderLine),
        ("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", HeaderLine),
        ("HTTP/1.1 200 OK\r\n folded from nothing\r\n\r\n", HeaderLine),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", ConflictingLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", ConflictingLength),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            ConflictingLength,
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", ConflictingLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\nhello", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5 5\r\n\r\nhello", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello", BadLength),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999999\r\n\r\n", BadLength),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", UnknownTransferEncoding),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", UnknownTransferEncoding),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", UnknownTransferEncoding),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n", UnknownTransferEncoding),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "xyz\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", ";x\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", " 5\r\nhello\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0x5\r\nhello\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "-5\r\nhello\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5 5\r\nhello\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\nhello\n0\n\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\rhello\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5;a\nhello\r\n"), ChunkSize),
        (
            concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "10000000000000005\r\n"),
            ChunkSize,
        ),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "8000000000000000\r\n"), ChunkSize),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello6\r\n"), ChunkEnd),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\n0\r\n\r\n"), ChunkEnd),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r0\r\n\r\n"), ChunkEnd),
        (
            concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nno colon\r\n\r\n"),
            TrailerLine,
        ),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n: x\r\n\r\n"), TrailerLine),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nX: a\rb\r\n"), TrailerLine),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n\rX: a\r\n"), TrailerLine),
        (concat!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\nX: \0\r\n\r\n"), TrailerLine),
    ]
}

/// Returns all samples, with the refused ones as responses to a GET.
pub fn all() -> Vec<Sample> {
    let refused = refused().into_iter().map(|(bytes, _)| sample(GET, bytes));
    let mut all: Vec<Sample> = small().into_iter().chain(refused).collect();
    all.push(sample(GET, head_of_32_kb()));
    all
}
