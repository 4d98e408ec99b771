//! A test as a draft.
