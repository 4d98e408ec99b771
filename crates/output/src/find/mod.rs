//! What a search found: the answer, the curve, the steps.
