//! Compiled checks: what a response must be.

use super::digest::Expected;
use super::judge::{Answer, Failure, Findings, NoBody, ResponseParts};
use super::rule::CompiledRule;
use super::sentence::{Redactor, is_secret, quoted};
use super::take::From;
use crate::auth::jwt::Verifier;
use crate::value::{Scope, fill};
use plimsoll_body::choose::NOTHING;
use plimsoll_body::jmes;
use plimsoll_body::json::{self, NotJson, Path, Tree};
use plimsoll_body::schema::{CompiledSchema, Responses};
use plimsoll_plan::answer::{Check, JwtCheck, Pick, Source, Statuses, Subject};
use plimsoll_plan::auth::JwtKey;
use plimsoll_plan::grpc::Codes;
use plimsoll_plan::value::Text;
use plimsoll_wire::grpc::decode_text;

/// A compiled [`Check`].
#[derive(Debug)]
pub(super) struct Compiled {
    pub on: On,
    /// Whether the name of the value marks it as a secret.
    secret: bool,
}

/// The compiled subject of a check.
#[derive(Debug)]
pub(super) enum On {
    Status(Statuses),
    Header { name: String, rule: CompiledRule },
    Body(CompiledRule),
    Json { path: Path, rule: CompiledRule },
    Value { from: From, rule: CompiledRule },
    Schema(CompiledSchema),
    OpenApi(Responses),
    HeaderSnapshot(Vec<(String, Vec<String>)>),
    Jwt(Box<CompiledJwt>),
    NoGraphqlErrors(Path),
    Length { least_bytes: u64, most_bytes: u64 },
    Hash(Expected),
    Duration { below_ns: u64 },
    GrpcStatus(Codes),
    GrpcMessage(CompiledRule),
}

impl On {
    pub fn reads_body(&self) -> bool {
        match self {
            On::Body(_) | On::Json { .. } | On::Hash(_) | On::Schema(_) | On::OpenApi(_) => true,
            On::NoGraphqlErrors(_) => true,
            On::Jwt(jwt) => jwt.from.reads_body(),
            On::Value { from, .. } => from.reads_body(),
            On::Status(_)
            | On::GrpcStatus(_)
            | On::GrpcMessage(_)
            | On::Header { .. }
            | On::HeaderSnapshot(_)
            | On::Length { .. }
            | On::Duration { .. } => false,
        }
    }

    pub fn reads_head(&self) -> bool {
        match self {
            On::Header { .. } | On::HeaderSnapshot(_) => true,
            On::Value { from, .. } => from.reads_head(),
            On::Jwt(jwt) => jwt.from.reads_head(),
            _ => false,
        }
    }
}

impl Compiled {
    /// # Errors
    /// Returns an error for an invalid path, expression, schema, or hash.
    pub fn compile(check: &Check) -> Result<Compiled, String> {
        let mut secret = false;
        let on = match &check.on {
            Subject::Status(statuses) => On::Status(statuses.clone()),
            Subject::Header { name, rule } => {
                secret = is_secret(name);
                On::Header { name: name.clone(), rule: CompiledRule::compile(rule)? }
            }
            Subject::Body(rule) => On::Body(CompiledRule::compile(rule)?),
            Subject::Json { path, rule } => {
                // The whole path counts: a value inside a member `session` is as secret as the member.
                secret = is_secret(path);
                On::Json { path: Path::compile(path)?, rule: CompiledRule::compile(rule)? }
            }
            Subject::Value { from, rule } => {
                secret = is_secret(&place_of(from));
                On::Value { from: From::compile(from)?, rule: CompiledRule::compile(rule)? }
            }
            Subject::Schema(schema) => On::Schema(CompiledSchema::compile(schema)?),
            Subject::OpenApi(described) => On::OpenApi(Responses::compile(described)?),
            Subject::Jwt(check) => On::Jwt(Box::new(CompiledJwt::compile(check)?)),
            Subject::NoGraphqlErrors => On::NoGraphqlErrors(Path::compile("$.errors")?),
            Subject::HeaderSnapshot(headers) => On::HeaderSnapshot(headers.clone()),
            Subject::Length { least_bytes, most_bytes } => {
                On::Length { least_bytes: *least_bytes, most_bytes: *most_bytes }
            }
            Subject::Hash { algorithm, hex } => On::Hash(Expected::compile(*algorithm, hex)?),
            Subject::Duration { below_ns } => On::Duration { below_ns: *below_ns },
            Subject::GrpcStatus(codes) => On::GrpcStatus(*codes),
            Subject::GrpcMessage(rule) => On::GrpcMessage(CompiledRule::compile(rule)?),
        };
        Ok(Compiled { on, secret })
    }

