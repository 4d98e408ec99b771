//! The flag for pages, the same wherever there is a result.

use clap::Args;

#[derive(Debug, Clone, Default, Args)]
pub struct PageFlag {
    /// Also write the result as one HTML file, which must not exist yet; `-`: to standard output, in place of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<String>,
}
