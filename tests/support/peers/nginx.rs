//! nginx as a child: plain HTTP, HTTPS, and HTTPS that asks for a client's certificate, each on a free port, with an
//! access log in which tests count at the server.

use super::child::{missing, text};
use super::pki::{LOCAL, Pki};
use crate::support::Scratch;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(20);
/// Another process may take a port between its choice and its use.
const TRIES: usize = 5;
/// Bytes of `/big`.
pub const BIG_BYTES: usize = 1 << 20;

/// The child is a shell that ends nginx when its own stdin ends: nginx itself would outlive a killed test. `3<&0`,
/// because a shell gives its background jobs an empty stdin.
const GUARD: &str = r#"exec 3<&0
"$0" "$@" 3<&- & server=$!
{ cat <&3 >/dev/null; kill -TERM $server 2>/dev/null; } &
exec 3<&-
wait $server"#;

/// Configuration of nginx.
#[derive(Debug, Clone)]
pub struct Options {
    /// Such as `["TLSv1.2", "TLSv1.3"]`.
    pub protocols: Vec<&'static str>,
    /// Whether a later handshake may resume an earlier one, by a ticket.
    pub session_tickets: bool,
    /// Whether the server keeps sessions, so that a client may resume one by its ID.
    pub session_cache: bool,
    /// Suites of TLS 1.2, as OpenSSL writes them; `None`: the default of nginx.
    pub ciphers: Option<&'static str>,
    /// Requests after which a connection is closed.
    pub keepalive_requests: u32,
    /// HTTP/2 offered by ALPN on the HTTPS ports.
    pub http2: bool,
    /// subjectAltName of the server's certificate, as openssl wants it.
    pub names: &'static str,
    /// All requests are handed on to this server, byte for byte and as they come, instead of being answered here.
    pub proxy_to: Option<SocketAddr>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            protocols: vec!["TLSv1.2", "TLSv1.3"],
            session_tickets: true,
            session_cache: false,
            ciphers: None,
            keepalive_requests: 1_000_000,
            http2: false,
            names: LOCAL,
            proxy_to: None,
        }
    }
}

/// A running nginx.
pub struct Nginx {
    shell: Child,
    stdin: Option<ChildStdin>,
    /// HTTP, HTTPS, HTTPS with a client's certificate, HTTP after the header of the PROXY protocol.
    ports: [u16; 4],
    pki: Pki,
    scratch: Scratch,
}

/// One request as nginx logged it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Such as `TLSv1.3`; None for plain HTTP.
    pub tls: Option<String>,
    pub session_reused: bool,
    /// Ordinal of the connection.
    pub connection: u64,
    /// Ordinal of the request on it, from 1.
    pub connection_requests: u64,
    /// Bytes of the request, head and body.
    pub request_length: u64,
    pub status: u16,
    /// nginx's verification of the client's certificate: `SUCCESS`, `NONE`, `FAILED:...`; None if it did not request
    /// one.
    pub client_verify: Option<String>,
    /// The name in the client's hello.
    pub server_name: Option<String>,
    /// As OpenSSL names it.
    pub cipher: Option<String>,
    /// The serial number of the client's certificate, in hexadecimal digits.
    pub client_serial: Option<String>,
    /// The request line.
    pub request: String,
}

impl Nginx {
    /// Serves `/plain` (4 bytes), `/big` ([`BIG_BYTES`]), `/text` (by gzip where that is accepted) and `/sink` (any
    /// method and body).
    pub fn start(options: Options) -> Self {
        let pki = Pki::new(options.names);
        let mut said = String::new();
        for _ in 0..TRIES {
            let scratch = Scratch::new();
            match Self::try_start(&options, &pki, &scratch) {
                Ok((shell, stdin, ports)) => return Self { shell, stdin, ports, pki, scratch },
                Err(error) => said = error,
            }
            assert!(said.contains("Address already in use"), "nginx did not start:\n{said}");
        }
        panic!("nginx found no free port in {TRIES} tries:\n{said}");
    }

