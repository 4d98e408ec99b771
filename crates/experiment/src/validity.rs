//! Which runs count, and what they prove.

use plimsoll_analysis::Digest;
use plimsoll_analysis::summary::Outcome;
use plimsoll_record::event::StoppedBy;

/// A run that counts: whole, and not stopped by hand. One that a threshold or the breaker ended has told all.
pub fn is_valid(digest: &Digest) -> bool {
    let by_hand = [StoppedBy::Interrupt, StoppedBy::InterruptAllowed].map(Some);
    digest.complete && !by_hand.contains(&digest.stopped_by)
}

/// All thresholds were met; `None` when the run proves nothing.
pub fn met(digest: &Digest) -> Option<bool> {
    (!matches!(digest.outcome, Outcome::Inconclusive | Outcome::Interrupted))
        .then(|| digest.thresholds.iter().all(|t| t.is_met))
}
