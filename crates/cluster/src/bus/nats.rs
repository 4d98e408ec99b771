//! A connection to a NATS server, on a separate thread.
//!
//! The connection is opened again for as long as the bus exists. What is published meanwhile is kept by the client, at
//! most 2,048 messages, and delivered late; senders repeat what matters, and receivers ignore what is stale.

use super::{Change, Heard, Message};
use async_nats::{ConnectOptions, Event, ServerAddr};
use futures_util::StreamExt;
use plimsoll_plan::Problem;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Wait for the first connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Pings that notice a server that is connected but does not answer.
const PING: Duration = Duration::from_secs(1);
/// Pause between two attempts to connect again.
const RECONNECT: Duration = Duration::from_millis(250);

/// How to reach and convince a server.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// `nats://HOST:PORT` or `tls://HOST:PORT`; several with commas.
    pub url: String,
    /// File with a JWT and an nkey seed, as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// File with an nkey seed.
    pub nkey: Option<PathBuf>,
    /// Trusted CA certificates (PEM).
    pub ca: Option<PathBuf>,
    /// Client certificate and key (PEM).
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Prefix of the subjects of answers, so that a server can restrict who reads them.
    pub inbox: String,
    /// Name of the connection in the server's monitoring.
    pub name: String,
}

enum Job {
    Publish { subject: String, payload: Vec<u8> },
    Subscribe(String),
    Request { subject: String, payload: Vec<u8>, wait: Duration, answer: Sender<Result<Vec<u8>, String>> },
    Close(Sender<()>),
}

/// A connection, shared by its clones.
#[derive(Clone)]
pub struct Connection {
    jobs: UnboundedSender<Job>,
    max_payload: usize,
    server: String,
}

impl Connection {
    /// Connects. Everything that is heard goes to `heard`.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or does not accept the credentials.
    pub fn open(access: Access, heard: Sender<Heard>) -> Result<Connection, Problem> {
        let (jobs, mut todo) = unbounded_channel::<Job>();
        let (told, opened) = channel::<Result<(usize, String), Problem>>();
        let url = access.url.clone();
        let body = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(e) => {
                    let _ = told.send(Err(Problem::plain(format!("cannot start the bus: {e}"))));
                    return;
                }
            };
            runtime.block_on(async move {
                let client = match connected(access, heard.clone()).await {
                    Ok(client) => client,
                    Err(problem) => {
                        let _ = told.send(Err(problem));
                        return;
                    }
                };
                let info = client.server_info();
                let _ = told.send(Ok((info.max_payload, info.version.clone())));
                while let Some(job) = todo.recv().await {
                    match job {
                        Job::Publish { subject, payload } => {
                            // Without a server, the client keeps the message or drops it; the sender repeats it.
                            let _ = client.publish(subject, payload.into()).await;
                        }
                        Job::Subscribe(subject) => subscribe(&client, subject, heard.clone()).await,
                        Job::Request { subject, payload, wait, answer } => {
                            let client = client.clone();
                            tokio::spawn(async move {
                                let request =
                                    async_nats::Request::new().payload(payload.into()).timeout(Some(wait));
                                let reply = client.send_request(subject, request).await;
                                let reply = reply.map(|reply| reply.payload.to_vec());
                                // The caller may have given up.
                                let _ = answer.send(reply.map_err(|e| e.to_string()));
                            });
                        }
                        Job::Close(closed) => {
                            // A server that is gone receives nothing.
                            let _ = tokio::time::timeout(PING, client.flush()).await;
                            let _ = closed.send(());
                            return;
                        }
                    }
                }
            });
        };
        std::thread::Builder::new()
            .name("bus".into())
            .spawn(body)
            .map_err(|e| Problem::plain(format!("cannot start the bus: {e}")))?;
        match opened.recv() {
            Ok(Ok((max_payload, server))) => Ok(Connection { jobs, max_payload, server }),
            Ok(Err(problem)) => Err(problem),
            Err(_) => {
                Err(Problem::plain(format!("the connection to {} ended at once", without_credentials(&url))))
            }
        }
    }

    /// Returns the largest message that the server accepts, bytes.
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// Returns the version of the server.
    pub fn server_version(&self) -> &str {
        &self.server
    }

    /// Publishes a message; whether it arrives is not known.
    pub fn publish(&self, subject: String, payload: Vec<u8>) {
        // A bus whose thread has ended is closed.
        let _ = self.jobs.send(Job::Publish { subject, payload });
    }

    /// Hands out messages with this subject, also after a new connection.
    pub fn subscribe(&self, subject: &str) {
        let _ = self.jobs.send(Job::Subscribe(subject.to_owned()));
    }

    /// Asks, and blocks until the answer.
    ///
    /// # Errors
    /// Returns a sentence if there is none in time.
    pub fn request(&self, subject: &str, payload: Vec<u8>, wait: Duration) -> Result<Vec<u8>, String> {
        let (answer, answered) = channel();
        let job = Job::Request { subject: subject.to_owned(), payload, wait, answer };
        self.jobs.send(job).map_err(|_| "the bus is closed".to_owned())?;
        answered.recv_timeout(wait + PING).unwrap_or_else(|_| Err("no answer".into()))
    }

    /// Sends what is still to be sent, for at most a second, and closes the connection.
    pub fn close(&self) {
        let (closed, done) = channel();
        if self.jobs.send(Job::Close(closed)).is_ok() {
            let _ = done.recv_timeout(2 * PING);
        }
    }
}

