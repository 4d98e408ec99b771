//! Prepares requests that are sent or read in their own way: their headers, and the version of HTTP that they require.

use super::follow;
use crate::delivery::Delivery;
use crate::diag::Diagnostic;
use crate::draft::{Draft, key};
use crate::link::Http;
use crate::script::{AskId, Script};
use crate::value::Text;

/// Applies `--expect-continue` to every request with a body, and gives requests the headers of their delivery.
pub(super) fn applied(mut draft: Draft, wrong: &mut Vec<Diagnostic>) -> Draft {
    if let Some(continue_ns) = draft.continue_ns {
        if draft.script.is_none() {
            follow::to_script(&mut draft, 0);
        }
        if let Some(script) = &mut draft.script {
            expect_continue(script, continue_ns, wrong);
        }
    }
    let Some(script) = &mut draft.script else { return draft };
    check_version(script, draft.link.http, wrong);
    for (number, delivery) in &script.deliveries {
        let Some(ask) = script.asks.get_mut(*number as usize) else { continue };
        if delivery.continue_ns.is_some() {
            ask.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("expect"));
            ask.headers.push(("Expect".into(), Text::literal("100-continue")));
        }
        if delivery.is_chunked {
            ask.headers.push(("Transfer-Encoding".into(), Text::literal("chunked")));
        }
    }
    draft
}

/// Lets the body of every request wait that has one and whose file does not say otherwise.
fn expect_continue(script: &mut Script, continue_ns: u64, wrong: &mut Vec<Diagnostic>) {
    let with_body = (0..).zip(&script.asks).filter(|(_, ask)| ask.body.is_some() && ask.grpc.is_none());
    let numbers: Vec<AskId> = with_body.map(|(number, _)| number).collect();
    if numbers.is_empty() {
        wrong.push(Diagnostic::field(
            "P042",
            key::EXPECT_CONTINUE,
            "no request has a body that could wait for `100 Continue`",
            "add a body, such as `-b @upload.bin`, or remove the flag",
        ));
    }
    for number in numbers {
        let known = script.deliveries.iter_mut().find(|(of, _)| *of == number);
        match known {
            Some((_, delivery)) => delivery.continue_ns = Some(continue_ns),
            None => {
                let delivery = Delivery { continue_ns: Some(continue_ns), ..Delivery::default() };
                script.deliveries.push((number, delivery));
            }
        }
    }
}

/// Rejects what the version of HTTP does not have.
fn check_version(script: &Script, http: Http, wrong: &mut Vec<Diagnostic>) {
    let name = |number: &AskId| script.asks.get(*number as usize).map_or("", |ask| &ask.name);
    let found = match http {
        Http::V10 => script.deliveries.iter().find(|(_, of)| of.is_chunked || of.continue_ns.is_some()),
        Http::V2 => script.deliveries.iter().find(|(_, of)| of.requires_http1()),
        Http::Auto | Http::V11 => None,
    };
    let Some((number, delivery)) = found else { return };
    let what = match (delivery.is_chunked, http) {
        (_, Http::V2) => "`head` and `response` of `throttle`",
        (true, _) => "`chunked`",
        (false, _) => "`expect_continue`",
    };
    let verb = if http == Http::V2 { "require" } else { "requires" };
    wrong.push(Diagnostic::field(
        "P043",
        key::HTTP,
        format!("{what} of `{}` {verb} HTTP/1.1", name(number)),
        "use `http: auto` or `http: 1.1`",
    ));
}
