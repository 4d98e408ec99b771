//! Why an origin cannot be used, for the program that asked for it.

use crate::Error;
use crate::session::Failed;
use plimsoll_engine::probe::ProbeError;
use plimsoll_plan::Fault;
use plimsoll_plan::program::Unreachable;

/// Returns the reason with the row of the table of failures that a request of the load would count.
pub(super) fn of(failed: &Failed) -> Unreachable {
    let (fault, sentence) = match failed {
        Failed::Refused(refusal) => (Fault::OriginRefused, refusal.sentence.clone()),
        Failed::CouldNotRun(error) => (of_error(error), error.to_string()),
        Failed::CutShort(why) => (Fault::ClientSendRefused, why.clone()),
        // The steps for one origin end in no other way.
        Failed::RunFile(_)
        | Failed::NotReady { .. }
        | Failed::NotBuilt { .. }
        | Failed::Behavior(_)
        | Failed::Unready(_) => (Fault::ClientSendRefused, "the origin could not be tried".to_owned()),
    };
    Unreachable { fault, sentence: sentence.into() }
}

fn of_error(error: &Error) -> Fault {
    match error {
        Error::Unresolved { .. } => Fault::DnsFailed,
        Error::NobodyListens { tried, .. } => {
            tried.first().map_or(Fault::ConnectionRefused, |(_, why)| why.class())
        }
        // The proxy itself is not there.
        Error::Proxy { why: ProbeError::Proxy { is_about_credentials, .. }, .. } => {
            match is_about_credentials {
                true => Fault::ProxyCredentials,
                false => Fault::ProxyRefused,
            }
        }
        Error::Proxy { why, .. } | Error::UnixSocket { why, .. } => why.class(),
        Error::NoTls { fault, .. } => *fault,
        Error::NoPlain { .. } => Fault::Tls,
        Error::NoHttp2 { .. } | Error::NoSocketsOverHttp2 { .. } => Fault::ProtocolChanged,
        // The load generator's own settings.
        Error::TlsSetup(_)
        | Error::Interface { .. }
        | Error::Source { .. }
        | Error::NoSchemas { .. }
        | Error::Aside { .. }
        | Error::Engine(_)
        | Error::Uncountable(_) => Fault::ClientSendRefused,
    }
}
