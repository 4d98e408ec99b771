//! Builds one request: its request line, headers, body, checks, and extractions.

use crate::call;
use crate::draft::{AuthDraft, GraphqlDraft, HeaderDraft, NameDraft, RequestDraft, TextDraft};
use crate::header;
use crate::requests::{basic, coded};
use crate::sentence::default_name;
use crate::source::Pos;
use crate::text::Build;
use crate::work::Work;
use plimsoll_plan::delivery::Delivery;
use plimsoll_plan::origin::{FIRST, OriginId};
use plimsoll_plan::script::{Ask, AskId, Graphql, Subscription};
use plimsoll_plan::value::{Escape, Part, Placeholder, Secret, Text};

/// Headers, in sending order.
type Headers = Vec<(String, Text)>;

/// The resolved authentication of a request.
pub(super) enum Auth {
    Anonymous,
    Header(Text),
    /// A header, if any, and what the load does in addition.
    Special(Option<Text>, plimsoll_plan::auth::Auth),
}

impl Work {
    /// Builds a request from its draft. Returns `None` if it reported a mistake.
    pub fn request(&mut self, draft: &RequestDraft) -> Option<AskId> {
        let before = self.wrong.all.len();
        let to = match &draft.origin {
            Some(chosen) => self.site.named(chosen, &mut self.wrong),
            None => Some(FIRST),
        };
        let way = draft.path.as_ref().and_then(|path| {
            // With an unknown origin, the path cannot be joined and checked.
            let mut way = self.way(path, to?)?;
            self.query(&draft.query, path.encode, &mut way);
            Some(way)
        });
        let mut ask = Ask {
            name: String::new(),
            scenario: self.scope.scenario,
            group: self.scope.group,
            tags: draft.tags.clone(),
            origin: FIRST,
            method: draft.method.clone(),
            path: Text::default(),
            headers: Vec::new(),
            body: None,
            timeout_ns: draft.timeout_ns,
            redirects: draft.redirects,
            expect: draft.expect.clone(),
            checks: Vec::new(),
            extracts: Vec::new(),
            go_on_after_failure: draft.go_on_after_failure,
            stream: None,
            websocket: None,
            grpc: None,
        };
        let mut media_type = None;
        if let Some(body) = &draft.body
            && let Some(text) = self.text(&body.text)
        {
            ask.body = Some(text);
            media_type = body.media_type.clone();
        }
        if let Some(call) = &draft.grpc {
            ask.grpc = Some(Box::new(self.grpc(call)));
            media_type = Some(call.protocol.request_type().into());
        }
        let mut own = Headers::new();
        for header in &draft.headers {
            own.extend(self.header(header));
        }
        ask.origin = way.as_ref().map_or(FIRST, |way| way.origin);
        let auth = draft.auth.as_ref().and_then(|auth| self.auth(auth, ask.origin));
        // A check may depend on the path.
        ask.path = way.as_ref().map(|way| way.text.clone()).unwrap_or_default();
        for check in &draft.checks {
            self.check(check, &mut ask);
        }
        let credentials = way.as_ref().and_then(|way| way.credentials.as_deref());
        let special;
        (ask.headers, special) = self.headers(own, media_type, auth, (credentials, ask.origin), draft.pos);
        let is_held_open = draft.stream.is_some() || draft.websocket.is_some() || ask.grpc.is_some();
        if let (Some(plimsoll_plan::auth::Auth::Digest(_)), true) = (&special, is_held_open) {
            let message = "`digest` does not apply to a stream, a WebSocket, or a gRPC call";
            self.wrong.complain("F017", draft.pos, message, "use another kind of `auth`, or `auth: none`");
        }
        if let (Some(socket), None) = (&draft.websocket, &ask.grpc) {
            self.upgrade(socket, &mut ask);
        }
        if let Some(call) = &ask.grpc {
            call::add_fields(call, draft.timeout_ns, &mut ask.headers);
        } else {
            self.check_length(&ask, draft.pos);
        }
        // After everything that is sent: only later steps can use values of this response.
        ask.extracts = self.extracts(&draft.extracts);
        ask.stream = draft.stream.as_ref().map(|stream| self.stream(stream, &ask));
        let way = match way {
            Some(way) => way,
            None => {
                self.check_websocket(draft, ask);
                return None;
            }
        };
        ask.path = way.text;
        ask.origin = way.origin;
        if draft.spoiled || self.wrong.all.len() > before {
            self.is_incomplete = true;
            self.check_websocket(draft, ask);
            return None;
        }
        ask.name = match &draft.name {
            Some(chosen) => chosen.name.clone(),
            None if draft.websocket.is_some() && ask.grpc.is_none() => {
                default_name("connect", &format!("{}{}", self.site.describe(way.origin), way.shown))
            }
            None if ask.grpc.is_some() => {
                let path = ask.path.describe();
                format!("{}{}", self.site.describe(way.origin), path.trim_start_matches('/'))
            }
            None => default_name(&ask.method, &format!("{}{}", self.site.describe(way.origin), way.shown)),
        };
        self.name_apart(&mut ask, draft.name.as_ref());
        let id = self.script.asks.len() as AskId;
        if let Some(graphql) = &draft.graphql {
            let graphql = self.graphql(id, graphql)?;
            self.script.graphql.push(graphql);
        }
        self.script.auths.extend(special.map(|auth| (id, auth)));
        if let Some(socket) = &draft.websocket {
            let id = self.websocket(socket, ask);
            return (self.wrong.all.len() == before).then_some(id);
        }
        self.script.asks.push(ask);
        if draft.delivery != Delivery::default() {
            self.script.deliveries.push((id, draft.delivery));
        }
        Some(id)
    }

