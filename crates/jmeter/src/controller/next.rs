//! The next step of each kind of controller.

use super::choose::{interleave, switch};
use super::{Host, Next, reset_below, shuffle};
use crate::plan::{Child, Kind, NodeId};
use std::sync::PoisonError;

/// Returns the next step below a controller; `None` at the end of its pass.
pub fn next(host: &mut impl Host, node: NodeId) -> Option<Next> {
    /// The kinds, without what they borrow from the plan.
    enum Turn {
        Plain,
        Loop,
        If,
        While,
        ForEach,
        Switch,
        OnceOnly,
        Interleave,
        Random,
        Throughput,
        Runtime,
        Transaction,
        Critical,
    }
    let turn = match &host.group().nodes[node as usize].kind {
        Kind::Group | Kind::Simple | Kind::RandomOrder => Turn::Plain,
        Kind::Loop(_) => Turn::Loop,
        Kind::If { .. } => Turn::If,
        Kind::While(_) => Turn::While,
        Kind::ForEach { .. } => Turn::ForEach,
        Kind::Switch(_) => Turn::Switch,
        Kind::OnceOnly => Turn::OnceOnly,
        Kind::Interleave { .. } => Turn::Interleave,
        Kind::Random { .. } => Turn::Random,
        Kind::Throughput { .. } => Turn::Throughput,
        Kind::Runtime(_) => Turn::Runtime,
        Kind::Transaction(_) => Turn::Transaction,
        Kind::Critical(_) => Turn::Critical,
    };
    match turn {
        Turn::Plain => plain(host, node),
        Turn::Loop => repeat(host, node),
        Turn::If => conditional(host, node),
        Turn::While => repeat_while(host, node),
        Turn::ForEach => for_each(host, node),
        Turn::Switch => switch(host, node),
        Turn::OnceOnly => match child(host, node) {
            Found::Step(step) => Some(step),
            // It stays at its end until its parent's first iteration.
            Found::End => None,
        },
        Turn::Interleave | Turn::Random => interleave(host, node, matches!(turn, Turn::Random)),
        Turn::Throughput if !host.state(node).flag => None,
        Turn::Throughput => plain(host, node),
        Turn::Runtime => runtime(host, node),
        Turn::Transaction => transaction(host, node),
        Turn::Critical => critical(host, node),
    }
}

/// The step of a child, or the end of the children.
enum Found {
    Step(Next),
    End,
}

/// Returns the next step of the children, in their order.
fn child(host: &mut impl Host, node: NodeId) -> Found {
    loop {
        if let Some(step) = iteration(host, node) {
            return Found::Step(step);
        }
        let Some(child) = current(host, node) else { return Found::End };
        match child {
            Child::Sampler(sampler) => {
                advance(host, node);
                return Found::Step(Next::Sampler(sampler));
            }
            Child::Node(inner) => match next(host, inner) {
                Some(step) => return Found::Step(step),
                None => advance(host, node),
            },
        }
    }
}

/// Begins an iteration: the elements of the controller run before its first child.
pub(super) fn iteration(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let state = host.state(node);
    if !state.is_first || state.has_fired {
        state.is_first = false;
        return None;
    }
    state.has_fired = true;
    start_children(host, node);
    if host.group().nodes[node as usize].at_iteration.is_empty() {
        host.state(node).is_first = false;
        return None;
    }
    Some(Next::Iteration(node))
}

/// The elements of an iteration have run.
pub fn iteration_started(host: &mut impl Host, node: NodeId) {
    host.state(node).is_first = false;
}

