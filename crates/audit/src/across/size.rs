//! The size of answers across runs: a comparison of different answers compares nothing, and equal bytes per second at
//! unequal rates are the mark of a full link.

use super::say::{Out, num, share};
use super::view::{Seen, by_variant, has, middle, rows, spread};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Document, Measure};

/// Runs that are compared got answers of another size.
pub fn answers_differ(documents: &[Document], out: &mut Out) {
    let seen = rows(documents);
    let sized: Vec<(&Seen, f64)> = seen
        .iter()
        .filter(|s| s.row.table.is_none() && s.row.tool.is_some())
        .filter_map(|s| Some((s, s.answer()?)))
        .collect();
    let Some(usual) = middle(&sized.iter().map(|(_, a)| *a).collect::<Vec<_>>()).filter(|_| sized.len() >= 3)
    else {
        return;
    };
    // Headers differ between servers, so a difference of some hundred bytes may be theirs.
    const HEADERS: f64 = 250.0;
    let address = sized.iter().find(|(_, a)| *a == usual).map(|(s, _)| s.url);
    let is_odd = |s: &Seen, a: f64| {
        let differs = a / usual > 1.1 || usual / a > 1.1;
        differs && (address != Some(s.url) || (a - usual).abs() > HEADERS)
    };
    let odd: Vec<&(&Seen, f64)> = sized.iter().filter(|(s, a)| is_odd(s, *a)).collect();
    // Several sizes in equal parts: several kinds of requests, which nobody mixed up.
    if odd.is_empty() || odd.len() * 4 > sized.len() {
        return;
    }
    let usual_row = sized.iter().find(|(_, a)| *a == usual).map(|(s, _)| *s);
    for (s, answer) in odd {
        let bodies = usual_row.and_then(|u| Some((u.get(Measure::BodyBytes)?, s.get(Measure::BodyBytes)?)));
        // Bodies of stated, different lengths were meant to differ.
        if bodies.is_some_and(|(a, b)| spread(&[a, b]).is_some_and(|r| r > 1.1)) {
            continue;
        }
        let other_address = usual_row.is_some_and(|u| u.url != s.url);
        let what = if other_address { "another address" } else { "the same address" };
        let certainty = if other_address { Possible } else { Likely };
        let mut say = out.say(
            certainty,
            format!(
                "an answer has {} bytes here and {} in the other runs, at {what}: not the same request",
                num(*answer),
                num(usual)
            ),
        );
        for (row, size) in usual_row.iter().map(|u| (*u, usual)).chain([(*s, *answer)]) {
            let (bytes, n) = (row.get(Measure::BytesTotal), row.get(Measure::Requests));
            if let (Some(bytes), Some(n)) = (bytes, n) {
                say = say.line(format!("{}: {} B / {} = {} B", row.row.label, num(bytes), num(n), num(size)));
            }
            say = say.figures(row.document, row.row, &[Measure::BytesTotal]);
            if let Some(url) = row.row.words.get("url") {
                say = say.at(row.document, url.line, url.text.clone());
            }
        }
        say.explained("another path, an error page, or a usage text instead of the answer")
            .advise("check the body of every answer, and compare runs of one address only");
    }
}

/// Two variants differ in rate as their answers differ in size: the link was compared.
pub fn bytes_are_equal(documents: &[Document], out: &mut Out) {
    /// A report compares a few; thousands of variants are a file of data.
    const COMPARED: usize = 100;
    let throughput = |s: &Seen| -> Option<f64> {
        s.get(Measure::BytesPerS).or_else(|| Some(s.get(Measure::BytesTotal)? / s.get(Measure::Duration)?))
    };
    let mut groups = by_variant(&rows(documents));
    // Two levels at least, and a link: the loopback interface has none to fill.
    let measured = |s: &&Seen| s.clean() && throughput(s).is_some() && s.get(Measure::Rate).is_some();
    let on_loopback = |s: &Seen| has(s.url, &["localhost", "127.0.0.1", "[::1]"]);
    groups.retain(|(_, rows)| rows.iter().filter(measured).count() >= 2 && !rows.iter().any(on_loopback));
    groups.truncate(COMPARED);
    for (i, (_, a)) in groups.iter().enumerate() {
        for (_, b) in &groups[i + 1..] {
            let (Some(one), Some(other)) = (a.first(), b.first()) else { continue };
            if one.document.name != other.document.name || one.row.table != other.row.table {
                continue;
            }
            let mut lines = Vec::new();
            let mut quotes = Vec::new();
            let mut ratios = Vec::new();
            for s in a.iter().filter(|s| s.clean()) {
                let same = |o: &&Seen| o.users() == s.users() && o.clean();
                let Some(o) = b.iter().find(same) else { continue };
                let figures = (|| {
                    Some((s.get(Measure::Rate)?, o.get(Measure::Rate)?, throughput(s)?, throughput(o)?))
                })();
                let Some((xa, xb, ba, bb)) = figures else { continue };
                let rates = spread(&[xa, xb]).unwrap_or(1.0);
                let bytes = spread(&[ba, bb]).unwrap_or(9.0);
                if rates >= 1.12 && bytes <= 1.08 && rates > bytes * 1.05 {
                    ratios.push(xa / xb);
                    lines.push(format!(
                        "{} users: {}/s and {}/s (x {}), but {} and {} kB/s",
                        num(s.users().unwrap_or(0.0)),
                        num(xa),
                        num(xb),
                        num(rates),
                        num(ba / 1e3),
                        num(bb / 1e3)
                    ));
                    quotes.push((*s, *o));
                }
            }
            if ratios.len() < 2 || spread(&ratios).is_none_or(|s| s > 1.25) {
                continue;
            }
            let certainty = if ratios.len() > 2 { Proved } else { Likely };
            let mut say = out.say(
                certainty,
                format!(
                    "{} and {} move the same bytes per second: the difference in rate is the size \
                     of their answers",
                    one.name(),
                    other.name()
                ),
            );
            say = say.lines(lines);
            if let (Some(x), Some(y)) = (quotes[0].0.answer(), quotes[0].1.answer()) {
                say = say.line(format!(
                    "answers of {} and {} B: {} apart",
                    num(x),
                    num(y),
                    share((x / y - 1.0).abs())
                ));
            }
            for (s, o) in quotes {
                say = say.figures(s.document, s.row, &[Measure::Rate, Measure::BytesPerS]);
                say = say.figures(o.document, o.row, &[Measure::Rate, Measure::BytesPerS]);
            }
            say.explained("the link between client and servers is full; both servers wait for it")
                .advise("compare with answers of one size, on a link that is not full");
        }
    }
}