    /// Checks a response.
    ///
    /// # Errors
    /// Returns why the check failed.
    pub fn ask(
        &self,
        answer: &Answer<'_>,
        body: Result<&[u8], NoBody>,
        scope: &mut Scope<'_>,
        desk: &mut ResponseParts,
        findings: &Findings,
    ) -> Result<(), Failure> {
        let wants = findings.wants_sentences;
        let failed = |sentence: &dyn Fn() -> String| {
            Err(Failure::Sentence(if wants { sentence() } else { String::new() }))
        };
        let body = match body {
            Err(why) if self.on.reads_body() => return failed(&|| why.sentence(answer)),
            other => other.unwrap_or_default(),
        };
        if let On::Value { from, rule } = &self.on {
            // The value is moved out, because the other parts are needed to find it.
            let mut value = std::mem::take(&mut desk.left);
            value.clear();
            let taken = from.put(answer, body, Pick::First, scope.random, desk, &mut value);
            let found = match taken {
                Ok(()) => Some(&value[..]),
                // An empty body lacks every value.
                Err(NOTHING) => None,
                Err(_) if body.is_empty() && from.reads_body() => None,
                Err(why) => {
                    desk.left = value;
                    return failed(&|| why.into());
                }
            };
            let right = &mut desk.right;
            let held = match rule.holds(found, scope, right) {
                Ok(true) => Ok(()),
                Ok(false) => failed(&|| {
                    rule.sentence(found, right, Redactor { forms: &findings.forms, secret: self.secret })
                }),
                Err(unfilled) => Err(Failure::Unfilled(unfilled)),
            };
            desk.left = value;
            return held;
        }
        if let On::Jwt(jwt) = &self.on {
            return jwt.check(answer, body, scope, desk, findings).map_err(|failure| match failure {
                Failure::Sentence(sentence) if wants => Failure::Sentence(sentence),
                Failure::Sentence(_) => Failure::Sentence(String::new()),
                unfilled => unfilled,
            });
        }
        let ResponseParts { left, right, tree, .. } = desk;
        let (rule, found) = match &self.on {
            On::Status(statuses) if statuses.holds(answer.status) => return Ok(()),
            On::Status(statuses) => {
                return failed(&|| format!("expected `{}`, found `{}`", listed(statuses), answer.status));
            }
            On::Length { least_bytes, most_bytes } => {
                return match answer.body_bytes {
                    found if (*least_bytes..=*most_bytes).contains(&found) => Ok(()),
                    found => failed(&|| match *most_bytes {
                        u64::MAX => format!("expected at least `{least_bytes}` bytes, found `{found}`"),
                        _ => format!("expected `{least_bytes}` to `{most_bytes}` bytes, found `{found}`"),
                    }),
                };
            }
            On::Duration { below_ns } if answer.service_ns < *below_ns => return Ok(()),
            On::Duration { below_ns } => {
                let ms = |ns: u64| ns as f64 / 1e6;
                return failed(&|| {
                    format!("expected less than `{} ms`, found `{} ms`", ms(*below_ns), ms(answer.service_ns))
                });
            }
            On::Hash(expected) => {
                return match expected.holds(body) {
                    Ok(()) => Ok(()),
                    Err(found) => {
                        failed(&|| format!("expected `{}`, found `{}`", expected.hex(), found.hex()))
                    }
                };
            }
            On::Schema(schema) => return conforms(schema, body, tree, failed),
            On::OpenApi(responses) => {
                return match responses.of(answer.status) {
                    Ok(Some(schema)) => conforms(schema, body, tree, failed),
                    Ok(None) => Ok(()),
                    Err(why) => failed(&|| why.clone()),
                };
            }
            On::HeaderSnapshot(headers) => {
                let other = headers.iter().find(|(name, values)| {
                    !answer.head.fields(name).eq(values.iter().map(|value| value.as_bytes()))
                });
                let Some((name, values)) = other else { return Ok(()) };
                return failed(&|| {
                    let open = Redactor { forms: &findings.forms, secret: is_secret(name) };
                    let list = |all: &mut dyn Iterator<Item = &[u8]>| {
                        let shown: Vec<String> = all.map(|value| quoted(value, open)).collect();
                        if shown.is_empty() { "no header".to_owned() } else { shown.join(", ") }
                    };
                    format!(
                        "`{name}`: expected {}, found {}",
                        list(&mut values.iter().map(|value| value.as_bytes())),
                        list(&mut answer.head.fields(name))
                    )
                });
            }
            On::NoGraphqlErrors(path) => {
                return match path.select(body, tree, |_| 0) {
                    Ok(selected) => match selected.span.map(|span| json::excerpt(body, span, left)) {
                        None | Some(b"null" | b"[]") => Ok(()),
                        Some(errors) if wants => {
                            let open = Redactor { forms: &findings.forms, secret: false };
                            let errors = quoted(errors, open);
                            Err(Failure::GraphqlErrors(format!("the response has errors: {errors}")))
                        }
                        Some(_) => Err(Failure::GraphqlErrors(String::new())),
                    },
                    Err(NotJson) => failed(&|| "the body is not JSON".into()),
                };
            }
            // Answered above.
            On::Value { .. } | On::Jwt(_) => return Ok(()),
            On::GrpcStatus(codes) => {
                let found = answer.call.map(|call| call.status);
                return match found {
                    Some(found) if codes.holds(found) => Ok(()),
                    _ => failed(&|| {
                        let found = found.map_or("none", |status| status.name());
                        format!("expected `{codes}`, found `{found}`")
                    }),
                };
            }
            On::GrpcMessage(rule) => {
                left.clear();
                decode_text(answer.call.map(|call| call.message).unwrap_or_default(), left);
                (rule, Some(&left[..]).filter(|text| !text.is_empty()))
            }
            On::Header { name, rule } => (rule, answer.field(name)),
            // A response always has a body, so `exists` asks whether it is not empty.
            On::Body(rule @ (CompiledRule::Exists | CompiledRule::Absent)) => {
                (rule, Some(body).filter(|body| !body.is_empty()))
            }
            On::Body(rule) => (rule, Some(body)),
            On::Json { path, rule } => match path.select(body, tree, |_| 0) {
                Ok(selected) => (rule, selected.span.map(|span| json::excerpt(body, span, left))),
                // An empty body lacks every member. An error page must not pass as a response without the member.
                Err(NotJson) if body.is_empty() => (rule, None),
                Err(NotJson) => return failed(&|| "the body is not JSON".into()),
            },
        };
        if rule.holds(found, scope, right).map_err(Failure::Unfilled)? {
            return Ok(());
        }
        failed(&|| rule.sentence(found, right, Redactor { forms: &findings.forms, secret: self.secret }))
    }
}