/// Tells the controllers directly below that an iteration starts.
fn start_children(host: &mut impl Host, node: NodeId) {
    let number = host.state(node).count;
    for at in 0..host.group().nodes[node as usize].children.len() {
        let Child::Node(inner) = host.group().nodes[node as usize].children[at] else { continue };
        enum Does {
            Once,
            Decide { is_total: bool, is_per_user: bool },
            Repeat,
            Nothing,
        }
        let does = match &host.group().nodes[inner as usize].kind {
            Kind::OnceOnly => Does::Once,
            Kind::Throughput { is_total, is_per_user, .. } => {
                Does::Decide { is_total: *is_total, is_per_user: *is_per_user }
            }
            Kind::Loop(_) | Kind::While(_) => Does::Repeat,
            _ => Does::Nothing,
        };
        match does {
            // The first iteration of a loop, and the only one of anything else.
            Does::Once if number == 0 => {
                let state = host.state(inner);
                (state.current, state.is_first, state.has_fired) = (0, true, false);
            }
            Does::Decide { is_total, is_per_user } => decide(host, inner, is_total, is_per_user),
            Does::Repeat => {
                let state = host.state(inner);
                (state.current, state.is_first, state.has_fired) = (0, true, false);
                (state.count, state.limit) = (0, None);
            }
            _ => {}
        }
    }
}

/// Decides whether a throughput controller runs in this iteration.
fn decide(host: &mut impl Host, node: NodeId, is_total: bool, is_per_user: bool) {
    let limit = match &host.group().nodes[node as usize].kind {
        Kind::Throughput { limit, .. } => limit.clone(),
        _ => return,
    };
    let text = host.text(&limit);
    let runs = |executions: i64, iterations: i64| match is_total {
        true => executions < text.trim().parse().unwrap_or(1),
        false => {
            let percent: f64 = text.trim().parse().unwrap_or(100.0);
            (100.0 * executions as f64 + 50.0) / (iterations as f64 + 1.0) < percent
        }
    };
    let step = |(executions, iterations): (i64, i64)| {
        let iterations = iterations + 1;
        let runs = runs(executions, iterations);
        (runs, (executions + i64::from(runs), iterations))
    };
    let is_run = match is_per_user {
        true => {
            let (is_run, numbers) = step(host.state(node).numbers);
            host.state(node).numbers = numbers;
            is_run
        }
        false => match &host.group().nodes[node as usize].kind {
            Kind::Throughput { shared, .. } => {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let (is_run, numbers) = step(*shared);
                *shared = numbers;
                is_run
            }
            _ => false,
        },
    };
    host.state(node).flag = is_run;
}

/// Returns the current child.
fn current(host: &mut impl Host, node: NodeId) -> Option<Child> {
    let at = host.state(node).current as usize;
    let is_shuffled = matches!(host.group().nodes[node as usize].kind, Kind::RandomOrder);
    let at = if is_shuffled { *host.state(node).order.get(at)? as usize } else { at };
    host.group().nodes[node as usize].children.get(at).copied()
}

/// Moves on to the next child.
fn advance(host: &mut impl Host, node: NodeId) {
    let is_switch = matches!(host.group().nodes[node as usize].kind, Kind::Switch(_));
    let state = host.state(node);
    state.current = if is_switch { u32::MAX } else { state.current.saturating_add(1) };
}

/// Prepares a controller for its next pass.
pub fn finish_pass(host: &mut impl Host, node: NodeId) {
    let children = host.group().nodes[node as usize].children.len() as u32;
    let (is_shuffled, is_interleaved) = match &host.group().nodes[node as usize].kind {
        Kind::RandomOrder => (true, false),
        Kind::Interleave { .. } | Kind::Random { .. } => (false, true),
        _ => (false, false),
    };
    let state = host.state(node);
    if !is_interleaved {
        state.current = 0;
    }
    (state.is_first, state.has_fired) = (true, false);
    state.count += 1;
    (state.has_returned, state.search, state.has_moved) = (false, None, false);
    if is_interleaved {
        state.flag = false;
    }
    if is_shuffled {
        shuffle(host, node, children);
    }
}

pub(super) fn plain(host: &mut impl Host, node: NodeId) -> Option<Next> {
    match child(host, node) {
        Found::Step(step) => Some(step),
        Found::End => {
            finish_pass(host, node);
            None
        }
    }
}

