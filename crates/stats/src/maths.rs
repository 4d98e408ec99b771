//! Pure statistics: functions of numbers, with their source named.

mod binomial;
pub mod bootstrap;
pub mod changepoint;
pub mod holm;
mod normal;
pub mod quantile;
pub mod ranks;
pub mod regression;
pub mod steady;
pub mod student;
pub mod usl;

pub use normal::inverse_normal;
pub use quantile::{
    Bounds, Censored, censored_quantile, enough_samples, median, quantile_interval, quantile_ranks,
    samples_needed,
};
