//! Redis without persistence: the lab measures the cache, not the disk.

use super::super::file::Process;
use super::super::fill::Fill;
use super::super::process::Spec;
use super::super::state::State;
use chore::Outcome;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

pub fn spec(process: &Process, fill: &Fill, state: &State) -> Result<Spec, String> {
    let mut spec = super::plain(process, fill, state);
    // Without a folder of its own it would leave files where the lab was started.
    let folder = state.folder.join(&process.name);
    super::super::make_folder(&folder)?;
    let port = fill.port(process.port.unwrap_or_default()).to_string();
    let place = folder.display().to_string();
    let line = ["redis-server", "--port", &port, "--bind", "127.0.0.1", "--dir", &place];
    spec.run = line.iter().map(|word| word.to_string()).collect();
    spec.run.extend(["--save", "", "--appendonly", "no", "--daemonize", "no"].map(String::from));
    for (name, value) in &process.settings {
        spec.run.extend([format!("--{name}"), value.clone()]);
    }
    Ok(spec)
}

/// Listening is not yet answering: asked once in its own words.
pub fn settle(process: &Process, fill: &Fill) -> Outcome {
    let port = fill.port(process.port.unwrap_or_default());
    let ask = || -> std::io::Result<Vec<u8>> {
        let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket.write_all(b"PING\r\n")?;
        let mut answer = vec![0; 7];
        socket.read_exact(&mut answer)?;
        Ok(answer)
    };
    match ask() {
        Ok(answer) if answer == b"+PONG\r\n" => Ok(()),
        Ok(answer) => {
            Err(format!("process `{}` answers PING by `{}`", process.name, String::from_utf8_lossy(&answer)))
        }
        Err(e) => Err(format!("process `{}` does not answer PING: {e}", process.name)),
    }
}
