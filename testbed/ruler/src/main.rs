//! The `ruler` program: the library's [`ruler::main`] under its own name.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ruler::main(std::env::args().skip(1))
}
