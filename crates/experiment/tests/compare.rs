//! Comparison: that equal services are not told apart, that slower ones are, and that doubts are raised.

mod doubted;
mod expectations;
mod rules;
mod sim;
mod trials;
