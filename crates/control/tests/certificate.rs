//! A self-signed certificate for tests of TLS, in memory and in files, and a server that uses it.
#![allow(clippy::expect_used)]

use crate::servers::{Scratch, silent};
use plimsoll_control::monitor::Trust;
use plimsoll_plan::watch;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::PrivateKeyDer;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// A certificate for `127.0.0.1` only.
pub struct Certificate {
    signed: rcgen::CertifiedKey<rcgen::KeyPair>,
}

impl Certificate {
    pub fn new() -> Certificate {
        let signed = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]);
        Certificate { signed: signed.expect("a certificate for an address") }
    }

    pub fn pem(&self) -> Vec<u8> {
        self.signed.cert.pem().into_bytes()
    }

    /// Trust in this certificate only.
    pub fn trust(&self) -> Trust {
        Trust::of(&watch::Trust { ca: vec![self.pem()], insecure: false })
    }

    /// Writes the certificate and the key to files.
    pub fn files(&self, scratch: &Scratch) -> (PathBuf, PathBuf) {
        let (certificate, key) = (scratch.path().join("server.pem"), scratch.path().join("server.key"));
        std::fs::write(&certificate, self.pem()).expect("the directory is writable");
        std::fs::write(&key, self.signed.signing_key.serialize_pem()).expect("the directory is writable");
        (certificate, key)
    }

    /// Sends one response on each connection and forwards the requests.
    pub fn serve(&self, answer: &[u8]) -> (u16, std::sync::mpsc::Receiver<String>) {
        let key = PrivateKeyDer::try_from(self.signed.signing_key.serialize_der()).expect("it is a key");
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has both versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.signed.cert.der().clone()], key)
            .expect("key and certificate match");
        let (config, answer) = (Arc::new(config), answer.to_vec());
        let (listener, port) = silent();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(config.clone()).expect("the configuration is valid");
                let mut stream = StreamOwned::new(connection, socket);
                let (mut seen, mut block) = (Vec::new(), [0; 4096]);
                while !seen.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut block) {
                        Ok(n) if n > 0 => seen.extend_from_slice(&block[..n]),
                        _ => break,
                    }
                }
                // A client that does not trust the certificate has closed the connection.
                let _ = tell.send(String::from_utf8_lossy(&seen).into_owned());
                let _ = stream.write_all(&answer);
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        });
        (port, told)
    }
}

/// Trust in every certificate.
pub fn trusting() -> Trust {
    Trust::of(&watch::Trust { ca: Vec::new(), insecure: true })
}
