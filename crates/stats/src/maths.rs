//! Pure statistics: functions of numbers, with their source named.

mod binomial;
mod normal;
pub mod quantile;

pub use normal::inverse_normal;
pub use quantile::{Bounds, Censored, censored_quantile, median, quantile_interval, samples_needed};
