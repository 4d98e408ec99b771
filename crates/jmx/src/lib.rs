//! Reads JMeter's test plans.
//!
//! A plan ([`read()`]) becomes a tree of controllers and samplers for each thread group ([`plan`]), in which each
//! sampler has everything in its scope. Texts with variables and functions are compiled ([`text`]). The crate evaluates
//! nothing per request and sends nothing.

#![forbid(unsafe_code)]

pub mod code;
mod compile;
mod draft;
pub mod evaluate;
pub mod flags;
pub mod function;
mod keystore;
mod lint;
mod place;
pub mod plan;
pub mod properties;
mod read;
pub mod text;
mod tokens;
mod tree;

pub use draft::draft;
pub use place::{Files, Source};
pub use read::{BYTES_MAX, Given, Reading, read};
pub use tokens::Replaced;
