//! The console as browsers meet it: over HTTP, from the binary itself.
