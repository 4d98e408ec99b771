//! The request that opens a channel.

use super::{Channel, Kind, Phase};
use crate::host::Host;
use crate::http::params::{Params, TIMEOUT_NS};
use crate::http::send::{full_headers, has_header};
use crate::http::url;
use crate::jar::{Jar, Place};
use crate::vu::{Vu, next_random};
use plimsoll_plan::Fault;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{BodyUse, Step};
use plimsoll_plan::request::{Target, Url};
use plimsoll_plan::series::Family;
use plimsoll_wire::h1::{self, Request, check_header, check_method, check_target};
use plimsoll_wire::ws;
use std::cell::RefCell;
use std::rc::Rc;

/// Headers of the handshake that a script cannot set.
const OWN: [&str; 5] =
    ["Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions"];

/// The terms on which compression is offered: no context is kept, as k6 does.
pub(super) const TERMS: ws::Terms = ws::Terms { client_no_context: true, server_no_context: true };

/// What a script says of a channel.
pub struct Opening {
    pub method: String,
    /// As the script wrote it, or as the last redirect says.
    pub url: String,
    pub body: Option<Vec<u8>>,
    pub params: Params,
    pub protocols: Vec<String>,
    pub offers_deflate: bool,
    pub redirects_left: u32,
    pub jar: Rc<RefCell<Jar>>,
    pub(super) key: [u8; ws::KEY_BYTES],
}

impl Opening {
    /// Returns what opens a channel with a GET request.
    pub fn new(url: String, mut params: Params, vu: &Vu) -> Opening {
        let jar = params.jar.take().unwrap_or_else(|| Rc::clone(&vu.jar.borrow()));
        Opening {
            method: "GET".to_owned(),
            url,
            body: None,
            params,
            protocols: Vec::new(),
            offers_deflate: false,
            redirects_left: 0,
            jar,
            key: [0; ws::KEY_BYTES],
        }
    }

    /// Parses the URL, which is that of a WebSocket or of HTTP.
    ///
    /// # Errors
    /// Returns a message.
    pub fn parsed(&self, kind: Kind) -> Result<Url, String> {
        if kind == Kind::Events {
            return url::parse(&self.url);
        }
        let text = self.url.trim();
        let of_scheme =
            |scheme: &str| text.get(..scheme.len()).is_some_and(|of| of.eq_ignore_ascii_case(scheme));
        match (of_scheme("ws://"), of_scheme("wss://")) {
            (true, _) => url::parse(&format!("http://{}", &text[5..])),
            (_, true) => url::parse(&format!("https://{}", &text[6..])),
            _ => Err(format!("invalid URL `{text}`: a WebSocket requires `ws://` or `wss://`")),
        }
    }

    /// Adds the headers of the handshake (RFC 6455 section 4.1).
    fn upgrade(&mut self, headers: &mut Vec<(String, String)>, state: u64) -> Result<(), String> {
        if let Some((name, _)) =
            headers.iter().find(|(name, _)| OWN.iter().any(|own| own.eq_ignore_ascii_case(name)))
        {
            return Err(format!(
                "header `{name}` cannot be set: it belongs to the handshake of the WebSocket"
            ));
        }
        let (mut random, mut state) = ([0; 16], state);
        for byte in &mut random {
            let number;
            (state, number) = next_random(state);
            *byte = (number * 256.0) as u8;
        }
        self.key = ws::key_of(random);
        let key = String::from_utf8_lossy(&self.key).into_owned();
        let mut add = |name: &str, value: String| headers.push((name.to_owned(), value));
        add("Connection", "Upgrade".to_owned());
        add("Upgrade", "websocket".to_owned());
        add("Sec-WebSocket-Version", "13".to_owned());
        add("Sec-WebSocket-Key", key);
        if !self.protocols.is_empty() {
            add("Sec-WebSocket-Protocol", self.protocols.join(", "));
        }
        if self.offers_deflate {
            let terms = "permessage-deflate; client_no_context_takeover; server_no_context_takeover";
            add("Sec-WebSocket-Extensions", terms.to_owned());
        }
        Ok(())
    }
}

