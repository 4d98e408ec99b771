//! The monitor of a control group.

mod place;

pub use place::Place;
