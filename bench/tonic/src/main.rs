//! The peer of `cargo xtask bench grpc`: a client on tonic, with one thread and the code that its generator would make.
//! `tonic-client ADDRESS CONNECTIONS CALLS SECONDS`, with CALLS in flight on each connection; with 0 seconds, each of
//! them makes one call.

#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

use http::uri::PathAndQuery;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tonic::Request;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;

/// The message of `bench/call.proto`.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(string, tag = "14")]
    a_string: String,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match words.as_slice() {
        [address, connections, calls, seconds] => run(address, connections, calls, seconds),
        _ => Err("usage: tonic-client ADDRESS CONNECTIONS CALLS SECONDS".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

fn run(address: &str, connections: &str, calls: &str, seconds: &str) -> Result<(), Failure> {
    let (connections, calls, seconds): (u32, u32, u64) =
        (connections.parse()?, calls.parse()?, seconds.parse()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut callers = Vec::new();
        for _ in 0..connections {
            let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
            callers.extend((0..calls).map(|_| tokio::spawn(caller(channel.clone(), end))));
        }
        for caller in callers {
            caller.await??;
        }
        Ok(())
    })
}

/// Calls until the end, at least once.
async fn caller(channel: Channel, end: Instant) -> Result<(), Failure> {
    let mut client = Grpc::new(channel);
    let message = Message { a_string: "a".repeat(30) };
    loop {
        client.ready().await?;
        let path = PathAndQuery::from_static("/echo.v1.Echo/Send");
        let codec: ProstCodec<Message, Message> = ProstCodec::default();
        let response = client.unary(Request::new(message.clone()), path, codec).await?;
        if response.into_inner() != message {
            return Err("the server returned another message".into());
        }
        if Instant::now() >= end {
            return Ok(());
        }
    }
}
