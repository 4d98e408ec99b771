//! Authentication that depends on the load: digest, JSON Web Tokens, tokens of OAuth 2, and signatures.

use crate::draft::{
    AuthDraft, BodyDraft, JwtDraft, JwtKeyDraft, NameDraft, OAuth2Draft, PathDraft, RequestDraft, SigV4Draft,
    TextDraft,
};
use crate::request::Auth;
use crate::work::{Phase, Scope, Work};
use plimsoll_plan::answer::{Extract, Pick, Source, Statuses};
use plimsoll_plan::auth::{Auth as Special, DigestLogin, JwtKey, SigV4, TokenSource};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::script::{Ask, AskId, Node, Slot};
use plimsoll_plan::value::{Derived, Escape, Part, Placeholder, Secret, Text, Transform};

impl Work {
    /// Builds digest authentication. Requests with the same credentials share their challenges, and the row that counts
    /// the exchanges for them.
    pub(super) fn digest(
        &mut self,
        user: &TextDraft,
        password: &TextDraft,
        origin: OriginId,
    ) -> Option<Auth> {
        let key = format!(
            "digest {origin} {} {} {}",
            self.scope.phase == Phase::Setup,
            user.written(),
            password.written()
        );
        let (user, password) = (self.text(user)?, self.text(password)?);
        let challenge = self.known(&key).unwrap_or_else(|| {
            let mut ask = Ask {
                name: "digest challenge".to_owned(),
                scenario: self.scope.scenario,
                group: None,
                tags: Vec::new(),
                origin,
                method: "GET".to_owned(),
                path: Text::literal("/"),
                headers: Vec::new(),
                body: None,
                timeout_ns: None,
                redirects: 0,
                expect: Some(Statuses(vec![(401, 401)])),
                checks: Vec::new(),
                extracts: Vec::new(),
                go_on_after_failure: false,
                stream: None,
                websocket: None,
                grpc: None,
            };
            self.name_apart(&mut ask, None);
            let id = self.script.asks.len() as AskId;
            self.script.asks.push(ask);
            self.logins.push((key, id));
            id
        });
        Some(Auth::Special(None, Special::Digest(Box::new(DigestLogin { user, password, challenge }))))
    }

    fn known(&self, key: &str) -> Option<u32> {
        self.logins.iter().find(|(known, _)| known == key).map(|(_, number)| *number)
    }

    /// Builds `Authorization: Bearer` with a token that each request makes.
    pub(super) fn jwt(&mut self, draft: &JwtDraft) -> Option<Text> {
        let key = self.jwt_key(&draft.key)?;
        let claims = self.header_text(&draft.claims)?;
        let how = Transform::Jwt { key, header: draft.header.clone() };
        let mut text = Text::literal("Bearer ");
        let derived = Derived { how, text: claims };
        text.parts.push(Part::Placeholder(Placeholder::Derived(Box::new(derived)), Escape::None));
        Some(text)
    }

    /// Builds the key of a token.
    pub(super) fn jwt_key(&mut self, draft: &JwtKeyDraft) -> Option<JwtKey> {
        Some(match draft {
            JwtKeyDraft::Hs256(key) => JwtKey::Hs256(self.text(key)?),
            JwtKeyDraft::Rs256(pem) => JwtKey::Rs256(Secret::new(pem)),
            JwtKeyDraft::Es256(pem) => JwtKey::Es256(Secret::new(pem)),
        })
    }

    pub(super) fn sigv4(&mut self, draft: &SigV4Draft) -> Option<Auth> {
        let session_token = match &draft.session_token {
            Some(token) => Some(self.text(token)?),
            None => None,
        };
        let signature = SigV4 {
            access_key: self.text(&draft.access_key)?,
            secret_key: self.text(&draft.secret_key)?,
            session_token,
            region: self.text(&draft.region)?,
            service: self.text(&draft.service)?,
        };
        Some(Auth::Special(None, Special::SigV4(Box::new(signature))))
    }

    /// Builds a bearer token that setup requests first, and that the load refreshes.
    pub(super) fn oauth2(&mut self, draft: &OAuth2Draft) -> Option<Auth> {
        let basic = draft.basic.as_ref().map(|(id, secret)| format!("{} {}", id.written(), secret.written()));
        let key = format!("oauth2 {} {} {basic:?}", draft.token_url, draft.form.written());
        let number = match self.known(&key) {
            Some(number) => number as u16,
            None => self.token_source(draft, key)?,
        };
        let access = access_of(number);
        let mut text = Text::literal("Bearer ");
        let global = self.number(&access, true, draft.pos)?;
        text.parts.push(Part::Placeholder(Placeholder::Global(global), Escape::None));
        Some(Auth::Special(Some(text), Special::Token(number)))
    }

