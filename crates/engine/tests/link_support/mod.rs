//! The other side of a TLS link: authorities, certificates, and a server in memory whose bytes can be split anywhere.
// Each test file is a separate crate and uses a part of this.
#![allow(dead_code, clippy::expect_used)]

use plimsoll_engine::link::tls::{Channel, Setup, TlsFault, Versions, Wanted};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::server::{ServerConfig, ServerConnection, WebPkiClientVerifier};
use rustls::{RootCertStore, SupportedProtocolVersion, version};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{Read, Write};
use std::sync::Arc;

pub const BOTH: [Versions; 2] = [Versions::Tls12, Versions::Tls13];

/// An authority that exists for one test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
pub struct Identity {
    pub cert: String,
    pub key: String,
}

fn ca(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|n| n.to_string()).collect();
    let mut params = CertificateParams::new(names).expect("the names are valid");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn fresh_key() -> KeyPair {
    KeyPair::generate().expect("P-256 is supported")
}

impl Authority {
    pub fn new() -> Authority {
        Authority::named("authority of a test")
    }

    pub fn named(name: &str) -> Authority {
        let mut params = ca(&[]);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, fresh_key()).expect("signs itself"))
    }

    pub fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    pub fn issue(&self, names: &[&str]) -> Identity {
        self.issue_until(names, 4000)
    }

    pub fn issue_until(&self, names: &[&str], year: i32) -> Identity {
        let (mut params, key) = (ca(names), fresh_key());
        params.is_ca = IsCa::NoCa;
        params.not_after = date_time_ymd(year, 1, 1);
        let cert = params.signed_by(&key, &self.0).expect("the authority signs");
        Identity { cert: cert.pem(), key: key.serialize_pem() }
    }
}

/// Creates the same as `openssl req -x509`: a certificate signed by itself and marked as an authority.
pub fn self_signed(names: &[&str], year: i32) -> Identity {
    let (mut params, key) = (ca(names), fresh_key());
    params.not_after = date_time_ymd(year, 1, 1);
    Identity { cert: params.self_signed(&key).expect("signs itself").pem(), key: key.serialize_pem() }
}

/// A client's settings: this authority, the name `localhost`, no resumption.
pub fn wanted(authority: &Authority, versions: Versions) -> Wanted {
    Wanted { server_name: "localhost".into(), ca_pem: vec![authority.pem()], versions, ..Wanted::default() }
}

pub fn setup(wanted: &Wanted) -> Setup {
    Setup::new(wanted).expect("the settings are valid")
}

/// A server with this certificate; with `clients`, it requires certificates from that authority.
pub fn server(identity: &Identity, clients: Option<&Authority>) -> ServerConfig {
    server_of(identity, clients, &[&version::TLS13, &version::TLS12])
}

pub fn server_of(
    identity: &Identity,
    clients: Option<&Authority>,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let mut config = configured(identity, clients, versions, aws_lc_rs::default_provider());
    config.ticketer = aws_lc_rs::Ticketer::new().expect("there is randomness");
    config
}

/// A server with its own key exchange groups and its own session store: rustls offers early data only with both.
pub fn server_with(identity: &Identity, provider: CryptoProvider) -> ServerConfig {
    configured(identity, None, &[&version::TLS13, &version::TLS12], provider)
}

fn configured(
    identity: &Identity,
    clients: Option<&Authority>,
    versions: &[&'static SupportedProtocolVersion],
    provider: CryptoProvider,
) -> ServerConfig {
    let provider = Arc::new(provider);
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .expect("the provider has suites for both versions");
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.0.der().clone()).expect("rcgen makes valid authorities");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("there is a root"))
        }
    };
    let chain = CertificateDer::from_pem_slice(identity.cert.as_bytes()).expect("rcgen writes PEM");
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("rcgen writes PEM");
    builder.with_single_cert(vec![chain], key).expect("they belong together")
}

