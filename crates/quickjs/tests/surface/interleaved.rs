//! Fibers that wait in the middle of every construct do not notice each other.

use super::torture::{Found, NATIVES, Torture};
use plimsoll_quickjs::Runtime;

const ORDINARY: Torture = Torture {
    fibers: 200,
    suspensions: 80_000,
    seed: 1,
    cancels_per_million: 1_500,
    collections_per_million: 0,
};

/// Runs the torture; the runtime is freed, which checks that nothing has leaked.
fn run(torture: Torture) -> Found {
    let runtime = Runtime::new(NATIVES).expect("a runtime");
    let found = torture.run(&runtime);
    assert_eq!(found.mismatches, [""; 0], "seed {}", torture.seed);
    assert!(found.suspensions >= torture.suspensions, "{found:?}");
    found
}

#[test]
fn every_construct_has_the_result_and_the_stacks_that_it_has_alone() {
    for seed in 1..=3 {
        let found = run(Torture { seed, ..ORDINARY });
        assert!(found.cancelled > 50, "{found:?}");
        assert!(found.groups > 1_000, "{found:?}");
    }
}

#[test]
fn collections_while_fibers_wait_free_nothing_in_use() {
    let found = run(Torture { fibers: 50, suspensions: 20_000, collections_per_million: 20_000, ..ORDINARY });
    assert!(found.collections > 100, "{found:?}");
}

#[test]
#[ignore = "5 million suspensions: `cargo xtask nightly`"]
fn every_construct_has_its_result_for_millions_of_suspensions() {
    let long = Torture { fibers: 500, suspensions: 1_250_000, collections_per_million: 50, ..ORDINARY };
    let found: u64 = (11..15).map(|seed| run(Torture { seed, ..long }).suspensions).sum();
    assert!(found >= 5_000_000, "{found}");
}
