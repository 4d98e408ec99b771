//! Reading a tally by name. Tallies of other versions have fewer cells: what is missing is the identity.

use plimsoll_plan::metric::{HistCell, RunFloor, RunHist, RunPeak, RunSum, SeriesSum, SumCell, fault_id};
use plimsoll_plan::{Fault, Side};
use plimsoll_stats::{Hist, Tally};
use std::sync::LazyLock;

static EMPTY: LazyLock<Hist> = LazyLock::new(Hist::on_demand);

pub(super) trait Cells {
    /// A sum of the run as a whole.
    fn of(&self, id: RunSum) -> u64;
    /// A peak of the run as a whole.
    fn peak(&self, id: RunPeak) -> u64;
    /// A floor of the run as a whole, if there was any value.
    fn floor(&self, id: RunFloor) -> Option<u64>;
    /// A histogram of the run as a whole.
    fn spread(&self, id: RunHist) -> &Hist;
    /// A sum of a series.
    fn sum(&self, id: impl SumCell) -> u64;
    fn fault(&self, fault: Fault) -> u64;
    /// Requests that completed with a response, no matter what its status: the achieved load.
    fn answered(&self) -> u64;
    /// A histogram of a series.
    fn hist(&self, id: impl HistCell) -> &Hist;
}

impl Cells for Tally {
    fn of(&self, id: RunSum) -> u64 {
        cell(self, id.id())
    }

    fn peak(&self, id: RunPeak) -> u64 {
        self.peaks.get(id.id()).copied().unwrap_or(0)
    }

    fn floor(&self, id: RunFloor) -> Option<u64> {
        self.floors.get(id.id()).copied().filter(|v| *v != u64::MAX)
    }

    fn spread(&self, id: RunHist) -> &Hist {
        self.hists.get(id.id()).unwrap_or(&EMPTY)
    }

    fn sum(&self, id: impl SumCell) -> u64 {
        cell(self, id.cell())
    }

    fn fault(&self, fault: Fault) -> u64 {
        cell(self, fault_id(fault))
    }

    fn answered(&self) -> u64 {
        let is_unanswered = |fault: &&Fault| fault.is_below_http() && fault.side() != Side::Client;
        let unanswered = Fault::ALL.iter().filter(is_unanswered);
        unanswered.fold(self.sum(SeriesSum::Finished), |left, fault| left.saturating_sub(self.fault(*fault)))
    }

    fn hist(&self, id: impl HistCell) -> &Hist {
        self.hists.get(id.cell()).unwrap_or(&EMPTY)
    }
}

fn cell(tally: &Tally, id: usize) -> u64 {
    tally.sums.get(id).copied().unwrap_or(0)
}
