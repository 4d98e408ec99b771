//! Steps that contain steps: groups, loops, branches, choices, and parallel steps.

use super::{Known, condition, known, list};
use crate::own::key::{Key, Row, of};
use crate::own::reader::Reader;
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Value};
use plimsoll_build::draft::{StepDraft, TextDraft};
use plimsoll_build::source::Pos;
use plimsoll_plan::script::Order;
use plimsoll_plan::value::Escape;

/// Default maximum of iterations of a `while`, so that a condition that stays true ends.
const USUAL_MOST: u32 = 1000;

/// Reads a `group` step.
pub fn group(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::Group::Group)?;
    let name = w.r.text(node, row).map(str::to_owned);
    let (row, steps) = needed(item, &all, "group", of::Group::Steps, &mut w.r)?;
    Some(StepDraft::Group { name: name?, pos: node.pos, steps: list(steps, row, w) })
}

/// Reads a `repeat` step.
pub fn repeat(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, times) = find_key(&all, of::Repeat::Repeat)?;
    let times = self::times(times, row, &mut w.r);
    let steps = needed(item, &all, "repeat", of::Repeat::Steps, &mut w.r);
    let steps = steps.map(|(row, steps)| list(steps, row, w)).unwrap_or_default();
    Some(StepDraft::Repeat { times, steps })
}

/// Reads a `once_per_user` step.
pub fn once_per_user(entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, steps) = find_key(&all, of::OncePerUser::OncePerUser)?;
    Some(StepDraft::Once(list(steps, row, w)))
}

/// Reads a `parallel` step.
pub fn parallel(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, branches) = find_key(&all, of::Parallel::Parallel)?;
    let branches = w.r.list(branches, row)?;
    if branches.len() < 2 {
        let message = "`parallel` requires at least two lists of steps";
        w.r.complain("F016", item.pos, message, "add another list");
    }
    Some(StepDraft::Parallel(branches.iter().map(|branch| list(branch, row, w)).collect()))
}

fn find_key<'n, K: PartialEq>(all: &[Known<'n, K>], wanted: K) -> Option<(&'static Row, &'n Node)> {
    all.iter().find(|(_, key, _)| *key == wanted).map(|(row, _, entry)| (*row, &entry.value))
}

/// Returns a key that the step requires; reports it if it is missing.
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
        let message = format!("missing `{name}` in this `{step}`");
        r.complain("F016", item.pos, message, format!("add `{name}: [ {{ get: /pick }} ]` below it"));
    }
    found
}

/// Reads a number of iterations: digits, or a value that only the load knows.
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
                format!("`{}` must be at least 1", row.name),
                "write a number such as `3`, or remove this step",
            );
            None
        }
        Ok(number) => Some(TextDraft::of(number.to_string())),
        Err(_) => {
            r.expected(node, row, "write only digits, without sign, decimal point, or unit");
            None
        }
    }
}

/// Reads a `while` step.
pub fn rounds(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::While::While)?;
    let condition = condition::read(node, row, &mut w.r);
    let most = match find_key(&all, of::While::MaxIterations) {
        None => Some(USUAL_MOST),
        Some((row, node)) => w.r.count(node, row).filter(|most| {
            if *most == 0 {
                let message = "`max_iterations` must be at least 1";
                w.r.complain("F015", node.pos, message, "write a number such as `1000`");
            }
            *most > 0
        }),
    };
    let steps =
        needed(item, &all, "while", of::While::Steps, &mut w.r).map(|(row, steps)| list(steps, row, w));
    Some(StepDraft::While { condition, most, steps: steps.unwrap_or_default() })
}

/// Reads an `if` step.
pub fn branch(item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let all = known(entries, &mut w.r);
    let (row, node) = find_key(&all, of::If::If)?;
    let condition = condition::read(node, row, &mut w.r);
    let then = needed(item, &all, "if", of::If::Then, &mut w.r).map(|(row, steps)| list(steps, row, w));
    let otherwise = find_key(&all, of::If::Else).map(|(row, steps)| list(steps, row, w)).unwrap_or_default();
    Some(StepDraft::If { condition, then: then.unwrap_or_default(), otherwise })
}

/// Reads a `choose` step.
pub fn choose(entries: &[Entry], w: &mut Work<'_>) -> Option<StepDraft> {
    let chosen = known(entries, &mut w.r);
    let (row, node) = find_key(&chosen, of::Choose::Choose)?;
    let mut ways = Vec::new();
    let items = w.r.list(node, row)?;
    if items.is_empty() {
        w.r.complain("F016", node.pos, "`choose` is empty", format!("write {}", row.expects));
    }
    for item in items {
        let Some(entries) = w.r.map(item, row) else { continue };
        let all = known(entries, &mut w.r);
        let weight = match find_key(&all, of::Way::Weight) {
            None => Some(1.0),
            Some((row, node)) => weight(node, row, &mut w.r),
        };
        if let Some((row, steps)) = needed(item, &all, "branch", of::Way::Steps, &mut w.r) {
            let steps = list(steps, row, w);
            ways.push((weight, steps));
        }
    }
    let order = find_key(&chosen, of::Choose::Mix)
        .and_then(|(row, node)| order(node, row, &mut w.r))
        .unwrap_or_default();
    Some(StepDraft::Choose { ways, order })
}

/// Reads the weight of a branch. It must be above 0, because a branch that is never taken should be removed.
pub fn weight(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<f64> {
    let weight = r.number(node, row)?;
    if weight <= 0.0 || weight > 1e9 {
        weightless(weight, node.pos, r);
        return None;
    }
    Some(weight)
}

fn weightless(weight: f64, pos: Pos, r: &mut Reader<'_>) {
    let message = format!("invalid weight `{weight}`: it must be above 0 and at most 1e9");
    r.complain("F015", pos, message, "write a number such as `3`, or remove what it belongs to");
}

/// Reads how `mix` applies weights.
pub fn order(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Order> {
    r.choice(node, row, &[("random", Order::Random), ("exact", Order::Exact)])
}
