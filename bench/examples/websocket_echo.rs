//! The peer of `cargo xtask bench websocket`: a client on the library `tungstenite` with one epoll loop, and one
//! message in flight on each connection. `websocket_echo ADDRESS CONNECTIONS SECONDS`; with 0 seconds, one round trip.

#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tungstenite::{Error, Message, WebSocket, client};

/// That of `bench/src/messages.rs`.
const PAYLOAD: &str = "abcdefghijklmnopqrstuvwxyz012345";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [address, connections, seconds] => run(address, connections, seconds),
        _ => Err("usage: websocket_echo ADDRESS CONNECTIONS SECONDS".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run(address: &str, connections: &str, seconds: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (connections, seconds): (usize, u64) = (connections.parse()?, seconds.parse()?);
    let epoll = Epoll::new(EpollCreateFlags::empty())?;
    let message = Message::text(PAYLOAD);
    let mut sockets = Vec::new();
    for at in 0..connections {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let (mut socket, _) = client(format!("ws://{address}/websocket"), stream)?;
        socket.get_ref().set_nonblocking(true)?;
        epoll.add(socket.get_ref(), EpollEvent::new(EpollFlags::EPOLLIN, at as u64))?;
        socket.send(message.clone())?;
        sockets.push(socket);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut events = [EpollEvent::empty(); 256];
    let mut is_first = true;
    while is_first || Instant::now() < end {
        let ready = epoll.wait(&mut events, EpollTimeout::from(1000u16))?;
        for event in &events[..ready] {
            while echoed(&mut sockets[event.data() as usize])? {
                sockets[event.data() as usize].send(message.clone())?;
            }
        }
        is_first = false;
    }
    Ok(())
}

/// Returns whether the response has come; otherwise the socket has nothing more to read.
fn echoed(socket: &mut WebSocket<TcpStream>) -> Result<bool, Box<dyn std::error::Error>> {
    match socket.read() {
        Ok(Message::Text(text)) if text.as_str() == PAYLOAD => Ok(true),
        Ok(other) => Err(format!("unexpected message {other:?}").into()),
        Err(Error::Io(e)) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e.into()),
    }
}
