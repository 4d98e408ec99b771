//! A TLS link transfers all bytes, however the network splits them: handshakes, records, tickets, new keys, the end.

use crate::link_support::*;
use plimsoll_engine::link::tls::{Channel, TlsFault, Versions, Wanted};
use rustls::HandshakeKind;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use std::sync::Arc;

/// An authority, a server for `localhost`, and the client's settings for it.
fn stage(versions: Versions) -> (Authority, rustls::ServerConfig, Wanted) {
    let authority = Authority::new();
    let server = server(&authority.issue(&["localhost"]), None);
    let wanted = wanted(&authority, versions);
    (authority, server, wanted)
}

fn noise(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[test]
fn a_request_and_its_answer_pass_in_both_versions() {
    for (versions, number) in [(Versions::Tls12, 12), (Versions::Tls13, 13), (Versions::Both, 13)] {
        let (_a, server, wanted) = stage(versions);
        let mut pair = Pair::new(&setup(&wanted), &Arc::new(server));
        assert!(!pair.link.is_ready() && pair.link.facts().is_none());
        pair.talk(usize::MAX).expect("the certificate is right");
        let facts = pair.link.facts().expect("the handshake is done");
        assert_eq!((facts.version, facts.resumed, facts.alpn), (number, false, None));
        assert_eq!(facts.suite.starts_with("TLS13_"), number == 13, "{}", facts.suite);
        pair.ask(b"ping");
        pair.serve();
        assert_eq!(pair.served, b"ping");
        pair.answer(b"pong");
        pair.carry(usize::MAX).expect("it was sealed for this link");
        assert_eq!((pair.got.as_slice(), pair.link.is_closed()), (&b"pong"[..], false));
    }
}

#[test]
fn a_handshake_in_pieces_of_any_size_succeeds() {
    for versions in BOTH {
        let (_a, mut server, wanted) = stage(versions);
        // With and without handshake messages that are spread over many records.
        for fragment in [None, Some(48), Some(300)] {
            server.max_fragment_size = fragment;
            let (setup, server) = (setup(&wanted), Arc::new(server.clone()));
            for cut in (1..40).chain([64, 100, 333, 999]) {
                let mut pair = Pair::new(&setup, &server);
                pair.talk(cut).unwrap_or_else(|e| panic!("{versions:?} {fragment:?} {cut}: {e}"));
                pair.ask(b"ping");
                pair.answer(b"pong");
                pair.talk(cut).expect("the link works");
                assert_eq!((pair.got.as_slice(), pair.served.as_slice()), (&b"pong"[..], &b"ping"[..]));
            }
        }
    }
}

#[test]
fn a_handshake_cut_once_at_any_place_succeeds() {
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let (setup, server) = (setup(&wanted), Arc::new(server));
        let mut at = 1;
        loop {
            let mut pair = Pair::new(&setup, &server);
            pair.serve();
            // Certificates vary in length by a byte or two with their signatures; the last places are done twice.
            if at >= pair.down.len() {
                break;
            }
            let rest = pair.down.split_off(at);
            pair.carry(usize::MAX).expect("a partial record is not an error");
            pair.down = rest;
            pair.talk(usize::MAX).unwrap_or_else(|e| panic!("{versions:?} cut at {at}: {e}"));
            assert!(pair.link.is_ready(), "{versions:?} cut at {at}");
            at += 1;
        }
        assert!(at > 500, "a flight with a certificate is longer than {at}");
    }
}

#[test]
fn records_cut_at_any_place_give_the_same_text() {
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let mut pair = Pair::ready(&setup(&wanted), &Arc::new(server));
        let mut at = 0;
        loop {
            // Three records; the second is the shortest possible.
            let text: [&[u8]; 3] = [b"first of three", b"2", b"the third and last one"];
            for record in text {
                pair.answer(record);
            }
            if at > pair.down.len() {
                break;
            }
            let rest = pair.down.split_off(at);
            pair.carry(usize::MAX).expect("a partial record is not an error");
            pair.down = rest;
            pair.carry(usize::MAX).expect("the rest completes it");
            assert_eq!(pair.got, text.concat(), "{versions:?} cut at {at}");
            pair.got.clear();
            at += 1;
        }
        assert!(at > 100);
    }
}