/// A compiled [`JwtCheck`].
pub(super) struct CompiledJwt {
    from: From,
    verifier: Key,
    claims: Vec<(String, Path, CompiledRule)>,
}

/// The key of a check, which may be a text that changes.
enum Key {
    Fixed(Verifier),
    Filled(Text),
}

impl std::fmt::Debug for CompiledJwt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompiledJwt")
    }
}

impl CompiledJwt {
    fn compile(check: &JwtCheck) -> Result<CompiledJwt, String> {
        let verifier = match &check.key {
            JwtKey::Hs256(key) => match key.fixed() {
                Some(key) => Key::Fixed(Verifier::Hmac(key)),
                None => Key::Filled(key.clone()),
            },
            JwtKey::Rs256(pem) => Key::Fixed(Verifier::rsa(pem.reveal())?),
            JwtKey::Es256(pem) => Key::Fixed(Verifier::ecdsa(pem.reveal())?),
        };
        let claim = |(name, rule): &(String, plimsoll_plan::answer::Rule)| {
            Ok((name.clone(), Path::compile(&claim_path(name))?, CompiledRule::compile(rule)?))
        };
        let claims = check.claims.iter().map(claim).collect::<Result<_, String>>()?;
        Ok(CompiledJwt { from: From::compile(&check.from)?, verifier, claims })
    }

