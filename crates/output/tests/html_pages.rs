//! The pages of experiments, searches, comparisons, audits and parts, read as a browser reads them.

mod fixtures;
mod frame;
mod numbers;
