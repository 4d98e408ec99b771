//! Endpoints with their own responses: the request itself (`/echo`), a login (`/token`, `/secure`), a session
//! (`/cart`), event streams (`/events`, `/events/stop`), and WebSockets (`/websocket`). The keys apply to them as to
//! any other path.
//!
//! Tokens and session names are serial numbers sent through a bijection: the ruler recognizes its own without
//! storing any, and they do not look like serial numbers.

use crate::feed::Plan;
use crate::json::header_text;
use crate::observed::{Origin, Seen};
use crate::request::Head;
use crate::settings::{Behavior, query_parts};
use crate::websocket::Script;

/// The response of such an endpoint.
pub(crate) enum Page {
    Body(Body),
    /// An event stream.
    Feed(Plan),
    /// A WebSocket.
    Socket(Box<Script>),
    /// Close all event streams, by RST or with the end of their response, and count them.
    StopFeeds {
        reset: bool,
    },
}

/// A response that defines its own body.
pub(crate) struct Body {
    /// 200 leaves the status to the keys.
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    /// Further header lines, each with its line end.
    pub(crate) lines: String,
    pub(crate) bytes: Vec<u8>,
}

/// The path whose response is its request.
pub(crate) const ECHO: &[u8] = b"/echo";

/// Counts since the start or the last `clear`.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) tokens_issued: u64,
    pub(crate) secure_accepted: u64,
    pub(crate) secure_rejected: u64,
    pub(crate) carts_opened: u64,
}

/// The state of these endpoints. Clearing the counts does not clear it: tokens stay valid.
pub(crate) struct Pages {
    salt: u64,
    tokens: u64,
    /// Requests of each session, by its serial number less one.
    carts: Vec<u32>,
}

impl Pages {
    /// `salt` distinguishes the tokens of one ruler from those of another.
    pub(crate) fn new(salt: u64) -> Self {
        Pages { salt, tokens: 0, carts: Vec::new() }
    }

    /// Returns the page for `raw` (a complete request); None for all other paths. An error is a sentence for a 400.
    pub(crate) fn find(
        &mut self,
        (path, query): (&[u8], &[u8]),
        raw: &[u8],
        behavior: &Behavior,
        origin: impl FnOnce() -> Origin,
        counts: &mut Counts,
    ) -> Result<Option<Page>, String> {
        let body = match path {
            ECHO => format!("{{{}}}", Seen::of(raw).members(&origin())),
            b"/token" => self.token(counts),
            b"/secure" => return Ok(Some(Page::Body(self.secure(&Seen::of(raw), counts)))),
            b"/cart" => return Ok(Some(Page::Body(self.cart(&Seen::of(raw), counts)))),
            b"/events" => {
                let last_id = Seen::of(raw).header(b"last-event-id").map(header_text);
                let plan = Plan::parse(query, last_id.as_deref())?;
                if behavior.encoding.is_some() {
                    return Err("`encoding` does not apply to event streams".into());
                }
                let over = plan.is_over();
                return Ok(Some(if over { Page::Body(Body::empty(204)) } else { Page::Feed(plan) }));
            }
            b"/websocket" => {
                let script = Script::parse(query, &Seen::of(raw))?;
                let upgrade = || Body {
                    status: 426,
                    lines: "Upgrade: websocket\r\nConnection: Upgrade\r\n".into(),
                    ..Body::of("text/plain", "`/websocket` opens a WebSocket\n".into())
                };
                return Ok(Some(match script {
                    Some(script) => Page::Socket(Box::new(script)),
                    None => Page::Body(upgrade()),
                }));
            }
            b"/events/stop" if !raw.starts_with(b"POST ") => {
                let text = "`/events/stop` requires a POST\n";
                let lines = "Allow: POST\r\n".into();
                return Ok(Some(Page::Body(Body {
                    status: 405,
                    lines,
                    ..Body::of("text/plain", text.into())
                })));
            }
            b"/events/stop" => {
                let given = query_parts(query).find(|pair| pair.0 == b"hold_reset").map(|pair| pair.1);
                let text = String::from_utf8_lossy(given.unwrap_or(b"0"));
                let reset = crate::units::switch(&text).map_err(|wrong| format!("hold_reset: {wrong}"))?;
                return Ok(Some(Page::StopFeeds { reset }));
            }
            _ => return Ok(None),
        };
        Ok(Some(Page::Body(Body::json(body))))
    }

