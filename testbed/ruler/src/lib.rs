//! A server whose behaviour is commanded, and which counts and stamps what it received.
//!
//! It is the truth that a load generator is tested against, so it shares no code with one: HTTP,
//! distributions, quantiles and clocks are written here a second time on purpose. One mistake made
//! once in a shared library would cancel out and never be seen.
//!
//! Read `README.md` for the contract (keys, end points, log format). The way through the code:
//! `flags`, `keys` and `settings` turn text into a [`settings::Settings`]; `server` is the event
//! loop; `request` reads, `answer`, `pressed` and `outgoing` write; `station` is the queue with workers;
//! `pages` and `feed` are end points with an answer of their own; `record`, `kept`, `seen` and `analysis`
//! keep and evaluate what was seen; `control` serves `/_test-server/*`.
//! `http2` and `server/http2` add HTTP/2.
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

pub use error::Error;

use std::io::Write;
use std::process::ExitCode;

/// Runs the ruler until its life ends, and returns the process's exit code: 0 after an ordinary end,
/// 1 when the machine refused something (the port is taken), 2 when a flag is wrong.
///
/// `args` are the arguments after the program's name, so that another binary can embed the ruler as
/// a sub-command. Prints one line on stdout, `listening on ADDRESS:PORT`, when it can be connected to, and with
/// `--tls-listen` a second one, `listening with TLS on ADDRESS:PORT`.
pub fn main(args: impl Iterator<Item = String>) -> ExitCode {
    let options = match flags::parse(args) {
        Ok(flags::Invocation::Run(options)) => options,
        Ok(flags::Invocation::Help) => {
            print!("{}", flags::help());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("test server: {error}");
            return ExitCode::from(2);
        }
    };
    match run(*options) {
        Ok(server::Ending::StdinClosed) => ExitCode::SUCCESS,
        Ok(server::Ending::LifeOver { seconds }) => {
            eprintln!("test server: stopped after its life of {seconds} s (`--seconds`)");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("test server: {error}");
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
