//! The HTTPS target: nginx in one process, with a new certificate. It counts requests itself, and
//! logs the first request of every connection with the negotiated parameters, so the server's log shows if a tool
//! resumes sessions, reconnects when it should not, or uses another cipher.

use super::target::{Counters, Target, ask, process_cpu_s, remove_if_there};
use super::{Context, child};
use chore::{Outcome, shell};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WITHIN: Duration = Duration::from_secs(10);
/// Another process may take a port between its choice and its use.
const TRIES: usize = 5;
/// As many bytes as the response of the plain target.
const BODY: &str = r#"{"id":12345,"name":"benchmark","ok":true,"pad":"aaaaaaaaaaaaaaaaaaaaaaaaaa"}"#;

/// A running nginx; it ends with this value.
pub struct Nginx {
    child: Child,
    status: u16,
    https: u16,
    http2: u16,
    http2_tls: u16,
    folder: PathBuf,
}

/// Bytes of `/large`, over HTTP/2.
pub const LARGE_BYTES: usize = 100 << 10;

/// Handshakes by their result: `TLSv1.3 TLS_AES_256_GCM_SHA384 X25519 full` and so on.
pub type Handshakes = BTreeMap<String, u64>;

impl Nginx {
    /// `upstream` is the port of a server to which `/events` is forwarded.
    pub fn start(context: &Context, upstream: Option<u16>) -> Result<Nginx, String> {
        let folder = context.folder.join("nginx");
        std::fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
        certificate(&folder)?;
        // nginx appends, so lines of an earlier bench would count as this one's handshakes.
        remove_if_there(&folder.join("access.log"))?;
        let mut said = String::new();
        for _ in 0..TRIES {
            match try_start(context, &folder, upstream) {
                Ok(nginx) => return Ok(nginx),
                Err(sentence) => said = sentence,
            }
            if !said.contains("Address already in use") {
                break;
            }
        }
        Err(format!("nginx did not start: {said}"))
    }

    pub fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.https)
    }

    /// HTTP/2 with prior knowledge.
    pub fn http2_url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.http2)
    }

    /// HTTP/2 over TLS.
    pub fn http2_tls_url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.http2_tls)
    }

    /// The self-signed certificate as PEM.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("server.pem")
    }

    /// Returns the negotiated parameters since the last call, one count per connection that made a request.
    pub fn handshakes(&self) -> Result<Handshakes, String> {
        let file = self.folder.join("access.log");
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("cannot read `{}`: {e}", file.display()))?;
        // nginx appends, so truncating the file is safe while no requests are sent.
        let cut = OpenOptions::new().write(true).open(&file).and_then(|file| file.set_len(0));
        cut.map_err(|e| format!("cannot empty `{}`: {e}", file.display()))?;
        Ok(counted(&text))
    }
}

impl Target for Nginx {
    fn counters(&self) -> Result<Counters, String> {
        let text = ask(self.status, "/")?;
        read_status(&text).ok_or_else(|| "nginx's status makes no sense".into())
    }