#[test]
fn a_megabyte_passes_both_ways_in_pieces_of_any_size() {
    let text = noise(1 << 20);
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let (setup, server) = (setup(&wanted), Arc::new(server));
        for cut in [997, 16_406, 65_536, usize::MAX] {
            let mut pair = Pair::ready(&setup, &server);
            pair.ask(&text);
            pair.serve();
            assert!(pair.served == text, "{versions:?}: the server got something else");
            pair.answer(&text);
            pair.carry(cut).expect("all records are complete in the end");
            assert!(pair.got == text, "{versions:?} in pieces of {cut}: the client got something else");
        }
    }
}

#[test]
fn what_is_sealed_is_appended_and_nothing_makes_no_record() {
    let (_a, server, wanted) = stage(Versions::Tls13);
    let mut pair = Pair::ready(&setup(&wanted), &Arc::new(server));
    pair.ask(b"one ");
    let one = pair.up.clone();
    pair.ask(b"");
    assert_eq!(pair.up, one);
    pair.ask(b"two");
    assert!(pair.up.starts_with(&one) && pair.up.len() > one.len());
    pair.serve();
    assert_eq!(pair.served, b"one two");
}

#[test]
fn tickets_after_the_handshake_do_not_disturb_it() {
    let (_a, mut server, mut wanted) = stage(Versions::Tls13);
    wanted.resume = true;
    server.send_tls13_tickets = 4;
    // A ticket takes several records, so that a part of one can be pending.
    server.max_fragment_size = Some(64);
    let (setup, server) = (setup(&wanted), Arc::new(server));
    let mut at = 0;
    loop {
        let mut pair = Pair::new(&setup, &server);
        pair.serve();
        pair.carry(usize::MAX).expect("the handshake's first flight");
        assert!(pair.link.is_ready(), "ready with the server's Finished, before any ticket");
        pair.serve();
        if at >= pair.down.len() {
            break;
        }
        let rest = pair.down.split_off(at);
        pair.carry(usize::MAX).expect("a partial ticket is not an error");
        assert!(pair.link.is_ready());
        // A request while a part of a ticket is pending: rustls checks the bytes it kept.
        pair.ask(b"ping");
        pair.down = rest;
        pair.carry(7).expect("the rest of the tickets");
        pair.serve();
        pair.answer(b"pong");
        pair.carry(usize::MAX).expect("the link works");
        assert_eq!(
            (pair.served.as_slice(), pair.got.as_slice()),
            (&b"ping"[..], &b"pong"[..]),
            "cut at {at}"
        );
        at += 3;
    }
    assert!(at > 400, "the server sent {at} bytes of tickets, too few for four");
}

#[test]
fn a_demand_for_new_keys_is_answered_with_the_next_data() {
    let (_a, server, wanted) = stage(Versions::Tls13);
    let mut pair = Pair::ready(&setup(&wanted), &Arc::new(server));
    for round in 0..3 {
        pair.ask(b"x");
        let usual = pair.up.len();
        pair.serve();
        pair.server.refresh_traffic_keys().expect("the handshake is done");
        pair.answer(b"with new keys");
        pair.carry(3).expect("the client follows");
        assert_eq!(pair.got, b"with new keys", "round {round}");
        pair.got.clear();
        pair.ask(b"y");
        assert!(pair.up.len() > usual, "a KeyUpdate goes before the data");
        pair.serve();
        assert_eq!((pair.served.as_slice(), &pair.complaint), (&b"xy"[..], &None), "round {round}");
        pair.served.clear();
    }
}

#[test]
fn a_server_that_speaks_plain_http_is_named_however_its_words_come() {
    let (_a, _server, wanted) = stage(Versions::Both);
    let setup = setup(&wanted);
    for cut in [1, 2, 4, 5, 6, 1000] {
        let mut link = Channel::new(&setup, &mut Vec::new()).expect("a handshake can begin");
        let mut words = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec();
        let (mut plain, mut out) = (Vec::new(), Vec::new());
        let fault = words.chunks_mut(cut).find_map(|piece| link.feed(piece, &mut plain, &mut out).err());
        let Some(TlsFault::Protocol(sentence)) = fault else { panic!("{fault:?} in pieces of {cut}") };
        assert!(sentence.message.contains("plain HTTP") && sentence.hint.contains("`http://`"), "{sentence}");
        assert!(plain.is_empty() && out.is_empty() && !link.is_ready());
    }
    let mut link = Channel::new(&setup, &mut Vec::new()).expect("a handshake can begin");
    let fault = link.feed(&mut b"220 \x1b[2J mail\r\n".to_vec(), &mut Vec::new(), &mut Vec::new());
    let Err(TlsFault::Protocol(sentence)) = fault else { panic!("{fault:?}") };
    let said = sentence.message;
    assert!(said.contains(r"`220 \x1b[2J mail`") && said.contains("not TLS"), "{said}");
}

