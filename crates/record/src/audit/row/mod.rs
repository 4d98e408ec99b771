//! Rules that look at one row by itself: bounds, identities, definitions.

use super::Rule;

pub const RULES: &[Rule] = &[];
