//! Words about load: arrivals and concurrency, fixed rates, limits of searches.

use super::say::{Out, num, share, time};
use super::view::{has, mentions};
use crate::Certainty::{Likely, Possible};
use crate::foreign::model::{Claim, Document, Figure, Measure, Statement};
use crate::foreign::table::number::numbers;
use crate::foreign::table::unit::Kind;

/// The number of a sentence that stands directly before one of these words.
pub(super) fn counted<'a>(claim: &'a Claim, nouns: &[&str]) -> Option<&'a Figure> {
    claim.figures.iter().map(|(_, f)| f).find(|f| nouns.contains(&f.unit.as_str()))
}

/// Users who arrive over a time are not users at once: N = X R.
pub fn arrivals_called_concurrent(documents: &[Document], out: &mut Out) {
    const NOUNS: &[&str] = &["users", "user", "visitors", "clients", "connections"];
    for document in documents {
        let mut done: Vec<f64> = Vec::new();
        for claim in &document.claims {
            let Some(users) = counted(claim, NOUNS).filter(|u| u.value >= 10.0 && !done.contains(&u.value))
            else {
                continue;
            };
            let over = has(
                &claim.text,
                &[
                    "over the period of",
                    "over a period of",
                    "over the course of",
                    "within a period of",
                    "arrive within",
                    "over the next",
                    "spread over",
                ],
            );
            let at_once =
                has(&claim.text, &["connect", "concurren", "simultaneous", "at once", "support", "handle"]);
            let length = claim
                .figures
                .iter()
                .map(|(_, f)| f)
                .find(|f| f.unit.starts_with("sec") || f.unit.starts_with("min") || f.unit == "s");
            let Some(length) = length.filter(|l| over && at_once && l.value > 0.0 && l.line == claim.line)
            else {
                continue;
            };
            // The mean belongs to the same section, and to no other number of users.
            let mean = document.claims.iter().find_map(|c| {
                let same =
                    c.headings.last().is_some_and(|h| *h == claim.text || claim.headings.last() == Some(h))
                        && c.line >= claim.line;
                let other = counted(c, NOUNS).is_some_and(|u| u.value != users.value);
                let mean = c.figures.iter().find(|(m, f)| *m == Some(Measure::Mean) && f.value > 0.0);
                mean.filter(|_| same && !other).map(|(_, f)| (c, f))
            });
            let Some((said, mean)) = mean else { continue };
            let rate = users.value / length.value;
            let at_once = rate * mean.value;
            if at_once * 4.0 > users.value {
                continue;
            }
            done.push(users.value);
            out.say(
                Likely,
                format!(
                    "{} users over {} are {} at once, not {}",
                    users.written,
                    length.written,
                    num(at_once),
                    users.written
                ),
            )
            .line(format!("{} / {} = {}/s", num(users.value), time(length.value), num(rate)))
            .line(format!(
                "{}/s x {} = {} in flight, with one request each",
                num(rate),
                time(mean.value),
                num(at_once)
            ))
            .claim(document, claim)
            .claim(document, said)
            .explained("arrivals per second and users at once are two things, tied by N = X R")
            .advise("state arrivals per second and requests in flight side by side");
        }
    }
}

const RATE_OPTIONS: &[&str] = &[
    "requestspersecond",
    "--rps",
    "constant-arrival-rate",
    "vegeta attack",
    "-rate=",
    "requests per second (rps)",
    "requested rps",
    "wrk2",
    "fixed rate",
];

fn fixed_rate(document: &Document) -> Option<&Statement> {
    document.prose.iter().find(|s| has(&s.text, RATE_OPTIONS))
}

/// At a fixed rate the number of clients changes nothing, so a run with another number shows nothing.
pub fn clients_at_a_fixed_rate(documents: &[Document], out: &mut Out) {
    for document in documents {
        let Some(rate) = fixed_rate(document) else { continue };
        let about = |s: &&Statement| {
            !s.code
                && has(&s.text, &["concurrency", "clients", "workers"])
                && has(&s.text, &["rps", "rate", "request", "thread"])
        };
        let says = |words: &'static [&str]| document.prose.iter().filter(about).find(|s| has(&s.text, words));
        let changed = says(&["half", "halv", "doubl", "no change", "no difference"]);
        // A text about a tool names its rate and its workers as well; a command shows that it was run so.
        let clients = || says(&["creates", "simultaneous", "threads"]).filter(|_| rate.code);
        let Some(said) = changed.or_else(clients) else { continue };
        out.say(
            Likely,
            "at a fixed rate the number of clients only slices the same stream: changing it \
             cannot show a limit of the client"
                .into(),
        )
        .line("arrivals per second = clients x (rate / clients), whatever the clients")
        .describe(document, rate)
        .describe(document, said)
        .explained("with a fixed rate the requests in flight are rate x latency, not the number of clients")
        .advise("look at the client's processor and at late sends to judge the client");
    }
}

