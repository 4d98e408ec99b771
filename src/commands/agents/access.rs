//! Access to a NATS server: what is wrong with the flags before a connection, and what to do after a failed one.

use crate::exit::Failure;
use crate::flags::agents::AccessFlags;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Problem};

/// Rejects an address that is not one of a NATS server, and files that it would ignore.
///
/// # Errors
/// Returns an error for the first mistake.
pub fn check(flags: &AccessFlags, url: &str) -> Result<(), Failure> {
    let wrong = |code: &'static str, flag: &str, message: String, hint: &str| {
        Err(Diagnostic::new(code, Place::Flag(flag.into()), message, hint).into())
    };
    let hint = "use an address such as `nats://10.0.0.1:4222`, or `tls://HOST:4222`";
    for address in url.split(',') {
        let scheme = address.split_once("://").map_or("nats", |(scheme, _)| scheme);
        if address.trim().is_empty() || !matches!(scheme, "nats" | "tls") {
            return wrong("U011", "--nats", format!("invalid address of a NATS server `{address}`"), hint);
        }
    }
    // Without TLS, the credentials and the load would be readable on the network, although a certificate is named.
    let of_tls = [(&flags.nats_ca, "--nats-ca"), (&flags.nats_cert, "--nats-cert")];
    let is_tls = url.split(',').all(|address| address.starts_with("tls://"));
    match of_tls.into_iter().find(|(file, _)| file.is_some() && !is_tls) {
        Some((_, flag)) => {
            let message = format!("`{flag}` needs TLS, and `--nats` does not require it");
            wrong("U019", flag, message, "write `tls://` instead of `nats://`")
        }
        None => Ok(()),
    }
}

/// Returns a problem of a connection with a help that fits it.
pub fn explained(problem: Problem) -> Problem {
    const HELP: [(&str, &str); 7] = [
        ("InvalidContentType", "the server does not use TLS: write `nats://` instead of `tls://`"),
        ("UnknownIssuer", "name the file with the certificate of its authority: `--nats-ca ca.pem`"),
        ("not valid for name", "use a name for which the certificate of the server is valid"),
        (
            "certificate expired",
            "write new files with `plimsoll cluster init`, and restart the server with them",
        ),
        ("certificate not valid yet", "check the clock of this machine"),
        (
            "fatal alert: BadCertificate",
            "add the certificate of this machine: `--nats-cert FILE --nats-key FILE`",
        ),
        (
            "signing nonce",
            "`--nkey` must name a file with a seed, such as `coordinator.nk` of `cluster init`",
        ),
    ];
    match HELP.into_iter().find(|(text, _)| problem.message.contains(text)) {
        Some((_, hint)) => Problem { hint: hint.into(), ..problem },
        None => problem,
    }
}
