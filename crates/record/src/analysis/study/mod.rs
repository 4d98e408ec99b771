//! Analyses over several runs of one experiment: curves, knees, scaling, and what stood at its limit.
