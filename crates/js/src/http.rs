//! HTTP requests of scripts, and their responses.

pub mod address;
mod error;
pub mod params;
pub mod response;
pub mod send;
pub mod series;
pub mod url;

pub use error::error_code;
pub use response::{BodyType, Expected, Pending, Response, canonical};
pub use send::{Prepared, send};
