//! Transactions: the samples between their beginning and end as one.

use super::{Thread, scope};
use crate::plan::{Kind, NodeId};
use crate::sample::Sample;
use crate::scope::Wish;
use plimsoll_plan::metric::{GroupHist, GroupSum};
use plimsoll_plan::program::{At, Count, Outbox};
use plimsoll_plan::series::Family;
use std::borrow::Cow;
use std::rc::Rc;

/// A transaction in progress.
pub struct Open {
    node: NodeId,
    label: Rc<str>,
    begin_ns: u64,
    begin_ms: u64,
    pub has_parent_sample: bool,
    /// Of its samples.
    elapsed_ms: u64,
    latency_ms: u64,
    connect_ms: u64,
    bytes: u64,
    sent_bytes: u64,
    count: u64,
    failed: u64,
    code: Cow<'static, str>,
    /// The samples, if they are written.
    children: Vec<Sample>,
}

/// What a transaction keeps of its samples.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Nothing,
    /// What a line of results shows.
    Lines,
    All,
}

impl Open {
    /// Adds a sample.
    fn add(&mut self, sample: &Sample, kept: Kept) {
        match kept {
            _ if !self.has_parent_sample => {}
            Kept::Nothing => {}
            Kept::Lines => self.children.push(sample.without_content()),
            Kept::All => self.children.push(sample.clone()),
        }
        self.elapsed_ms += sample.elapsed_ms;
        self.latency_ms += sample.latency_ms;
        self.connect_ms += sample.connect_ms;
        self.bytes += sample.bytes;
        self.sent_bytes += sample.sent_bytes;
        self.count += 1;
        if self.failed == 0 {
            self.code = sample.code.clone();
        }
        self.failed += u64::from(!sample.is_success);
    }
}

impl Thread {
    pub(super) fn begin_transaction(&mut self, node: NodeId, at: At) {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].nodes[node as usize];
        let Kind::Transaction(transaction) = &of.kind else { return };
        let mut wish = Wish::default();
        let label = of.name.value(&mut scope!(self, at, &mut wish));
        self.transactions.push(Open {
            node,
            label: label.into(),
            begin_ns: at.run_ns,
            begin_ms: at.unix_ns / 1_000_000,
            has_parent_sample: transaction.has_parent_sample,
            elapsed_ms: 0,
            latency_ms: 0,
            connect_ms: 0,
            bytes: 0,
            sent_bytes: 0,
            count: 0,
            failed: 0,
            code: Cow::Borrowed(""),
            children: Vec::new(),
        });
    }

    /// Returns whether samples are parts of a transaction that replaces them.
    pub(super) fn is_inside_parent(&self) -> bool {
        self.transactions.iter().any(|open| open.has_parent_sample)
    }

    /// Adds a sample to the transactions in progress.
    pub(super) fn add_to_transactions(&mut self, sample: &Sample) {
        // A sample belongs to the innermost transaction with a parent sample, which belongs to the next one.
        let kept = match self.writes_children() {
            false => Kept::Nothing,
            true if self.plan.keeps_content => Kept::All,
            true => Kept::Lines,
        };
        let innermost = self.transactions.iter().rposition(|open| open.has_parent_sample);
        for (at, open) in self.transactions.iter_mut().enumerate() {
            if !open.has_parent_sample || Some(at) == innermost {
                open.add(sample, kept);
            }
        }
    }

    /// Ends the transactions that an iteration has left open.
    pub(super) fn end_transactions(&mut self, at: At, out: &mut Outbox) {
        while let Some(open) = self.transactions.last() {
            let node = open.node;
            self.end_transaction(node, at, out);
        }
    }

    pub(super) fn end_transaction(&mut self, node: NodeId, at: At, out: &mut Outbox) {
        let Some(position) = self.transactions.iter().rposition(|open| open.node == node) else { return };
        let open = self.transactions.remove(position);
        let plan = Rc::clone(&self.plan);
        let Kind::Transaction(transaction) = &plan.groups[self.identity.group].nodes[node as usize].kind
        else {
            return;
        };
        let wall_ns = at.run_ns.saturating_sub(open.begin_ns);
        let wall_ms = wall_ns / 1_000_000;
        let elapsed_ms = if transaction.includes_timers { wall_ms } else { open.elapsed_ms };
        let mut sample = Sample {
            label: Rc::clone(&open.label),
            begin_ms: open.begin_ms,
            elapsed_ms,
            idle_ms: wall_ms.saturating_sub(elapsed_ms),
            is_success: open.failed == 0,
            message: Cow::Owned(format!(
                "Number of samples in transaction : {}, number of failing samples : {}",
                open.count, open.failed
            )),
            bytes: open.bytes,
            sent_bytes: open.sent_bytes,
            children: open.children,
            ..Sample::default()
        };
        sample.code = match (sample.is_success, open.has_parent_sample) {
            (true, _) => Cow::Borrowed("200"),
            (false, true) => open.code,
            (false, false) => Cow::Borrowed(""),
        };
        if !open.has_parent_sample {
            (sample.latency_ms, sample.connect_ms) = (open.latency_ms, open.connect_ms);
        } else {
            for assertion in &transaction.assertions {
                self.assert(assertion, &mut sample, None, at, out);
            }
        }
        // Without a parent sample, JMeter reports no transaction before the first sampler of a thread.
        let is_reported = !self.is_inside_parent() && (open.has_parent_sample || self.has_sampled);
        if open.has_parent_sample && !is_reported {
            self.add_to_transactions(&sample);
        }
        if is_reported {
            self.report(&sample, &transaction.result_files, at);
        }
        let elapsed_ns = if transaction.includes_timers { wall_ns } else { elapsed_ms * 1_000_000 };
        self.count_group(&open.label, elapsed_ns, out);
    }

    /// Returns whether results have lines of sub-samples.
    fn writes_children(&self) -> bool {
        let run = &self.worker.run;
        let is_in_file = |node: &crate::plan::Node| match &node.kind {
            Kind::Transaction(of) => of.result_files.iter().any(|file| file.columns.sub_results),
            _ => false,
        };
        (run.results.is_some() && run.columns.sub_results) || self.group().nodes.iter().any(is_in_file)
    }

    pub(super) fn count_group(&mut self, label: &str, elapsed_ns: u64, out: &mut Outbox) {
        if let Some(series) = out.open(Family::Group, crate::worker::shortened(label), &[]) {
            out.count(Count::sum(series, GroupSum::Passages, 1));
            out.count(Count::hist(series, GroupHist::Time, elapsed_ns));
        }
    }
}
