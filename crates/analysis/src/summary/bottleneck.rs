//! The saturated resource of the system under test, according to monitors.

use super::{MonitorRow, SaturatedResource};
use crate::saturation::Saturation;
use serde::{Serialize, Serializer};
use std::fmt;

/// In documents it is its sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum Bottleneck {
    Saturated {
        what: String,
        evidence: Saturation,
    },
    /// All that was looked at had room.
    NoneWatched,
    /// No monitor saw anything.
    NotKnown,
}

impl Bottleneck {
    /// Of one run; `None` without monitors. `pressure` has the most telling first.
    pub fn of(monitors: &[MonitorRow], pressure: &[SaturatedResource]) -> Option<Self> {
        let is_blind = || monitors.iter().all(|monitor| monitor.rows.is_empty());
        (!monitors.is_empty()).then(|| match pressure.first() {
            Some(first) => first.into(),
            None if is_blind() => Bottleneck::NotKnown,
            None => Bottleneck::NoneWatched,
        })
    }
}

impl From<&SaturatedResource> for Bottleneck {
    fn from(one: &SaturatedResource) -> Self {
        Bottleneck::Saturated { what: one.resource.clone(), evidence: one.evidence.clone() }
    }
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bottleneck::Saturated { what, evidence } => write!(f, "{what} ({})", evidence.text()),
            Bottleneck::NoneWatched => f.write_str("no monitored resource was saturated"),
            Bottleneck::NotKnown => f.write_str("unknown: the monitors have no data"),
        }
    }
}

impl Serialize for Bottleneck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
