//! Several comparisons at once: step-down adjustment of p-values.
