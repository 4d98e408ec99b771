//! Authentication that depends on the request as it is sent, or on an earlier response of the server.

use crate::script::AskId;
use crate::value::{GlobalId, Secret, Text};

/// How a request authenticates itself, if a fixed header is not enough.
#[derive(Debug, Clone, PartialEq)]
pub enum Auth {
    /// Digest access authentication (RFC 7616).
    Digest(Box<DigestLogin>),
    /// Signature version 4 of Amazon Web Services.
    SigV4(Box<SigV4>),
    /// A bearer token that is refreshed; the number is that of its source.
    Token(u16),
}

/// The credentials for digest authentication.
#[derive(Debug, Clone, PartialEq)]
pub struct DigestLogin {
    pub user: Text,
    pub password: Text,
    /// The request that counts the exchanges which ask for a challenge. It is never sent itself.
    pub challenge: AskId,
}

/// The credentials and the scope of a signature.
#[derive(Debug, Clone, PartialEq)]
pub struct SigV4 {
    pub access_key: Text,
    pub secret_key: Text,
    pub session_token: Option<Text>,
    pub region: Text,
    pub service: Text,
}

/// A source of tokens that setup and all users share (RFC 6749).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSource {
    /// The request for a token, which setup sends first.
    pub ask: AskId,
    /// The request for another token by means of a refresh token.
    pub refresh: Option<AskId>,
    /// The lifetime of the newest token in seconds; empty if the server does not say it.
    pub expires_in: GlobalId,
    /// The newest refresh token; empty if there is none.
    pub refresh_token: GlobalId,
    /// How long before the end of a token the next one is requested, ns.
    pub early_ns: u64,
}

/// The key of a JSON Web Token (RFC 7515), which also decides the algorithm.
#[derive(Debug, Clone, PartialEq)]
pub enum JwtKey {
    /// HMAC with SHA-256.
    Hs256(Text),
    /// RSASSA-PKCS1-v1_5 with SHA-256; a PEM text.
    Rs256(Secret),
    /// ECDSA on P-256 with SHA-256; a PEM text.
    Es256(Secret),
}

impl JwtKey {
    /// Returns the name of the algorithm (RFC 7518).
    pub const fn algorithm(&self) -> &'static str {
        match self {
            JwtKey::Hs256(_) => "HS256",
            JwtKey::Rs256(_) => "RS256",
            JwtKey::Es256(_) => "ES256",
        }
    }
}
