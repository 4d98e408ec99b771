//! Authentication of requests: digest (RFC 7616), signature version 4 of Amazon Web Services, and JSON Web Tokens
//! (RFC 7519). Each function takes bytes, credentials, and a time, and changes or returns bytes.

pub mod digest;
pub mod jwt;
pub mod sigv4;
