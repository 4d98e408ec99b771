//! The universal scalability law, fitted.
