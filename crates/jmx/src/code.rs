//! Codes of mistakes and remarks; `plimsoll explain` describes each.

/// The file is not XML, or not a test plan.
pub const XML: &str = "J001";
/// The file is too large.
pub const SIZE: &str = "J002";
/// An element that plimsoll does not run.
pub const ELEMENT: &str = "J003";
/// A setting of a known element that plimsoll does not support.
pub const SETTING: &str = "J004";
/// A text with an invalid or unsupported function.
pub const FUNCTION: &str = "J005";
/// A number that the load needs is missing or invalid.
pub const NUMBER: &str = "J006";
/// A template token that nothing has replaced.
pub const TOKEN: &str = "J007";
/// A file that the plan names is missing or cannot be read.
pub const FILE: &str = "J008";
/// The plan has nothing to run.
pub const EMPTY: &str = "J009";
/// An Include or Module Controller without its target.
pub const REFERENCE: &str = "J010";
/// Variables that are defined by each other.
pub const CYCLE: &str = "J011";
/// A script that plimsoll does not recognize.
pub const SCRIPT: &str = "J012";
/// A flag or a property of the command line.
pub const FLAG: &str = "J013";

/// Remarks: the plan runs as in JMeter, but perhaps not as intended.
pub mod note {
    /// A variable that nothing defines: JMeter sends `${NAME}`.
    pub const UNDEFINED: &str = "J101";
    /// A number that JMeter takes as 0.
    pub const ZERO: &str = "J102";
    /// A text with an unfinished variable.
    pub const LITERAL: &str = "J103";
    /// A listener that writes a file.
    pub const WRITES: &str = "J104";
    /// An element that has an effect only in JMeter's window.
    pub const WINDOW: &str = "J105";
    /// Rows of a data file that repeat, or that machines share.
    pub const ROWS: &str = "J106";
    /// A load that is closed, although a timer limits its rate.
    pub const TIMER: &str = "J107";
    /// A disabled or unused element.
    pub const UNUSED: &str = "J108";
    /// A value of the command line that the plan does not need.
    pub const NOT_FOUND: &str = "J109";
}

/// Returns whether a text may change a property during the run: by a function, or by a script that refers to them.
pub(crate) fn changes_properties(text: &str) -> bool {
    ["__setProperty", "props", "setProperty"].iter().any(|word| text.contains(word))
}
