//! Flags and variables of `k6 run`.
