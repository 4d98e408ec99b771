//! The same link with a TLS implementation other than rustls: `openssl s_server` over the loopback, with keys in the
//! formats that OpenSSL writes. In the other tests, both sides are one library, which could make the same mistake
//! twice.

use plimsoll_engine::link::tls::{Channel, Setup, TlsFault, Versions, Wanted};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("plimsoll-link-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).expect("openssl wrote it")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Leftovers stay in the temporary folder and do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    let output = output.expect("openssl is installed");
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

struct Server {
    child: Child,
    port: u16,
    /// Kept open: openssl sometimes writes a line, and a closed pipe would end it.
    _lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    fn start(folder: &Path, arguments: &str) -> Server {
        let common = "s_server -accept 127.0.0.1:0 -www -cert cert.pem -key key.pem";
        let mut child = Command::new("openssl")
            .args(format!("{common} {arguments}").trim().split(' '))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl is installed");
        // It prints `ACCEPT 127.0.0.1:PORT` as soon as it listens, and other lines before.
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("ACCEPT ").and_then(|place| place.rsplit(':').next()?.trim().parse().ok())
        });
        Server { child, port: port.expect("openssl says where it listens"), _lines: lines }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends one GET over a real socket; returns the response, whether the session was resumed, and whether the end was
/// announced.
fn get(setup: &Setup, port: u16, cut: usize) -> Result<(Vec<u8>, bool, bool), TlsFault> {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a valid time");
    let (mut plain, mut out, mut asked) = (Vec::new(), Vec::new(), false);
    let mut link = Channel::new(setup, &mut out)?;
    let mut buffer = vec![0; cut];
    loop {
        if link.is_ready() && !asked {
            link.seal(b"GET / HTTP/1.0\r\n\r\n", &mut out)?;
            asked = true;
        }
        // After a refusal this fails; the reason can still be read.
        let _ = socket.write_all(&std::mem::take(&mut out));
        // openssl waits for the client's end of the connection after its own.
        let come = if link.is_closed() { Ok(0) } else { socket.read(&mut buffer) };
        let n = match come {
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(e) => panic!("no response: {e}"),
        };
        if n == 0 {
            let resumed = link.facts().is_some_and(|facts| facts.resumed);
            return Ok((plain, resumed, link.is_closed()));
        }
        link.feed(&mut buffer[..n], &mut plain, &mut out)?;
    }
}

fn wish(folder: &Folder, versions: Versions) -> Wanted {
    Wanted {
        server_name: "localhost".into(),
        ca_pem: vec![folder.read("cert.pem")],
        versions,
        ..Wanted::default()
    }
}

const SUBJECT: &str = "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost";

#[test]
fn openssl_answers_in_both_versions_and_resumes() {
    let folder = Folder::new("answers");
    openssl(&folder.0, &format!("req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem {SUBJECT}"));
    let server = Server::start(&folder.0, "");
    for (versions, name) in [(Versions::Tls12, "TLSv1.2"), (Versions::Tls13, "TLSv1.3")] {
        let setup =
            Setup::new(&Wanted { resume: true, ..wish(&folder, versions) }).expect("the files are valid");
        for (round, cut) in [1, 100, 65_536].into_iter().enumerate() {
            let (page, resumed, closed) = get(&setup, server.port, cut).expect("openssl speaks TLS");
            let page = String::from_utf8_lossy(&page);
            assert!(page.starts_with("HTTP/1.0 200 ok") && page.contains(name), "{page}");
            assert_eq!((resumed, closed), (round > 0, true), "{versions:?} round {round}");
        }
    }
    let stranger = Wanted { ca_pem: vec![], ..wish(&folder, Versions::Both) };
    let fault =
        get(&Setup::new(&stranger).expect("nothing wrong"), server.port, 4096).expect_err("self-signed");
    assert!(matches!(fault, TlsFault::Certificate(_)), "{fault}");
}

#[test]
fn keys_in_all_of_openssls_formats_open_a_server_that_demands_a_certificate() {
    let folder = Folder::new("keys");
    let server_key = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem";
    openssl(&folder.0, &format!("{server_key} {SUBJECT}"));
    openssl(&folder.0, "genrsa -traditional -out pkcs1.pem 2048");
    openssl(&folder.0, "ecparam -genkey -name prime256v1 -out sec1.pem");
    openssl(&folder.0, "genpkey -algorithm ed25519 -out pkcs8.pem");
    let kinds = [("pkcs1", "RSA PRIVATE KEY"), ("sec1", "EC PRIVATE KEY"), ("pkcs8", "PRIVATE KEY")];
    let mut bundle = Vec::new();
    for (kind, label) in kinds {
        let text = String::from_utf8_lossy(&folder.read(&format!("{kind}.pem"))).into_owned();
        assert!(
            text.contains(&format!("-----BEGIN {label}-----")),
            "this openssl writes another format: {text}"
        );
        openssl(&folder.0, &format!("req -x509 -key {kind}.pem -out {kind}.crt -days 2 -subj /CN={kind}"));
        bundle.extend(folder.read(&format!("{kind}.crt")));
    }
    std::fs::write(folder.0.join("clients.pem"), bundle).expect("the folder can be written");
    let server = Server::start(&folder.0, "-Verify 1 -verify_return_error -CAfile clients.pem");
    for versions in [Versions::Tls12, Versions::Tls13] {
        for (kind, _) in kinds {
            let wanted = Wanted {
                cert_pem: Some(folder.read(&format!("{kind}.crt"))),
                key_pem: Some(folder.read(&format!("{kind}.pem"))),
                ..wish(&folder, versions)
            };
            let setup = Setup::new(&wanted).expect("the key fits");
            let (page, _, _) = get(&setup, server.port, 4096).expect("the certificate is known");
            assert!(page.starts_with(b"HTTP/1.0 200 ok"), "{versions:?} {kind}");
        }
        let without = Setup::new(&wish(&folder, versions)).expect("nothing wrong");
        let fault = get(&without, server.port, 4096).expect_err("a certificate is required");
        let TlsFault::Alert(sentence) = &fault else { panic!("{fault:?}") };
        assert!(sentence.to_string().contains("client certificate"), "{versions:?}: {sentence}");
    }
}
