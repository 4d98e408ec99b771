//! Why an origin cannot be used, for the program that asked for it.

use crate::Error;
use crate::session::Failed;
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
    error.fault_of_connection().unwrap_or(match error {
        Error::NoPlain { .. } => Fault::Tls,
        Error::NoHttp2 { .. } | Error::NoSocketsOverHttp2 { .. } => Fault::ProtocolChanged,
        // The load generator's own settings.
        _ => Fault::ClientSendRefused,
    })
}
