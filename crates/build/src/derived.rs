//! Values that are made of other values: hashes and encodings, parts of the request, and times of requests.

use crate::draft::Open;
use crate::expression::{Expression, Operand, Piece};
use crate::nearest::nearest;
use crate::sentence::{alternatives, short};
use crate::source::Pos;
use crate::text::Build;
use crate::work::Work;
use plimsoll_plan::script::{Timing, TimingPart};
use plimsoll_plan::value::{Derived, Digest, Escape, Form, Placeholder, RequestPart, Text, Transform};

impl Work {
    /// Builds a function of texts, such as `${hmac_sha256(secret.KEY, request.body, base64)}`.
    pub fn derived(
        &mut self,
        name: &str,
        operands: &[Operand],
        written: &str,
        at: Pos,
    ) -> Option<Placeholder> {
        let digest = |name: &str| match name {
            "md5" => Some(Digest::Md5),
            "sha1" => Some(Digest::Sha1),
            "sha256" => Some(Digest::Sha256),
            "sha512" => Some(Digest::Sha512),
            _ => None,
        };
        let (algorithm, is_keyed) = match name.strip_prefix("hmac_") {
            Some(hash) => (digest(hash), true),
            None => (digest(name), false),
        };
        let texts = 1 + usize::from(is_keyed);
        let (given, form) = match (operands.len().checked_sub(texts), algorithm) {
            (Some(0), _) => (operands, Form::default()),
            (Some(1), Some(_)) => (&operands[..texts], self.form(&operands[texts], at)?),
            _ => {
                let hint = match (algorithm, is_keyed) {
                    (Some(_), true) => {
                        format!("write a key and a text, such as `${{{name}(secret.KEY, request.body)}}`")
                    }
                    (Some(_), false) => format!(
                        "write a text and, if needed, `hex`, `base64`, `base64url`, or `raw`: `${{{name}(id, base64)}}`"
                    ),
                    (None, _) => format!("write one text, such as `${{{name}(id)}}`"),
                };
                let message = format!("invalid `{}`: wrong number of arguments", short(written));
                self.wrong.complain("F025", at, message, hint);
                return None;
            }
        };
        let resolved: Vec<Option<Text>> = given.iter().map(|operand| self.operand(operand, at)).collect();
        let mut resolved = resolved.into_iter().collect::<Option<Vec<Text>>>()?.into_iter();
        let first = resolved.next()?;
        let (how, text) = match (algorithm, resolved.next()) {
            (Some(algorithm), Some(text)) => (Transform::Hmac { algorithm, key: first, form }, text),
            (Some(algorithm), None) => (Transform::Digest { algorithm, form }, first),
            (None, _) => {
                let how = match name {
                    "base64" => Transform::Base64,
                    "base64url" => Transform::Base64Url,
                    "base64_decode" => Transform::Base64Decode,
                    "hex" => Transform::Hex,
                    _ => Transform::Url,
                };
                (how, first)
            }
        };
        Some(Placeholder::Derived(Box::new(Derived { how, text })))
    }

    fn form(&mut self, operand: &Operand, at: Pos) -> Option<Form> {
        let name = match operand {
            Operand::Value { means, .. } => match &**means {
                Expression::Name(name) => name.as_str(),
                _ => "",
            },
            Operand::Text(pieces) => match pieces.as_slice() {
                [Piece::Literal(name)] => name,
                _ => "",
            },
        };
        let found = Form::NAMED.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
        if found.is_none() {
            let hint = format!("use {}", alternatives(Form::NAMED.iter().map(|(name, _)| *name)));
            self.wrong.complain("F025", at, format!("unknown form of a hash `{}`", short(name)), hint);
        }
        found
    }

    /// Resolves an argument, which is not escaped: the result of the function is.
    fn operand(&mut self, operand: &Operand, at: Pos) -> Option<Text> {
        let mut build = Build::default();
        let lone;
        let pieces = match operand {
            Operand::Text(pieces) => pieces.as_slice(),
            Operand::Value { written, means } => {
                lone = [Piece::Expression { written: written.clone(), means: (**means).clone() }];
                &lone[..]
            }
        };
        for piece in pieces {
            match piece {
                Piece::Literal(text) => build.literal(text),
                Piece::Expression { written, means } => {
                    let (means, written) = (means.clone(), written.clone());
                    let open = Open { means, written, at, escape: Escape::None };
                    build.part(self.part(&open, Escape::None)?);
                }
            }
        }
        Some(build.finish())
    }

    /// Builds `${request.body}` and the other parts of the request that a header belongs to.
    pub fn request_part(&mut self, name: &str, at: Pos) -> Option<Placeholder> {
        let names = || RequestPart::NAMED.iter().map(|(name, _)| *name);
        let Some((_, part)) = RequestPart::NAMED.iter().find(|(known, _)| *known == name) else {
            let message = format!("unknown part of a request `{name}`");
            self.wrong.complain("F021", at, message, format!("use {}", alternatives(names())));
            return None;
        };
        if !self.in_headers {
            let message = format!("`${{request.{name}}}` belongs in a header of the request");
            self.wrong.complain("F022", at, message, "use it in `headers` or `auth`");
            return None;
        }
        Some(Placeholder::Request(*part))
    }

    /// Builds `${service_time(NAME)}`: the request may come later, so its number is resolved at the end.
    pub fn timing(
        &mut self,
        part: TimingPart,
        arguments: &[String],
        written: &str,
        at: Pos,
    ) -> Option<Placeholder> {
        let name = arguments.join(", ");
        if name.is_empty() {
            let hint = format!("write the name of a request, such as `${{{}(login)}}`", part.name());
            self.wrong.complain("F025", at, format!("invalid `{}`: missing name", short(written)), hint);
            return None;
        }
        let known = self.timings.iter().position(|(known, of, _)| *known == name && *of == part);
        let slot = known.unwrap_or_else(|| {
            self.timings.push((name, part, at));
            self.timings.len() - 1
        });
        u16::try_from(slot).ok().map(Placeholder::Timing)
    }

    /// Gives each timing the number of its request, after all requests are known.
    pub fn resolve_timings(&mut self) {
        // A request with a mistake is missing, and its mistake is already reported.
        if self.is_incomplete || !self.wrong.all.is_empty() {
            return;
        }
        for (name, part, pos) in std::mem::take(&mut self.timings) {
            let found = self.script.asks.iter().position(|ask| ask.name == name);
            let Some(ask) = found else {
                let names = || self.script.asks.iter().map(|ask| ask.name.as_str());
                let hint = match nearest(&name, names()) {
                    Some(right) => format!("did you mean `{}({right})`?", part.name()),
                    None => format!("give the request this name with `name: {name}`"),
                };
                self.wrong.complain("F021", pos, format!("unknown request `{}`", short(&name)), hint);
                continue;
            };
            self.script.timings.push(Timing { ask: ask as u32, part });
        }
    }
}
