//! Recomputes what a text computes: `a / b = c` in sentences, and small programs of assignments in code blocks.

use super::say::{Out, num};
use crate::Certainty::{Possible, Proved};
use crate::foreign::model::{Document, Figure, Statement};
use crate::foreign::table::number::{Number, numbers};
use std::collections::BTreeMap;

/// One `left = right` that can be computed.
struct Equation<'a> {
    said: &'a Statement,
    left: String,
    low: f64,
    high: f64,
    value: f64,
    right: Figure,
    /// `~` stands for `=`.
    about: bool,
    divides: bool,
    /// The numbers as written, without their units: units inside a formula are often implied.
    bare: Option<(f64, f64)>,
}

/// A computation whose result differs from what is stated.
pub fn wrong(documents: &[Document], out: &mut Out) {
    each(documents, |document, e| {
        if fits(e) || cut_off(e) {
            return;
        }
        out.say(Proved, format!("`{}` is {}, not {}", e.left, num(e.value), e.right.written))
            .line(format!("{} = {}", e.left, num(e.value)))
            .line(format!("stated: {} ({} of it)", e.right.written, num(e.right.value / e.value)))
            .describe(document, e.said)
            .explained("a slip in the formula, or of the decimal point")
            .advise("compute it again, with its units");
    });
}

/// A division whose remainder was dropped: what follows from it is off by up to one.
pub fn division_cut_off(documents: &[Document], out: &mut Out) {
    each(documents, |document, e| {
        if fits(e) || !cut_off(e) {
            return;
        }
        let whole = e.value.floor();
        out.say(
            Possible,
            format!(
                "`{}` is {}: {} or {}, not always {}",
                e.left,
                num(e.value),
                num(whole),
                num(whole + 1.0),
                e.right.written
            ),
        )
        .line(format!("{} = {}", e.left, num(e.value)))
        .line(format!(
            "1 of {} = {:.2}% may be missing and not be seen",
            num(whole + 1.0),
            100.0 / (whole + 1.0)
        ))
        .describe(document, e.said)
        .explained("how many whole intervals fit depends on where the first one begins")
        .advise("number what is sent and count gaps, instead of expecting a count");
    });
}

fn each(documents: &[Document], mut judge: impl FnMut(&Document, &Equation)) {
    for document in documents {
        let mut known: BTreeMap<String, Figure> = BTreeMap::new();
        for said in document.prose.iter().filter(|s| s.text.contains(['=', '≈']) && s.text.len() < 400) {
            for e in equations(said, &mut known) {
                judge(document, &e);
            }
        }
    }
}

fn cut_off(e: &Equation) -> bool {
    e.divides
        && !e.about
        && e.right.value.fract() == 0.0
        && e.right.value >= 2.0
        && e.value.floor() == e.right.value
}

fn fits(e: &Equation) -> bool {
    let slack = if e.about { 0.05 * e.value.abs() } else { 1e-9 * e.value.abs() };
    let near =
        |low: f64, high: f64, factor: f64| e.right.meets((low - slack) * factor, (high + slack) * factor);
    if near(e.low, e.high, 1.0) {
        return true;
    }
    // Units that are implied: minutes as seconds, shares as per cent, kilo, bits.
    const FACTORS: [f64; 9] = [1.0, 60.0, 3_600.0, 86_400.0, 1e3, 1e6, 1_024.0, 1_048_576.0, 100.0];
    let other = |low, high| FACTORS.iter().any(|f| near(low, high, *f) || near(low, high, 1.0 / f));
    other(e.low, e.high) || e.bare.is_some_and(|(low, high)| other(low, high))
}

