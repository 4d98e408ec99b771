//! Authentication: fixed headers, and what the load makes or gets.

use super::body;
use crate::own::json;
use crate::own::key::{Row, of};
use crate::own::reader::Reader;
use crate::own::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::draft::{
    AuthDraft, JwtDraft, JwtKeyDraft, OAuth2Draft, Open, PartDraft, SigV4Draft, TextDraft,
};
use plimsoll_build::expression::Expression;
use plimsoll_build::source::Pos;
use plimsoll_plan::unit;
use plimsoll_plan::value::Escape;

/// Default time before the end of a token at which the next one is requested, ns.
const EARLY_NS: u64 = 30_000_000_000;

/// Reads `auth:`. Returns `None` if it reported a mistake.
pub fn auth(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    if let Value::Scalar(Scalar { text, pieces, .. }) = &node.value
        && text == "none"
        && pieces.is_empty()
    {
        return Some(AuthDraft::None);
    }
    let entries = r.map(node, row)?;
    let [entry] = entries else {
        r.expected(node, row, "write one of `basic`, `bearer`, `digest`, `jwt`, `oauth2`, or `aws_sigv4`");
        return None;
    };
    let node = &entry.value;
    match r.key(entry)? {
        (row, of::Auth::Bearer) => {
            let mut text = TextDraft::of("Bearer ");
            text.text(r.template(node, row, Escape::None)?);
            Some(AuthDraft::Header(text))
        }
        (row, of::Auth::Basic) => {
            let (user, password) = pair(node, row, r)?;
            Some(AuthDraft::Basic { user, password, pos: node.pos })
        }
        (row, of::Auth::Digest) => {
            let (user, password) = pair(node, row, r)?;
            Some(AuthDraft::Digest { user, password })
        }
        (row, of::Auth::Jwt) => jwt(node, row, r),
        (row, of::Auth::OAuth2) => oauth2(node, row, r),
        (row, of::Auth::AwsSigV4) => sigv4(node, row, r),
    }
}

fn pair(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<(TextDraft, TextDraft)> {
    let (mut user, mut password) = (None, None);
    let before = r.wrong.len();
    for entry in r.map(node, row)? {
        let Some((row, key)) = r.key(entry) else { continue };
        let text = r.template(&entry.value, row, Escape::None);
        match key {
            of::Basic::User => user = text,
            of::Basic::Password => password = text,
        }
    }
    if user.is_none() || password.is_none() {
        lacks(node, row, before, "write both `user` and `password`", r);
    }
    user.zip(password)
}

/// Reports a missing key, unless a mistake explains it.
fn lacks(node: &Node, row: &Row, before: usize, hint: &str, r: &mut Reader<'_>) {
    if r.wrong.len() == before && !is_spoiled(node) {
        r.expected(node, row, hint);
    }
}

/// Returns whether a value has an expression with a mistake, which is reported before keys are read.
fn is_spoiled(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.spoiled,
        Value::List(items) => items.iter().any(is_spoiled),
        Value::Map(entries) => entries.iter().any(|entry| is_spoiled(&entry.value)),
    }
}

/// The algorithm of a token, and what gives its key.
#[derive(Default)]
pub struct KeyParts<'n> {
    pub algorithm: Option<&'static str>,
    pub key: Option<TextDraft>,
    pub file: Option<(&'n str, Pos)>,
}

impl KeyParts<'_> {
    /// Reads the algorithm.
    pub fn read(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<&'static str> {
        r.choice(node, row, &[("HS256", "HS256"), ("RS256", "RS256"), ("ES256", "ES256")])
    }

    /// Returns the key that fits the algorithm.
    pub fn finish(self, node: &Node, row: &Row, before: usize, r: &mut Reader<'_>) -> Option<JwtKeyDraft> {
        match (self.algorithm, self.key, self.file) {
            (Some("HS256"), Some(key), None) => Some(JwtKeyDraft::Hs256(key)),
            (Some(algorithm @ ("RS256" | "ES256")), None, Some((name, pos))) => {
                let bytes = r.content(name, pos)?;
                let Some(pem) = String::from_utf8(bytes).ok().filter(|pem| pem.contains("-----BEGIN "))
                else {
                    r.complain(
                        "F015",
                        pos,
                        format!("`{name}` is not a PEM file"),
                        "name a file with `-----BEGIN`",
                    );
                    return None;
                };
                Some(if algorithm == "RS256" { JwtKeyDraft::Rs256(pem) } else { JwtKeyDraft::Es256(pem) })
            }
            _ => {
                let hint = "write `algorithm: HS256` with `key`, or `RS256` or `ES256` with `key_file`";
                lacks(node, row, before, hint, r);
                None
            }
        }
    }
}

fn jwt(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    let before = r.wrong.len();
    let mut parts = KeyParts::default();
    let (mut claims, mut key_id, mut valid_ns) = (None, None, None);
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::Jwt::Algorithm => parts.algorithm = KeyParts::read(node, row, r),
            of::Jwt::Key => parts.key = r.template(node, row, Escape::None),
            of::Jwt::KeyFile => parts.file = r.text(node, row).map(|name| (name, node.pos)),
            of::Jwt::KeyId => key_id = r.text(node, row).map(str::to_owned),
            of::Jwt::Claims => claims = object(node, row, r),
            of::Jwt::ValidFor => valid_ns = r.parsed(node, row, unit::duration_ns),
        }
    }
    let key = parts.finish(node, row, before, r)?;
    let algorithm = match &key {
        JwtKeyDraft::Hs256(_) => "HS256",
        JwtKeyDraft::Rs256(_) => "RS256",
        JwtKeyDraft::Es256(_) => "ES256",
    };
    let Some(mut claims) = claims else {
        lacks(node, row, before, "add `claims`, such as `claims: { sub: \"${user}\" }`", r);
        return None;
    };
    if let Some(ns) = valid_ns {
        expire(&mut claims, ns, node.pos);
    }
    let key_id = key_id.map(|id| format!(",\"kid\":{}", json::string(&id))).unwrap_or_default();
    let header = format!("{{\"alg\":\"{algorithm}\",\"typ\":\"JWT\"{key_id}}}");
    Some(AuthDraft::Jwt(Box::new(JwtDraft { key, header, claims })))
}

