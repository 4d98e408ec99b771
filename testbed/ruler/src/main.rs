//! The `ruler` program: [`ruler::main`] as a separate binary.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ruler::main(std::env::args().skip(1))
}
