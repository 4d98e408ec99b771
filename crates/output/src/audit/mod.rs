//! The audit of published results, for reading and for quoting.