/// Adds `iat` and `exp` to claims, which end with a brace.
fn expire(claims: &mut TextDraft, valid_ns: u64, at: Pos) {
    if let Some(PartDraft::Literal(last)) = claims.parts.last_mut() {
        last.pop();
        if !last.ends_with(b"{") {
            last.push(b',');
        }
    }
    let now = |distance: Option<String>| {
        let arguments = ["unix".to_owned()].into_iter().chain(distance).collect();
        let means = Expression::Call("now".to_owned(), arguments);
        PartDraft::Open(Open { means, written: "${now(unix)}".to_owned(), at, escape: Escape::None })
    };
    claims.literal("\"iat\":");
    claims.parts.push(now(None));
    claims.literal(",\"exp\":");
    claims.parts.push(now(Some(format!("+{}ms", valid_ns / 1_000_000))));
    claims.literal("}");
}

/// Reads a mapping as JSON with expressions.
pub fn object(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<TextDraft> {
    r.map(node, row)?;
    body::json_text(node, r)
}

fn oauth2(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    let before = r.wrong.len();
    let (mut grant, mut token_url, mut early_ns, mut in_body) = (None, None, EARLY_NS, false);
    // The client, unescaped for basic authentication and escaped for the form.
    let (mut id, mut secret) = (None, None);
    let mut fields: Vec<(&str, &Entry, &Row)> = Vec::new();
    for entry in r.map(node, row)? {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        match key {
            of::OAuth2::Grant => {
                let words = [("client_credentials", "client_credentials"), ("password", "password")];
                grant = r.choice(node, row, &words);
            }
            of::OAuth2::TokenUrl => token_url = r.text(node, row).map(str::to_owned),
            of::OAuth2::ClientId => id = Some((entry, row)),
            of::OAuth2::ClientSecret => secret = Some((entry, row)),
            of::OAuth2::ClientAuth => {
                in_body = r.choice(node, row, &[("basic", false), ("body", true)]).unwrap_or_default();
            }
            of::OAuth2::RefreshBefore => {
                early_ns = r.parsed(node, row, unit::duration_ns).unwrap_or(EARLY_NS)
            }
            of::OAuth2::UserName => fields.push(("username", entry, row)),
            of::OAuth2::Password => fields.push(("password", entry, row)),
            of::OAuth2::Scope => fields.push(("scope", entry, row)),
            of::OAuth2::Audience => fields.push(("audience", entry, row)),
        }
    }
    let (Some(grant), Some(token_url), Some(id)) = (grant, token_url, id) else {
        lacks(node, row, before, "write `grant`, `token_url`, and `client_id`", r);
        return None;
    };
    let has = |name: &str| fields.iter().any(|(known, ..)| *known == name);
    let is_password = grant == "password";
    if is_password != (has("username") && has("password")) || has("username") != has("password") {
        let hint = "write `username` and `password` for `grant: password`, and only for it";
        lacks(node, row, before, hint, r);
        return None;
    }
    let mut form = TextDraft::of(format!("grant_type={grant}"));
    if in_body || secret.is_none() {
        fields.insert(0, ("client_id", id.0, id.1));
        if let Some(secret) = secret {
            fields.insert(1, ("client_secret", secret.0, secret.1));
        }
    }
    for (name, entry, row) in fields {
        form.literal(format!("&{name}="));
        form.text(r.template(&entry.value, row, Escape::Form)?);
    }
    let basic = match secret.filter(|_| !in_body) {
        Some(secret) => {
            let id = r.template(&id.0.value, id.1, Escape::None)?;
            Some((id, r.template(&secret.0.value, secret.1, Escape::None)?))
        }
        None => None,
    };
    let (pos, is_refreshed) = (node.pos, is_password);
    (r.wrong.len() == before).then(|| {
        AuthDraft::OAuth2(Box::new(OAuth2Draft { pos, token_url, form, basic, is_refreshed, early_ns }))
    })
}

fn sigv4(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<AuthDraft> {
    let before = r.wrong.len();
    let (mut access_key, mut secret_key, mut session_token) = (None, None, None);
    let (mut region, mut service) = (None, None);
    for entry in r.map(node, row)? {
        let Some((row, key)) = r.key(entry) else { continue };
        let text = r.template(&entry.value, row, Escape::None);
        match key {
            of::AwsSigV4::AccessKey => access_key = text,
            of::AwsSigV4::SecretKey => secret_key = text,
            of::AwsSigV4::SessionToken => session_token = text,
            of::AwsSigV4::Region => region = text,
            of::AwsSigV4::Service => service = text,
        }
    }
    match (access_key, secret_key, region, service) {
        (Some(access_key), Some(secret_key), Some(region), Some(service)) => {
            let draft = SigV4Draft { access_key, secret_key, session_token, region, service };
            Some(AuthDraft::SigV4(Box::new(draft)))
        }
        _ => {
            lacks(node, row, before, "write `access_key`, `secret_key`, `region`, and `service`", r);
            None
        }
    }
}
