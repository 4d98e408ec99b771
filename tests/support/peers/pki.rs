//! Certificates for a test, created by the `openssl` program: an authority, a server, a client, and an untrusted
//! authority.

use super::child::run;
use crate::support::Scratch;
use std::path::PathBuf;
use std::process::Command;

/// The names that server certificates bear unless told otherwise.
pub const LOCAL: &str = "DNS:localhost,IP:127.0.0.1,IP:::1";

/// Keys are ECDSA on P-256; everything is valid for two days from now.
pub struct Pki {
    scratch: Scratch,
}

impl Pki {
    /// `names` is the subjectAltName of the server's certificate, as openssl wants it.
    pub fn new(names: &str) -> Self {
        let pki = Self { scratch: Scratch::new() };
        // An empty configuration: the system's own would add extensions a second time.
        pki.scratch.file("openssl.cnf", "[req]\ndistinguished_name = dn\n[dn]\n");
        let authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"];
        pki.issue("ca", "plimsoll test authority", None, &authority);
        pki.issue("strange-ca", "another authority", None, &authority);
        let server = [&format!("subjectAltName={names}"), "extendedKeyUsage=serverAuth"];
        pki.issue("server", "plimsoll test server", Some("ca"), &server);
        pki.issue("client", "plimsoll test client", Some("ca"), &["extendedKeyUsage=clientAuth"]);
        pki
    }

    /// The authority's certificate, PEM.
    pub fn ca_file(&self) -> PathBuf {
        self.path("ca.pem")
    }

    /// An authority that signed nothing here, PEM.
    pub fn strange_ca_file(&self) -> PathBuf {
        self.path("strange-ca.pem")
    }

    /// Certificate and key of the server, PEM.
    pub fn server(&self) -> (PathBuf, PathBuf) {
        (self.path("server.pem"), self.path("server.key"))
    }

    /// Certificate and key of the client, PEM.
    pub fn client(&self) -> (PathBuf, PathBuf) {
        (self.path("client.pem"), self.path("client.key"))
    }

    /// Issues certificates for clients, each with its serial number in hexadecimal digits.
    pub fn clients(&self, number: usize) -> Vec<(PathBuf, PathBuf, String)> {
        let issue = |at: usize| {
            let name = format!("client-{at}");
            self.issue(&name, &format!("client {at}"), Some("ca"), &["extendedKeyUsage=clientAuth"]);
            let (certificate, key) = (self.path(&format!("{name}.pem")), self.path(&format!("{name}.key")));
            let mut command = Command::new("openssl");
            command.args(["x509", "-noout", "-serial", "-in"]).arg(&certificate);
            let said = command.output().expect("openssl is here: it made the certificate").stdout;
            let said = String::from_utf8(said).expect("digits");
            let serial = said.trim().strip_prefix("serial=").expect("it says `serial=`").to_owned();
            (certificate, key, serial)
        };
        (0..number).map(issue).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.folder().join(name)
    }

    fn issue(&self, name: &str, subject: &str, issuer: Option<&str>, extensions: &[&str]) {
        let mut command = Command::new("openssl");
        command.current_dir(self.scratch.folder()).args(["req", "-config", "openssl.cnf", "-x509", "-nodes"]);
        command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"]);
        command.args(["-subj", &format!("/CN={subject}"), "-keyout", &format!("{name}.key")]);
        command.args(["-out", &format!("{name}.pem")]);
        if let Some(issuer) = issuer {
            command.args(["-CA", &format!("{issuer}.pem"), "-CAkey", &format!("{issuer}.key")]);
            command.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
        }
        for extension in extensions {
            command.args(["-addext", extension]);
        }
        run(command, "openssl", "openssl");
    }
}
