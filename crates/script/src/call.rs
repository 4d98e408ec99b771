//! gRPC calls: messages rendered from templates, and responses read as JSON, so that checks and extractions treat them
//! as any other body.

mod details;
mod encode;
mod end;
mod gzip;
mod json;
mod web;

pub use details::{any_details, binary, details};
pub use encode::Encoder;
pub use end::{End, begin_of, end_of, status_in};
pub use gzip::{Broken, Gzip};
pub use json::{Reader, Style, Unread};
pub use web::Web;