fn equations<'a>(said: &'a Statement, known: &mut BTreeMap<String, Figure>) -> Vec<Equation<'a>> {
    let text = said.text.split(" # ").next().unwrap_or("").split(" // ").next().unwrap_or("");
    if text.contains("==")
        || text.contains("=>")
        || text.contains("!=")
        || text.contains("<=")
        || text.contains(">=")
    {
        return Vec::new();
    }
    let mut sides: Vec<(&str, bool)> = Vec::new();
    let mut rest = text;
    let mut about = false;
    while let Some(i) = rest.find(['=', '≈', '~']) {
        sides.push((&rest[..i], about));
        about = !rest[i..].starts_with('=');
        rest = &rest[i..][rest[i..].chars().next().map_or(1, char::len_utf8)..];
    }
    sides.push((rest, about));
    let mut found = Vec::new();
    let name = sides[0].0.trim();
    let identifier = !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let mut last: Option<Figure> = None;
    for (i, (side, _)) in sides.iter().enumerate() {
        let ends = i + 1 == sides.len();
        let left = expression(side, said, known, !said.code);
        let next = sides.get(i + 1).and_then(|(r, about)| Some((first_figure(r, said)?, *about)));
        if let Some((right, about)) = next
            && let Some(left) = left.filter(|l| l.operators > 0 || about)
        {
            found.push(Equation {
                said,
                left: left.text,
                low: left.low,
                high: left.high,
                value: left.value,
                right: result(right),
                about,
                divides: left.divides,
                bare: left.bare,
            });
        }
        if i > 0 && (ends || last.is_none()) && said.code {
            last = first_figure(side, said).or(last);
        }
    }
    if let Some(figure) = last.filter(|_| identifier && said.code) {
        known.insert(name.to_owned(), figure);
    }
    found
}

/// A whole number as a result may be rounded; a half is left to the one who divides.
fn result(mut figure: Figure) -> Figure {
    if figure.low == figure.high {
        (figure.low, figure.high) = (figure.value - 0.49, figure.value + 0.49);
    }
    figure
}

/// The figure with which a side begins, if no operator follows it.
fn first_figure(side: &str, said: &Statement) -> Option<Figure> {
    let number = numbers(side, said.line).into_iter().next()?;
    let before = side[..number.start].trim();
    let behind = side[number.end..].trim_start();
    let alone = before.is_empty()
        && !behind.starts_with(['/', '*', '+', '×', '÷', '^', '-', '\u{2212}', '\u{2013}', '·'])
        && !behind.starts_with("x ")
        // `10 000`: groups of digits with spaces are read as two numbers.
        && !behind.starts_with(|c: char| c.is_ascii_digit());
    alone.then_some(number.figure)
}

struct Value {
    text: String,
    value: f64,
    low: f64,
    high: f64,
    bare: Option<(f64, f64)>,
    operators: usize,
    divides: bool,
}

#[derive(Clone, Copy)]
struct Term {
    low: f64,
    high: f64,
    value: f64,
    bare: (f64, f64),
}