    fn graphql(&mut self, ask: AskId, draft: &GraphqlDraft) -> Option<Graphql> {
        let with_query = match &draft.with_query {
            Some(body) => Some(self.text(body)?),
            None => None,
        };
        let subscription = match &draft.subscription {
            Some((init, subscribe)) => {
                Some(Subscription { init: self.text(init)?, subscribe: self.text(subscribe)? })
            }
            None => None,
        };
        Some(Graphql { ask, with_query, fails_on_errors: draft.fails_on_errors, subscription })
    }

    /// Returns all headers: those of the file that the request does not replace, those of the request, and those that
    /// its other parts imply.
    fn headers(
        &mut self,
        own: Headers,
        media_type: Option<String>,
        auth: Option<Auth>,
        (credentials, origin): (Option<&str>, OriginId),
        pos: Pos,
    ) -> (Headers, Option<plimsoll_plan::auth::Auth>) {
        // Moved out while they are read: names are resolved again for every request, in its scope.
        let common = std::mem::take(&mut self.headers);
        let mut all = Headers::new();
        for header in &common {
            let text = self.header(header);
            all.extend(text.filter(|(name, _)| !has(&own, name)));
        }
        self.headers = common;
        all.extend(own);
        if let Some(media_type) = media_type
            && !has(&all, "Content-Type")
        {
            all.push(("Content-Type".into(), Text::literal(media_type)));
        }
        let is_own = auth.is_some();
        let auth = auth.or_else(|| {
            let common = self.auth.take()?;
            let auth = self.auth(&common, origin);
            self.auth = Some(common);
            auth
        });
        let (header, special) = match (auth, credentials) {
            (Some(Auth::Anonymous), _) | (None, None) => (None, None),
            (Some(Auth::Header(text)), _) => (Some(text), None),
            (Some(Auth::Special(text, special)), _) => (text, Some(special)),
            (None, Some(credentials)) => (Some(Text::literal(basic(credentials))), None),
        };
        if special.is_some() && header.is_none() && is_own && has(&all, "Authorization") {
            let message = "`auth` and the header `Authorization` contradict each other";
            self.wrong.complain("F017", pos, message, "keep one of them");
        }
        if let Some(text) = header {
            if !has(&all, "Authorization") {
                all.push(("Authorization".into(), text));
            } else if is_own {
                let message = "`auth` and the header `Authorization` contradict each other";
                self.wrong.complain("F017", pos, message, "keep one of them");
            }
        }
        (all, special)
    }

