//! A comparison, for people, for pull requests and for machines.
