//! Which sampler comes next: the logic controllers as iterators that contain each other, as in JMeter.
//!
//! Each controller of a thread has a [`State`]. `next` returns what the thread does next, or `None` when the controller
//! is through with its pass; then it has been prepared for another one.

mod choose;
mod next;

use crate::plan::{Child, Group, Kind, NodeId, SamplerId};

/// What a thread does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Sampler(SamplerId),
    /// A transaction begins.
    Begin(NodeId),
    /// A transaction ends.
    End(NodeId),
    /// Elements of the controller run first; then ask again.
    Iteration(NodeId),
    /// Another thread is in the section: ask again later.
    Locked,
}

/// The state of a controller.
#[derive(Debug, Clone)]
pub struct State {
    /// Index of the current child.
    current: u32,
    /// Whether a pass begins.
    is_first: bool,
    /// Whether the elements of this iteration have run.
    has_fired: bool,
    /// Iterations so far.
    count: i64,
    /// Of a loop: how often it runs, once evaluated.
    limit: Option<i64>,
    /// Whether the loop ends now.
    breaks: bool,
    /// Of a throughput controller: whether it runs this time. Of a transaction: whether it has begun. Of a lock:
    /// whether it is held. Of an interleaving controller: whether its pass ends.
    flag: bool,
    /// Of an interleaving controller: whether a child has returned something.
    has_returned: bool,
    /// Of an interleaving controller: where its search began, and whether it has moved since.
    search: Option<u32>,
    has_moved: bool,
    /// Of a throughput controller: its executions and iterations. Of a runtime controller: its start, ns.
    numbers: (i64, i64),
    /// Of a random order: the children.
    order: Vec<u32>,
}

impl Default for State {
    fn default() -> State {
        State {
            current: 0,
            is_first: true,
            has_fired: false,
            count: 0,
            limit: None,
            breaks: false,
            flag: false,
            has_returned: false,
            search: None,
            has_moved: false,
            numbers: (0, -1),
            order: Vec::new(),
        }
    }
}

/// What controllers need of their thread.
pub trait Host {
    fn group(&self) -> &Group;
    fn state(&mut self, node: NodeId) -> &mut State;
    fn text(&mut self, template: &crate::template::Template) -> String;
    fn get(&self, name: &str) -> Option<String>;
    fn set(&mut self, name: &str, value: &str);
    fn set_index(&mut self, node: NodeId, count: i64);
    /// Returns whether code is true.
    fn condition(&mut self, code: &str) -> bool;
    /// Returns a number from 0 to below `count`.
    fn draw(&mut self, count: u32) -> u32;
    fn run_ns(&self) -> u64;
    fn lock(&mut self, name: &str) -> bool;
    fn unlock(&mut self, name: &str);
    fn is_last_ok(&self) -> bool;
    /// Number of the thread in its group, from 0.
    fn thread_number(&self) -> u32;
}

/// Prepares all controllers for a new thread.
pub fn initialize(host: &mut impl Host) {
    for node in 0..host.group().nodes.len() as NodeId {
        reset(host, node);
    }
}

/// Prepares a controller for its first pass.
fn reset(host: &mut impl Host, node: NodeId) {
    let kept = host.state(node).numbers;
    *host.state(node) = State::default();
    let thread = host.thread_number();
    let (count, kind) = {
        let of = &host.group().nodes[node as usize];
        let kind = match &of.kind {
            Kind::RandomOrder => Some(0),
            Kind::Random { .. } => Some(1),
            Kind::Interleave { is_across_threads: true, .. } => Some(2),
            Kind::ForEach { .. } => Some(3),
            Kind::Throughput { .. } => Some(4),
            _ => None,
        };
        (of.children.len() as u32, kind)
    };
    match kind {
        Some(0) => shuffle(host, node, count),
        Some(1) => host.state(node).current = host.draw(count.max(1)).min(count.saturating_sub(1)),
        Some(2) if count > 0 => host.state(node).current = thread % count,
        Some(3) => host.state(node).count = next::first_index(host, node),
        Some(4) => host.state(node).numbers = kept,
        _ => {}
    }
}

