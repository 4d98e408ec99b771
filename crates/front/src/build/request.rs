//! Builds one request: its request line, headers, body, checks, and extractions.

use super::draft::{AuthDraft, HeaderDraft, NameDraft, RequestDraft};
use super::requests::{basic, coded};
use super::text::Build;
use super::work::Work;
use crate::header;
use crate::sentence::default_name;
use crate::source::Pos;
use plimsoll_plan::origin::FIRST;
use plimsoll_plan::script::{Ask, AskId};
use plimsoll_plan::value::{Escape, Part, Placeholder, Secret, Text};

/// Headers, in sending order.
type Headers = Vec<(String, Text)>;

/// The resolved authentication of a request.
enum Auth {
    Nobody,
    Header(Text),
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
        };
        let mut media_type = None;
        if let Some(body) = &draft.body
            && let Some(text) = self.text(&body.text)
        {
            ask.body = Some(text);
            media_type = body.media_type.clone();
        }
        let mut own = Headers::new();
        for header in &draft.headers {
            own.extend(self.header(header));
        }
        let auth = draft.auth.as_ref().and_then(|auth| self.auth(auth));
        for check in &draft.checks {
            self.check(check, &mut ask);
        }
        let credentials = way.as_ref().and_then(|way| way.credentials.as_deref());
        ask.headers = self.headers(own, media_type, auth, credentials, draft.pos);
        if let Some(socket) = &draft.websocket {
            self.upgrade(socket, &mut ask);
        }
        self.check_length(&ask, draft.pos);
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
            self.check_websocket(draft, ask);
            return None;
        }
        ask.name = match &draft.name {
            Some(chosen) => chosen.name.clone(),
            None if draft.websocket.is_some() => {
                default_name("connect", &format!("{}{}", self.site.describe(way.origin), way.shown))
            }
            None => default_name(&ask.method, &format!("{}{}", self.site.describe(way.origin), way.shown)),
        };
        self.name_apart(&mut ask, draft.name.as_ref());
        if let Some(socket) = &draft.websocket {
            let id = self.websocket(socket, ask);
            return (self.wrong.all.len() == before).then_some(id);
        }
        let id = self.script.asks.len() as AskId;
        self.script.asks.push(ask);
        Some(id)
    }

    /// Returns all headers: those of the file that the request does not replace, those of the request, and those that
    /// its other parts imply.
    fn headers(
        &mut self,
        own: Headers,
        media_type: Option<String>,
        auth: Option<Auth>,
        credentials: Option<&str>,
        pos: Pos,
    ) -> Headers {
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
            let auth = self.auth(&common);
            self.auth = Some(common);
            auth
        });
        let header = match (auth, credentials) {
            (Some(Auth::Nobody), _) | (None, None) => None,
            (Some(Auth::Header(text)), _) => Some(text),
            (None, Some(credentials)) => Some(Text::literal(basic(credentials))),
        };
        if let Some(text) = header {
            if !has(&all, "Authorization") {
                all.push(("Authorization".into(), text));
            } else if is_own {
                let message = "`auth` and the header `Authorization` contradict each other";
                self.wrong.complain("F017", pos, message, "keep one of them");
            }
        }
        all
    }

    fn header(&mut self, HeaderDraft { name, value, pos }: &HeaderDraft) -> Option<(String, Text)> {
        if let Err(problem) = header::check(name, &String::from_utf8_lossy(&value.literals())) {
            self.wrong.complain_of(*pos, problem);
            return None;
        }
        self.text(value).map(|text| (name.clone(), text))
    }

    fn auth(&mut self, draft: &AuthDraft) -> Option<Auth> {
        match draft {
            AuthDraft::None => Some(Auth::Nobody),
            AuthDraft::Header(text) => self.text(text).map(Auth::Header),
            AuthDraft::Basic { user, password, pos } => {
                let (user, password) = (self.text(user), self.text(password));
                self.basic(&user?, &password?, *pos).map(Auth::Header)
            }
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
    fn name_apart(&mut self, ask: &mut Ask, chosen: Option<&NameDraft>) {
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
