//! TLS settings that contradict each other: none of them may be without effect.

use crate::cipher::cipher;
use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::link::Versions;

/// Reports TLS settings that would have no effect.
pub(super) fn check(draft: &Draft, wrong: &mut Vec<Diagnostic>) {
    let Some(tls) = &draft.link.tls else { return };
    // `true`: the suites of TLS 1.3.
    let offered: &[(bool, &str)] = match tls.versions {
        Versions::Both => &[(false, "1.2"), (true, "1.3")],
        Versions::Tls12 => &[(false, "1.2")],
        Versions::Tls13 => &[(true, "1.3")],
    };
    let is_offered = |name: &&String| {
        cipher(name).is_some_and(|cipher| offered.iter().any(|(is_tls13, _)| *is_tls13 == cipher.is_tls13))
    };
    if let Some(stray) = tls.ciphers.iter().find(|name| !is_offered(name)) {
        let other = if offered[0].0 { "1.2" } else { "1.3" };
        wrong.push(Diagnostic::field(
            "P040",
            key::CIPHERS,
            format!("cipher suite `{stray}` belongs to TLS {other}, which the plan does not offer"),
            format!(
                "remove the suite, or offer both versions of TLS: `1.2-1.3` instead of `{}`",
                offered[0].1
            ),
        ));
    }
    if draft.tls_files.clients.len() > 1 && draft.link.streams > 1 {
        wrong.push(Diagnostic::field(
            "P040",
            key::STREAMS,
            "several users share a connection, but each user has its own client certificate",
            "remove `streams` (`--streams`), or name only one client certificate",
        ));
    }
    if tls.ignores_tickets && tls.versions != Versions::Tls12 {
        wrong.push(Diagnostic::field(
            "P040",
            key::SESSION_RESUMPTION,
            "only TLS 1.2 resumes sessions by their ID: TLS 1.3 has only tickets",
            "offer only TLS 1.2 (`versions: \"1.2\"`, `--tls-versions 1.2`), or write `true` instead of `session_id`",
        ));
    }
}