/// Prepares the controllers below a node for their first pass.
fn reset_below(host: &mut impl Host, node: NodeId) {
    for at in 0..host.group().nodes[node as usize].children.len() {
        if let Child::Node(child) = host.group().nodes[node as usize].children[at] {
            reset(host, child);
            reset_below(host, child);
        }
    }
}

fn shuffle(host: &mut impl Host, node: NodeId, count: u32) {
    let mut order: Vec<u32> = (0..count).collect();
    // Fisher and Yates, from the end.
    for at in (1..count).rev() {
        let other = host.draw(at + 1);
        order.swap(at as usize, other as usize);
    }
    host.state(node).order = order;
}

/// What a failed sample or a Flow Control Action does to the loops around a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// The next iteration of the thread.
    Thread,
    /// The next iteration of the innermost loop.
    Loop,
    /// The end of the innermost loop.
    Break,
}

/// The effect of a jump: the transactions that end, and whether the iteration of the thread does.
pub struct Jumped {
    pub transactions: Vec<NodeId>,
    pub ends_iteration: bool,
    pub ends_thread: bool,
}

/// A controller around a sampler.
#[derive(Clone, Copy)]
enum Around {
    Group,
    Loop,
    Transaction,
    Critical,
    If,
    Runtime,
    Other,
}

/// Moves the controllers around a sampler, from the inside to the outside.
pub fn jump(host: &mut impl Host, parent: NodeId, to: Jump) -> Jumped {
    let mut jumped = Jumped { transactions: Vec::new(), ends_iteration: false, ends_thread: false };
    let mut at = Some(parent);
    while let Some(node) = at {
        let of = &host.group().nodes[node as usize];
        at = of.parent;
        let around = match &of.kind {
            Kind::Group => Around::Group,
            Kind::Loop(_) | Kind::While(_) | Kind::ForEach { .. } => Around::Loop,
            Kind::Transaction(_) => Around::Transaction,
            Kind::Critical(_) => Around::Critical,
            Kind::If { .. } => Around::If,
            Kind::Runtime(_) => Around::Runtime,
            _ => Around::Other,
        };
        match around {
            Around::Group => {
                jumped.ends_iteration = true;
                jumped.ends_thread = to == Jump::Break;
            }
            Around::Loop if to == Jump::Loop => {
                let state = host.state(node);
                (state.current, state.is_first, state.has_fired) = (0, true, false);
                state.count += 1;
                return jumped;
            }
            Around::Loop if to == Jump::Break => {
                let start = next::first_index(host, node);
                let state = host.state(node);
                (state.current, state.is_first, state.has_fired) = (0, true, false);
                (state.count, state.limit, state.breaks) = (start, None, true);
                return jumped;
            }
            Around::Loop => {
                next::finish_pass(host, node);
                let start = next::first_index(host, node);
                let state = host.state(node);
                (state.count, state.limit) = (start, None);
            }
            Around::Transaction => {
                if std::mem::take(&mut host.state(node).flag) {
                    jumped.transactions.push(node);
                }
                next::finish_pass(host, node);
            }
            Around::Critical => {
                next::unlock(host, node);
                next::finish_pass(host, node);
            }
            Around::If => {
                reset_below(host, node);
                next::finish_pass(host, node);
            }
            Around::Runtime => {
                next::finish_pass(host, node);
                let state = host.state(node);
                (state.count, state.numbers) = (0, (0, -1));
            }
            Around::Other => next::finish_pass(host, node),
        }
    }
    jumped
}

/// Frees the lock of a section that the thread leaves in any way.
pub fn leave(host: &mut impl Host, node: NodeId) {
    next::unlock(host, node);
}

impl State {
    /// Begins an iteration of a thread group, with its number from 0.
    pub fn begin_iteration(&mut self, number: u64) {
        (self.current, self.is_first, self.has_fired) = (0, true, false);
        self.count = number as i64;
    }
}

pub use next::{iteration_started, next};
