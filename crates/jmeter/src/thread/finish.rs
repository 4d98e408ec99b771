//! The end of a sampler: post-processors, assertions, listeners, and what a failure does.

use super::{After, Thread, scope};
use crate::controller::{self, Jump};
use crate::jtl::{self, Around};
use crate::plan::{Assertion, PostProcessor, ResultFile, ResultSaver, SamplerId};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use crate::thread::host::Controllers;
use plimsoll_jmx::plan::OnError;
use plimsoll_plan::Fault;
use plimsoll_plan::answer::Statuses;
use plimsoll_plan::metric::{CheckSum, SeriesSum, fault_id};
use plimsoll_plan::program::{At, Count, Outbox, RequestId};
use plimsoll_plan::series::{Family, label};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The response whose request fails if the sample does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Judged {
    /// The one that the thread takes now.
    Reply,
    /// An earlier one, of this series.
    Earlier(RequestId),
    Nothing,
}

impl Thread {
    /// Runs everything after a sampler.
    pub(super) fn finish_sampler(
        &mut self,
        sampler: SamplerId,
        sample: Option<Sample>,
        judged: Judged,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].samplers[sampler as usize];
        let Some(mut sample) = sample else { return After::Continues };
        let status_failed = !sample.is_success;
        let mut wish = Wish::default();
        for post in &of.post {
            match &**post {
                PostProcessor::Extract(extractor) => {
                    crate::extract::extract(extractor, &sample, &mut scope!(self, at, &mut wish));
                }
                PostProcessor::Script(code) => self.run_script(code, Some(&mut sample), at, &mut wish),
                PostProcessor::Debug => {
                    let label = format!("{}-{}", sample.label, sample.children.len());
                    let mut child = Sample::local(&label, at.unix_ns / 1_000_000);
                    child.body = self.listed(true, false).into_bytes();
                    child.bytes = child.body.len() as u64;
                    child.data_type = DataType::Text;
                    sample.bytes += child.bytes;
                    sample.children.push(child);
                }
            }
        }
        if self.plan.keeps_checks {
            sample.keep_checks();
        }
        let mut check_failed = false;
        let worker = Rc::clone(&self.worker);
        let checks = &worker.kept(self.identity.group, sampler).checks;
        for (assertion, check) in of.assertions.iter().zip(checks) {
            let is_fixed = of.label.fixed().is_some() && assertion.name.fixed().is_some();
            check_failed |= !self.assert(assertion, &mut sample, is_fixed.then_some(check), at, out);
        }
        self.is_last_ok = sample.is_success;
        self.worker.set_last_ok(&mut self.vars, sample.is_success);
        match judged {
            Judged::Reply if !sample.is_success => {
                // An assertion that ignores the status leaves its own result only.
                let is_status = status_failed && !check_failed && !of_usual(&sample);
                out.fail(if is_status { Fault::Status } else { Fault::Check });
            }
            // It was counted as passed; a file that failed is counted itself.
            Judged::Earlier(series) if check_failed => {
                out.count(Count::Sum(series, fault_id(Fault::Check), 1));
                out.count(Count::sum(series, SeriesSum::Failed, 1));
            }
            Judged::Reply | Judged::Earlier(_) | Judged::Nothing => {}
        }
        if !sample.is_ignored {
            for saver in &of.savers {
                self.save(saver, &sample, at);
            }
            self.add_to_transactions(&sample);
            if !self.is_inside_parent() {
                self.report(&sample, &of.result_files, at);
            }
        }
        let after = self.consequences(sampler, &sample, &of.actions, wish, at, out);
        if self.plan.keeps_previous {
            self.previous = Some(Box::new(sample));
        }
        after
    }

    /// Checks a sample with an assertion, and counts the check. `kept` is its series, once it is known.
    pub(super) fn assert(
        &mut self,
        assertion: &Assertion,
        sample: &mut Sample,
        kept: Option<&Cell<Option<RequestId>>>,
        at: At,
        out: &mut Outbox,
    ) -> bool {
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let passed = crate::assertion::check(assertion, sample, &mut scope);
        let series = kept.and_then(Cell::get).or_else(|| {
            let name = assertion.name.text(&mut scope);
            let labels = [(label::REQUEST, crate::worker::shortened(&sample.label))];
            out.open(Family::Check, crate::worker::shortened(&name), &labels)
        });
        if let Some(kept) = kept {
            kept.set(series);
        }
        if let Some(series) = series {
            out.count(Count::sum(series, CheckSum::Made, 1));
            if !passed {
                out.count(Count::sum(series, CheckSum::Failed, 1));
            }
        }
        passed
    }

    /// Writes the line of a sample.
    pub(super) fn report(&mut self, sample: &Sample, files: &[Arc<ResultFile>], at: At) {
        let run = Arc::clone(&self.worker.run);
        if run.results.is_none() && files.is_empty() {
            return;
        }
        let worker = std::rc::Rc::clone(&self.worker);
        let mut line = worker.line.borrow_mut();
        let around = Around {
            thread_name: &self.identity.name,
            threads: run.active(self.identity.group),
            host: &run.machine.0,
        };
        if let Some(results) = &run.results {
            line.clear();
            jtl::write_all(&run.columns, sample, around, &mut line);
            results.sample(&line, sample.begin_ms, sample.elapsed_ms, sample.is_success);
        }
        for file in files {
            if (file.only_failed && sample.is_success) || (file.only_passed && !sample.is_success) {
                continue;
            }
            line.clear();
            let mut wish = Wish::default();
            let name = file.file.value(&mut scope!(self, at, &mut wish));
            let path = run.files.in_plan_folder(name.trim());
            jtl::write_all(&file.columns, sample, around, &mut line);
            line.push('\n');
            if let Err(why) = run.files.append_result(&path, &file.columns, &line) {
                run.warn_once(&why);
            }
        }
    }

    /// Saves a response to a file.
    fn save(&mut self, saver: &ResultSaver, sample: &Sample, at: At) {
        if (saver.only_failed && sample.is_success) || (saver.only_passed && !sample.is_success) {
            return;
        }
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let mut name = saver.prefix.value(&mut scope);
        let width = saver.number_width.integer(&mut scope).clamp(0, 100) as usize;
        let variable = saver.variable.value(&mut scope);
        if saver.has_timestamp {
            name.push_str(&crate::function::now(&scope, "yyyyMMdd-HHmm_"));
        }
        if !saver.has_no_number {
            let number = saver.count.fetch_add(1, Ordering::Relaxed) + 1;
            name.push_str(&format!("{number:0width$}"));
        }
        if !saver.has_no_ending {
            let head = plimsoll_plan::head::Head::new(&sample.head);
            let media = String::from_utf8_lossy(head.field("content-type").unwrap_or_default()).into_owned();
            let kind =
                media.split(';').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().trim();
            name.push('.');
            name.push_str(if kind.is_empty() { "unknown" } else { kind });
        }
        let path = self.worker.run.files.in_plan_folder(&name);
        crate::files::make_folder(&path);
        if let Err(error) = std::fs::write(&path, &sample.body) {
            self.worker.run.warn_once(&format!("cannot write `{path}`: {error}"));
        }
        if !variable.is_empty() {
            self.vars.set(&variable, &path);
        }
    }

    /// Does what a sample, its group, and scripts ask for.
    fn consequences(
        &mut self,
        sampler: SamplerId,
        sample: &Sample,
        actions: &[OnError],
        wish: Wish,
        at: At,
        out: &mut Outbox,
    ) -> After {
        if wish.stops_now || sample.stops_now {
            self.worker.run.stop(true);
        } else if wish.stops_test || sample.stops_test {
            self.worker.run.stop(false);
        }
        if wish.stops_test || wish.stops_now || sample.stops_test || sample.stops_now {
            return After::Ended;
        }
        if wish.stops_thread || sample.stops_thread {
            return After::Ended;
        }
        if wish.restarts {
            return self.jump(sampler, Jump::Thread, at, out);
        }
        if sample.is_success {
            return After::Continues;
        }
        let own = self.group().on_error;
        for action in actions.iter().copied().chain([own]) {
            match action {
                OnError::Continue => {}
                OnError::StopThread => return After::Ended,
                OnError::StopTest | OnError::StopTestNow => {
                    self.worker.run.stop(action == OnError::StopTestNow);
                    return After::Ended;
                }
                OnError::StartNextLoop => return self.jump(sampler, Jump::Thread, at, out),
                OnError::StartNextIteration => return self.jump(sampler, Jump::Loop, at, out),
                OnError::BreakLoop => return self.jump(sampler, Jump::Break, at, out),
            }
        }
        After::Continues
    }

    /// Leaves loops around a sampler.
    pub(super) fn jump(&mut self, sampler: SamplerId, to: Jump, at: At, out: &mut Outbox) -> After {
        let parent = self.group().samplers[sampler as usize].parent;
        let jumped = controller::jump(&mut Controllers { thread: self, at }, parent, to);
        for node in jumped.transactions {
            self.end_transaction(node, at, out);
        }
        self.is_last_ok = true;
        self.worker.set_last_ok(&mut self.vars, true);
        match (jumped.ends_thread, jumped.ends_iteration) {
            (true, _) => After::Ended,
            (false, true) => After::Iteration,
            (false, false) => After::Continues,
        }
    }
}

/// Returns whether the code of a sample is one of a success.
fn of_usual(sample: &Sample) -> bool {
    sample.code.parse().is_ok_and(Statuses::usual)
}
