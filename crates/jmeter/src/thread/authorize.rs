//! Credentials of requests: basic with the first one, digest as the answer to a challenge.

use super::exchange::Flow;
use super::{Thread, scope};
use crate::http::Request;
use crate::plan::{AuthManager, Sampler};
use crate::scope::Wish;
use base64::Engine as _;
use plimsoll_jmx::plan::Mechanism;
use plimsoll_plan::program::{At, Reply};
use plimsoll_script::auth::digest::Challenge;

impl Thread {
    /// Returns the credentials that a request has from the beginning.
    pub(super) fn credentials(&mut self, of: &Sampler, request: &Request, at: At) -> Option<String> {
        let auth = of.auth.as_ref()?;
        let (entry, user, password) = self.entry(auth, request, at)?;
        match auth.entries[entry].mechanism {
            Mechanism::Basic => {
                let both = format!("{user}:{password}");
                Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(both)))
            }
            Mechanism::BasicDigest | Mechanism::Digest => None,
        }
    }

    /// Returns the entry for a request, with its user and password.
    fn entry(&mut self, auth: &AuthManager, request: &Request, at: At) -> Option<(usize, String, String)> {
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let with_port = with_port(&request.url);
        auth.entries.iter().enumerate().find_map(|(number, entry)| {
            let url = entry.url.value(&mut scope);
            let url = url.trim();
            let is_for =
                request.url.starts_with(url) || with_port.as_ref().is_some_and(|full| full.starts_with(url));
            is_for.then(|| (number, entry.user.value(&mut scope), entry.password.value(&mut scope)))
        })
    }

    /// Answers a challenge with the credentials for the URL; returns whether the request is repeated.
    pub(super) fn answers_challenge(
        &mut self,
        of: &Sampler,
        flow: &mut Flow,
        reply: &Reply<'_>,
        at: At,
    ) -> bool {
        let Some(auth) = of.auth.as_ref().filter(|_| !flow.has_answered) else { return false };
        let Some((entry, user, password)) = self.entry(auth, &flow.request, at) else { return false };
        let mechanism = auth.entries[entry].mechanism;
        if mechanism == Mechanism::Basic {
            return false;
        }
        let offers = |scheme: &str| {
            reply.head.fields("www-authenticate").any(|value| {
                value.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
            })
        };
        let value = if offers("digest") {
            let Ok(mut challenge) = Challenge::of(reply.head) else { return false };
            let cnonce = format!("{:016x}", self.random.next_u64());
            let secret = (user.as_bytes(), password.as_bytes());
            challenge.authorization(secret, (&flow.request.method, flow.request.path()), &cnonce)
        } else if mechanism == Mechanism::BasicDigest && offers("basic") {
            let both = format!("{user}:{password}");
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(both))
        } else {
            return false;
        };
        let phases = reply.phases;
        let spent_ns = phases.connect_ns + phases.tls_ns + phases.service_ns();
        flow.challenged_ms += spent_ns / 1_000_000;
        flow.authorization = Some(value);
        flow.has_answered = true;
        true
    }
}

/// Returns a URL with the default port of its scheme.
fn with_port(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let port = if scheme == "https" { 443 } else { 80 };
    let is_named =
        authority.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    match is_named {
        true => authority.strip_suffix(&format!(":{port}")).map(|host| format!("{scheme}://{host}{path}")),
        false => Some(format!("{scheme}://{authority}:{port}{path}")),
    }
}
