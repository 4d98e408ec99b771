//! Hashes, encodings, moments, and made-up data. The hashes were computed with `hashlib`, `hmac`, and `base64` of
//! Python, the times with its `zoneinfo`.

use plimsoll_plan::value::{
    Derived, Digest, Escape, Fake, Form, Function, Locale, Moment, Part, Placeholder, RequestPart, Text,
    Transform,
};
use plimsoll_script::feed::{Feeds, Rows};
use plimsoll_script::value::{Counters, Globals, RequestParts, Scope, Unfilled, Vars, fill};
use plimsoll_stats::random::SplitMix64;
use std::collections::HashSet;
use std::sync::Arc;

/// 2026-01-31T12:00:00.123456789Z
const NOON_NS: u64 = 1_769_860_800_123_456_789;

fn filled_at(unix_ns: u64, seed: u64, text: &Text) -> Result<Vec<u8>, Unfilled> {
    let mut vars = Vars::new(1);
    vars.set(0, "grüße & co".as_bytes());
    let feeds = Arc::new(Feeds::default());
    let mut rows =
        Rows::new(&feeds, plimsoll_plan::program::UserSlot { workload: 0, user: 0, id: 0, users: 1 });
    let mut scope = Scope {
        vars: &mut vars,
        globals: &Globals::new(0),
        rows: &mut rows,
        random: &mut SplitMix64::new(seed),
        counters: &Counters::new(),
        unix_ns,
        user: 1,
        iteration: 1,
        timings: &[0, 12_345_678],
        request: RequestParts { method: b"POST", path: b"/a?b=c", body: b"{}" },
    };
    let mut out = b">".to_vec();
    fill(text, &mut scope, &mut out)?;
    Ok(out.split_off(1))
}

fn text(hole: Placeholder) -> Text {
    Text { parts: vec![Part::Placeholder(hole, Escape::None)] }
}

/// The result of a function of the variable `grüße & co`.
fn derived(how: Transform) -> String {
    let inner = text(Placeholder::Var(0));
    let hole = Placeholder::Derived(Box::new(Derived { how, text: inner }));
    String::from_utf8(filled_at(NOON_NS, 1, &text(hole)).expect("it has a value")).expect("it is text")
}

#[test]
fn hashes_are_those_of_other_libraries() {
    let rows = [
        (Digest::Md5, "ded2493cd4e862a50d7fea0300eaad7e", "52a6f5f7192889acfb940639a0b2aa2d"),
        (
            Digest::Sha1,
            "8214258f034ed981745509b9487c23222cadc55d",
            "b8590b677f472848115cfe99ea9920b5edf37dc7",
        ),
        (
            Digest::Sha256,
            "01adc56de4834afab5a3fac762bc1b75e34b024ab899e31c1ad11463d6f925de",
            "e00c711cd237ee34e45203e8b80e1389f4254494347a1e2da645df19dcb99dd2",
        ),
        (
            Digest::Sha512,
            "9fd85c25791ae30d1eb586e0a2c8555c39e1efd9d2ceb02404118db9207a26e5cd2d88608d3d3b098741cfe05480d3d1\
             d3508826d9cf3e3f49370610a5db8ca8",
            "ac03c8fb289fc1eb913b0bb6544a61bc5edd304a98a9a3b608b47911e20137c9f23fa694ef2b19a04872f473a63cfbbc\
             f13c6e1be6495776a2ccabf361f834e1",
        ),
    ];
    for (algorithm, plain, keyed) in rows {
        assert_eq!(derived(Transform::Digest { algorithm, form: Form::Hex }), plain);
        let key = Text::literal("kéy");
        assert_eq!(derived(Transform::Hmac { algorithm, key, form: Form::Hex }), keyed);
    }
    let keyed =
        |form| derived(Transform::Hmac { algorithm: Digest::Sha256, key: Text::literal("kéy"), form });
    assert_eq!(keyed(Form::Base64), "4AxxHNI37jTkUgPouA4TifQlRJQ0eh4tpkXfGdy5ndI=");
    assert_eq!(
        derived(Transform::Digest { algorithm: Digest::Sha1, form: Form::Base64Url }),
        "ghQljwNO2YF0VQm5SHwjIiytxV0"
    );
}

