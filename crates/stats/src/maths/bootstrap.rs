//! Block bootstrap: how much a figure would differ in another run of the same length.
