//! Stop-the-world pauses: periods without responses.

use crate::units;

/// A pause of `length_ns` at the start of every `period_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Length of the pause.
    pub length_ns: u64,
    /// From the start of one pause to the start of the next.
    pub period_ns: u64,
}

impl Pause {
    /// Reads `1s/10s`.
    ///
    /// # Errors
    /// Returns a sentence that says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (length, period) = text
            .split_once('/')
            .ok_or_else(|| format!("invalid pause `{text}`: expected length/period, for example 1s/10s"))?;
        let pause = Pause { length_ns: units::duration_ns(length)?, period_ns: units::duration_ns(period)? };
        if pause.length_ns >= pause.period_ns {
            return Err(format!("invalid pause `{text}`: it must be shorter than its period"));
        }
        Ok(pause)
    }

    /// Returns when output that is due at `due_ns` is sent, if the first pause starts at `first_ns`: `due_ns` itself
    /// outside of a pause, otherwise the end of the pause.
    pub fn hold(&self, first_ns: u64, due_ns: u64) -> u64 {
        if due_ns < first_ns {
            return due_ns;
        }
        let phase_ns = (due_ns - first_ns) % self.period_ns;
        if phase_ns < self.length_ns { due_ns + self.length_ns - phase_ns } else { due_ns }
    }
}