#[test]
fn the_raw_bytes_of_a_hash_are_a_key_for_another() {
    let hmac = |key: Text, message: &str, form| Derived {
        how: Transform::Hmac { algorithm: Digest::Sha256, key, form },
        text: Text::literal(message),
    };
    let date = hmac(Text::literal("key"), "date", Form::Raw);
    let key = text(Placeholder::Derived(Box::new(date)));
    let region = hmac(key, "region", Form::Hex);
    let found = filled_at(NOON_NS, 1, &text(Placeholder::Derived(Box::new(region)))).expect("it has a value");
    assert_eq!(
        String::from_utf8_lossy(&found),
        "36c491001b208e2c6b575708658ff203ab9f18eb3ea8fc84caa6819904e5e1b0"
    );
}

#[test]
fn encodings_are_those_of_other_libraries_and_decoding_is_their_inverse() {
    assert_eq!(derived(Transform::Base64), "Z3LDvMOfZSAmIGNv");
    assert_eq!(derived(Transform::Hex), "6772c3bcc39f65202620636f");
    assert_eq!(derived(Transform::Url), "gr%C3%BC%C3%9Fe%20%26%20co");
    let change = |how: Transform, message: &str| {
        let hole = Placeholder::Derived(Box::new(Derived { how, text: Text::literal(message) }));
        filled_at(NOON_NS, 1, &text(hole))
    };
    for message in ["", "a", "ab", "abc", "\u{ff}\u{fe}?>", "0123456789abcdef0"] {
        for how in [Transform::Base64, Transform::Base64Url] {
            let coded = String::from_utf8(change(how, message).unwrap()).unwrap();
            assert_eq!(change(Transform::Base64Decode, &coded).as_deref(), Ok(message.as_bytes()), "{coded}");
        }
    }
    assert_eq!(change(Transform::Base64Decode, "a b"), Err(Unfilled::NotBase64));
    assert_eq!(change(Transform::Base64Decode, "a"), Err(Unfilled::NotBase64));
}

