//! A server with configurable behavior that counts and timestamps what it receives.
//!
//! Load generators are tested against its record, so it shares no code with them: HTTP, distributions,
//! quantiles, and clocks are written here a second time on purpose. A mistake in a shared library would
//! cancel out, and no test would find it.
//!
//! `README.md` defines the contract (keys, endpoints, log format). The way through the code: `flags`, `keys`,
//! and `settings` turn text into a [`settings::Settings`]; `server` is the event loop; `request` reads;
//! `answer`, `pressed`, and `outgoing` write; `station` is the queue with workers; `pages` and `feed` are the
//! endpoints with their own responses; `record`, `kept`, `observed`, and `analysis` keep and evaluate the
//! record; `control` serves `/_test-server/*`. `http2` and `server/http2` add HTTP/2.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod draw;
pub mod pause;
pub mod settings;
pub mod units;

mod answer;
mod clock;
mod control;
mod error;
mod fault;
mod feed;
mod flags;
mod http2;
mod json;
mod kept;
mod keys;
mod listener;
mod observed;
mod outgoing;
mod pages;
mod pressed;
mod record;
mod request;
mod server;
mod station;
mod timers;
mod websocket;

pub use error::Error;

use std::io::Write;
use std::process::ExitCode;

/// Runs the ruler until stdin closes or its time is over, and returns the exit code: 0 after a normal end,
/// 1 after an error of the machine (the port is in use), 2 if a flag is invalid.
///
/// `args` are the arguments after the program's name, so another binary can embed the ruler as a command.
/// Prints one line on stdout, `listening on ADDRESS:PORT`, as soon as it accepts connections, and with `--tls-listen` a
/// second one, `listening with TLS on ADDRESS:PORT`.
pub fn main(args: impl Iterator<Item = String>) -> ExitCode {
    let options = match flags::parse(args) {
        Ok(flags::Invocation::Run(options)) => options,
        Ok(flags::Invocation::Help) => {
            print!("{}", flags::help());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(*options) {
        Ok(server::Ending::StdinClosed) => ExitCode::SUCCESS,
        Ok(server::Ending::LifeOver { seconds }) => {
            eprintln!("test server: stopped after {seconds} s (`--seconds`)");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(1)
        }
    }
}

fn run(options: flags::Options) -> Result<server::Ending, Error> {
    let mut server = server::Server::open(options)?;
    let mut stdout = std::io::stdout();
    let tls = server.tls_address().map(|address| format!("listening with TLS on {address}\n"));
    writeln!(stdout, "listening on {}", server.address())
        .and_then(|()| stdout.write_all(tls.unwrap_or_default().as_bytes()))
        .and_then(|()| stdout.flush())
        .map_err(|source| Error::Machine { doing: "print the address".into(), source })?;
    server.run()
}
