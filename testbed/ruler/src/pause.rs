//! Stop-the-world pauses: spans in which nothing is answered.

use crate::units;

/// A pause of `length_ns` at the start of every `period_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// How long nothing is answered.
    pub length_ns: u64,
    /// From the beginning of one pause to the beginning of the next.
    pub period_ns: u64,
}

impl Pause {
    /// Reads `1s/10s`.
    ///
    /// # Errors
    /// A sentence saying what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (length, period) = text
            .split_once('/')
            .ok_or_else(|| format!("`{text}` is no pause; write length/period, for example 1s/10s"))?;
        let pause = Pause { length_ns: units::duration_ns(length)?, period_ns: units::duration_ns(period)? };
        if pause.length_ns >= pause.period_ns {
            return Err(format!("the pause in `{text}` must be shorter than its period"));
        }
        Ok(pause)
    }

    /// The instant at which something due at `due_ns` goes out, when the first pause begins at
    /// `first_ns`: `due_ns` itself outside of a pause, else the end of the pause.
    pub fn hold(&self, first_ns: u64, due_ns: u64) -> u64 {
        if due_ns < first_ns {
            return due_ns;
        }
        let phase_ns = (due_ns - first_ns) % self.period_ns;
        if phase_ns < self.length_ns { due_ns + self.length_ns - phase_ns } else { due_ns }
    }
}
