//! An example of what went wrong, kept whole enough to understand it and redacted enough to show it.

use serde::{Deserialize, Serialize};

/// Most samples of one check or fault that each worker keeps.
pub const EXAMPLES_MAX: u32 = 3;
/// Most bytes of a body in a sample.
pub const EXCERPT_BYTES: usize = 512;

/// In place of a check's name: not a failure, but where a redirect led that was not followed. No report lists it.
pub const REDIRECT: &str = "redirect_not_followed";

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureExample {
    /// From the start of the run, ns.
    pub at_ns: u64,
    /// Name of the request.
    pub request: String,
    /// Name of the check that failed, or of the fault.
    pub check: String,
    /// What was expected and what was found, as a sentence fragment, redacted.
    pub observed: String,
    pub status: u16,
    /// The beginning of the answer's body, redacted.
    pub excerpt: String,
}