#[test]
fn a_session_is_resumed_where_asked_for_and_never_elsewhere() {
    for versions in BOTH {
        let (_a, server, mut wanted) = stage(versions);
        let server = Arc::new(server);
        for resume in [false, true] {
            wanted.resume = resume;
            let setup = setup(&wanted);
            for round in 0..3 {
                let mut pair = Pair::ready(&setup, &server);
                let facts = pair.link.facts().expect("the handshake is done");
                assert_eq!(facts.resumed, resume && round > 0, "{versions:?} {resume} {round}");
                assert_eq!(pair.server.handshake_kind() == Some(HandshakeKind::Resumed), facts.resumed);
                pair.ask(b"ping");
                pair.serve();
                assert_eq!(pair.served, b"ping");
            }
            let other = Pair::ready(&setup.for_worker(), &server);
            assert!(!other.link.facts().expect("done").resumed, "each worker has its own sessions");
        }
    }
}

#[test]
fn an_invitation_to_early_data_is_not_taken_up() {
    let (authority, _server, mut wanted) = stage(Versions::Tls13);
    wanted.resume = true;
    let mut server = server_with(&authority.issue(&["localhost"]), aws_lc_rs::default_provider());
    server.max_early_data_size = u32::MAX;
    let setup = setup(&wanted);
    Pair::ready(&setup, &Arc::new(server));
    let mut hello = Vec::new();
    Channel::new(&setup, &mut hello).expect("a handshake can begin");
    let numbers: Vec<u16> = extensions(&hello).iter().map(|e| e.0).collect();
    // pre_shared_key, but not early_data.
    assert!(numbers.contains(&41) && !numbers.contains(&42), "{numbers:?}");
}

#[test]
fn tickets_are_kept_up_to_a_bound() {
    let (_a, mut server, mut wanted) = stage(Versions::Tls13);
    wanted.resume = true;
    server.send_tls13_tickets = 64;
    let (setup, server) = (setup(&wanted), Arc::new(server));
    let pairs: Vec<Pair> = (0..20).map(|_| Pair::new(&setup, &server)).collect();
    for mut pair in pairs {
        pair.talk(usize::MAX).expect("the handshake succeeds");
    }
    let mut offered = 0;
    for _ in 0..20 * 64 {
        let mut hello = Vec::new();
        Channel::new(&setup, &mut hello).expect("a handshake can begin");
        offered += usize::from(extensions(&hello).iter().any(|e| e.0 == 41));
    }
    assert_eq!(offered, 1024);
}

#[test]
fn many_connections_that_come_back_together_are_all_resumed() {
    let (_a, server, mut wanted) = stage(Versions::Tls13);
    wanted.resume = true;
    let (setup, server) = (setup(&wanted), Arc::new(server));
    for round in 0..3 {
        let pairs: Vec<Pair> = (0..50).map(|_| Pair::new(&setup, &server)).collect();
        for mut pair in pairs {
            pair.talk(usize::MAX).expect("the handshake succeeds");
            assert_eq!(pair.link.facts().expect("done").resumed, round > 0);
        }
    }
}

#[test]
fn the_end_is_told_from_both_sides() {
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let (setup, server) = (setup(&wanted), Arc::new(server));
        for cut in [1, usize::MAX] {
            let mut pair = Pair::ready(&setup, &server);
            pair.answer(b"last");
            pair.server.send_close_notify();
            pair.collect();
            pair.down.extend_from_slice(b"bytes after the end are ignored, even if they are not TLS");
            pair.carry(cut).expect("an end is not an error");
            assert!(pair.link.is_closed() && pair.got == b"last");
            // The other direction is still open.
            pair.ask(b"but I");
            pair.link.close(&mut pair.up);
            let length = pair.up.len();
            pair.link.close(&mut pair.up);
            assert_eq!(pair.up.len(), length, "an end is sent once");
            pair.serve();
            assert_eq!((pair.served.as_slice(), &pair.complaint), (&b"but I"[..], &None));
            let state = pair.server.process_new_packets().expect("there was no error");
            assert!(state.peer_has_closed());
            let refused = pair.link.seal(b"more", &mut pair.up);
            assert!(matches!(refused, Err(TlsFault::Internal(_))) && pair.up.is_empty());
        }
    }
}

