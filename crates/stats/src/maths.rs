//! Pure statistics: functions of numbers, with their sources.

mod binomial;
pub mod bootstrap;
pub mod changepoint;
mod cluster;
pub mod holm;
mod normal;
pub mod quantile;
pub mod ranks;
pub mod regression;
pub mod steady;
pub mod student;
pub mod usl;

pub use cluster::{clustered_interval, clustered_ranks, design_effect};
pub use normal::inverse_normal;
pub use quantile::{
    Bounds, Censored, censored_quantile, enough_samples, median, quantile_interval, samples_needed,
};

/// Returns the autocorrelation of a series at `lag`, from -1 to 1; 0 for a series without spread. The sum of products
/// is divided by the whole sum of squares (Box & Jenkins 1976, equation 2.1.11). The first argument contains the values
/// minus their mean.
pub fn autocorrelation(centred: &[f64], lag: usize) -> f64 {
    let square: f64 = centred.iter().map(|v| v * v).sum();
    let cross: f64 = centred.iter().zip(centred.iter().skip(lag)).map(|(a, b)| a * b).sum();
    if square > 0.0 { cross / square } else { 0.0 }
}
