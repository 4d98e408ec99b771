//! Users as code: a plan whose programs do not come from scenarios. The crate of a language implements [`Code`], so
//! that plans and the engine do not depend on it.

use crate::program::Behavior;
use crate::request::Target;
use crate::{Plan, Problem};
use std::net::IpAddr;
use std::sync::Arc;

/// The users of a plan, as code.
pub trait Code: Send + Sync + std::fmt::Debug {
    /// Compiles the code for the plan that contains it.
    ///
    /// # Errors
    /// Returns an error if the code is invalid for this plan.
    fn behavior(&self, plan: &Plan) -> Result<Arc<dyn Behavior>, Problem>;

    /// Returns why an address that programs ask for must not be reached; `None` if it may.
    fn refusal(&self, _address: IpAddr) -> Option<String> {
        None
    }

    /// Returns whether the code of a user has ended the test for all users.
    fn has_ended_test(&self) -> bool {
        false
    }

    /// Takes what is known of an origin that was tried.
    fn note_origin(&self, _origin: OriginFacts) {}
}

/// What a trial connection has found out about an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginFacts {
    pub target: Target,
    /// The address of all its connections; `None` if there are several.
    pub address: Option<IpAddr>,
    /// The version of TLS, 12 or 13, and the cipher suite as IANA names it.
    pub tls: Option<(u8, &'static str)>,
}
