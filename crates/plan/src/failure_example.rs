//! Examples of failed responses: complete enough to understand the failure, and without secrets.

use serde::{Deserialize, Serialize};

/// Maximum number of examples of one check or fault that each worker keeps.
pub const EXAMPLES_MAX: u32 = 3;
/// Maximum number of bytes of a body in an example.
pub const EXCERPT_BYTES: usize = 512;

/// Used instead of the name of a check for the destination of a redirect that was not followed. It is not a failure,
/// and no report lists it.
pub const REDIRECT: &str = "redirect_not_followed";

/// An example of a failed response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureExample {
    /// From the start of the run, ns.
    pub at_ns: u64,
    /// Name of the request.
    pub request: String,
    /// Name of the check that failed, or of the fault.
    pub check: String,
    /// What was expected and what was found: a fragment without secrets.
    pub observed: String,
    pub status: u16,
    /// The beginning of the response body, without secrets.
    pub excerpt: String,
}