#[test]
fn parts_of_the_request_and_times_of_requests_are_values() {
    let one =
        |hole| filled_at(NOON_NS, 1, &text(hole)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert_eq!(one(Placeholder::Request(RequestPart::Method)).as_deref(), Ok("POST"));
    assert_eq!(one(Placeholder::Request(RequestPart::Path)).as_deref(), Ok("/a?b=c"));
    assert_eq!(one(Placeholder::Request(RequestPart::Body)).as_deref(), Ok("{}"));
    assert_eq!(one(Placeholder::Timing(1)).as_deref(), Ok("12.346"));
    assert_eq!(one(Placeholder::Timing(0)), Err(Unfilled::Missing(Placeholder::Timing(0))));
}

fn moment(unix_ns: u64, arguments: &[&str]) -> String {
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    let moment = Moment::parse(&arguments).expect("it is valid");
    let hole = Placeholder::Call(Function::Moment(Box::new(moment)));
    String::from_utf8(filled_at(unix_ns, 1, &text(hole)).expect("it has a value")).expect("it is text")
}

#[test]
fn a_moment_is_a_distance_from_now_in_a_time_zone() {
    let rows: [(&[&str], &str); 12] = [
        (&["+3d"], "2026-02-03T12:00:00.123Z"),
        (&["iso", "-90m"], "2026-01-31T10:30:00.123Z"),
        (&["unix", "+1h"], "1769864400"),
        (&["unix_ms", "-1ms"], "1769860800122"),
        (&["unix_ms", "-60y"], "-123595199876"),
        // The last day of a shorter month.
        (&["%Y-%m-%d", "+1mo"], "2026-02-28"),
        (&["%Y-%m-%d", "+1y2mo"], "2027-03-31"),
        (&["http", "+1w"], "Sat, 07 Feb 2026 12:00:00 GMT"),
        (&["Europe/Berlin"], "2026-01-31T13:00:00.123+01:00"),
        (&["%Y-%m-%d %H:%M %z", "+1d", "America/New_York"], "2026-02-01 07:00 -0500"),
        (&["%H:%M %z", "+05:30"], "17:30 +0530"),
        (&["%Y, %j", "+1d", "UTC"], "2026, 032"),
    ];
    for (arguments, expected) in rows {
        assert_eq!(moment(NOON_NS, arguments), expected, "{arguments:?}");
    }
    // 2026-03-28T11:30:00Z: in the night after, clocks in Berlin go forward.
    const BEFORE_NS: u64 = 1_774_697_400_000_000_000;
    assert_eq!(moment(BEFORE_NS, &["%d %H:%M %z", "Europe/Berlin"]), "28 12:30 +0100");
    assert_eq!(moment(BEFORE_NS, &["%d %H:%M %z", "+1d", "Europe/Berlin"]), "29 12:30 +0200");
    assert_eq!(moment(BEFORE_NS, &["%d %H:%M %z", "+24h", "Europe/Berlin"]), "29 13:30 +0200");
}

#[test]
fn an_invalid_moment_is_rejected_by_name() {
    let rows: [(&[&str], &str); 6] = [
        (&["iso", "+3x"], "invalid time difference `+3x`"),
        (&["iso", "+3"], "invalid time difference `+3`"),
        (&["iso", "+5000y"], "`+5000y` is longer than 1,000 years"),
        (&["iso", "Europe/Berln"], "unknown time zone `Europe/Berln`"),
        (&["iso", "+25:00"], "unknown time zone `+25:00`"),
        (&["unix", "UTC"], "a time zone does not change this format"),
    ];
    for (arguments, message) in rows {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        assert_eq!(Moment::parse(&arguments).expect_err("it is invalid").message, message);
    }
}

fn fake(kind: Fake, locale: Locale, seed: u64) -> String {
    let hole = Placeholder::Call(Function::Fake(kind, locale));
    String::from_utf8(filled_at(NOON_NS, seed, &text(hole)).expect("it has a value")).expect("it is UTF-8")
}

#[test]
fn made_up_data_repeats_with_the_seed_and_varies_without_it() {
    for (name, kind) in Fake::NAMED {
        for (_, locale) in Locale::NAMED {
            let all: Vec<String> = (1..200).map(|seed| fake(*kind, *locale, seed)).collect();
            let again: Vec<String> = (1..200).map(|seed| fake(*kind, *locale, seed)).collect();
            assert_eq!(all, again, "{name}");
            let different: HashSet<&String> = all.iter().collect();
            assert!(different.len() > 15, "{name}: {different:?}");
            assert!(all.iter().all(|one| !one.is_empty() && one.trim() == one), "{name}");
        }
    }
}

#[test]
fn made_up_data_has_the_form_of_its_country() {
    for seed in 1..300 {
        for (_, locale) in Locale::NAMED {
            let email = fake(Fake::Email, *locale, seed);
            let (user, host) = email.split_once('@').expect("an address has a host");
            assert!(["example.com", "example.net", "example.org"].contains(&host), "{email}");
            assert!(
                user.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.'),
                "{email}"
            );
            let code = fake(Fake::PostCode, *locale, seed);
            assert!(code.len() == 5 && code.bytes().all(|b| b.is_ascii_digit()), "{code}");
            let sentence = fake(Fake::Sentence, *locale, seed);
            assert!(
                sentence.chars().next().is_some_and(char::is_uppercase) && sentence.ends_with('.'),
                "{sentence}"
            );
            assert_eq!(fake(Fake::Name, *locale, seed).matches(' ').count(), 1);
        }
        let phone = fake(Fake::Phone, Locale::En, seed);
        assert!(phone.starts_with('(') && phone[5..].starts_with(" 555-01") && phone.len() == 14, "{phone}");
        let phone = fake(Fake::Phone, Locale::De, seed);
        assert!(phone.starts_with("030 23125") && phone.len() == 12, "{phone}");
        let (english, german) = (fake(Fake::Street, Locale::En, seed), fake(Fake::Street, Locale::De, seed));
        assert!(english.starts_with(|c: char| c.is_ascii_digit()), "{english}");
        assert!(german.ends_with(|c: char| c.is_ascii_digit()), "{german}");
    }
}
