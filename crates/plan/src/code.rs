//! Users as code: a plan whose programs do not come from scenarios. The crate of a language implements [`Code`], so
//! that plans and the engine do not depend on it.

use crate::program::Behavior;
use crate::{Plan, Problem};
use std::sync::Arc;

/// The users of a plan, as code.
pub trait Code: Send + Sync + std::fmt::Debug {
    /// Compiles the code for the plan that contains it.
    ///
    /// # Errors
    /// Returns an error if the code is invalid for this plan.
    fn behavior(&self, plan: &Plan) -> Result<Arc<dyn Behavior>, Problem>;
}
