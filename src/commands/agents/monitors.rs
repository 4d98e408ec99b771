//! Monitors of a load from agents: those without `on` run in this process, the others on their agents.

use crate::exit::Failure;
use plimsoll_cluster::message::Identity;
use plimsoll_control::monitor::{Monitors, Trust};
use plimsoll_plan::diag::Place;
use plimsoll_plan::watch::{MonitorOutline, Watch};
use plimsoll_plan::{Diagnostic, Plan};
use plimsoll_record::event::RunEvent;
use plimsoll_record::record::{GeneratorRecord, Watched};
use std::sync::Arc;

/// The monitors of this process, and their data until now.
pub struct OwnMonitors {
    running: Option<Monitors>,
    outlines: Vec<MonitorOutline>,
    watched: Watched,
}

/// Refuses monitors of agents for a load without agents.
///
/// # Errors
/// Returns an error if there is one.
pub fn refuse(watches: &[Watch]) -> Result<(), Failure> {
    match watches.iter().find_map(|watch| Some((watch, watch.on.as_ref()?))) {
        None => Ok(()),
        Some((watch, on)) => {
            let message =
                format!("the monitor `{}` runs on agents (`{on}`), and this load has none", watch.name);
            let hint = "add `--agents`, or remove `on` from the file";
            Err(Diagnostic::new("U050", Place::Whole, message, hint).into())
        }
    }
}

/// Refuses monitors that would run on no agent of a load.
///
/// # Errors
/// Returns an error if there is one.
pub fn check(watches: &[Watch], agents: &[Identity]) -> Result<(), Failure> {
    for (watch, on) in watches.iter().filter_map(|watch| Some((watch, watch.on.as_ref()?))) {
        if !agents.iter().any(|agent| on.covers(&agent.name, &agent.labels)) {
            let message =
                format!("the monitor `{}` runs on `{on}`, and no agent of this load is that", watch.name);
            let hint = "`plimsoll agents` lists names and labels";
            return Err(Diagnostic::new("U050", Place::Whole, message, hint).into());
        }
    }
    Ok(())
}

impl OwnMonitors {
    /// Starts the monitors of a plan that run here.
    pub fn start(plan: &Plan) -> OwnMonitors {
        let own: Vec<Watch> = plan.watches.iter().filter(|watch| watch.on.is_none()).cloned().collect();
        OwnMonitors {
            outlines: own.iter().map(Watch::outline).collect(),
            running: (!own.is_empty()).then(|| Monitors::of(&own, &Trust::of(&plan.watch_trust))),
            watched: Watched::default(),
        }
    }

    /// Marks the common start of the load on this process's clock, ns.
    pub fn begin(&self, at_ns: u64) {
        if let Some(running) = &self.running {
            running.begin(at_ns);
        }
    }

    /// Takes the samples since the last call.
    pub fn look(&mut self) {
        let events: Vec<RunEvent> = self.running.iter().flat_map(Monitors::take_events).collect();
        events.iter().for_each(|event| self.take(event));
    }

    fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::MonitorSampled(sample) => self.watched.sight(sample),
            RunEvent::Learnt(fact) => self.watched.learn(fact),
            RunEvent::SampleMissed(missed) => self.watched.lapse(missed),
            // A monitor sends nothing else.
            _ => {}
        }
    }

    /// Ends the monitors, and adds their data to the record of one agent, after those of that agent.
    pub fn end_into(&mut self, record: &mut GeneratorRecord) {
        let rest = self.running.take().map(Monitors::end).unwrap_or_default();
        rest.iter().for_each(|event| self.take(event));
        let opening = Arc::make_mut(&mut record.opening);
        let from = opening.outline.monitors.len() as u32;
        opening.outline.monitors.append(&mut self.outlines);
        let mut own = std::mem::take(&mut self.watched);
        own.channels.iter_mut().for_each(|channel| channel.monitor += from);
        own.facts.iter_mut().for_each(|fact| fact.monitor += from);
        own.lapses.iter_mut().for_each(|missed| missed.monitor += from);
        record.watched.channels.append(&mut own.channels);
        record.watched.facts.append(&mut own.facts);
        record.watched.lapses.append(&mut own.lapses);
        record.watched.lapsed.extend(own.lapsed.into_iter().map(|(monitor, count)| (monitor + from, count)));
    }
}