    fn header(&mut self, HeaderDraft { name, value, pos }: &HeaderDraft) -> Option<(String, Text)> {
        if let Err(problem) = header::check(name, &String::from_utf8_lossy(&value.literals())) {
            self.wrong.complain_of(*pos, problem);
            return None;
        }
        self.header_text(value).map(|text| (name.clone(), text))
    }

    /// Resolves a text that may contain parts of its request.
    pub(super) fn header_text(&mut self, draft: &TextDraft) -> Option<Text> {
        self.in_headers = true;
        let text = self.text(draft);
        self.in_headers = false;
        text
    }

    fn auth(&mut self, draft: &AuthDraft, origin: OriginId) -> Option<Auth> {
        match draft {
            AuthDraft::None => Some(Auth::Anonymous),
            AuthDraft::Header(text) => self.header_text(text).map(Auth::Header),
            AuthDraft::Basic { user, password, pos } => {
                let (user, password) = (self.text(user), self.text(password));
                self.basic(&user?, &password?, *pos).map(Auth::Header)
            }
            AuthDraft::Digest { user, password } => self.digest(user, password, origin),
            AuthDraft::Jwt(jwt) => self.jwt(jwt).map(Auth::Header),
            AuthDraft::OAuth2(source) => self.oauth2(source),
            AuthDraft::SigV4(signature) => self.sigv4(signature),
        }
    }

    /// Builds the value of `Basic` authentication. It is encoded before the load if it never changes.
    fn basic(&mut self, user: &Text, password: &Text, pos: Pos) -> Option<Text> {
        let mut build = Build::default();
        build.literal("Basic ");
        let (Some(name), Some(word)) = (user.fixed(), password.fixed()) else {
            let mut pair = Build::default();
            pair.text(user.clone());
            pair.literal(":");
            pair.text(password.clone());
            build.part(Part::Placeholder(Placeholder::Base64(Box::new(pair.finish())), Escape::None));
            return Some(build.finish());
        };
        if name.contains(&b':') {
            let message = "a user name for basic authentication must not contain `:`";
            self.wrong.complain("F015", pos, message, "move the text after the `:` to `password`");
            return None;
        }
        let coded = coded(&[name, vec![b':'], word].concat());
        let is_secret = |text: &Text| text.parts.iter().any(|part| matches!(part, Part::Secret(_)));
        if is_secret(user) || is_secret(password) {
            let secret = Secret::new(&coded);
            self.script.secrets.push(secret.clone());
            build.part(Part::Secret(secret));
        } else {
            build.literal(&coded);
        }
        Some(build.finish())
    }

    /// Rejects a `Content-Length` that differs from the length of the body: the server would wait for the rest, or
    /// read part of the body as the next request.
    fn check_length(&mut self, ask: &Ask, pos: Pos) {
        let Some((name, value)) =
            ask.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("Content-Length"))
        else {
            return;
        };
        let bytes = ask.body.as_ref().map_or(Some(Vec::new()), Text::fixed).map(|body| body.len());
        match (value.fixed(), bytes) {
            (Some(value), Some(bytes)) => {
                let value = String::from_utf8_lossy(&value);
                if let Err(problem) = header::check_length_value(name, &value, bytes) {
                    self.wrong.complain_of(pos, problem);
                }
            }
            (None, _) | (_, None) => {
                let message = format!(
                    "header `{name}` cannot be set: the length of the body changes with every request"
                );
                let hint = "remove the header (plimsoll adds it with the right length)";
                self.wrong.complain("F015", pos, message, hint);
            }
        }
    }

    /// Makes the name of a request unique, as reports require: equal default names get numbers, equal chosen names are
    /// rejected.
    pub(super) fn name_apart(&mut self, ask: &mut Ask, chosen: Option<&NameDraft>) {
        let plain = ask.name.clone();
        while let Some(times) = self.taken.get_mut(&ask.name) {
            if let Some(chosen) = chosen {
                let message = format!("duplicate request name `{plain}`");
                let hint = "give each request its own name, because reports distinguish requests by name";
                self.wrong.complain("F013", chosen.pos, message, hint);
                return;
            }
            *times += 1;
            ask.name = format!("{plain} ({times})");
        }
        self.taken.insert(ask.name.clone(), 1);
    }
}

fn has(all: &Headers, name: &str) -> bool {
    all.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}