    fn check(
        &self,
        answer: &Answer<'_>,
        body: &[u8],
        scope: &mut Scope<'_>,
        desk: &mut ResponseParts,
        findings: &Findings,
    ) -> Result<(), Failure> {
        let wrong = |why: String| Failure::Sentence(why);
        let mut token = Vec::new();
        let taken = self.from.put(answer, body, Pick::First, scope.random, desk, &mut token);
        taken.map_err(|why| wrong(why.to_owned()))?;
        let filled;
        let verifier = match &self.verifier {
            Key::Fixed(verifier) => verifier,
            Key::Filled(text) => {
                let mut key = Vec::new();
                fill(text, scope, &mut key).map_err(Failure::Unfilled)?;
                filled = Verifier::Hmac(key);
                &filled
            }
        };
        let claims = verifier.claims(&token, scope.unix_ns);
        let claims = claims.map_err(|why| wrong(format!("the token is invalid: {why}")))?;
        let mut room = Vec::new();
        for (name, path, rule) in &self.claims {
            let selected = path.select(&claims, &mut Tree::Unread, |_| 0);
            let span = selected.ok().and_then(|selected| selected.span);
            let found = span.map(|span| json::excerpt(&claims, span, &mut room));
            let right = &mut desk.right;
            if !rule.holds(found, scope, right).map_err(Failure::Unfilled)? {
                let redactor = Redactor { forms: &findings.forms, secret: is_secret(name) };
                return Err(wrong(format!("claim `{name}`: {}", rule.sentence(found, right, redactor))));
            }
        }
        Ok(())
    }
}

/// Returns the JSONPath of a claim, which is a name or a path.
fn claim_path(name: &str) -> String {
    if name.starts_with('$') { name.to_owned() } else { format!("$['{}']", name.replace('\'', "\\'")) }
}

/// Checks a body against a schema.
fn conforms(
    schema: &CompiledSchema,
    body: &[u8],
    tree: &mut Tree,
    failed: impl Fn(&dyn Fn() -> String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(value) = jmes::tree(body, tree) else {
        return failed(&|| {
            if body.is_empty() { "the body is empty".into() } else { "the body is not JSON".into() }
        });
    };
    if schema.accepts(value) {
        return Ok(());
    }
    failed(&|| schema.mistake(value).unwrap_or_else(|| "the body does not fit the schema".into()))
}

/// Returns the words that show whether a place has a secret.
fn place_of(from: &Source) -> String {
    match from {
        Source::Json(text) | Source::XPath(text) | Source::JmesPath(text) => text.clone(),
        Source::Header(name) | Source::Cookie(name) => name.clone(),
        Source::Css { selector, attribute } => {
            format!("{selector} {}", attribute.as_deref().unwrap_or_default())
        }
        Source::Boundary { left, .. } => left.clone(),
        Source::Regex { pattern, .. } => pattern.clone(),
        Source::Status | Source::Body => String::new(),
    }
}

/// Returns status codes as `200-299, 404`.
pub(super) fn listed(statuses: &Statuses) -> String {
    let one = |(low, high): &(u16, u16)| if low == high { low.to_string() } else { format!("{low}-{high}") };
    statuses.0.iter().map(one).collect::<Vec<_>>().join(", ")
}
