//! What the runs of a sweep say together: hidden truths that must be found, and clean twins that must stay silent.

mod clusters;
mod courses;
mod curves;
mod findings;
mod fixture;
mod odd_tables;
mod sentences;
mod table;
