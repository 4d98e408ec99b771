//! `tls:` before a plain target: what it says could not happen, so it is refused. What it does is in `peers`.

use super::{Case, case};
use crate::bench::{steps, trial};

pub const CASES: &[Case] = &[case(
    &["experiment.tls"],
    || trial(format!("tls: {{ insecure: true }}\n{}", steps("- get: /x"))),
    |s| s.refused(&["experiment.yaml:", "tls", "https"]),
)];
