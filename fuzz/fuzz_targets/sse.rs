//! A stream of events gives the same result in one piece and in two, for any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_wire::sse::{Event, Parser, Spares};

type Kept = (Vec<u8>, Vec<u8>, Option<Vec<u8>>, Option<u64>);

fn events(pieces: &[&[u8]], limit_bytes: usize) -> (Vec<Kept>, bool) {
    let (mut parser, mut spares, mut kept) = (Parser::new(), Spares::default(), Vec::new());
    let mut keep = |event: Event<'_>| {
        let id = event.id.map(<[u8]>::to_vec);
        kept.push((event.name.to_vec(), event.data.to_vec(), id, event.retry_ms));
    };
    let fed = pieces.iter().try_for_each(|piece| parser.feed(piece, &mut spares, limit_bytes, &mut keep));
    (kept, fed.is_ok())
}

fuzz_target!(|data: &[u8]| {
    let [limit, cut, bytes @ ..] = data else { return };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let limit = usize::from(*limit);
    assert_eq!(events(&[bytes], limit), events(&[first, second], limit));
});
