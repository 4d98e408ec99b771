//! What is drawn with characters: bars, sparklines, and columns.

pub mod chart;
pub mod table;
