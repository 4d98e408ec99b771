//! Requests in their groups: rows of a table below each other.

use crate::document::Place;
use plimsoll_analysis::summary::{GroupRow, SeriesRow, Summary};

/// A row of the tree.
pub enum Node<'a> {
    Group(&'a GroupRow),
    /// With its index in the summary.
    Request(usize, &'a SeriesRow),
}

/// Separator between the names of nested groups.
const BELOW: &str = " / ";

/// Returns groups and requests with their places, each group before its content; requests without a group are on the
/// top level. Groups are in the order of the plan's requests.
pub fn tree(s: &Summary) -> Vec<(Node<'_>, Place)> {
    let mut out = Vec::new();
    if s.groups.is_empty() {
        out.extend(
            s.requests.iter().enumerate().map(|(at, row)| (Node::Request(at, row), place(None, 0, at))),
        );
        return out;
    }
    below(s, None, 0, &mut out);
    out
}

fn below<'a>(s: &'a Summary, parent: Option<(usize, &str)>, depth: usize, out: &mut Vec<(Node<'a>, Place)>) {
    let name = parent.map(|(_, name)| name);
    for (at, row) in s.requests.iter().enumerate() {
        // A request whose group has no row must not vanish.
        let group = row.group.as_deref().filter(|group| s.groups.iter().any(|g| g.name == *group));
        if group == name {
            out.push((Node::Request(at, row), place(parent, depth, at)));
        }
    }
    for (at, group) in s.groups.iter().enumerate() {
        if above(s, &group.name) == name {
            let own = Place {
                id: format!("group-{at}"),
                parent: parent.map(|(at, _)| format!("group-{at}")),
                depth,
            };
            out.push((Node::Group(group), own));
            below(s, Some((at, &group.name)), depth + 1, out);
        }
    }
}

/// Returns the nearest surrounding group that has a row.
fn above<'a>(s: &'a Summary, name: &str) -> Option<&'a str> {
    let mut rest = name;
    while let Some((outer, _)) = rest.rsplit_once(BELOW) {
        if let Some(found) = s.groups.iter().find(|group| group.name == outer) {
            return Some(&found.name);
        }
        rest = outer;
    }
    None
}

fn place(parent: Option<(usize, &str)>, depth: usize, at: usize) -> Place {
    Place { id: format!("request-{at}"), parent: parent.map(|(at, _)| format!("group-{at}")), depth }
}
