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
    // Without its own folder, it would leave files in the working directory of the lab.
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

/// Checks that the server responds to a PING: listening is not enough.
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
        Ok(answer) => Err(format!(
            "process `{}` responds to PING with `{}`",
            process.name,
            String::from_utf8_lossy(&answer)
        )),
        Err(e) => Err(format!("process `{}` does not respond to PING: {e}", process.name)),
    }
}
