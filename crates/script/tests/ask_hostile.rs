//! Hostile response heads and hostile data: plimsoll sends one request with the expected lines, or nothing.

use crate::ask_common::{NOW_NS, User, ask, form, literal, site, text, with_body, with_headers};
use plimsoll_plan::head::Head;
use plimsoll_plan::value::Escape;
use plimsoll_script::ask::{CookieJar, Next, Redirect, set_header};
use plimsoll_script::value::Unfilled;
use plimsoll_stats::random::SplitMix64;

const HEAD: &[u8] = b"HTTP/1.1 302 Found\r\nSet-Cookie: id=abc; Path=/; Max-Age=60; Domain=shop.example\r\n\
    Location: http://shop.example:8080/a/../b?c=d#e\r\nset-cookie: t=\"x y\"; Expires=Mon, 07 Nov 1994 08:49:37 GMT\r\n\
    X-Other: 1\r\n\r\n";
const SHARP: &[u8] = b"\r\n\0 \t:;=/?#.,\"%@[]\x7f\xff-0aZ";

struct Chance(SplitMix64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound.max(1) as u64) as usize
    }

    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(6) {
            let at = self.below(bytes.len() + 1);
            let sharp = SHARP[self.below(SHARP.len())];
            match self.below(5) {
                0 if at < bytes.len() => bytes[at] = sharp,
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 => bytes.truncate(at),
                3 => {
                    let begin = self.below(bytes.len() + 1);
                    let piece = bytes[begin..].iter().take(self.below(40)).copied().collect::<Vec<_>>();
                    bytes.splice(at..at, piece);
                }
                _ => bytes.insert(at, sharp),
            }
        }
    }
}

/// Panics unless `request` is one request, with a head made of these names and nothing else.
fn check(request: &[u8], names: &[&str], body: &[u8]) {
    let end = request.windows(4).position(|four| four == b"\r\n\r\n").expect("the head ends");
    let head = &request[..end];
    assert_eq!(&request[end + 4..], body, "{}", request.escape_ascii());
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first: Vec<&[u8]> = lines.next().expect("a request line").split(|byte| *byte == b' ').collect();
    assert!(
        first.len() == 3 && first[1].starts_with(b"/") && first[1].iter().all(u8::is_ascii_graphic),
        "{}",
        request.escape_ascii()
    );
    let mut cookies = 0;
    for line in lines {
        let bad = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
        assert!(!line.iter().any(bad), "{}", request.escape_ascii());
        let name = line.split(|byte| *byte == b':').next().expect("a split gives one piece at least");
        let name = str::from_utf8(name).expect("the test only writes ASCII names");
        assert!(names.contains(&name), "{}", request.escape_ascii());
        cookies += usize::from(name == "Cookie");
    }
    assert!(cookies <= 1, "{}", request.escape_ascii());
}

#[test]
fn a_hostile_head_changes_neither_the_lines_nor_the_origin() {
    let cases = std::env::var("PLIMSOLL_FUZZ_CASES").map(|text| text.parse().expect("a whole number"));
    let request = with_body(
        with_headers(ask("POST", literal("/a/b?c")), &[("Cookie", text("own=$0", Escape::None))]),
        text("body $0", Escape::None),
    );
    let form = form(&request);
    let (mut followed, mut elsewhere) = (0u64, 0u64);
    for seed in 1..=cases.unwrap_or(20_000u64) {
        let mut chance = Chance(SplitMix64::new(seed));
        let mut jar = CookieJar::new();
        let mut user = User::with(&["v"]);
        let mut sent = Vec::new();
        user.render(&form, Some(&jar), &mut sent).expect("the variable is set");
        for _ in 0..3 {
            let mut head = HEAD.to_vec();
            chance.spoil(&mut head);
            jar.take(Head::new(&head), b"/a/b?c", NOW_NS, form.origin());
            let mut names = vec!["Host", "Cookie", "User-Agent", "Accept", "Content-Length"];
            let mut out = Vec::new();
            user.render(&form, Some(&jar), &mut out).expect("the variable is set");
            check(&out, &names, b"body v");
            let status = [302, 307, 303][chance.below(3)];
            let mut next = Vec::new();
            let redirect = Redirect { status, head: Head::new(&head), sent: &sent, from: 0 };
            match form.follow(&redirect, &[site()], Some(&jar), NOW_NS, &mut next) {
                Next::Stay => assert!(next.is_empty()),
                Next::Elsewhere => {
                    elsewhere += 1;
                    assert!(next.is_empty());
                }
                Next::Follow { .. } => {
                    followed += 1;
                    let keeps = sent.starts_with(b"POST") && status == 307;
                    if !keeps {
                        names.pop();
                    }
                    check(&next, &names, if keeps { b"body v" } else { b"" });
                    sent = next;
                }
            }
        }
    }
    assert!(
        followed > elsewhere && elsewhere > 0,
        "{followed} followed, {elsewhere} elsewhere: the test is blind"
    );
}

#[test]
fn hostile_values_are_sent_harmlessly_or_not_at_all() {
    let request = with_headers(
        ask("GET", text("/a$0?b=$1", Escape::None)),
        &[("X-A", text("a$2", Escape::None)), ("Cookie", text("c=$3", Escape::None))],
    );
    let form = form(&request);
    let mut jar = CookieJar::new();
    jar.take(Head::new(HEAD), b"/", NOW_NS, form.origin());
    let names = ["Host", "X-A", "Cookie", "User-Agent", "Accept", "Last-Event-ID"];
    let (mut sent, mut refused) = (0, 0);
    for seed in 1..=20_000 {
        let mut chance = Chance(SplitMix64::new(seed));
        let mut user = User::new();
        for id in 0..4 {
            let mut value = b"plain;x=1".to_vec();
            if chance.below(3) == 0 {
                chance.spoil(&mut value);
            }
            user.vars.set(id, &value);
        }
        let mut out = Vec::new();
        match user.render(&form, Some(&jar), &mut out) {
            Ok(()) => {
                sent += 1;
                let mut id = b"17".to_vec();
                chance.spoil(&mut id);
                // Whether rejected or not, the buffer contains only one request.
                let _refused = set_header(&mut out, 0, "Last-Event-ID", &id);
                check(&out, &names, b"");
            }
            Err(reason) => {
                refused += 1;
                assert!(reason == Unfilled::Unsendable && out.is_empty());
            }
        }
    }
    assert!(sent > 1000 && refused > 1000, "{sent} sent, {refused} refused: the test is blind");
}
