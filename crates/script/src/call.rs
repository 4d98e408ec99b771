//! gRPC calls: messages rendered from templates, and responses read as JSON, so that checks and extractions treat them
//! as any other body.

mod details;
mod encode;
mod end;
mod gzip;
mod json;

pub use details::details;
pub use encode::Encoder;
pub use end::{End, end_of};
pub use gzip::{Broken, Gzip};
pub use json::{Reader, Unread};
