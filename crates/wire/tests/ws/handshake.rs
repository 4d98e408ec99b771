//! The check of the opening handshake.

use plimsoll_wire::ws::{
    Offer, Rejected, Response, Terms, accept_of, check, check_choice_of_window, client_window, key_of,
    terms_of,
};

const KEY: &[u8] = b"dGhlIHNhbXBsZSBub25jZQ==";

const GOOD: Response<'_> = Response {
    upgrade: Some(b"websocket"),
    connection: Some(b"Upgrade"),
    accept: Some(b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
    extensions: None,
    subprotocol: None,
};

const DEFLATE: Offer<'_> =
    Offer { deflate: Some(Terms { client_no_context: false, server_no_context: false }), subprotocols: &[] };

fn checked(response: &Response<'_>) -> Result<(), Rejected> {
    check(response, KEY, &Offer::default())
}

#[test]
fn the_example_of_the_standard_is_accepted() {
    // RFC 6455 section 1.3
    assert_eq!(key_of(*b"the sample nonce"), KEY);
    assert_eq!(accept_of(KEY), *b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(checked(&GOOD), Ok(()));
    let loose = Response {
        upgrade: Some(b" WebSocket"),
        connection: Some(b"keep-alive, upgrade"),
        accept: Some(b" s3pPLMBiTxaQ9kYGzzhZRbK+xOo= "),
        extensions: Some(b""),
        subprotocol: None,
    };
    assert_eq!(checked(&loose), Ok(()), "spaces and case do not matter");
}

#[test]
fn each_violation_is_named() {
    let cases = [
        (Response { upgrade: None, ..GOOD }, Rejected::Upgrade),
        (Response { upgrade: Some(b"h2c"), ..GOOD }, Rejected::Upgrade),
        (Response { connection: None, ..GOOD }, Rejected::Connection),
        (Response { connection: Some(b"close"), ..GOOD }, Rejected::Connection),
        (Response { accept: None, ..GOOD }, Rejected::Accept),
        (Response { accept: Some(KEY), ..GOOD }, Rejected::Accept),
        (Response { extensions: Some(b"permessage-deflate"), ..GOOD }, Rejected::Extension),
        (Response { subprotocol: Some(b"chat"), ..GOOD }, Rejected::Subprotocol),
    ];
    for (response, why) in cases {
        assert_eq!(checked(&response), Err(why), "{response:?}");
        assert_eq!(why.to_string(), why.sentence());
    }
    assert_eq!(Rejected::ALL.len(), 5);
}

#[test]
fn a_subprotocol_must_be_one_of_those_offered() {
    let names = ["chat.v2".to_owned(), "chat.v1".to_owned()];
    let offer = Offer { subprotocols: &names, ..Offer::default() };
    let chosen = |name: &'static [u8]| Response { subprotocol: Some(name), ..GOOD };
    assert_eq!(check(&chosen(b"chat.v1"), KEY, &offer), Ok(()));
    assert_eq!(check(&chosen(b"chat.v3"), KEY, &offer), Err(Rejected::Subprotocol));
    assert_eq!(check(&GOOD, KEY, &offer), Ok(()), "a server may choose none");
}

#[test]
fn an_extension_must_be_acceptable() {
    let with = |extensions: &'static str, offer: &Offer<'_>| {
        check(&Response { extensions: Some(extensions.as_bytes()), ..GOOD }, KEY, offer)
    };
    for good in [
        "permessage-deflate",
        "permessage-deflate; server_no_context_takeover",
        "permessage-deflate;client_no_context_takeover ; server_no_context_takeover",
        "permessage-deflate; server_max_window_bits=10",
        "permessage-deflate; server_max_window_bits=\"15\"",
    ] {
        assert_eq!(with(good, &DEFLATE), Ok(()), "{good}");
    }
    for bad in [
        "permessage-bzip2",
        "permessage-deflate, permessage-deflate",
        "permessage-deflate; client_max_window_bits=10",
        "permessage-deflate; server_max_window_bits=7",
        "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
        "permessage-deflate; unknown",
    ] {
        assert_eq!(with(bad, &DEFLATE), Err(Rejected::Extension), "{bad}");
    }
    let strict =
        Offer { deflate: Some(Terms { client_no_context: true, server_no_context: true }), ..DEFLATE };
    assert_eq!(with("permessage-deflate", &strict), Err(Rejected::Extension), "the server keeps a context");
    assert_eq!(with("permessage-deflate; server_no_context_takeover", &strict), Ok(()));
}

#[test]
fn a_server_may_choose_the_window_of_a_client_that_offers_it() {
    let with = |extensions: &'static str| Response { extensions: Some(extensions.as_bytes()), ..GOOD };
    for (good, bits) in [
        ("permessage-deflate; client_max_window_bits=8", Some(8)),
        ("permessage-deflate; server_max_window_bits=9; client_max_window_bits=\"15\"", Some(15)),
        ("permessage-deflate; server_max_window_bits=9", None),
        ("permessage-deflate", None),
        ("", None),
    ] {
        assert_eq!(check_choice_of_window(&with(good), &DEFLATE), Ok(()), "{good}");
        assert_eq!(client_window(good.as_bytes()), bits, "{good}");
    }
    for bad in [
        // Only an offer has it without a value.
        "permessage-deflate; client_max_window_bits",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=16",
        "permessage-deflate; client_max_window_bits=9; client_max_window_bits=9",
    ] {
        assert_eq!(check_choice_of_window(&with(bad), &DEFLATE), Err(Rejected::Extension), "{bad}");
    }
}

#[test]
fn the_terms_are_those_of_the_response() {
    let terms = |client_no_context, server_no_context| Some(Terms { client_no_context, server_no_context });
    assert_eq!(terms_of(b""), None);
    assert_eq!(terms_of(b"permessage-deflate"), terms(false, false));
    assert_eq!(terms_of(b"permessage-deflate; server_no_context_takeover"), terms(false, true));
    let both = b"permessage-deflate; client_no_context_takeover; server_no_context_takeover";
    assert_eq!(terms_of(both), terms(true, true));
}
