//! The pages of experiments, searches, comparisons, audits and parts, read as a browser reads them.

// The helpers between the tests may stop at the first surprise too; the setting for tests does not reach them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../compare/fixtures.rs"]
#[allow(dead_code, reason = "the tests of the texts need others of them")]
mod compared;
#[path = "../html/dom.rs"]
#[allow(dead_code, reason = "the tests of the page of a run ask more questions")]
mod dom;
mod fixtures;
mod frame;
mod numbers;
