//! Which of several values to take.

use plimsoll_plan::answer::Pick;
use plimsoll_stats::random::SplitMix64;

/// Why there is no value if the response lacks it.
pub const NOTHING: &str = "the response has no such value";

/// Returns which of `count` values to take; `None` if there is none.
pub fn choose(pick: Pick, count: usize, random: &mut SplitMix64) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match pick {
        Pick::First | Pick::Count => 0,
        Pick::Last => last,
        // The bias of the high half of the product is 2^-64 of the count (Lemire 2019, without rejection).
        Pick::Random if last > 0 => ((u128::from(random.next_u64()) * count as u128) >> 64) as usize,
        Pick::Random => 0,
    })
}
