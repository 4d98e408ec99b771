//! Rank tests: Mann-Whitney, and the shift that goes with it.
