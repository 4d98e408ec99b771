//! Replies of Redis, in any pieces, and bytes that are none.

use plimsoll_wire::redis::{InvalidReply, Reply, Scanner, write_command};

const NESTED: &[u8] = b"*4\r\n:-12\r\n$-1\r\n*2\r\n+OK\r\n-WRONGTYPE no\r\n$4\r\n\r\n\r\n\r\n";

#[test]
fn commands_contain_any_bytes() {
    let mut sent = Vec::new();
    write_command(&[b"SET".as_slice(), b"a\r\nb", b"", b"\xff"], &mut sent);
    assert_eq!(sent, b"*4\r\n$3\r\nSET\r\n$4\r\na\r\nb\r\n$0\r\n\r\n$1\r\n\xff\r\n");
}

#[test]
fn replies_of_all_types_are_parsed() {
    let nested = Reply::Array(vec![
        Reply::Integer(-12),
        Reply::Nil,
        Reply::Array(vec![Reply::Text(b"OK".to_vec()), Reply::Error(b"WRONGTYPE no".to_vec())]),
        Reply::Text(b"\r\n\r\n".to_vec()),
    ]);
    assert_eq!(Reply::parse(NESTED), Ok(nested));
    assert_eq!(Reply::parse(b"*-1\r\n"), Ok(Reply::Nil));
    assert_eq!(Reply::parse(b"*0\r\n"), Ok(Reply::Array(Vec::new())));
}

#[test]
fn the_end_of_a_reply_is_found_wherever_it_is_split() {
    let followed = [NESTED, b"+next\r\n"].concat();
    for cut in 0..NESTED.len() {
        let mut scanner = Scanner::new();
        assert_eq!(scanner.scan(&followed[..cut]), Ok(None), "{cut}");
        assert_eq!(scanner.scan(&followed), Ok(Some(NESTED.len())), "{cut}");
    }
    let mut scanner = Scanner::new();
    for end in 0..NESTED.len() {
        assert_eq!(scanner.scan(&NESTED[..end]), Ok(None), "{end}");
    }
    assert_eq!(scanner.scan(NESTED), Ok(Some(NESTED.len())));
}

#[test]
fn rejects_bytes_that_are_no_reply() {
    for bytes in [
        b"HTTP/1.1 400 Bad Request\r\n".as_slice(),
        b":1x\r\n",
        b"$-2\r\n",
        b"$3\r\nabcd\r\n",
        b"*9223372036854775807\r\n*9223372036854775807\r\n*9223372036854775807\r\n",
        b"$9223372036854775807\r\nx",
    ] {
        let scanned = Scanner::new().scan(bytes);
        // A length that memory cannot hold never ends.
        assert!(matches!(scanned, Err(InvalidReply) | Ok(None)), "{bytes:?}: {scanned:?}");
        assert_eq!(Reply::parse(bytes), Err(InvalidReply), "{bytes:?}");
    }
    assert_eq!(Reply::parse(b"+OK\r\n+OK\r\n"), Err(InvalidReply), "two replies");
    let deep = b"*1\r\n".repeat(10_000);
    assert_eq!(Reply::parse(&[deep.as_slice(), b":1\r\n"].concat()), Err(InvalidReply));
}
