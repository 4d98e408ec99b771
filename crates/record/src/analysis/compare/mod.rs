//! Compares runs: differences with intervals, and what may be said about them.
