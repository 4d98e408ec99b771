//! Straight lines and monotone curves through noisy points.
