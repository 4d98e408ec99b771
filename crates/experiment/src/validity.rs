//! Which runs are valid, and what they show.

use plimsoll_analysis::Digest;
use plimsoll_analysis::summary::Outcome;
use plimsoll_record::event::StoppedBy;

/// Whether a run is valid: complete, and not stopped manually. A run that a threshold or the circuit breaker ended is
/// valid.
pub fn is_valid(digest: &Digest) -> bool {
    let by_hand = [StoppedBy::Interrupt, StoppedBy::InterruptAllowed].map(Some);
    digest.complete && !by_hand.contains(&digest.stopped_by)
}

/// Whether all thresholds were met; `None` if the run is inconclusive.
pub fn met(digest: &Digest) -> Option<bool> {
    (!matches!(digest.outcome, Outcome::Inconclusive | Outcome::Interrupted))
        .then(|| digest.thresholds.iter().all(|t| t.is_met))
}
