//! The false door.