/// The chain of numbers and operators with which a side ends (a sentence may stand before it), or which it is (code).
fn expression(side: &str, said: &Statement, known: &BTreeMap<String, Figure>, tail: bool) -> Option<Value> {
    // Brackets and powers are beyond this reader: nothing is said of them.
    if side.contains(['(', ')', '^', '[', '{', '$']) {
        return None;
    }
    let found = numbers(side, said.line);
    let mut pieces: Vec<(usize, usize, Figure)> =
        found.iter().map(|n: &Number| (n.start, n.end, n.figure.clone())).collect();
    if said.code {
        pieces.extend(
            names(side).into_iter().filter_map(|(s, e)| Some((s, e, known.get(&side[s..e])?.clone()))),
        );
        pieces.sort_by_key(|p| p.0);
    }
    let mut terms: Vec<Term> = Vec::new();
    let mut operators: Vec<char> = Vec::new();
    let mut start = side.len();
    let mut end = side.len();
    for (from, to, figure) in pieces.iter().rev() {
        let between = side[*to..end].trim();
        if terms.is_empty() {
            // Behind the last number at most one word: `143,400 messages`.
            if between.split_whitespace().count() > 1 || between.contains(|c: char| "+-*/,;:".contains(c)) {
                return None;
            }
        } else {
            let Some(operator) = operator(between) else { break };
            operators.push(operator);
        }
        let raw = figure.written.replace(',', "");
        let digits: String = raw.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let half = if figure.low == figure.high {
            0.0
        } else {
            0.5 * 10f64.powi(-(digits.split_once('.').map_or(0, |d| d.1.len()) as i32))
        };
        let bare = digits.parse::<f64>().unwrap_or(figure.value);
        terms.push(Term {
            low: figure.low,
            high: figure.high,
            value: figure.value,
            bare: (bare - half, bare + half),
        });
        (start, end) = (*from, *from);
    }
    let before = side[..start].trim();
    // In code everything has to be understood; in a sentence the operator must not continue to the left.
    let open =
        before.ends_with(['+', '*', '/', '×', '÷']) || before.ends_with(" x") || before.ends_with(" -");
    if terms.is_empty() || open || !tail && !before.is_empty() {
        return None;
    }
    terms.reverse();
    operators.reverse();
    let total = compute(&terms, &operators)?;
    Some(Value {
        text: side[start..].trim().to_owned(),
        value: total.value,
        low: total.low,
        high: total.high,
        bare: Some(total.bare),
        operators: operators.len(),
        divides: operators.contains(&'/'),
    })
}

fn names(side: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in side.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
        if word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            found.push((at, at + word.len()));
        }
        at += word.len();
        at += side[at..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

/// `*` of ` * `, of ` messages x `; a unit word may stand before it.
fn operator(between: &str) -> Option<char> {
    let mut words = between.split_whitespace().rev();
    let operator = match words.next()? {
        "*" | "x" | "×" | "times" => '*',
        "/" | "÷" => '/',
        "+" | "plus" => '+',
        "-" | "\u{2212}" | "minus" => '-',
        _ => return None,
    };
    let noun = words.next();
    let plain = noun.is_none_or(|w| w.chars().all(char::is_alphabetic));
    (plain && words.next().is_none()).then_some(operator)
}

/// Products before sums, as intervals.
fn compute(terms: &[Term], operators: &[char]) -> Option<Term> {
    let mut sums: Vec<(f64, Term)> = Vec::new();
    let mut sign = 1.0;
    let mut current = *terms.first()?;
    for (operator, next) in operators.iter().zip(&terms[1..]) {
        match operator {
            '*' => current = product(current, *next),
            '/' => {
                if next.low <= 0.0 || next.bare.0 <= 0.0 {
                    return None;
                }
                let inverse = Term {
                    low: 1.0 / next.high,
                    high: 1.0 / next.low,
                    value: 1.0 / next.value,
                    bare: (1.0 / next.bare.1, 1.0 / next.bare.0),
                };
                current = product(current, inverse);
            }
            sum => {
                sums.push((sign, current));
                sign = if *sum == '-' { -1.0 } else { 1.0 };
                current = *next;
            }
        }
    }
    sums.push((sign, current));
    let mut total = Term { low: 0.0, high: 0.0, value: 0.0, bare: (0.0, 0.0) };
    for (sign, t) in sums {
        total.value += sign * t.value;
        let (low, high) = if sign > 0.0 { (t.low, t.high) } else { (-t.high, -t.low) };
        let bare = if sign > 0.0 { t.bare } else { (-t.bare.1, -t.bare.0) };
        total.low += low;
        total.high += high;
        total.bare = (total.bare.0 + bare.0, total.bare.1 + bare.1);
    }
    total.value.is_finite().then_some(total)
}

fn product(a: Term, b: Term) -> Term {
    // Figures of reports are not negative.
    Term {
        low: a.low * b.low,
        high: a.high * b.high,
        value: a.value * b.value,
        bare: (a.bare.0 * b.bare.0, a.bare.1 * b.bare.1),
    }
}
