//! Flag for the HTML page of a result.

use clap::Args;

#[derive(Debug, Clone, Default, Args)]
pub struct PageFlag {
    /// Also write the result to this new HTML file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub html: Option<String>,
}
