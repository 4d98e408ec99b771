//! Where the warm-up ends: the truncation that leaves the least error of the mean.
