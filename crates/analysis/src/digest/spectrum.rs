//! The distribution of several runs as one curve.

use super::{Block, Digest};
use crate::picture::{Spectrum, curve};
use crate::times::Belief;
use plimsoll_stats::Hist;

/// That of all requests of several runs together, as their comparison counts them: times that were cut off stand where
/// that happened. `None`: nothing was measured.
pub fn merged_spectrum(runs: &[Digest]) -> Option<Spectrum> {
    let merged = |of: fn(&Block) -> &Hist| {
        let mut all = Hist::on_demand();
        runs.iter().flat_map(|run| &run.blocks).for_each(|block| all.merge(of(block)));
        all
    };
    let (response, service) = (merged(|block| &block.response), merged(|block| &block.service));
    let none = Hist::on_demand();
    let of = |hist: &Hist| curve(hist, &none, Belief::LikeTheOthers).0;
    (response.count() > 0).then(|| Spectrum {
        response: of(&response),
        service: of(&service),
        response_count: response.count(),
        service_count: service.count(),
        ..Spectrum::default()
    })
}
