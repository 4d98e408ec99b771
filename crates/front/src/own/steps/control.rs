//! Steps that hold steps: groups, loops, branches, choices, and several at once.

use super::{Known, condition, known, list};
use crate::build::draft::{StepDraft, TextDraft};
use crate::own::key::{Key, Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value};
use crate::source::Pos;
use plimsoll_plan::script::Order;
use plimsoll_plan::value::Escape;

/// Rounds of a `while` when nothing says how many: a condition that never turns false is not for ever.
const USUAL_MOST: u32 = 1000;

/// Steps with the name of a group.
pub fn group(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::Group::Group)?;
    let name = w.r.text(node, row).map(str::to_owned);
    let (row, steps) = needed(item, &all, "group", of::Group::Steps, &mut w.r)?;
    Some(StepDraft::Group { name: name?, pos: node.pos, steps: list(steps, row, w) })
}

/// So many rounds.
pub fn repeat(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, times) = find_key(&all, of::Repeat::Repeat)?;
    let times = self::times(times, row, &mut w.r);
    let steps = needed(item, &all, "repeat", of::Repeat::Steps, &mut w.r);
    let steps = steps.map(|(row, steps)| list(steps, row, w)).unwrap_or_default();
    Some(StepDraft::Repeat { times, steps })
}

/// The first time only.
pub fn once_per_user(entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, steps) = find_key(&all, of::OncePerUser::OncePerUser)?;
    Some(StepDraft::Once(list(steps, row, w)))
}

/// Several lists at once.
pub fn parallel(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, branches) = find_key(&all, of::Parallel::Parallel)?;
    let branches = w.r.list(branches, row)?;
    if branches.len() < 2 {
        let message = "`parallel` needs at least two lists of steps";
        w.r.complain("F016", item.pos, message, "add another list");
    }
    Some(StepDraft::Parallel(branches.iter().map(|branch| list(branch, row, w)).collect()))
}

fn find_key<'n, K: PartialEq>(all: &[Known<'n, K>], wanted: K) -> Option<(&'static Row, &'n Node)> {
    all.iter().find(|(_, key, _)| *key == wanted).map(|(row, _, entry)| (*row, &entry.value))
}

/// A key without which the step does nothing.
fn needed<'n, K: Key + PartialEq + Copy>(
    item: &Node,
    all: &[Known<'n, K>],
    step: &str,
    wanted: K,
    r: &mut Reader<'_>,
) -> Option<(&'static Row, &'n Node)> {
    let found = find_key(all, wanted);
    if found.is_none() {
        let name = wanted.name();
        let message = format!("this `{step}` has no `{name}`");
        r.complain("F016", item.pos, message, format!("add `{name}: [ {{ get: /pick }} ]` below it"));
    }
    found
}

/// A number of rounds: plain digits, or a value that only the load knows.
pub fn times(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<TextDraft> {
    if let Value::Scalar(scalar) = &node.value
        && !scalar.pieces.is_empty()
    {
        return r.template(node, row, Escape::None);
    }
    let text = r.written(node, row)?;
    match text.trim().parse::<u64>() {
        Ok(0) => {
            r.complain(
                "F015",
                node.pos,
                format!("`{}` of 0 does nothing", row.name),
                "give at least 1, or leave it out",
            );
            None
        }
        Ok(number) => Some(TextDraft::of(number.to_string())),
        Err(_) => {
            r.expected(node, row, "write plain digits, without sign, point or unit");
            None
        }
    }
}

/// Rounds for as long as a condition holds.
pub fn rounds(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::While::While)?;
    let condition = condition::read(node, row, &mut w.r);
    let most = match find_key(&all, of::While::MaxIterations) {
        None => Some(USUAL_MOST),
        Some((row, node)) => w.r.count(node, row).filter(|most| {
            if *most == 0 {
                w.r.complain("F015", node.pos, "`max_iterations` of 0 does nothing", "give at least 1");
            }
            *most > 0
        }),
    };
    let steps =
        needed(item, &all, "while", of::While::Steps, &mut w.r).map(|(row, steps)| list(steps, row, w));
    Some(StepDraft::While { condition, most, steps: steps.unwrap_or_default() })
}

/// One list or the other.
pub fn branch(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::If::If)?;
    let condition = condition::read(node, row, &mut w.r);
    let then = needed(item, &all, "if", of::If::Then, &mut w.r).map(|(row, steps)| list(steps, row, w));
    let otherwise = find_key(&all, of::If::Else).map(|(row, steps)| list(steps, row, w)).unwrap_or_default();
    Some(StepDraft::If { condition, then: then.unwrap_or_default(), otherwise })
}

/// One list of several, by weight.
pub fn choose(entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let chosen = known(entries, &mut w.r);
    let (row, node) = find_key(&chosen, of::Choose::Choose)?;
    let mut ways = Vec::new();
    let items = w.r.list(node, row)?;
    if items.is_empty() {
        w.r.complain(
            "F016",
            node.pos,
            "there is nothing to choose from",
            format!("expected {}", row.expects),
        );
    }
    for item in items {
        let Some(entries) = w.r.map(item, row) else { continue };
        let all = known(entries, &mut w.r);
        let weight = match find_key(&all, of::Way::Weight) {
            None => Some(1.0),
            Some((row, node)) => weight(node, row, &mut w.r),
        };
        if let Some((row, steps)) = needed(item, &all, "way", of::Way::Steps, &mut w.r) {
            let steps = list(steps, row, w);
            ways.push((weight, steps));
        }
    }
    let order = find_key(&chosen, of::Choose::Mix)
        .and_then(|(row, node)| order(node, row, &mut w.r))
        .unwrap_or_default();
    Some(StepDraft::Choose { ways, order })
}

/// How often one way is taken among the others: above 0, because what is never done is better left out.
pub fn weight(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<f64> {
    let weight = r.number(node, row)?;
    if weight <= 0.0 || weight > 1e9 {
        weightless(weight, node.pos, r);
        return None;
    }
    Some(weight)
}

fn weightless(weight: f64, pos: Pos, r: &mut Reader<'_>) {
    let message = format!("a weight of {weight} cannot be kept");
    r.complain("F015", pos, message, "give a number above 0, or leave the way out");
}

/// How weights are kept.
pub fn order(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Order> {
    r.choice(node, row, &[("random", Order::Random), ("exact", Order::Exact)])
}
