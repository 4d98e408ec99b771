//! Bodies of responses: their content codings, and the values in JSON, HTML, and XML.
//!
//! The checks of scenarios, scripts of k6, and plans of JMeter read responses here. A body is read in
//! place; it becomes a tree only if a query needs one.

#![forbid(unsafe_code)]

pub mod choose;
pub mod coding;
pub mod jmes;
pub mod json;
pub mod markup;
pub mod number;
pub mod query;
pub mod schema;
pub mod values;

pub use coding::decoded;
pub use markup::html_json;
pub use schema::ValueSchema;
pub use values::{Unreadable, Values};