/// Returns how often a loop runs; -1 means for ever.
fn limit(host: &mut impl Host, node: NodeId) -> i64 {
    if let Some(limit) = host.state(node).limit.filter(|limit| *limit > 0) {
        return limit;
    }
    let loops = match &host.group().nodes[node as usize].kind {
        Kind::Loop(loops) => loops.clone(),
        _ => return -1,
    };
    let limit = host.text(&loops).trim().parse().unwrap_or(0);
    host.state(node).limit = Some(limit);
    limit
}

fn repeat(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let is_over = |host: &mut _, node| {
        let limit = limit(host, node);
        let state = Host::state(host, node);
        state.breaks || (limit > -1 && state.count >= limit)
    };
    let count = host.state(node).count;
    host.set_index(node, count);
    if is_over(host, node) {
        host.state(node).breaks = false;
        return None;
    }
    if host.group().nodes[node as usize].children.is_empty() {
        return None;
    }
    let mut turns = 0;
    loop {
        let found = child(host, node);
        let count = host.state(node).count;
        host.set_index(node, count);
        if let Found::Step(step) = found {
            return Some(step);
        }
        finish_pass(host, node);
        turns += 1;
        // A loop without a sampler in a pass of many iterations must not hold up the worker.
        if is_over(host, node) || turns > TURNS_MAX {
            let state = host.state(node);
            (state.count, state.limit, state.breaks) = (0, None, false);
            let count = host.state(node).count;
            host.set_index(node, count);
            return None;
        }
    }
}

/// Iterations of a loop in which nothing happens, after which the loop ends.
const TURNS_MAX: u32 = 100_000;

fn repeat_while(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let mut turns = 0;
    loop {
        let count = host.state(node).count;
        host.set_index(node, count);
        if host.state(node).is_first && !host.state(node).has_fired && ends(host, node, false) {
            let state = host.state(node);
            (state.breaks, state.count) = (false, 0);
            return None;
        }
        let found = child(host, node);
        let count = host.state(node).count;
        host.set_index(node, count);
        if let Found::Step(step) = found {
            return Some(step);
        }
        finish_pass(host, node);
        turns += 1;
        if ends(host, node, true) || turns > TURNS_MAX {
            let state = host.state(node);
            (state.breaks, state.count) = (false, 0);
            return None;
        }
    }
}

/// Returns whether a While Controller ends: before a pass, or after one.
fn ends(host: &mut impl Host, node: NodeId, is_after: bool) -> bool {
    if host.state(node).breaks {
        return true;
    }
    let condition = match &host.group().nodes[node as usize].kind {
        Kind::While(condition) => condition.clone(),
        _ => return true,
    };
    let text = host.text(&condition);
    let text = text.trim();
    match (is_after && text.is_empty()) || text.eq_ignore_ascii_case("LAST") {
        true => !host.is_last_ok(),
        false => text.eq_ignore_ascii_case("false"),
    }
}

/// Returns the index before the first one of a ForEach Controller; 0 for others.
pub fn first_index(host: &mut impl Host, node: NodeId) -> i64 {
    let start = match &host.group().nodes[node as usize].kind {
        Kind::ForEach { start, .. } => start.clone(),
        _ => return 0,
    };
    host.text(&start).trim().parse().unwrap_or(0)
}

fn for_each(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let (input, output, end, separator) = match &host.group().nodes[node as usize].kind {
        Kind::ForEach { input, output, end, separator, .. } => {
            (input.clone(), output.clone(), end.clone(), *separator)
        }
        _ => return None,
    };
    let input = host.text(&input);
    let end = host.text(&end).trim().parse().unwrap_or(i64::MAX);
    let value = |host: &mut _, count: i64| Host::get(host, &format!("{input}{separator}{}", count + 1));
    let count = host.state(node).count;
    host.set_index(node, count);
    loop {
        let count = host.state(node).count;
        let found = value(host, count).filter(|_| count < end);
        let (Some(found), false) = (found, host.state(node).breaks) else {
            let start = first_index(host, node);
            finish_pass(host, node);
            let state = host.state(node);
            (state.breaks, state.count) = (false, start);
            return None;
        };
        let output = host.text(&output);
        host.set(&output, &found);
        let step = child(host, node);
        let count = host.state(node).count;
        host.set_index(node, count);
        if let Found::Step(step) = step {
            return Some(step);
        }
        if host.group().nodes[node as usize].children.is_empty() {
            return None;
        }
        finish_pass(host, node);
    }
}

