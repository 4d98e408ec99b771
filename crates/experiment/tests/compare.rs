//! Comparison: equal services stay undistinguished, slower ones are found, and cautions are raised.

mod doubted;
mod expectations;
mod rules;
mod sim;
mod trials;