/// A search ends at an absolute shortfall: loose at low rates, strict at high ones.
pub fn absolute_shortfall(documents: &[Document], out: &mut Out) {
    for document in documents {
        let Some((said, limit)) = document.prose.iter().find_map(|s| shortfall(s).map(|l| (s, l))) else {
            continue;
        };
        let starts = document
            .prose
            .iter()
            .filter(|s| s.line.abs_diff(said.line) <= 12)
            .find_map(|s| start_rate(&s.text));
        let low = starts.unwrap_or(limit * 2.0);
        out.say(
            Likely,
            format!("the search ends at a shortfall of {} a second, whatever the rate", num(limit)),
        )
        .line(format!("{} / {} = {} at the lowest rate", num(limit), num(low), share(limit / low)))
        .line(format!(
            "{} / {} = {} at ten times that",
            num(limit),
            num(low * 10.0),
            share(limit / low / 10.0)
        ))
        .describe(document, said)
        .explained("the same absolute gap means half the load at first and next to nothing later")
        .advise("end at a relative shortfall (achieved < 99% of offered), or at a limit on a percentile");
    }
}

/// `difference < 50`, `falls 50 requests per second short`.
fn shortfall(said: &Statement) -> Option<f64> {
    let lower = said.text.to_lowercase();
    if lower.contains('%') && !said.code {
        return None;
    }
    if said.code {
        let at = ["difference", "shortfall", "gap", "deficit", "diff"]
            .iter()
            .find_map(|w| lower.find(w).filter(|_| has(&lower, &["rps", "rate", "req"])))?;
        let behind = &lower[at..];
        let sign = behind.find(['<', '>']).filter(|i| *i < 24)?;
        let digits: String = behind[sign + 1..]
            .trim_start_matches(['=', ' '])
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        return digits.parse().ok().filter(|v: &f64| *v >= 2.0);
    }
    let about = has(
        &lower,
        &[
            "short of",
            "below the requested",
            "below the target",
            "less than requested",
            "behind the target",
            "under the requested",
        ],
    );
    let number = numbers(&said.text, said.line).into_iter().find(|n| n.kind == Kind::PerS)?;
    about.then_some(number.figure.value)
}

fn start_rate(text: &str) -> Option<f64> {
    let lower = text.to_lowercase();
    let at = ["rps = ", "rate = ", "starting at ", "starts at "]
        .iter()
        .find_map(|w| lower.find(w).map(|i| i + w.len()))?;
    let digits: String = lower[at..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|v: &f64| *v > 0.0)
}

/// Past the limit of an open loop the latency is set by the length of the run.
pub fn latency_set_by_length(documents: &[Document], out: &mut Out) {
    for document in documents {
        let Some(rate) = fixed_rate(document) else { continue };
        let rises = |s: &&Statement| {
            !s.code
                && has(&s.text, &["latency", "response time", "it increases"])
                && has(
                    &s.text,
                    &[
                        "increases very",
                        "increases rapidly",
                        "explode",
                        "rises sharply",
                        "shoots up",
                        "grows rapidly",
                        "increases dramatically",
                        "rises steeply",
                    ],
                )
        };
        let Some(said) = document.prose.iter().find(rises) else { continue };
        let length = document.prose.iter().find_map(|s| {
            let lower = s.text.to_lowercase();
            let at = [
                "durationseconds = ",
                "duration = ",
                "maxseconds: ",
                "duration: ",
                "-duration=",
                "runs for ",
                "steps of ",
            ]
            .iter()
            .find_map(|w| lower.find(w).map(|i| i + w.len()))?;
            let digits: String = lower[at..].chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<f64>().ok().filter(|v| *v > 0.0)
        });
        let Some(length) = length else { continue };
        out.say(
            Possible,
            format!(
                "past the limit the mean latency is set by the {} s of the run, not by the system",
                num(length)
            ),
        )
        .line("mean wait = (1 - capacity / rate) x length / 2")
        .line(format!(
            "at a rate 10% above capacity: (1 - 1 / 1.1) x {} s / 2 = {}",
            num(length),
            time((1.0 - 1.0 / 1.1) * length / 2.0)
        ))
        .describe(document, said)
        .describe(document, rate)
        .explained("the queue of an overloaded open loop grows as long as the run lasts")
        .advise("state the highest rate that was kept, and latencies only below it");
    }
}

/// Steps of a tenth find a limit to a tenth.
pub fn step_is_the_resolution(documents: &[Document], out: &mut Out) {
    for document in documents {
        let step = |s: &Statement| {
            let lower = s.text.to_lowercase();
            if s.code
                || !has(&lower, &["increas", "raising", "raised", "grows", "step"])
                || !has(&lower, &["rps", "rate", "concurrency", "load"])
            {
                return None;
            }
            let numbers = numbers(&s.text, s.line);
            let by = |start: usize| {
                [" by", " of"].iter().any(|w| lower.get(..start).is_some_and(|b| b.trim_end().ends_with(w)))
            };
            let percent = numbers.into_iter().find(|n| n.kind == Kind::Percent && by(n.start))?;
            let each = has(&lower, &["each", "every", "per run", "per step", "by "]);
            (each && (0.02..=1.0).contains(&percent.figure.value)).then_some(percent.figure.value)
        };
        let Some((said, step)) = document.prose.iter().find_map(|s| step(s).map(|v| (s, v))) else {
            continue;
        };
        if mentions(
            document,
            &["bisect", "confidence", "repeat each", "repeated each", "repeats of each", "binary search"],
        ) {
            continue;
        }
        out.say(Possible, format!("steps of {} find a limit to {} at best", share(step), share(step)))
            .line(format!("a limit of 250/s lies between {} and 250/s", num(250.0 / (1.0 + step))))
            .describe(document, said)
            .explained("one run of each step; the next lower step is all that is known to hold")
            .advise("bisect between the last good and the first bad step, and repeat both");
    }
}
