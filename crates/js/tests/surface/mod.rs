mod bench;
mod requests;
pub mod run;
mod values;
