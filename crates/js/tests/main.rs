//! Tests of the crate's surface.

mod surface;
