//! Each danger is refused with its own class, never guessed at.

use crate::common;
use crate::common::{End, GET, samples, whole};
use plimsoll_wire::h1::{Limits, Malformed, Session, Shared};

#[test]
fn every_danger_has_its_class() {
    for (bytes, malformed) in samples::refused() {
        assert_eq!(whole(GET, bytes.as_bytes()).end, End::Refused(malformed), "{bytes:?}");
    }
}

#[test]
fn bytes_that_nobody_asked_for_are_refused() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    assert_eq!(session.feed(b"x", &mut shared, &mut ()), Err(Malformed::Unasked));
    assert!(session.feed(b"", &mut shared, &mut ()).is_ok_and(|fed| fed.consumed == 0 && fed.done.is_none()));
    session.submit(GET);
    let bytes = b"HTTP/1.1 204 No Content\r\n\r\n";
    assert!(session.feed(bytes, &mut shared, &mut ()).is_ok_and(|fed| fed.done.is_some()));
    assert_eq!(session.feed(bytes, &mut shared, &mut ()), Err(Malformed::Unasked));
}

#[test]
fn a_wrong_head_never_becomes_a_template() {
    let mut shared = Shared::new(Limits::default());
    for _ in 0..3 {
        for (bytes, malformed) in samples::refused() {
            assert_eq!(
                common::exchange(GET, [bytes.as_bytes()], &mut shared).end,
                End::Refused(malformed),
                "{bytes:?}"
            );
        }
    }
}

#[test]
fn a_refused_session_can_start_anew_on_another_connection() {
    let mut shared = Shared::new(Limits::default());
    let mut session = Session::new();
    session.submit(GET);
    assert_eq!(session.feed(b"SMTP", &mut shared, &mut ()), Err(Malformed::StatusLine));
    assert!(session.is_idle());
    session.submit(GET);
    let fed = session.feed(b"HTTP/1.1 204 No Content\r\n\r\n", &mut shared, &mut ());
    assert!(fed.is_ok_and(|fed| fed.done.is_some()));
}

#[test]
fn classes_are_numbered_in_order_and_each_says_something_else() {
    for (at, malformed) in Malformed::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(malformed.number()), at + 1);
        assert_eq!(malformed.to_string(), malformed.sentence());
        let same = Malformed::ALL.into_iter().filter(|other| other.sentence() == malformed.sentence());
        assert_eq!(same.count(), 1);
    }
}
