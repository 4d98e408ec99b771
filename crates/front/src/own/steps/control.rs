//! Steps that hold steps: groups, loops, branches, choices, and several at once.

use super::{condition, known, list};
use crate::own::key::{Row, Section};
use crate::own::work::Work;
use crate::own::yaml::{Entry, Node, Pos, Value};
use plimsoll_plan::script::{self, Order};
use plimsoll_plan::value::{Escape, Text};

/// Rounds of a `while` when nothing says how many: a condition that never turns false is not for ever.
const USUAL_MOST: u32 = 1000;

type Given<'n> = Vec<(&'static Row, &'n Entry)>;

/// Reads the step that `section` describes; nothing when its mistakes are reported.
pub fn read(section: Section, item: &Node, entries: &[Entry], w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let all = known(section, entries, w);
    let node = match section {
        Section::Group => group(item, &all, w)?,
        Section::Repeat => {
            let (row, times) = of(&all, "repeat")?;
            let times = self::times(times, row, w);
            let nodes = loop_steps(item, &all, "repeat", w)?;
            script::Node::Repeat { times: times?, nodes }
        }
        Section::While => rounds(item, &all, w)?,
        Section::If => branch(item, &all, w)?,
        Section::Once => {
            let (row, steps) = of(&all, "once")?;
            script::Node::Once(list(steps, row, w))
        }
        Section::Choose => choose(&all, w)?,
        _ => {
            let (row, branches) = of(&all, "parallel")?;
            let branches = w.r.list(branches, row)?;
            if branches.len() < 2 {
                w.r.complain(
                    "F016",
                    item.pos,
                    "`parallel` needs at least two lists of steps",
                    "add another list",
                );
            }
            branches.iter().for_each(|branch| w.scope.add_all_of(branch));
            script::Node::Parallel(branches.iter().map(|branch| list(branch, row, w)).collect())
        }
    };
    Some(vec![node])
}

fn of<'n>(all: &Given<'n>, name: &str) -> Option<(&'static Row, &'n Node)> {
    all.iter().find(|(row, _)| row.name == name).map(|(row, entry)| (*row, &entry.value))
}

/// A key without which the step does nothing.
fn needed<'n>(
    item: &Node,
    all: &Given<'n>,
    step: &str,
    name: &str,
    w: &mut Work<'_>,
) -> Option<(&'static Row, &'n Node)> {
    let found = of(all, name);
    if found.is_none() {
        let message = format!("this `{step}` has no `{name}`");
        w.r.complain("F016", item.pos, message, format!("add `{name}: [ {{ get: /pick }} ]` below it"));
    }
    found
}

fn group(item: &Node, all: &Given<'_>, w: &mut Work<'_>) -> Option<script::Node> {
    let (row, node) = of(all, "group")?;
    let name = w.r.text(node, row).map(str::to_owned);
    let (row, steps) = needed(item, all, "group", "steps", w)?;
    let outer = w.scope.group;
    let name = name?;
    let whole = match outer.and_then(|group| w.script.groups.get(usize::from(group))) {
        Some(outer) => format!("{outer} / {name}"),
        None => name,
    };
    if w.script.groups.contains(&whole) {
        let message = format!("two groups are called `{whole}`");
        w.r.complain("F013", node.pos, message, "give each a name of its own: reports tell them apart by it");
    }
    let Ok(group) = u16::try_from(w.script.groups.len()) else {
        w.r.complain("F015", node.pos, "more than 65,536 groups", "use fewer");
        return None;
    };
    w.script.groups.push(whole);
    w.scope.group = Some(group);
    let nodes = list(steps, row, w);
    w.scope.group = outer;
    Some(script::Node::Group { group, nodes })
}

/// The steps of a loop: what the end of a round sets, its beginning may use in the next.
fn loop_steps(item: &Node, all: &Given<'_>, step: &str, w: &mut Work<'_>) -> Option<Vec<script::Node>> {
    let (row, steps) = needed(item, all, step, "steps", w)?;
    w.scope.add_all_of(steps);
    Some(list(steps, row, w))
}

/// A number of rounds: plain digits, or a value that only the load knows.
pub fn times(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Text> {
    if let Value::Scalar(scalar) = &node.value
        && !scalar.pieces.is_empty()
    {
        return w.template(node, row, Escape::None);
    }
    let text = w.r.written(node, row)?;
    match text.trim().parse::<u64>() {
        Ok(0) => {
            w.r.complain(
                "F015",
                node.pos,
                format!("`{}` of 0 does nothing", row.name),
                "give at least 1, or leave it out",
            );
            None
        }
        Ok(number) => Some(Text::literal(number.to_string())),
        Err(_) => {
            w.r.expected(node, row, "write plain digits, without sign, point or unit");
            None
        }
    }
}

fn rounds(item: &Node, all: &Given<'_>, w: &mut Work<'_>) -> Option<script::Node> {
    let (row, node) = of(all, "while")?;
    let condition = condition::read(node, row, w);
    let most = match of(all, "most") {
        None => Some(USUAL_MOST),
        Some((row, node)) => w.r.count(node, row).filter(|most| {
            if *most == 0 {
                w.r.complain("F015", node.pos, "`most` of 0 does nothing", "give at least 1");
            }
            *most > 0
        }),
    };
    let nodes = loop_steps(item, all, "while", w)?;
    Some(script::Node::While { condition: condition?, most: most?, nodes })
}

fn branch(item: &Node, all: &Given<'_>, w: &mut Work<'_>) -> Option<script::Node> {
    let (row, node) = of(all, "if")?;
    let condition = condition::read(node, row, w);
    let then = needed(item, all, "if", "then", w).map(|(row, steps)| list(steps, row, w));
    let otherwise = of(all, "else").map(|(row, steps)| list(steps, row, w)).unwrap_or_default();
    Some(script::Node::If { condition: condition?, then: then?, otherwise })
}

fn choose(all: &Given<'_>, w: &mut Work<'_>) -> Option<script::Node> {
    let (row, node) = of(all, "choose")?;
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
        let all = known(Section::Way, entries, w);
        let weight = match of(&all, "weight") {
            None => Some(1.0),
            Some((row, node)) => weight(node, row, w),
        };
        if let Some((row, steps)) = needed(item, &all, "way", "steps", w) {
            let nodes = list(steps, row, w);
            ways.extend(weight.map(|weight| (weight, nodes)));
        }
    }
    let order = of(all, "mix").and_then(|(row, node)| order(node, row, w)).unwrap_or_default();
    Some(script::Node::Choose { ways, order })
}

/// How often one way is taken among the others: above 0, because what is never done is better left out.
pub fn weight(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<f64> {
    let weight = w.r.number(node, row)?;
    if weight <= 0.0 || weight > 1e9 {
        weightless(weight, node.pos, w);
        return None;
    }
    Some(weight)
}

fn weightless(weight: f64, pos: Pos, w: &mut Work<'_>) {
    let message = format!("a weight of {weight} cannot be kept");
    w.r.complain("F015", pos, message, "give a number above 0, or leave the way out");
}

/// How weights are kept.
pub fn order(node: &Node, row: &Row, w: &mut Work<'_>) -> Option<Order> {
    w.r.choice(node, row, &[("random", Order::Random), ("exact", Order::Exact)])
}