/// Returns the extensions of a ClientHello, as numbers and bodies (RFC 8446, section 4.1.2).
pub fn extensions(hello: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let word = |at: usize| u16::from_be_bytes([hello[at], hello[at + 1]]);
    // Headers of record and message, version, random; then three lists: session, suites, compression.
    let mut at = 5 + 4 + 2 + 32;
    at += 1 + usize::from(hello[at]);
    at += 2 + usize::from(word(at));
    at += 1 + usize::from(hello[at]);
    let end = at + 2 + usize::from(word(at));
    at += 2;
    let mut found = Vec::new();
    while at < end {
        let length = usize::from(word(at + 2));
        found.push((word(at), hello[at + 4..at + 4 + length].to_vec()));
        at += 4 + length;
    }
    found
}

/// A link and its server. Bytes to send are in `up` and `down` until they are carried.
pub struct Pair {
    pub link: Channel,
    pub server: ServerConnection,
    /// Client to server, server to client: on the wire.
    pub up: Vec<u8>,
    pub down: Vec<u8>,
    /// Plaintext that has arrived at either end.
    pub got: Vec<u8>,
    pub served: Vec<u8>,
    /// The server's error about the client, if any.
    pub complaint: Option<rustls::Error>,
}

impl Pair {
    pub fn new(setup: &Setup, server: &Arc<ServerConfig>) -> Pair {
        let mut up = Vec::new();
        let link = Channel::new(setup, &mut up).expect("a handshake can begin");
        Pair::around(link, up, server)
    }

    /// Creates a server for a link that has sent `up` so far.
    pub fn around(link: Channel, up: Vec<u8>, server: &Arc<ServerConfig>) -> Pair {
        let server = ServerConnection::new(server.clone()).expect("the configuration is valid");
        Pair { link, server, up, down: Vec::new(), got: Vec::new(), served: Vec::new(), complaint: None }
    }

    /// Creates a link whose handshake is done, in one piece.
    pub fn ready(setup: &Setup, server: &Arc<ServerConfig>) -> Pair {
        let mut pair = Pair::new(setup, server);
        pair.talk(usize::MAX).expect("the handshake succeeds");
        assert!(pair.link.is_ready(), "all was carried, so the handshake is done");
        pair
    }

    /// Carries the client's bytes to the server, and collects the server's response.
    pub fn serve(&mut self) {
        let up = std::mem::take(&mut self.up);
        let mut left = up.as_slice();
        while !left.is_empty() {
            let n = self.server.read_tls(&mut left).expect("memory can be read");
            if let Err(error) = self.server.process_new_packets() {
                self.complaint = Some(error);
            }
            self.drain();
            if n == 0 || self.complaint.is_some() {
                break;
            }
        }
        self.collect();
    }

    /// Reads what the server has received so far. An end, or nothing more, is not an error here.
    fn drain(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = self.server.reader().read(&mut buffer) {
            self.served.extend_from_slice(&buffer[..n]);
        }
    }

    /// Puts the server's bytes on the wire.
    pub fn collect(&mut self) {
        while self.server.wants_write() {
            self.server.write_tls(&mut self.down).expect("memory can be written");
        }
    }

    /// Sends application data from the server, which is then in `down`.
    pub fn answer(&mut self, data: &[u8]) {
        for piece in data.chunks(16 << 10) {
            self.server.writer().write_all(piece).expect("less than its buffer");
            self.collect();
        }
    }

    /// Feeds the bytes in `down` to the client in pieces of at most `cut` bytes.
    pub fn carry(&mut self, cut: usize) -> Result<(), TlsFault> {
        let mut down = std::mem::take(&mut self.down);
        for piece in down.chunks_mut(cut.min(1 << 30)) {
            self.link.feed(piece, &mut self.got, &mut self.up)?;
        }
        Ok(())
    }

    /// Carries in both directions until there is nothing more to send.
    pub fn talk(&mut self, cut: usize) -> Result<(), TlsFault> {
        while !self.up.is_empty() || !self.down.is_empty() {
            self.serve();
            self.carry(cut)?;
        }
        Ok(())
    }

    pub fn ask(&mut self, data: &[u8]) {
        self.link.seal(data, &mut self.up).expect("the link is ready");
    }
}

/// Does the handshake and returns its result for the client, after the server has received it.
pub fn outcome(setup: &Setup, server: &Arc<ServerConfig>) -> (Result<(), TlsFault>, Pair) {
    let mut pair = Pair::new(setup, server);
    let result = pair.talk(usize::MAX);
    pair.serve();
    (result, pair)
}
