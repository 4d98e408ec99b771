//! Rules that look at rows beside each other, at tables, and at sentences beside figures.

use super::Rule;

pub const RULES: &[Rule] = &[];