    fn try_start(
        options: &Options,
        pki: &Pki,
        scratch: &Scratch,
    ) -> Result<(Child, Option<ChildStdin>, [u16; 4]), String> {
        // All of them at once, so that they differ.
        let held = [(); 4].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free"));
        let ports = held.each_ref().map(|socket| socket.local_addr().expect("it is bound").port());
        drop(held);
        std::fs::create_dir(scratch.folder().join("www")).expect("the folder of a test is writable");
        scratch.file("www/plain", "fine");
        scratch.file("www/big", &"b".repeat(BIG_BYTES));
        scratch.file("www/text", &"a line that repeats\n".repeat(1000));
        scratch.file("nginx.conf", &configuration(options, pki, scratch.folder(), ports));
        let describe = || format!("{}{}", text(scratch, "stderr"), text(scratch, "error.log"));
        let mut shell = Command::new("sh")
            .args(["-c", GUARD])
            .arg(program())
            .args([
                "-e",
                &scratch.path("error.log"),
                "-p",
                &scratch.path(""),
                "-c",
                &scratch.path("nginx.conf"),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(scratch.folder().join("stderr")).expect("the folder of a test is writable"))
            .spawn()
            .unwrap_or_else(|error| missing("sh", "dash", &error));
        let stdin = shell.stdin.take();
        let begin = Instant::now();
        for port in ports {
            while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
                if shell.try_wait().expect("a child can be asked for").is_some() {
                    return Err(describe());
                }
                assert!(begin.elapsed() < DEADLINE, "nginx does not listen:\n{}", describe());
                std::thread::yield_now();
            }
        }
        // If another process listens on the port, nginx ends by itself.
        match describe().contains("Address already in use") {
            true => {
                drop(stdin);
                let _ = shell.wait();
                Err(describe())
            }
            false => Ok((shell, stdin, ports)),
        }
    }

    pub fn http_url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports[0])
    }

    pub fn https_url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.ports[1])
    }

    /// On the port that asks for a client's certificate, and answers 400 without a good one.
    pub fn client_verify_url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.ports[2])
    }

    /// HTTP, HTTPS, HTTPS with a client's certificate; all on 127.0.0.1.
    pub fn ports(&self) -> [u16; 3] {
        let [http, https, verified, _] = self.ports;
        [http, https, verified]
    }

    /// On the port that requires the header of the PROXY protocol.
    pub fn proxied_url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports[3])
    }

    /// The clients that the headers named, one for each request; waits until there are this many.
    pub fn wait_for_proxied_clients(&self, requests: usize) -> Vec<String> {
        let begin = Instant::now();
        loop {
            let clients: Vec<String> =
                text(&self.scratch, "proxied.log").lines().map(str::to_owned).collect();
            if clients.len() >= requests {
                return clients;
            }
            assert!(begin.elapsed() < DEADLINE, "{} of {requests} requests were logged", clients.len());
            std::thread::yield_now();
        }
    }

    /// The Unix domain socket of the first (`http`) or the second port (`https`).
    pub fn unix_socket(&self, scheme: &str) -> String {
        self.scratch.path(&format!("{scheme}.sock"))
    }

    pub fn pki(&self) -> &Pki {
        &self.pki
    }

    pub fn ca_file(&self) -> PathBuf {
        self.pki.ca_file()
    }

    /// Certificate and key that the third port accepts.
    pub fn client_cert(&self) -> (PathBuf, PathBuf) {
        self.pki.client()
    }

    /// The requests logged so far. nginx writes a line after the answer, so wait for the number you expect.
    pub fn log_lines(&self) -> Vec<LogLine> {
        let text = text(&self.scratch, "access.log");
        // The last line may be half written.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(LogLine::parse).collect()
    }

    /// Waits until there are at least this many.
    pub fn wait_for_log_lines(&self, at_least: usize) -> Vec<LogLine> {
        let begin = Instant::now();
        loop {
            let lines = self.log_lines();
            if lines.len() >= at_least {
                return lines;
            }
            assert!(begin.elapsed() < DEADLINE, "{} of {at_least} requests were logged", lines.len());
            std::thread::yield_now();
        }
    }

    /// Returns nginx's error messages, such as failed handshakes.
    pub fn error_log(&self) -> String {
        text(&self.scratch, "error.log")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.shell.wait();
    }
}

