//! What a NATS server for agents needs, as files: its configuration, a certificate authority with the certificate of
//! the server, and a key for the coordinator and for each agent. Each may do what it needs and nothing else.
//!
//! The key of the authority is not kept: a new agent means new files.

use crate::subject::{self, Permissions};
use nkeys::KeyPair as Nkey;
use plimsoll_plan::Problem;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};
use std::fmt::Write as _;

/// Largest message, bytes: the results of a second with 10,000 series have a few megabytes.
const MAX_PAYLOAD: u32 = 8 << 20;

/// The server, and who uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSetup {
    /// Name or address by which agents reach the server.
    pub host: String,
    pub port: u16,
    pub agents: Vec<String>,
    /// Whether clients must have certificates, too.
    pub requires_certificates: bool,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupFile {
    pub name: String,
    pub content: String,
    /// Whether only its owner may read it.
    pub is_secret: bool,
}

/// Name of the coordinator among the users of the server.
pub const COORDINATOR: &str = "coordinator";

impl ServerSetup {
    /// Creates keys and certificates, and returns all files.
    ///
    /// # Errors
    /// Returns an error if a name is invalid or used twice, or if the machine has no source of random numbers.
    pub fn files(&self) -> Result<Vec<SetupFile>, Problem> {
        let mut names: Vec<&str> = self.agents.iter().map(String::as_str).chain([COORDINATOR]).collect();
        if let Some(wrong) = names.iter().find(|name| !subject::is_name(name)) {
            let hint = "use letters, digits, `-`, and `_`, at most 64";
            return Err(Problem::new(format!("invalid name of an agent `{wrong}`"), hint));
        }
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
            return Err(Problem::new(
                format!("the name `{}` is used twice", twice[0]),
                "give each agent its own name; `coordinator` is the one that starts loads",
            ));
        }
        let authority = authority()?;
        let mut files = vec![open("ca.pem", authority.pem())];
        files.extend(certificate(&authority, "server", &self.host, ExtendedKeyUsagePurpose::ServerAuth)?);
        let mut users = String::new();
        for name in self.agents.iter().map(String::as_str).chain([COORDINATOR]) {
            let key = Nkey::new_user();
            let seed = key.seed().map_err(|e| no_key(&e))?;
            files.push(secret(format!("{name}.nk"), format!("{seed}\n")));
            if self.requires_certificates {
                files.extend(certificate(&authority, name, name, ExtendedKeyUsagePurpose::ClientAuth)?);
            }
            let permissions = match name {
                COORDINATOR => subject::permissions_of_coordinator(),
                agent => subject::permissions_of_agent(agent),
            };
            users.push_str(&user(name, &key.public_key(), &permissions));
        }
        files.push(open("server.conf", self.configuration(&users)));
        Ok(files)
    }

    fn configuration(&self, users: &str) -> String {
        let port = self.port;
        let verify = match self.requires_certificates {
            true => {
                "    # Clients need a certificate of this authority, too.\n    ca_file: \"ca.pem\"\n    verify: true\n"
            }
            false => "",
        };
        format!(
            "# NATS server for the agents of plimsoll. Start it in this directory: nats-server -c server.conf\n\
             listen: \"0.0.0.0:{port}\"\n\
             # The results of one second are one message.\n\
             max_payload: {MAX_PAYLOAD}\n\
             tls {{\n    cert_file: \"server.pem\"\n    key_file: \"server.key\"\n{verify}    timeout: 5\n}}\n\
             authorization {{\n  users: [\n{users}  ]\n}}\n"
        )
    }
}

/// Returns the entry of a user.
fn user(name: &str, public_key: &str, permissions: &Permissions) -> String {
    let list = |subjects: &[String]| {
        subjects.iter().map(|subject| format!("\"{subject}\"")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("    {{ # {name}\n      nkey: \"{public_key}\"\n      permissions: {{\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "        publish: {{ allow: [{}] }}", list(&permissions.publish));
    let _ = writeln!(text, "        subscribe: {{ allow: [{}] }}", list(&permissions.subscribe));
    if permissions.answers {
        text.push_str("        allow_responses: { max: 1, expires: \"1m\" }\n");
    }
    text.push_str("      }\n    }\n");
    text
}

fn open(name: &str, content: String) -> SetupFile {
    SetupFile { name: name.to_owned(), content, is_secret: false }
}

fn secret(name: String, content: String) -> SetupFile {
    SetupFile { name, content, is_secret: true }
}

fn no_key(why: &dyn std::fmt::Display) -> Problem {
    Problem::plain(format!("cannot create a key: {why}"))
}

fn named(mut params: CertificateParams, name: &str) -> CertificateParams {
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, Problem> {
    let params = CertificateParams::new(Vec::<String>::new()).map_err(|e| no_key(&e))?;
    let mut params = named(params, "plimsoll agents");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(|e| no_key(&e))?;
    CertifiedIssuer::self_signed(params, key).map_err(|e| no_key(&e))
}

/// Returns a certificate for a name, and its key.
fn certificate(
    authority: &CertifiedIssuer<'static, KeyPair>,
    file: &str,
    name: &str,
    purpose: ExtendedKeyUsagePurpose,
) -> Result<[SetupFile; 2], Problem> {
    let params = CertificateParams::new(vec![name.to_owned()]).map_err(|_| {
        let hint = "write a host name or an address, such as `nats.example.test`";
        Problem::new(format!("invalid name of a host `{name}`"), hint)
    })?;
    let mut params = named(params, name);
    params.extended_key_usages = vec![purpose];
    let key = KeyPair::generate().map_err(|e| no_key(&e))?;
    let signed = params.signed_by(&key, authority).map_err(|e| no_key(&e))?;
    Ok([open(&format!("{file}.pem"), signed.pem()), secret(format!("{file}.key"), key.serialize_pem())])
}
