//! The records of all parts as one.

use super::Here;
use super::events::unwritten;
use crate::commands::load::Measured;
use crate::exit::{Exit, Failure};
use crate::{home, say};
use plimsoll_analysis::summarise;
use plimsoll_control::session::AfterRunError;
use plimsoll_record::RunRecord;
use plimsoll_record::event::RunEvent;
use plimsoll_record::run_file;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Here<'_> {
    /// Completes the record of a part.
    pub(super) fn close(&mut self, part: usize) -> Result<(), Failure> {
        let here = &mut self.parts[part];
        let Some(mut writer) = here.writer.take() else { return Ok(()) };
        here.notes.drain(..).try_for_each(|note| writer.event(&RunEvent::Noted(note))).map_err(unwritten)?;
        let finished = writer.finish().map_err(unwritten)?;
        here.record = finished.record.generators.into_values().next();
        match finished.trouble {
            // What its file lacks is in memory, and in the merged record.
            Some(trouble) if here.record.is_some() => {
                self.tell(&format!("{trouble}; the load continues\n"));
                Ok(())
            }
            Some(trouble) => Err(trouble.into()),
            None => Ok(()),
        }
    }

    /// Writes the merged record, or to another directory if that fails; returns its path.
    fn save(&self, file: &Path, record: &RunRecord) -> Result<PathBuf, Failure> {
        let Err(trouble) = run_file::write(file, record) else { return Ok(file.to_path_buf()) };
        let begin_ns = self.begin.map_or(0, |(_, unix_ns)| unix_ns);
        let second = home::second_run_file(file, &self.outline.host, begin_ns, record);
        let failure = AfterRunError::RunFile(trouble, second.clone()).into();
        match second {
            Some(second) => {
                say::failure(&failure, self.manner.no_color);
                Ok(second)
            }
            None => Err(failure),
        }
    }

    /// Merges the records of all parts into one run file.
    pub(super) fn merged(&mut self, file: &Path) -> Result<Measured, Failure> {
        let mut record = RunRecord::default();
        for part in 0..self.parts.len() {
            // A lost agent has no ending, so its record counts as cut off.
            self.close(part)?;
            self.by_agents.samples.extend(self.parts[part].take_samples()?.map(Arc::new));
            let known = self.parts.iter().find_map(|part| Some(Arc::clone(&part.record.as_ref()?.opening)));
            let known =
                known.or_else(|| record.generators.values().next().map(|one| Arc::clone(&one.opening)));
            let of = self.parts.len() as u32;
            let here = &mut self.parts[part];
            let one = here.record.take();
            // An agent of which nothing has arrived is part of the result, too: without a record of its load.
            let one = one.or_else(|| Some(here.missing(&*known?, &self.run, part as u32 + 1, of)));
            let Some(mut one) = one else { continue };
            // Those that came after its end.
            one.notes.append(&mut here.notes);
            let name = one.opening.origin.clone();
            record.generators.insert(name, one);
        }
        // They need a place in the record: that of the agent with the longest load.
        let longest = record.generators.values_mut().max_by_key(|one| one.ticks.len());
        if let (Some(monitors), Some(longest)) = (&mut self.monitors, longest) {
            monitors.end_into(longest);
        }
        let run_file = self.save(file, &record)?;
        let summary = summarise(&record);
        let exit = match summary.verdict.result {
            plimsoll_analysis::summary::Outcome::Interrupted => {
                self.shared.interrupts.exit(Exit::Interrupted)
            }
            outcome => outcome.into(),
        };
        let by_agents = std::mem::take(&mut self.by_agents);
        Ok(Measured { summary, record, run_file, exit, by_agents })
    }
}
