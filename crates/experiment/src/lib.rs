//! Experiments: conclusions from many runs. Each run is reduced once to a [`plimsoll_analysis::Digest`]; [`compare`],
//! [`study`], and [`search`] read only digests, [`schedule`] chooses the next run, [`folder`] stores the runs, and
//! [`conclusion`] combines their results. Everything except the folder is a pure function of the runs: a stopped
//! experiment can continue, and a search can be simulated a thousand times in seconds.

#![forbid(unsafe_code)]

pub mod compare;
pub mod conclusion;
pub mod folder;
pub mod schedule;
pub mod search;
pub mod study;
mod validity;