    fn token_source(&mut self, draft: &OAuth2Draft, key: String) -> Option<u16> {
        // The token is requested in setup, wherever it is used.
        let scope = std::mem::replace(&mut self.scope, Scope::new(Phase::Setup, None, &[]));
        let id = self.token_request(draft);
        self.scope = scope;
        let id = id?;
        let number = self.script.tokens.len() as u16;
        let name = |what: &str| format!("oauth2.{what}{}", suffix(number));
        let [access, refresh_token, expires_in] =
            [access_of(number), name("refresh_token"), name("expires_in")]
                .map(|name| (self.number(&name, true, draft.pos), name));
        let take = |(slot, name): &(Option<u16>, String), path: &str, default: Option<Text>| {
            let from = Source::Json(path.to_owned());
            slot.map(|slot| Extract {
                into: Slot::Global(slot),
                name: name.clone(),
                from,
                pick: Pick::First,
                default,
            })
        };
        let extracts = [
            take(&access, "$.access_token", None)?,
            take(&refresh_token, "$.refresh_token", Some(Text::default()))?,
            take(&expires_in, "$.expires_in", Some(Text::default()))?,
        ];
        let (refresh_token, expires_in) = (refresh_token.0?, expires_in.0?);
        let ask = self.script.asks.get_mut(id as usize)?;
        ask.extracts.extend(extracts);
        let refresh = draft.is_refreshed.then(|| {
            let mut body = Text::literal("grant_type=refresh_token&refresh_token=");
            body.parts.push(Part::Placeholder(Placeholder::Global(refresh_token), Escape::Form));
            Ask { name: format!("oauth2 refresh{}", suffix(number)), body: Some(body), ..ask.clone() }
        });
        let refresh = refresh.map(|ask| {
            self.script.asks.push(ask);
            self.script.asks.len() as AskId - 1
        });
        self.script.tokens.push(TokenSource {
            ask: id,
            refresh,
            expires_in,
            refresh_token,
            early_ns: draft.early_ns,
        });
        self.token_steps.push(Node::Ask(id));
        self.logins.push((key, u32::from(number)));
        Some(number)
    }

    fn token_request(&mut self, draft: &OAuth2Draft) -> Option<AskId> {
        let texts = [&draft.form].into_iter().chain(draft.basic.iter().flat_map(|(id, secret)| [id, secret]));
        let texts: Vec<Option<Text>> = texts.map(|text| self.text(text)).collect();
        if texts.into_iter().collect::<Option<Vec<Text>>>()?.iter().any(|text| text.fixed().is_none()) {
            let message = "the credentials of `oauth2` must be fixed, because all users share the token";
            let hint = "request a token for each user in a `once_per_user` step, and send it with `bearer`";
            self.wrong.complain("F017", draft.pos, message, hint);
            return None;
        }
        let name = format!("oauth2 token{}", suffix(self.script.tokens.len() as u16));
        let auth = match &draft.basic {
            Some((user, password)) => {
                AuthDraft::Basic { user: user.clone(), password: password.clone(), pos: draft.pos }
            }
            None => AuthDraft::None,
        };
        let path = PathDraft { text: TextDraft::of(&draft.token_url), encode: false, pos: draft.pos };
        let media_type = Some("application/x-www-form-urlencoded".to_owned());
        // The headers of the file are for the service, not for the server of tokens.
        let headers = std::mem::take(&mut self.headers);
        let id = self.request(&RequestDraft {
            auth: Some(auth),
            body: Some(BodyDraft { text: draft.form.clone(), media_type }),
            name: Some(NameDraft { name, pos: draft.pos }),
            expect: Some(Statuses(vec![(200, 299)])),
            ..RequestDraft::new(draft.pos, "POST", Some(path))
        });
        self.headers = headers;
        id
    }
}

fn suffix(number: u16) -> String {
    if number == 0 { String::new() } else { format!(" ({})", number + 1) }
}

fn access_of(number: u16) -> String {
    format!("oauth2.access_token{}", suffix(number))
}
