//! What can be found in a run: every doubt that a result can carry ([`caution`]) and every cause that is known
//! ([`cause`]), each a row of a table with its evidence as numbers, and resources at their limits ([`saturation`]).
//! Here, and nowhere else, numbers of findings become sentences; `analysis` finds them.

#![forbid(unsafe_code)]

pub mod cause;
pub mod caution;
pub mod saturation;