    fn cpu_s(&self) -> f64 {
        process_cpu_s(self.child.id())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The target may already be gone; the wait only reaps it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn try_start(context: &Context, folder: &Path, upstream: Option<u16>) -> Result<Nginx, String> {
    let cannot = |e: std::io::Error| format!("cannot start nginx: {e}");
    // All ports are chosen at once, so that they differ.
    let held: [_; 4] = std::array::from_fn(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let mut ports = [0; 4];
    for (port, socket) in ports.iter_mut().zip(held) {
        *port = socket.and_then(|socket| socket.local_addr()).map_err(cannot)?.port();
    }
    let [status, https, http2, http2_tls] = ports;
    let large: Vec<u8> = (b'a'..=b'z').cycle().take(LARGE_BYTES).collect();
    std::fs::write(folder.join("large"), large).map_err(cannot)?;
    let errors = folder.join("error.log");
    remove_if_there(&errors)?;
    std::fs::write(folder.join("nginx.conf"), configuration(folder, ports, upstream)).map_err(cannot)?;
    let nginx = shell::find_program("nginx").ok_or("nginx is not installed\ntype: cargo xtask needs")?;
    let setpriv =
        shell::find_program("setpriv").ok_or("`setpriv` is not installed\ntype: cargo xtask needs")?;
    // The server ends with a bench that is killed.
    let mut command = child::pinned(context, 1, &setpriv);
    command.args(["--pdeathsig", "KILL"]).arg(nginx);
    command.arg("-e").arg(&errors).arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().map_err(cannot)?;
    let mut nginx = Nginx { child, status, https, http2, http2_tls, folder: folder.to_path_buf() };
    let deadline = Instant::now() + WITHIN;
    let describe = || std::fs::read_to_string(&errors).unwrap_or_default();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, https)).is_err() {
        if nginx.child.try_wait().map_err(cannot)?.is_some() || Instant::now() > deadline {
            return Err(describe());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // Another process may listen on a port that nginx could not get; nginx then ends by itself.
    if describe().contains("Address already in use") { Err(describe()) } else { Ok(nginx) }
}

fn configuration(folder: &Path, ports: [u16; 4], upstream: Option<u16>) -> String {
    let [status, https, http2, http2_tls] = ports;
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("  {name}_temp_path {folder}/{name};\n"))
        .concat();
    let events = upstream.map_or(String::new(), |port| {
        format!(
            "    location /events {{\n      proxy_pass http://127.0.0.1:{port};\n      proxy_http_version 1.1;\n      \
             proxy_set_header Connection '';\n      proxy_buffering off;\n      proxy_read_timeout 300s;\n    }}\n"
        )
    });
    format!(
        "daemon off;
master_process off;
pid {folder}/pid;
events {{ worker_connections 20000; }}
http {{
{temporary}  map $connection_requests $is_first {{ default 0; 1 1; }}
  map $ssl_session_reused $how {{ default full; r resumed; }}
  log_format handshake '$ssl_protocol $ssl_cipher $ssl_curve $how';
  access_log {folder}/access.log handshake if=$is_first;
  default_type application/json;
  keepalive_requests 1000000000;
  server {{
    listen 127.0.0.1:{status};
    access_log off;
    location = / {{ stub_status; }}
  }}
  server {{
    listen 127.0.0.1:{https} ssl backlog=16384;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.key;
    ssl_protocols TLSv1.3;
    ssl_prefer_server_ciphers on;
    ssl_session_tickets off;
    ssl_session_cache off;
    location / {{ return 200 '{BODY}'; }}
{events}  }}
  server {{
    listen 127.0.0.1:{http2} http2 backlog=16384;
    listen 127.0.0.1:{http2_tls} ssl http2 backlog=16384;
    access_log off;
    ssl_certificate {folder}/server.pem;
    ssl_certificate_key {folder}/server.key;
    # The log cannot show what was negotiated, because streams share the number of a connection's first request.
    # So there is only one choice.
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    ssl_ecdh_curve X25519;
    ssl_session_tickets off;
    ssl_session_cache off;
    location / {{ return 200 '{BODY}'; }}
    location = /large {{ alias {folder}/large; }}
  }}
}}
"
    )
}

/// ECDSA on P-256, valid for two days, self-signed.
fn certificate(folder: &Path) -> Outcome {
    // An empty configuration, because the system's own would add extensions a second time.
    std::fs::write(folder.join("openssl.cnf"), "[req]\ndistinguished_name = dn\n[dn]\n")
        .map_err(|e| format!("cannot write in `{}`: {e}", folder.display()))?;
    let mut command = Command::new("openssl");
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    command.args(["req", "-config", "openssl.cnf", "-x509", "-nodes", "-days", "2", "-subj", "/CN=bench"]);
    command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
    command.args(["-keyout", "server.key", "-out", "server.pem"]);
    // Not CA:TRUE: a strict client rejects an authority that is used as a server.
    command.args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "extendedKeyUsage=serverAuth"]);
    shell::run(&mut command)
}

fn counted(log: &str) -> Handshakes {
    let mut handshakes = Handshakes::new();
    for line in log.lines() {
        *handshakes.entry(line.to_string()).or_default() += 1;
    }
    handshakes
}

/// `Active connections: 3`, a title, and three sums: accepted, handled, requests. They include the status request.
fn read_status(text: &str) -> Option<Counters> {
    let open = text.split_once("Active connections:")?.1.split_whitespace().next()?.parse::<u64>().ok()?;
    let sums = text.split_once("requests\n")?.1;
    let served = sums.split_whitespace().nth(2)?.parse::<u64>().ok()?;
    Some(Counters { served: served.checked_sub(1)?, open: open.checked_sub(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_page_is_parsed_without_its_own_request() {
        let page = "HTTP/1.1 200 OK\r\n\r\nActive connections: 3 \nserver accepts handled requests\n 16 16 31 \n\
                    Reading: 0 Writing: 1 Waiting: 2 \n";
        assert_eq!(read_status(page), Some(Counters { served: 30, open: 2 }));
        assert_eq!(read_status("HTTP/1.1 404 Not Found\r\n\r\n"), None);
    }

    #[test]
    fn handshakes_are_counted_by_result() {
        let seen = counted("TLSv1.3 A X25519 full\nTLSv1.3 A X25519 full\nTLSv1.3 A X25519 resumed\n");
        assert_eq!(seen.values().copied().collect::<Vec<_>>(), [2, 1]);
    }
}