#[test]
fn a_truncated_stream_gives_the_whole_records_and_no_end() {
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let mut pair = Pair::ready(&setup(&wanted), &Arc::new(server));
        pair.answer(b"whole");
        let whole = pair.down.len();
        pair.answer(b"half");
        pair.down.truncate(whole + 12);
        pair.carry(usize::MAX).expect("a partial record is not an error");
        assert_eq!((pair.got.as_slice(), pair.link.is_closed()), (&b"whole"[..], false));
    }
}

#[test]
fn a_damaged_record_kills_the_link_with_an_alert() {
    for versions in BOTH {
        let (_a, server, wanted) = stage(versions);
        let mut pair = Pair::ready(&setup(&wanted), &Arc::new(server));
        pair.answer(b"sound");
        pair.answer(b"damaged");
        *pair.down.last_mut().expect("there is a record") ^= 1;
        let fault = pair.carry(usize::MAX).expect_err("its tag is wrong");
        assert!(
            matches!(&fault, TlsFault::Protocol(problem) if problem.message.contains("decrypt")),
            "{fault}"
        );
        assert_eq!(pair.got, b"sound", "the data before it is handed over");
        pair.serve();
        assert_eq!(
            pair.complaint,
            Some(rustls::Error::AlertReceived(rustls::AlertDescription::BadRecordMac))
        );
        // A dead link refuses everything and sends nothing.
        let mut out = Vec::new();
        assert!(pair.link.feed(&mut [0x17, 3, 3, 0, 1, 0], &mut pair.got, &mut out).is_err());
        assert!(pair.link.seal(b"x", &mut out).is_err());
        pair.link.close(&mut out);
        assert!(out.is_empty() && pair.got == b"sound");
    }
}

#[test]
fn data_before_the_handshake_is_complete_is_refused() {
    let (_a, _server, wanted) = stage(Versions::Both);
    let mut hello = Vec::new();
    let mut link = Channel::new(&setup(&wanted), &mut hello).expect("a handshake can begin");
    assert!(hello.starts_with(&[0x16, 3, 1]), "a ClientHello");
    let length = hello.len();
    assert!(matches!(link.seal(b"x", &mut hello), Err(TlsFault::Internal(_))));
    link.close(&mut hello);
    assert_eq!(hello.len(), length);
}

#[test]
fn the_offer_is_x25519_first_and_no_post_quantum_group() {
    let (_a, _server, wanted) = stage(Versions::Both);
    let mut hello = Vec::new();
    Channel::new(&setup(&wanted), &mut hello).expect("a handshake can begin");
    let offered = extensions(&hello);
    let body = |number: u16| offered.iter().find(|e| e.0 == number).map(|e| e.1.as_slice());
    // supported_groups: x25519, secp256r1, secp384r1. key_share: one, of x25519 (RFC 8446, section 4.2.7).
    assert_eq!(body(10), Some(&[0, 6, 0, 0x1d, 0, 0x17, 0, 0x18][..]));
    assert_eq!(body(51).map(|share| (share.len(), &share[2..4])), Some((2 + 4 + 32, &[0, 0x1d][..])));
}

#[test]
fn a_server_that_wants_another_group_is_asked_again() {
    let (authority, _server, wanted) = stage(Versions::Tls13);
    let provider =
        CryptoProvider { kx_groups: vec![aws_lc_rs::kx_group::SECP384R1], ..aws_lc_rs::default_provider() };
    let server = Arc::new(server_with(&authority.issue(&["localhost"]), provider));
    let mut pair = Pair::new(&setup(&wanted), &server);
    pair.talk(1).expect("the server accepts the second ClientHello");
    assert_eq!(pair.server.handshake_kind(), Some(HandshakeKind::FullWithHelloRetryRequest));
    assert!(!pair.link.facts().expect("the handshake is done").resumed);
}

#[test]
fn the_protocol_is_agreed_on_by_alpn() {
    for versions in BOTH {
        let (_a, mut server, mut wanted) = stage(versions);
        wanted.alpn = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let silent = Pair::ready(&setup(&wanted), &Arc::new(server.clone()));
        assert_eq!(silent.link.facts().expect("done").alpn, None);
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        let agreed = Pair::ready(&setup(&wanted), &Arc::new(server.clone()));
        assert_eq!(agreed.link.facts().expect("done").alpn, Some(&b"http/1.1"[..]));
        server.alpn_protocols = vec![b"h3".to_vec()];
        let (result, _pair) = outcome(&setup(&wanted), &Arc::new(server));
        assert!(
            matches!(&result, Err(fault @ TlsFault::Alert(_)) if fault.to_string().contains("ALPN")),
            "{result:?}"
        );
    }
}