    fn token(&mut self, counts: &mut Counts) -> String {
        self.tokens += 1;
        counts.tokens_issued += 1;
        let serial = self.tokens;
        let items: Vec<String> = (1..=3)
            .map(|place| {
                let price = (serial * 7 + place * 13) % 100;
                format!("{{\"id\":{},\"name\":\"item {place}\",\"price\":{price}}}", serial * 10 + place)
            })
            .collect();
        format!(
            "{{\"token\":\"{:016x}\",\"user\":{{\"id\":{serial}}},\"items\":[{}]}}",
            mixed(serial ^ self.salt),
            items.join(",")
        )
    }

    fn secure(&self, seen: &Seen<'_>, counts: &mut Counts) -> Body {
        let given = seen.header(b"authorization").and_then(|value| {
            let (scheme, token) = value.split_at_checked(7)?;
            if scheme.eq_ignore_ascii_case(b"bearer ") { serial(token) } else { None }
        });
        let user = given.map(|mixed| unmixed(mixed) ^ self.salt);
        match user.filter(|user| (1..=self.tokens).contains(user)) {
            Some(user) => {
                counts.secure_accepted += 1;
                Body::json(format!("{{\"user\":{{\"id\":{user}}}}}"))
            }
            None => {
                counts.secure_rejected += 1;
                let lines = "WWW-Authenticate: Bearer\r\n".into();
                Body { status: 401, lines, ..Body::json("{\"error\":\"unknown token\"}".into()) }
            }
        }
    }

    fn cart(&mut self, seen: &Seen<'_>, counts: &mut Counts) -> Body {
        // A separate salt, so that a token is not a valid session name.
        let salt = self.salt.rotate_left(17);
        let cookies = seen.headers.iter().filter(|pair| pair.0.eq_ignore_ascii_case(b"cookie"));
        let sid = cookies
            .flat_map(|pair| pair.1.split(|&byte| byte == b';'))
            .find_map(|cookie| cookie.trim_ascii().strip_prefix(b"sid="))
            .and_then(serial);
        let known = sid.map(|sid| (unmixed(sid) ^ salt).wrapping_sub(1) as usize);
        if let Some(count) = known.and_then(|index| self.carts.get_mut(index)) {
            *count = count.saturating_add(1);
            return Body::json(format!("{{\"count\":{count}}}"));
        }
        self.carts.push(1);
        counts.carts_opened += 1;
        let sid = mixed(self.carts.len() as u64 ^ salt);
        let lines = format!("Set-Cookie: sid={sid:016x}; Path=/; HttpOnly\r\n");
        Body { lines, ..Body::json("{\"count\":1}".into()) }
    }
}

impl Body {
    fn of(kind: &'static str, text: String) -> Self {
        Body { status: 200, kind, lines: String::new(), bytes: text.into_bytes() }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Body { status, ..Body::of("text/plain", String::new()) }
    }

    pub(crate) fn json(text: String) -> Self {
        Body::of("application/json", text)
    }
}

/// Returns true for a path whose complete bodies must be kept while they are read.
pub(crate) fn wants_whole_body(head: &Head, raw: &[u8]) -> bool {
    head.path(raw) == ECHO
}

/// Reads sixteen hexadecimal digits.
fn serial(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    // `from_str_radix` would also take a sign and fewer digits.
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits { u64::from_str_radix(text, 16).ok() } else { None }
}

/// The last steps of splitmix64 (Steele, Lea, and Flood): each of them can be inverted.
fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

fn unmixed(mut word: u64) -> u64 {
    // The factors' inverses modulo 2^64; shifts by s, 2 s, ... invert a shift by s.
    word = word ^ (word >> 31) ^ (word >> 62);
    word = word.wrapping_mul(0x3196_42b2_d24d_8ec3);
    word = word ^ (word >> 27) ^ (word >> 54);
    word = word.wrapping_mul(0x96de_1b17_3f11_9089);
    word ^ (word >> 30) ^ (word >> 60)
}
