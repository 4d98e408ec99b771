//! One tick in encoded form, because a dense histogram takes 38 KiB and a day has 86,400 seconds.

use super::{Opened, RUN_LAYOUT, SERIES_LAYOUT, SideTotals, requests_total};
use plimsoll_plan::Outline;
use plimsoll_plan::metric::{RunHist, SeriesHist};
use plimsoll_stats::Hist;
use plimsoll_stats::interval::Interval;
use plimsoll_stats::tally::{Layout, Tally};

/// Histograms that are not kept per second, because they would double its size. The totals contain them, and so do
/// the rows of about ten seconds in the run file.
const COARSER_RUN: [RunHist; 4] =
    [RunHist::LoopTime, RunHist::WaitByResponse, RunHist::FirstByteByResponse, RunHist::BodyByResponse];
const COARSER_SERIES: [SeriesHist; 3] = [SeriesHist::FirstByte, SeriesHist::Body, SeriesHist::BodySize];

/// One tick: run-wide numbers, all requests together ([`requests_total`]), and the data of single requests
/// ([`SideTotals`]). Takes a few kilobytes. Accessors decode on each call, so keep their results.
#[derive(Clone, PartialEq, Eq)]
pub struct TickRow {
    /// The tallies in canonical form, concatenated: equal ticks have equal bytes.
    bytes: Box<[u8]>,
    /// Start of the second tally.
    all_at: u32,
    /// Start of the third tally, which rows of early versions lack.
    side_at: u32,
}

impl TickRow {
    pub fn of(interval: &Interval, outline: &Outline, opened: &[Opened]) -> Self {
        let (mut run, mut all) = (interval.run.clone(), requests_total(outline, opened, interval));
        clear(&mut run.hists, &COARSER_RUN.map(RunHist::id));
        clear(&mut all.hists, &COARSER_SERIES.map(SeriesHist::id));
        let mut bytes = Vec::new();
        run.encode(&mut bytes);
        // A tally's number of cells limits it to far less than 4 GiB.
        let all_at = bytes.len() as u32;
        all.encode(&mut bytes);
        let side_at = bytes.len() as u32;
        SideTotals::of(interval, outline, opened).tally().encode(&mut bytes);
        Self { bytes: bytes.into(), all_at, side_at }
    }

    /// Returns run-wide numbers, with at least the cells of [`RUN_LAYOUT`].
    pub fn run(&self) -> Tally {
        decoded(&self.bytes[..self.all_at as usize], RUN_LAYOUT)
    }

    /// Returns the sum of all requests, with at least the cells of [`SERIES_LAYOUT`].
    pub fn all(&self) -> Tally {
        decoded(&self.bytes[self.all_at as usize..], SERIES_LAYOUT)
    }

    /// Returns the data of single requests, according to the run's plan.
    pub fn alongside(&self, outline: &Outline) -> SideTotals {
        SideTotals::from_tally(&decoded(&self.bytes[self.side_at as usize..], Layout::default()), outline)
    }

    /// Returns the bytes for the run file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Accepts the bytes of [`TickRow::bytes`], and decodes everything once, so that the accessors cannot fail later.
    pub(crate) fn from_bytes(bytes: Box<[u8]>) -> Result<Self, plimsoll_stats::Error> {
        let mut rest = &*bytes;
        Tally::decode(&mut rest)?;
        let all_at = (bytes.len() - rest.len()) as u32;
        Tally::decode(&mut rest)?;
        let side_at = (bytes.len() - rest.len()) as u32;
        if !rest.is_empty() {
            Tally::decode(&mut rest)?;
        }
        if !rest.is_empty() {
            return Err(plimsoll_stats::Error::Malformed { what: "bytes after a tick" });
        }
        Ok(Self { bytes, all_at, side_at })
    }
}

fn clear(hists: &mut [Hist], ids: &[usize]) {
    hists.iter_mut().enumerate().filter(|(id, _)| ids.contains(id)).for_each(|(_, hist)| hist.clear());
}

/// `bytes` were encoded or decoded by this code before, so an error can only mean a part that early versions did not
/// write; it becomes the empty tally.
fn decoded(mut bytes: &[u8], layout: Layout) -> Tally {
    match Tally::decode(&mut bytes) {
        Ok(tally) => widened(tally, layout),
        Err(_) => Tally::on_demand(layout),
    }
}

/// Returns the same numbers with at least the cells of `layout`.
pub(crate) fn widened(mut tally: Tally, layout: Layout) -> Tally {
    let has = tally.layout();
    let enough = has.sums >= layout.sums
        && has.peaks >= layout.peaks
        && has.floors >= layout.floors
        && has.hists >= layout.hists
        && has.lasts >= layout.lasts;
    if !enough {
        tally.merge(&Tally::on_demand(layout));
    }
    tally
}

impl std::fmt::Debug for TickRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TickRow({} bytes)", self.bytes.len())
    }
}
