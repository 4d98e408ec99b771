//! Runs in a browser: an index of run files, a web server for one person on one machine, and runs while they go on.
//!
//! Everything works without it. It reads run files, also those that are still being written, and starts runs as
//! processes of their own: whatever happens here cannot slow a send.

#![forbid(unsafe_code)]
