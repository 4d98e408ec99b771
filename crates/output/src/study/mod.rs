//! The runs of an experiment in one table, and what they say together.