impl LogLine {
    fn parse(line: &str) -> Self {
        let mut words = line.splitn(11, ' ');
        let mut word = || words.next().unwrap_or_else(|| panic!("nginx logged `{line}`"));
        let given = |word: &str| (word != "-").then(|| word.to_owned());
        let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("nginx logged `{line}`"));
        Self {
            tls: given(word()),
            session_reused: word() == "r",
            connection: number(word()),
            connection_requests: number(word()),
            request_length: number(word()),
            status: number(word()) as u16,
            client_verify: given(word()),
            server_name: given(word()),
            cipher: given(word()),
            client_serial: given(word()),
            request: word().to_owned(),
        }
    }
}

/// Debian puts nginx where a plain user's PATH does not lead.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let mut programs = folders.map(|folder| folder.join("nginx"));
    programs
        .find(|program| program.is_file())
        .unwrap_or_else(|| missing("nginx", "nginx-light", &std::io::ErrorKind::NotFound.into()))
}

fn configuration(options: &Options, pki: &Pki, folder: &Path, ports: [u16; 4]) -> String {
    let [http, https, verified, proxied] = ports;
    let folder = folder.display();
    let (certificate, key) = pki.server();
    let on = |switch: bool| if switch { "on" } else { "off" };
    // Without tickets there is no cache either, so that no handshake can resume another.
    let cache = match (options.session_cache, options.session_tickets) {
        (true, _) => "shared:sessions:1m",
        (false, true) => "none",
        (false, false) => "off",
    };
    let ciphers = options.ciphers.map_or(String::new(), |list| format!("  ssl_ciphers {list};\n"));
    let listen = if options.http2 { "ssl http2" } else { "ssl" };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    let places = match options.proxy_to {
        None => "    location = /sink { return 200 'sunk'; }\n    location / { }\n".to_owned(),
        // Without buffers, so that events arrive one by one; without an upgrade, `Connection` is emptied to keep the
        // way on alive.
        Some(server) => format!(
            "    location / {{\n      proxy_pass http://{server};\n      proxy_http_version 1.1;\n      \
             proxy_set_header Host $http_host;\n      proxy_set_header Upgrade $http_upgrade;\n      \
             proxy_set_header Connection $connection_upgrade;\n      \
             proxy_buffering off;\n      proxy_request_buffering off;\n      gzip off;\n    }}\n"
        ),
    };
    format!(
        "daemon off;
pid {folder}/pid;
# Without effect unless root starts it; then the workers may read the test's folder.
user root;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
{temporary}  log_format counted '$ssl_protocol $ssl_session_reused $connection $connection_requests '
    '$request_length $status $ssl_client_verify $ssl_server_name $ssl_cipher $ssl_client_serial $request';
  log_format proxied '$proxy_protocol_addr';
  map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
  access_log {folder}/access.log counted;
  default_type text/plain;
  root {folder}/www;
  client_max_body_size 0;
  keepalive_requests {requests};
  gzip on;
  gzip_types text/plain;
  gzip_min_length 1000;
  gzip_http_version 1.0;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  ssl_protocols {protocols};
{ciphers}  ssl_session_tickets {tickets};
  ssl_session_cache {cache};
  server {{
    listen 127.0.0.1:{http};
    listen unix:{folder}/http.sock;
{places}  }}
  server {{
    listen 127.0.0.1:{https} {listen};
    listen unix:{folder}/https.sock {listen};
{places}  }}
  server {{
    listen 127.0.0.1:{verified} {listen};
    ssl_client_certificate {ca};
    ssl_verify_client on;
{places}  }}
  server {{
    listen 127.0.0.1:{proxied} proxy_protocol;
    access_log {folder}/proxied.log proxied;
{places}  }}
}}
",
        requests = options.keepalive_requests,
        certificate = certificate.display(),
        key = key.display(),
        protocols = options.protocols.join(" "),
        tickets = on(options.session_tickets),
        ca = pki.ca_file().display(),
    )
}
