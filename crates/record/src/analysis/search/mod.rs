//! Searches the highest load that meets the thresholds: a pure machine, history in, next probe out.
