//! Controllers that choose among their children: Switch, Interleave, and Random.

use super::next::{finish_pass, iteration, next, plain};
use super::{Host, Next};
use crate::plan::{Child, Kind, NodeId};
use std::sync::atomic::Ordering;

pub(super) fn switch(host: &mut impl Host, node: NodeId) -> Option<Next> {
    if host.state(node).is_first && !host.state(node).has_fired {
        let value = match &host.group().nodes[node as usize].kind {
            Kind::Switch(value) => value.clone(),
            _ => return None,
        };
        let chosen = host.text(&value);
        let chosen = chosen.trim();
        let count = host.group().nodes[node as usize].children.len();
        let current = match chosen.parse::<usize>() {
            _ if chosen.is_empty() => 0,
            Ok(number) if number < count => number as u32,
            Ok(_) => 0,
            Err(_) => named_child(host, node, chosen),
        };
        host.state(node).current = current;
    }
    plain(host, node)
}

/// Returns the child with a name, or the one named `default`; otherwise none.
fn named_child(host: &mut impl Host, node: NodeId, name: &str) -> u32 {
    let mut default = u32::MAX;
    for at in 0..host.group().nodes[node as usize].children.len() {
        let template = match host.group().nodes[node as usize].children[at] {
            Child::Node(inner) => host.group().nodes[inner as usize].name.clone(),
            Child::Sampler(sampler) => host.group().samplers[sampler as usize].label.clone(),
        };
        let own = host.text(&template);
        if own == name {
            return at as u32;
        }
        if own.eq_ignore_ascii_case("default") {
            default = at as u32;
        }
    }
    default
}

pub(super) fn interleave(host: &mut impl Host, node: NodeId, is_random: bool) -> Option<Next> {
    let (takes_samplers, is_across) = match &host.group().nodes[node as usize].kind {
        Kind::Interleave { takes_samplers, is_across_threads, .. } => (*takes_samplers, *is_across_threads),
        Kind::Random { takes_samplers } => (*takes_samplers, false),
        _ => return None,
    };
    let count = host.group().nodes[node as usize].children.len() as u32;
    if count == 0 {
        return None;
    }
    let move_on = |host: &mut _| {
        let drawn = if is_random { Some(Host::draw(host, count)) } else { None };
        let state = Host::state(host, node);
        state.flag |= state.has_returned;
        state.has_moved = true;
        state.current = drawn.unwrap_or(state.current + 1);
    };
    if host.state(node).flag {
        finish_pass(host, node);
        if is_random {
            host.state(node).current = host.draw(count);
        }
        return None;
    }
    let mut tries = 0;
    let mut asked_again = false;
    loop {
        if let Some(step) = iteration(host, node) {
            if is_across && let Kind::Interleave { next, .. } = &host.group().nodes[node as usize].kind {
                let at = next.fetch_add(1, Ordering::Relaxed);
                host.state(node).current = (at.unsigned_abs() % u64::from(count)) as u32;
            }
            return Some(step);
        }
        if host.state(node).current >= count {
            host.state(node).current = 0;
        }
        let at = host.state(node).current;
        let state = host.state(node);
        tries += 1;
        // Once around without a step: nothing runs in this pass.
        if (state.search == Some(at) && state.has_moved && !is_random && !asked_again)
            || tries > 4 * count + 4
        {
            finish_pass(host, node);
            return None;
        }
        state.search.get_or_insert(at);
        match host.group().nodes[node as usize].children[at as usize] {
            Child::Sampler(sampler) => {
                move_on(host);
                host.state(node).flag = true;
                return Some(Next::Sampler(sampler));
            }
            Child::Node(inner) => match next(host, inner) {
                Some(step @ (Next::Iteration(_) | Next::Locked | Next::Begin(_))) => return Some(step),
                Some(step) => {
                    host.state(node).has_returned = true;
                    if takes_samplers {
                        move_on(host);
                        host.state(node).flag = true;
                    } else {
                        host.state(node).search = None;
                    }
                    return Some(step);
                }
                // Its pass has ended: a controller that gives one sampler at a time begins again.
                None if takes_samplers && !asked_again => asked_again = true,
                None => {
                    asked_again = false;
                    move_on(host);
                    if host.state(node).flag {
                        finish_pass(host, node);
                        return None;
                    }
                }
            },
        }
    }
}
