//! The frame of a page, and the pieces from which its blocks are made.

pub mod bits;
pub mod chart;
pub mod page;
pub mod piece;
