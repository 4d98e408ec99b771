//! Many runs, one answer. A run is boiled down once to a [`plimsoll_analysis::Digest`]; [`compare`], [`study`] and
//! [`search`] see digests only, [`schedule`] says which run comes next, [`folder`] keeps them, and [`conclusion`] is
//! what they say together. All but the folder are pure functions of what was run: a stopped experiment goes on, and a
//! search can be simulated a thousand times in seconds.

#![forbid(unsafe_code)]

pub mod compare;
pub mod conclusion;
pub mod folder;
pub mod schedule;
pub mod search;
pub mod study;
mod validity;
