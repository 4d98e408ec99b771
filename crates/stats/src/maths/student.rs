//! Student distribution: intervals of means of few values.
