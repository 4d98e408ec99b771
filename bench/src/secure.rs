//! `https` and `handshakes`: the same over TLS. The negotiated parameters are read from the server's log: a comparison
//! of different ciphers, or of full handshakes with resumed ones, would be invalid and is rejected.

use super::nginx::{Handshakes, Nginx};
use super::options::Options;
use super::ratio::{self, Field};
use super::report::Report;
use super::tools::{OWN, Roster, Tool, experiment_file};
use super::{CONNECTIONS, Context};
use chore::Outcome;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The parameters that each tool negotiated, over all rounds.
type Seen = RefCell<BTreeMap<&'static str, Handshakes>>;

pub fn https(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let what = "HTTPS GET, 76-byte body, 100 keep-alive connections, nginx";
    over_tls("https", "https.ratio", what, false, context, roster, options, report)
}

pub fn handshakes(context: &Context, roster: &Roster, options: &Options, report: &mut Report) -> Outcome {
    let what = "HTTPS GET, a connection and a full handshake for each, 100 at a time, nginx";
    over_tls("handshakes", "handshakes.ratio", what, true, context, roster, options, report)
}

#[allow(clippy::too_many_arguments)] // Two callers, side by side.
fn over_tls(
    bench: &'static str,
    measure: &'static str,
    what: &str,
    closing: bool,
    context: &Context,
    roster: &Roster,
    options: &Options,
    report: &mut Report,
) -> Outcome {
    let nginx = Nginx::start(context, None)?;
    let file = experiment_file(&context.folder);
    let text = experiment(&nginx, closing, options.secs);
    std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let seen = Seen::default();
    let inspect = |tool: &Tool, requests: u64| {
        let handshakes = nginx.handshakes()?;
        judge(tool.name, &handshakes, requests, closing)?;
        let mut seen = seen.borrow_mut();
        for (kind, count) in handshakes {
            *seen.entry(tool.name).or_default().entry(kind).or_default() += count;
        }
        Ok(())
    };
    let url = nginx.url("/");
    let field = Field { inspect: &inspect, ..Field::new(bench, &nginx, &url) };
    let entries = ratio::measure(&field, roster.secure(closing), context, options, report)?;
    let seen = seen.into_inner();
    let kinds: BTreeSet<&String> = seen.values().flat_map(Handshakes::keys).collect();
    if kinds.len() > 1 {
        return Err(format!("the tools negotiated different parameters and cannot be compared: {seen:?}"));
    }
    ratio::table(bench, what, None, &negotiated(&seen), &entries, options, report);
    report.measure(measure, ratio::middle_ratio(OWN, &entries));
    Ok(())
}

/// Checks that the tool did in this round what the bench requires.
fn judge(tool: &str, handshakes: &Handshakes, requests: u64, closing: bool) -> Outcome {
    let made: u64 = handshakes.values().sum();
    if let Some((kind, count)) = handshakes.iter().find(|(kind, _)| !kind.ends_with(" full")) {
        return Err(format!(
            "{tool} made {count} handshakes of the kind `{kind}`: only full ones can be compared"
        ));
    }
    let connections = u64::from(CONNECTIONS);
    // Only the first request of a connection is logged, and those in flight at the end of the round may not be.
    let expected = if closing { requests.saturating_sub(connections)..=requests } else { 1..=connections };
    if expected.contains(&made) {
        return Ok(());
    }
    Err(format!("{tool} made {made} handshakes for {requests} requests; expected {expected:?}"))
}

fn negotiated(seen: &BTreeMap<&'static str, Handshakes>) -> String {
    let mut text = String::from("\nNegotiated, as nginx logged it:\n\n");
    for (tool, handshakes) in seen {
        for (kind, count) in handshakes {
            text.push_str(&format!("- {tool}: {count} connections, {kind} handshake\n"));
        }
    }
    text
}

/// plimsoll trusts the server's certificate and verifies it in each handshake; the base does not verify at all.
fn experiment(nginx: &Nginx, closing: bool, secs: u32) -> String {
    let reuse = if closing { "request" } else { "user" };
    format!(
        "name: bench over TLS\ntarget: {}\ntls: {{ ca: {}, session_resumption: false }}\n\
         connection: {{ reuse: {reuse} }}\nscenarios:\n  front: [ get: / ]\n\
         load: {{ users: {CONNECTIONS}, duration: {secs}s }}\n",
        nginx.url(""),
        nginx.authority().display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(kind: &str, count: u64) -> Handshakes {
        Handshakes::from([(format!("TLSv1.3 A X25519 {kind}"), count)])
    }

    #[test]
    fn a_resumed_handshake_is_not_a_full_one() {
        assert!(judge("x", &made("full", 990), 1_000, true).is_ok());
        assert!(judge("x", &made("resumed", 990), 1_000, true).unwrap_err().contains("only full ones"));
    }

    #[test]
    fn a_tool_makes_one_handshake_per_connection_or_per_request() {
        assert!(judge("x", &made("full", 100), 1_000, false).is_ok());
        assert!(judge("x", &made("full", 100), 1_000, true).is_err());
        assert!(judge("x", &made("full", 990), 1_000, false).is_err());
        assert!(judge("x", &made("full", 1_001), 1_000, true).is_err());
    }
}
