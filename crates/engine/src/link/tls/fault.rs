//! Why a connection's TLS failed, sorted by who can mend it. A report names each sentence once; per connection only
//! the kind is counted.

use super::verify::marked_as_authority;
use plimsoll_plan::Problem;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
use std::fmt;

/// Why a channel is dead: a sentence each, with a hint where one helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsFault {
    /// The server's certificate is not acceptable: not trusted, another name, expired.
    Certificate(Problem),
    /// The server said no.
    Alert(Problem),
    /// What came is not TLS, not this version of it, or damaged.
    Protocol(Problem),
    /// This side's own fault.
    Internal(Problem),
}

impl TlsFault {
    pub fn problem(&self) -> &Problem {
        match self {
            TlsFault::Certificate(p) | TlsFault::Alert(p) | TlsFault::Protocol(p) | TlsFault::Internal(p) => {
                p
            }
        }
    }

    pub(super) fn internal(message: impl Into<String>) -> TlsFault {
        TlsFault::Internal(Problem::plain(message))
    }

    /// Sorts what the library says.
    pub fn of(error: &Error) -> TlsFault {
        match error {
            Error::AlertReceived(alert) => TlsFault::Alert(refused(*alert)),
            Error::InvalidCertificate(why) => TlsFault::Certificate(untrusted(why, error)),
            Error::NoCertificatesPresented => {
                TlsFault::Certificate(Problem::plain("the server showed no certificate"))
            }
            Error::UnsupportedNameType => TlsFault::Certificate(Problem::plain(
                "the certificate cannot be checked against this kind of name",
            )),
            Error::PeerIncompatible(why) => TlsFault::Protocol(incompatible(why)),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsFault::Protocol(Problem::new(
                "what came is not TLS",
                "is the port one for `https://`? if not, use `http://`",
            )),
            Error::DecryptError => TlsFault::Protocol(Problem::plain(
                "a record was damaged or forged on its way (it does not decrypt)",
            )),
            Error::InappropriateMessage { .. }
            | Error::InappropriateHandshakeMessage { .. }
            | Error::InvalidMessage(_)
            | Error::PeerMisbehaved(_)
            | Error::PeerSentOversizedRecord
            | Error::NoApplicationProtocol => {
                TlsFault::Protocol(Problem::plain(format!("the server broke the protocol: {error}")))
            }
            _ => TlsFault::internal(format!("TLS failed on this side: {error}")),
        }
    }

    /// The first bytes are those of something else than TLS.
    pub(super) fn stranger(first: &[u8]) -> TlsFault {
        let line = first.split(|&b| b == b'\r' || b == b'\n').next().unwrap_or_default();
        // As much as fits into a line, and nothing that could steer a terminal.
        let shown: String = line.iter().take(40).flat_map(|&b| b.escape_ascii()).map(char::from).collect();
        TlsFault::Protocol(if first.starts_with(b"HTTP/") {
            Problem::new(format!("the server speaks plain HTTP on this port (`{shown}`)"), "use `http://`")
        } else {
            Problem::new(
                format!("the server's first bytes, `{shown}`, are not TLS"),
                "is this the port for `https://`?",
            )
        })
    }
}

/// For a sample of what failed: the hint on a line of its own.
impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { message, hint } = self.problem();
        f.write_str(message)?;
        if hint.is_empty() { Ok(()) } else { write!(f, "\nhint: {hint}") }
    }
}

impl std::error::Error for TlsFault {}

/// An alert is one byte by a server that often says more in its own log: the hints are the usual reasons.
fn refused(alert: AlertDescription) -> Problem {
    let hint = match alert {
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "the server demands a client certificate: give one"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            "the server does not accept the client certificate, or the lack of one"
        }
        // TLS 1.2 has no alert of its own for a missing client certificate, and servers take this one.
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "no cipher suite in common, or the server demands a client certificate (TLS 1.2)"
        }
        AlertDescription::ProtocolVersion => {
            "the server has none of the offered versions: allow TLS 1.2 and 1.3"
        }
        AlertDescription::UnrecognisedName => "the server has no site of this name: check the server name",
        AlertDescription::NoApplicationProtocol => "the server speaks none of the offered protocols (ALPN)",
        // The others say enough by their name, or nobody but the server's log knows more.
        _ => return Problem::plain(format!("the server refused with the alert `{}`", name(alert))),
    };
    Problem::new(format!("the server refused with the alert `{}`", name(alert)), hint)
}

/// `UnknownCA` -> `unknown_ca`: the names as in RFC 8446, section 6, and in other tools' messages.
fn name(alert: AlertDescription) -> String {
    let (mut name, mut after_small) = (String::new(), false);
    for letter in format!("{alert:?}").chars() {
        if letter.is_ascii_uppercase() && after_small {
            name.push('_');
        }
        after_small = letter.is_ascii_lowercase();
        name.push(letter.to_ascii_lowercase());
    }
    name
}

fn untrusted(why: &CertificateError, error: &Error) -> Problem {
    if marked_as_authority(error) {
        // What `openssl req -x509` makes, unless it is told otherwise.
        return Problem::new(
            "the server's certificate is not trusted: it is self-signed, or one of an authority (`CA:TRUE`)",
            "trust this very certificate with `--ca FILE` (its PEM), or check none with `-k`",
        );
    }
    match why {
        CertificateError::UnknownIssuer => Problem::new(
            "the server's certificate is not trusted: no known authority issued it",
            "trust its authority with `--ca FILE` (PEM; the system's store is not read), or check none with `-k`",
        ),
        CertificateError::BadSignature => Problem::new(
            "the server's certificate does not bear its authority's signature",
            "an authority that was made again has the same name and another key: give the PEM of the newer one",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Problem::new(
            format!("the server's certificate is for another name: {why}"),
            "set the server name to one of these",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Problem::new(
            format!("the server's certificate has expired: {why}"),
            "renew it, or look at this machine's clock",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Problem::new(
            format!("the server's certificate is not valid yet: {why}"),
            "look at both machines' clocks",
        ),
        _ => Problem::plain(format!("the server's certificate is not acceptable: {why}")),
    }
}

fn incompatible(why: &PeerIncompatible) -> Problem {
    match why {
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::ServerDoesNotSupportTls12Or13 => Problem::new(
            "the server chose a version of TLS that is not allowed",
            "allow TLS 1.2 and 1.3 (older ones are not \
             supported)",
        ),
        _ => Problem::plain(format!("the server and this program have too little of TLS in common: {why:?}")),
    }
}