async fn connected(access: Access, heard: Sender<Heard>) -> Result<async_nats::Client, Problem> {
    let mut options = ConnectOptions::new()
        .name(&access.name)
        .custom_inbox_prefix(&access.inbox)
        .ping_interval(PING)
        .connection_timeout(CONNECT)
        .reconnect_delay_callback(|_| RECONNECT)
        .event_callback(move |event| {
            let heard = heard.clone();
            async move {
                let change = match event {
                    Event::Connected => Change::Connected,
                    Event::Disconnected | Event::Closed | Event::LameDuckMode => Change::Disconnected,
                    Event::ServerError(e) => Change::Refused(e.to_string()),
                    // One for each attempt to connect again; the change to connected ends them.
                    Event::ClientError(_) | Event::SlowConsumer(_) | Event::Draining => return,
                };
                // The receiver may have ended.
                let _ = heard.send(Heard::Change(change));
            }
        });
    if let Some(file) = &access.credentials {
        options = options.credentials_file(file).await.map_err(|e| {
            let hint = "use the file that `nsc generate creds` writes";
            Problem::new(format!("cannot use the credentials `{}`: {e}", file.display()), hint)
        })?;
    }
    if let Some(file) = &access.nkey {
        let seed = std::fs::read_to_string(file)
            .map_err(|e| Problem::plain(format!("cannot read `{}`: {e}", file.display())))?;
        options = options.nkey(seed.trim().to_owned());
    }
    if let Some(file) = &access.ca {
        options = options.add_root_certificates(file.clone());
    }
    if let Some((certificate, key)) = &access.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    let servers: Vec<&str> = access.url.split(',').collect();
    let address = servers.first().and_then(|text| text.parse::<ServerAddr>().ok());
    // The client does not use what an address contains besides the server.
    options = match address.as_ref().map(|address| (address.username(), address.password())) {
        Some((Some(user), Some(password))) => options.user_and_password(user.into(), password.into()),
        Some((Some(token), None)) => options.token(token.into()),
        _ => options,
    };
    let shown = without_credentials(&access.url);
    options.connect(servers).await.map_err(|e| {
        let text = e.to_string();
        let is_refused =
            text.contains("authorization") || text.contains("uthenticat") || text.contains("nkey");
        match is_refused {
            true => Problem::new(
                format!("the NATS server at {shown} rejected the credentials"),
                "give the ones that it knows: `nats://USER:PASSWORD@HOST`, `--creds agent.creds`, or `--nkey agent.nk`",
            ),
            false => Problem::new(
                format!("cannot connect to the NATS server at {shown}: {text}"),
                "check the address, or start a server with `nats-server`",
            ),
        }
    })
}

/// Returns addresses as they may be shown.
fn without_credentials(url: &str) -> String {
    let one = |address: &str| match address.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map_or("nats", |(scheme, _)| scheme);
            format!("{scheme}://{host}")
        }
        None => address.to_owned(),
    };
    url.split(',').map(one).collect::<Vec<_>>().join(",")
}

async fn subscribe(client: &async_nats::Client, subject: String, heard: Sender<Heard>) {
    match client.subscribe(subject.clone()).await {
        Ok(mut messages) => {
            tokio::spawn(async move {
                while let Some(message) = messages.next().await {
                    let message = Message {
                        subject: message.subject.to_string(),
                        reply: message.reply.map(|reply| reply.to_string()),
                        payload: message.payload.to_vec(),
                    };
                    if heard.send(Heard::Message(message)).is_err() {
                        return;
                    }
                }
            });
        }
        Err(e) => {
            let _ = heard.send(Heard::Change(Change::Refused(format!("cannot subscribe to {subject}: {e}"))));
        }
    }
}
