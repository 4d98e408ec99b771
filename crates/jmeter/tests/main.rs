//! Tests of this crate through its surface.
