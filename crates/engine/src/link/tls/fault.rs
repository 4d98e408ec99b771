//! TLS failures of a connection, grouped by who can fix them. A report shows each message once; only the kind is
//! counted per connection.

use super::verify::marked_as_authority;
use plimsoll_plan::{Fault, Problem};
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};
use std::fmt;

/// The reason why a channel is dead: a message, with a hint if one helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsFault {
    /// The server's certificate is not acceptable: not trusted, for another name, expired.
    Certificate(Problem),
    /// The server refused with an alert.
    Alert(Problem),
    /// The received bytes are not TLS, use another version of it, or are damaged.
    Protocol(Problem),
    /// An error on the client's side.
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

    /// Returns the row of the table of failures that counts it.
    pub fn class(&self) -> Fault {
        match self {
            TlsFault::Certificate(_) => Fault::CertificateRejected,
            TlsFault::Alert(_) | TlsFault::Protocol(_) => Fault::Tls,
            TlsFault::Internal(_) => Fault::ClientSendRefused,
        }
    }

    /// Returns whether the server knows none of the offered protocols (ALPN; RFC 7301, section 3.2).
    pub fn is_unknown_protocol(&self) -> bool {
        matches!(self, TlsFault::Alert(problem) if is_unknown_protocol(problem))
    }

    pub(super) fn internal(message: impl Into<String>) -> TlsFault {
        TlsFault::Internal(Problem::plain(message))
    }

    /// Classifies an error of the library.
    pub fn of(error: &Error) -> TlsFault {
        match error {
            Error::AlertReceived(alert) => TlsFault::Alert(refused(*alert)),
            Error::InvalidCertificate(why) => TlsFault::Certificate(untrusted(why, error)),
            Error::NoCertificatesPresented => {
                TlsFault::Certificate(Problem::plain("the server sent no certificate"))
            }
            Error::UnsupportedNameType => TlsFault::Certificate(Problem::plain(
                "the certificate cannot be verified for this kind of server name",
            )),
            Error::PeerIncompatible(why) => TlsFault::Protocol(incompatible(why)),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsFault::Protocol(Problem::new(
                "the server did not respond with TLS",
                "check that the port serves `https://`, or use `http://`",
            )),
            Error::DecryptError => TlsFault::Protocol(Problem::plain(
                "a record cannot be decrypted: it was damaged or forged in transit",
            )),
            Error::InappropriateMessage { .. }
            | Error::InappropriateHandshakeMessage { .. }
            | Error::InvalidMessage(_)
            | Error::PeerMisbehaved(_)
            | Error::PeerSentOversizedRecord
            | Error::NoApplicationProtocol => {
                TlsFault::Protocol(Problem::plain(format!("the server violated the TLS protocol: {error}")))
            }
            _ => TlsFault::internal(format!("TLS failed on the client side: {error}")),
        }
    }

    /// Creates the fault for first bytes that are not TLS.
    pub(super) fn stranger(first: &[u8]) -> TlsFault {
        let line = first.split(|&b| b == b'\r' || b == b'\n').next().unwrap_or_default();
        // Limited to one line, and escaped so that it cannot control a terminal.
        let shown: String = line.iter().take(40).flat_map(|&b| b.escape_ascii()).map(char::from).collect();
        TlsFault::Protocol(if first.starts_with(b"HTTP/") {
            Problem::new(format!("the server speaks plain HTTP on this port (`{shown}`)"), "use `http://`")
        } else {
            Problem::new(
                format!("the server's first bytes, `{shown}`, are not TLS"),
                "check that the port serves `https://`",
            )
        })
    }
}

/// Returns whether a problem is the alert of a server that knows none of the offered protocols.
pub fn is_unknown_protocol(problem: &Problem) -> bool {
    *problem == refused(AlertDescription::NoApplicationProtocol)
}

/// Formats it for a failure example, with the hint on a separate line.
impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { message, hint } = self.problem();
        f.write_str(message)?;
        if hint.is_empty() { Ok(()) } else { write!(f, "\nhelp: {hint}") }
    }
}

impl std::error::Error for TlsFault {}

/// An alert is one byte from a server that often writes more to its own log: the hints name the usual reasons.
fn refused(alert: AlertDescription) -> Problem {
    let hint = match alert {
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "the server requires a client certificate: provide one"
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            "the server rejects the client certificate, or requires one and got none"
        }
        // TLS 1.2 has no alert for a missing client certificate, and servers send this one.
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "no common cipher suite, or the server requires a client certificate (TLS 1.2)"
        }
        AlertDescription::ProtocolVersion => {
            "the server supports none of the offered versions: allow TLS 1.2 and 1.3"
        }
        AlertDescription::UnrecognisedName => "the server does not know this name: check the server name",
        AlertDescription::NoApplicationProtocol => "the server knows none of the offered protocols (ALPN)",
        // The names of the others say enough, or only the server's log has more.
        _ => return Problem::plain(format!("the server sent the TLS alert `{}`", name(alert))),
    };
    Problem::new(format!("the server sent the TLS alert `{}`", name(alert)), hint)
}

/// `UnknownCA` -> `unknown_ca`: the names in RFC 8446, section 6, and in other tools' messages.
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
        // The default output of `openssl req -x509`.
        return Problem::new(
            "the server's certificate is not trusted: it is self-signed, or is itself a CA certificate",
            "trust this certificate with `--ca FILE` (its PEM), or skip verification with `-k`",
        );
    }
    match why {
        CertificateError::UnknownIssuer => Problem::new(
            "the server's certificate is not trusted: no known authority issued it",
            "trust its authority with `--ca FILE` (PEM; the system store is not used), or skip verification with `-k`",
        ),
        CertificateError::BadSignature => Problem::new(
            "the server's certificate is not signed by its authority's key",
            "a recreated authority has the same name but another key: provide the PEM of the newer one",
        ),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Problem::new(
            format!("the server's certificate is for another name: {why}"),
            "set the server name to one of these",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Problem::new(
            format!("the server's certificate has expired: {why}"),
            "renew it, or check the load generator's clock",
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Problem::new(
            format!("the server's certificate is not valid yet: {why}"),
            "check the clocks of both machines",
        ),
        _ => Problem::plain(format!("the server's certificate is not acceptable: {why}")),
    }
}

fn incompatible(why: &PeerIncompatible) -> Problem {
    match why {
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::ServerDoesNotSupportTls12Or13 => Problem::new(
            "the server chose a TLS version that is not allowed",
            "allow TLS 1.2 and 1.3 (older ones are not \
             supported)",
        ),
        _ => Problem::plain(format!("the server and plimsoll have no common TLS parameters: {why:?}")),
    }
}
