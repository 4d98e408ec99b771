//! HTTP/2: what a session sends, and what it makes of a server's frames.

mod exchanges;
mod peer;
