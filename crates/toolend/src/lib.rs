//! The end of a test as other tools report it: the text that wrk prints, from the record of a run.
//!
//! Each text is a pure function of [`Figures`] and of the command line that the crate `lines` has read. The layout is
//! that of the tool, to the byte. Each value has the definition of the tool, as far as the record contains it; the
//! modules name the exceptions. Values of distributions are exact to less than 1%, as everywhere in a record.

#![forbid(unsafe_code)]

pub mod ab;
mod figures;
pub mod hey;
pub mod loadtest;
pub mod oha;
mod ordered;
pub mod vegeta;
pub mod wrk;

pub use figures::{Figures, Second};