fn conditional(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let (condition, is_expression, evaluates_all) = match &host.group().nodes[node as usize].kind {
        Kind::If { condition, is_expression, evaluates_all } => {
            (condition.clone(), *is_expression, *evaluates_all)
        }
        _ => return None,
    };
    let is_start = host.state(node).is_first && !host.state(node).has_fired;
    if evaluates_all || is_start {
        let text = host.text(&condition);
        let holds = match is_expression {
            true => text.trim().eq_ignore_ascii_case("true"),
            false => host.condition(text.trim()),
        };
        if !holds {
            reset_below(host, node);
            finish_pass(host, node);
            return None;
        }
    }
    plain(host, node)
}

fn runtime(host: &mut impl Host, node: NodeId) -> Option<Next> {
    let seconds = match &host.group().nodes[node as usize].kind {
        Kind::Runtime(seconds) => seconds.clone(),
        _ => return None,
    };
    let seconds: u64 = host.text(&seconds).trim().parse().unwrap_or(0);
    if seconds == 0 || host.group().nodes[node as usize].children.is_empty() {
        return None;
    }
    let now = host.run_ns() as i64 + 1;
    if host.state(node).numbers.0 == 0 {
        host.state(node).numbers.0 = now;
    }
    let is_over = |host: &mut _| {
        let began = Host::state(host, node).numbers.0;
        (now - began) / 1_000_000_000 >= seconds as i64
    };
    let mut turns = 0;
    loop {
        if is_over(host) {
            finish_pass(host, node);
            let state = host.state(node);
            (state.count, state.numbers.0) = (0, 0);
            return None;
        }
        if let Found::Step(step) = child(host, node) {
            return Some(step);
        }
        finish_pass(host, node);
        turns += 1;
        if turns > 1 {
            // Nothing below it runs: it ends, instead of spinning until its time is over.
            host.state(node).numbers.0 = 0;
            return None;
        }
    }
}

fn transaction(host: &mut impl Host, node: NodeId) -> Option<Next> {
    if !host.state(node).flag && host.state(node).is_first && !host.state(node).has_fired {
        host.state(node).flag = true;
        return Some(Next::Begin(node));
    }
    if !host.state(node).flag {
        // Its end was reported.
        finish_pass(host, node);
        return None;
    }
    match child(host, node) {
        Found::Step(step) => Some(step),
        Found::End => {
            let state = host.state(node);
            // The next call ends the pass.
            (state.flag, state.is_first, state.has_fired) = (false, false, true);
            Some(Next::End(node))
        }
    }
}

fn critical(host: &mut impl Host, node: NodeId) -> Option<Next> {
    if !host.state(node).flag {
        let name = lock_name(host, node)?;
        if !host.lock(&name) {
            return Some(Next::Locked);
        }
        host.state(node).flag = true;
    }
    match child(host, node) {
        Found::Step(step) => Some(step),
        Found::End => {
            unlock(host, node);
            finish_pass(host, node);
            None
        }
    }
}

fn lock_name(host: &mut impl Host, node: NodeId) -> Option<String> {
    let name = match &host.group().nodes[node as usize].kind {
        Kind::Critical(name) => name.clone(),
        _ => return None,
    };
    Some(host.text(&name))
}

/// Frees the lock of a section, if it is held.
pub fn unlock(host: &mut impl Host, node: NodeId) {
    if std::mem::take(&mut host.state(node).flag)
        && let Some(name) = lock_name(host, node)
    {
        host.unlock(&name);
    }
}
