//! Where a series changes its level or its slope.
