//! What charts show of a run must be the run: sums, pooled percentiles, nothing lost, nothing mixed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test may stop and talk")]

mod check;
mod events;
#[allow(dead_code, reason = "the analysis' tests use the rest")]
#[path = "../analysis/fixture.rs"]
mod fixture;
mod kinds;
#[path = "../made_up/mod.rs"]
mod made_up;
mod rows;
mod spans;

// The example that makes runs is tested with them.
#[path = "../../examples/make_run/odd.rs"]
mod odd;
#[path = "../../examples/make_run/scene.rs"]
mod scene;
#[allow(dead_code, reason = "hours of it are for the example")]
#[path = "../../examples/make_run/shop.rs"]
mod shop;
#[path = "../../examples/make_run/trouble.rs"]
mod trouble;