impl Channel {
    /// Puts the request into the outbox, or asks for its origin first. If neither is possible, the channel ends.
    /// Returns whether the fiber can continue.
    pub fn start(&mut self, host: &Host, vu: &Vu) -> bool {
        let url = match self.opening.parsed(self.kind) {
            Ok(url) => url,
            Err(why) => return self.end(host, vu, why, false),
        };
        host.shared.note_sent();
        let Some(origin) = host.origin(&url.target) else {
            (self.step, self.phase) = (vu.step(), Phase::Reaching);
            host.out.borrow_mut().reach(self.step, url.target);
            return false;
        };
        match self.send_request(host, vu, &url, origin) {
            Ok(()) => false,
            Err(why) => self.end(host, vu, why, false),
        }
    }

    fn send_request(&mut self, host: &Host, vu: &Vu, url: &Url, origin: OriginId) -> Result<(), String> {
        check_method(&self.opening.method)?;
        check_target(&url.path)?;
        let opening = &mut self.opening;
        let lower = url.target.host.to_ascii_lowercase();
        let place = place(host, url, &lower);
        let (mut headers, _) =
            full_headers(&opening.jar.borrow(), &opening.params, url.credentials.as_deref(), place);
        match self.kind {
            Kind::Socket => {
                let state = host.at.get().unix_ns ^ vu.number.rotate_left(40) ^ u64::from(vu.step());
                opening.upgrade(&mut headers, state)?;
            }
            Kind::Events if !has_header(&headers, "accept") => {
                headers.push(("Accept".to_owned(), "text/event-stream".to_owned()));
            }
            Kind::Events => {}
        }
        for (name, value) in &headers {
            check_header(name, value)?;
        }
        let authority = url.target.authority();
        let request = Request {
            method: &opening.method,
            target: &url.path,
            host: &authority,
            headers: &headers,
            body: opening.body.as_deref(),
            http10: false,
            close: false,
            user_agent: &host.shared.settings.user_agent,
        };
        let series = series(self.kind, opening, host, vu, &url.target)?;
        let timeout_ns = opening.params.timeout_ns;
        let step = Step {
            id: vu.step(),
            request: series,
            origin,
            body: if self.kind == Kind::Socket { BodyUse::WebSocket } else { BodyUse::Stream },
            timeout_ns: if timeout_ns == 0 { TIMEOUT_NS } else { timeout_ns },
            judged: true,
            ..Step::default()
        };
        host.out.borrow_mut().push_rendered(step, |out| h1::render_accepting(&request, "", out));
        (self.step, self.phase, self.series) = (step.id, Phase::Opening, Some(series));
        Ok(())
    }

    /// Counts a channel that was not opened, because its origin cannot be used.
    pub(super) fn count_unreached(&self, host: &Host, vu: &Vu, fault: Fault) {
        let Ok(url) = self.opening.parsed(self.kind) else { return };
        if let Ok(series) = series(self.kind, &self.opening, host, vu, &url.target) {
            host.count_fault(series, fault);
        }
    }
}

/// Returns what decides which cookies are sent; `lower` is the host in lower case.
pub(super) fn place<'a>(host: &Host, url: &'a Url, lower: &'a str) -> Place<'a> {
    Place { host: lower, path: &url.path, is_secure: url.target.tls, now_s: host.unix_s() }
}

/// Returns the series of a channel.
fn series(kind: Kind, opening: &Opening, host: &Host, vu: &Vu, target: &Target) -> Result<u32, String> {
    let (family, method) = match kind {
        Kind::Socket => (Family::WebSocket, None),
        Kind::Events => (Family::Stream, Some(opening.method.as_str())),
    };
    let name = opening.params.name.as_deref().unwrap_or(&opening.url);
    host.series_to(vu, family, name, &opening.params.tags, method, target)
}
