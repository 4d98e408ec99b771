//! The threads of all setUp or tearDown groups as one program: before and after the load, the engine runs one user for
//! one iteration.

use crate::stage::Stage;
use crate::thread::Thread;
use crate::worker::Worker;
use plimsoll_jmx::plan::{GroupLoad, Threads};
use plimsoll_plan::program::{At, Outbox, Program, StepId, Wake};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Steps of each thread: its own numbers, and one for its start.
const STEPS: StepId = 4_097;
/// The last number of a thread's steps.
const START: StepId = 4_096;

/// A thread that has not ended, or will begin.
struct Player {
    thread: Thread,
    group: usize,
    /// Its start after that of its group, ns.
    start_ns: u64,
    loops: Option<u64>,
    done: u64,
    has_started: bool,
    has_ended: bool,
}

/// All threads of the groups.
pub struct Conductor {
    stage: Arc<Stage>,
    players: Vec<Player>,
    /// Groups, in their order.
    groups: Vec<usize>,
}

impl Conductor {
    pub fn new(worker: &Rc<Worker>, stage: &Arc<Stage>, groups: &[usize]) -> Conductor {
        let mut players = Vec::new();
        for group in groups {
            let GroupLoad::Threads(load) = stage.plan().groups[*group].load else { continue };
            for number in 0..load.threads {
                let key = players.len() as u64 | 1 << 40;
                let first_step = players.len() as StepId * STEPS;
                players.push(Player {
                    thread: stage.thread(worker, *group, number + 1, key, first_step),
                    group: *group,
                    start_ns: start_ns(&load, number),
                    loops: load.loops,
                    done: 0,
                    has_started: false,
                    has_ended: false,
                });
            }
        }
        Conductor { stage: Arc::clone(stage), players, groups: groups.to_vec() }
    }

    /// Begins the threads of a group, or of all.
    fn start(&mut self, group: Option<usize>, at: At, out: &mut Outbox) {
        for number in 0..self.players.len() {
            let player = &mut self.players[number];
            if player.has_started || group.is_some_and(|group| player.group != group) {
                continue;
            }
            player.has_started = true;
            match player.start_ns {
                0 => self.play(number, None, at, out),
                ns => out.sleep(number as StepId * STEPS + START, ns),
            }
        }
    }

    /// Continues a thread until it waits; it begins its next iteration when one has ended.
    fn play(&mut self, number: usize, wake: Option<Wake<'_>>, at: At, out: &mut Outbox) {
        let player = &mut self.players[number];
        match wake {
            Some(wake) => player.thread.wake(at, wake, out),
            None => player.thread.begin(player.done, at, out),
        }
        let mut turns = 0;
        while player.thread.is_idle() && !player.has_ended {
            player.done += 1;
            turns += 1;
            let is_done = player.loops.is_some_and(|loops| player.done >= loops);
            if is_done || player.thread.has_ended() || out.retired || turns > TURNS_MAX {
                player.thread.end();
                player.has_ended = true;
            } else {
                player.thread.begin(player.done, at, out);
            }
            // A thread that ends does not end the others.
            out.retired = false;
        }
        if self.players[number].has_ended {
            self.ended(number, at, out);
        }
    }

    fn ended(&mut self, number: usize, at: At, out: &mut Outbox) {
        let group = self.players[number].group;
        if self.players.iter().any(|player| player.group == group && !player.has_ended) {
            return;
        }
        if self.stage.plan().is_serial {
            let next = self.groups.iter().position(|one| *one == group).map(|position| position + 1);
            if let Some(next) = next.and_then(|position| self.groups.get(position)).copied() {
                return self.start(Some(next), at, out);
            }
        }
        if self.players.iter().all(|player| player.has_ended) {
            self.stage.is_over.store(true, Ordering::Relaxed);
        }
    }
}

/// Iterations without waiting, after which a thread of a setup ends: it would never do anything else.
const TURNS_MAX: u32 = 1_000_000;

/// Returns the start of a thread after that of its group.
pub fn start_ns(load: &Threads, number: u32) -> u64 {
    let step_ns = load.ramp_up_ns / u64::from(load.threads.max(1));
    load.delay_ns.saturating_add(step_ns.saturating_mul(u64::from(number)))
}

impl Program for Conductor {
    fn resume(&mut self, at: At, wake: Wake<'_>, out: &mut Outbox) {
        let step = match &wake {
            Wake::Begin { .. } => {
                if self.players.is_empty() {
                    self.stage.is_over.store(true, Ordering::Relaxed);
                }
                let first = self.groups.first().copied().filter(|_| self.stage.plan().is_serial);
                return self.start(first, at, out);
            }
            Wake::Interrupted => {
                for player in &mut self.players {
                    player.thread.end();
                }
                return;
            }
            Wake::Slept { id } => *id,
            Wake::Reply(reply) => reply.id,
            Wake::Reached { id, .. } => *id,
            _ => return,
        };
        let number = (step / STEPS) as usize;
        if number >= self.players.len() || self.players[number].has_ended {
            return;
        }
        match step % STEPS {
            START => self.play(number, None, at, out),
            _ => self.play(number, Some(wake), at, out),
        }
    }
}
