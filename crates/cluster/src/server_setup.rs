//! What a NATS server for agents needs, as files: its configuration, a certificate authority with the certificate of
//! the server, and a key for the coordinator and for each agent. Each may do what it needs and nothing else. Another
//! key of the coordinator signs its orders, so that agents need not trust the server.
//!
//! The key of an authority is not kept. An agent that joins needs no other certificate than the authority's, unless the
//! server requires certificates of its clients: then its certificate has a new authority, which the server trusts, too.

use crate::signature::SigningKey;
use crate::subject::{self, Permissions};
use nkeys::KeyPair as Nkey;
use plimsoll_plan::Problem;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose,
};
use std::fmt::Write as _;
use std::time::Duration;

/// Largest message, bytes: the results of a second with 10,000 series have a few megabytes.
const MAX_PAYLOAD: u32 = 8 << 20;

/// Certificates are valid before their creation, because clocks of machines differ.
const EARLIER: Duration = Duration::from_secs(24 * 60 * 60);

/// Line of the configuration before the address of the server.
const ADDRESS: &str = "# Its address: tls://";
/// What follows the last user in the configuration.
const USERS_END: &str = "  ]\n}\n";

/// When certificates are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// Time of their creation, s since 1970.
    pub from_unix_s: u64,
    pub days: u32,
}

impl Validity {
    /// Returns their end, s since 1970.
    pub fn end_unix_s(&self) -> u64 {
        self.from_unix_s + u64::from(self.days) * 24 * 60 * 60
    }

    /// Sets the dates of a certificate.
    fn date(&self, params: &mut CertificateParams) {
        let begin = rcgen::date_time_ymd(1970, 1, 1);
        params.not_before = begin + Duration::from_secs(self.from_unix_s) - EARLIER;
        params.not_after = begin + Duration::from_secs(self.end_unix_s());
    }
}

/// The server, and who uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSetup {
    /// Name or address by which agents reach the server.
    pub host: String,
    pub port: u16,
    pub agents: Vec<String>,
    /// Whether clients must have certificates, too.
    pub requires_certificates: bool,
    pub validity: Validity,
}

/// Agents that join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Files that are new.
    pub files: Vec<SetupFile>,
    /// Files that replace older ones: the configuration, and the authorities that the server trusts.
    pub changed: Vec<SetupFile>,
    /// Address of the server, as `HOST:PORT`.
    pub address: String,
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
/// File with the secret key that signs the orders of the coordinator.
pub const SIGNING_KEY: &str = "signing.nk";
/// File with the public key, by which agents know their coordinator.
pub const COORDINATOR_KEY: &str = "signing.pub";
/// Names of other files, which no agent may have.
const RESERVED: [&str; 3] = ["ca", "server", "signing"];

impl ServerSetup {
    /// Creates keys and certificates, and returns all files.
    ///
    /// # Errors
    /// Returns an error if a name is invalid or used twice, or if the machine has no source of random numbers.
    pub fn files(&self) -> Result<Vec<SetupFile>, Problem> {
        let names: Vec<&str> = self.agents.iter().map(String::as_str).chain([COORDINATOR]).collect();
        check(&names)?;
        let authority = authority("plimsoll agents", self.validity)?;
        let server = certificate(
            &authority,
            "server",
            &self.host,
            ExtendedKeyUsagePurpose::ServerAuth,
            self.validity,
        )?;
        let signing = SigningKey::random()?;
        let mut files = vec![
            open("ca.pem", authority.pem()),
            secret(SIGNING_KEY.into(), format!("{}\n", signing.seed()?)),
            open(COORDINATOR_KEY, format!("{}\n", signing.public())),
        ];
        files.extend(server);
        let clients = self.requires_certificates.then_some(&authority);
        let mut users = String::new();
        for name in names {
            users.push_str(&client(name, clients, self.validity, &mut files)?);
        }
        files.push(open("server.conf", self.configuration(&users)));
        Ok(files)
    }

    fn configuration(&self, users: &str) -> String {
        let (host, port) = (&self.host, self.port);
        let verify = match self.requires_certificates {
            true => {
                "    # Clients need a certificate of this authority, too.\n    ca_file: \"ca.pem\"\n    verify: true\n"
            }
            false => "",
        };
        format!(
            "# NATS server for the agents of plimsoll. Start it in this directory: nats-server -c server.conf\n\
             {ADDRESS}{host}:{port}\n\
             listen: \"0.0.0.0:{port}\"\n\
             # The results of one second are one message.\n\
             max_payload: {MAX_PAYLOAD}\n\
             tls {{\n    cert_file: \"server.pem\"\n    key_file: \"server.key\"\n{verify}    timeout: 5\n}}\n\
             authorization {{\n  users: [\n{users}{USERS_END}"
        )
    }
}

/// Creates keys for agents that join. `configuration` and `authorities` are the contents of `server.conf` and `ca.pem`.
///
/// # Errors
/// Returns an error if a name is invalid or used already, or if the configuration is not one of [`ServerSetup`].
pub fn join(
    agents: &[String],
    configuration: &str,
    authorities: &str,
    validity: Validity,
) -> Result<Joined, Problem> {
    let known = configuration.lines().filter_map(|line| line.strip_prefix("    { # "));
    let names: Vec<&str> = known.chain(agents.iter().map(String::as_str)).collect();
    let (Some(address), Some(before)) = (address_in(configuration), configuration.strip_suffix(USERS_END))
    else {
        let hint = "add the users by hand: docs/reference/agents.md lists their permissions";
        return Err(Problem::new(
            "`server.conf` is not one of `plimsoll cluster init`, or was changed",
            hint,
        ));
    };
    check(&names)?;
    let requires_certificates = requires_certificates(configuration);
    let (mut files, mut changed) = (Vec::new(), Vec::new());
    let mut users = String::new();
    let authority = match requires_certificates {
        true => {
            // Its own name, because certificates name their authority.
            let authority = authority(&format!("plimsoll agents, {}", agents.join(", ")), validity)?;
            changed.push(open("ca.pem", format!("{authorities}{}", authority.pem())));
            Some(authority)
        }
        false => None,
    };
    for name in agents {
        users.push_str(&client(name, authority.as_ref(), validity, &mut files)?);
    }
    changed.push(open("server.conf", format!("{before}{users}{USERS_END}")));
    Ok(Joined { files, changed, address: address.to_owned(), requires_certificates })
}

/// Returns the address of the server in a configuration of [`ServerSetup`], as `HOST:PORT`.
pub fn address_in(configuration: &str) -> Option<&str> {
    configuration.lines().find_map(|line| line.strip_prefix(ADDRESS))
}

/// Returns whether such a server requires certificates of its clients.
pub fn requires_certificates(configuration: &str) -> bool {
    configuration.contains("\n    verify: true\n")
}

fn check(names: &[&str]) -> Result<(), Problem> {
    if let Some(wrong) = names.iter().find(|name| !subject::is_name(name)) {
        let hint = "use letters, digits, `-`, and `_`, at most 64";
        return Err(Problem::new(format!("invalid name of an agent `{wrong}`"), hint));
    }
    if let Some(reserved) = names.iter().find(|name| RESERVED.contains(name)) {
        let hint = "give the agent another name";
        return Err(Problem::new(format!("`{reserved}` is the name of another file"), hint));
    }
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|two| two[0] == two[1]) {
        Some(twice) => Err(Problem::new(
            format!("the name `{}` is used twice", twice[0]),
            "give each agent its own name; `coordinator` is the one that starts loads",
        )),
        None => Ok(()),
    }
}

/// Creates the key of a client, and its certificate if there is an authority. Returns its entry among the users.
fn client(
    name: &str,
    authority: Option<&CertifiedIssuer<'static, KeyPair>>,
    validity: Validity,
    files: &mut Vec<SetupFile>,
) -> Result<String, Problem> {
    let key = Nkey::new_user();
    let seed = key.seed().map_err(|e| no_key(&e))?;
    files.push(secret(format!("{name}.nk"), format!("{seed}\n")));
    if let Some(authority) = authority {
        files.extend(certificate(authority, name, name, ExtendedKeyUsagePurpose::ClientAuth, validity)?);
    }
    let permissions = match name {
        COORDINATOR => subject::permissions_of_coordinator(),
        agent => subject::permissions_of_agent(agent),
    };
    Ok(user(name, &key.public_key(), &permissions))
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

fn authority(name: &str, validity: Validity) -> Result<CertifiedIssuer<'static, KeyPair>, Problem> {
    let params = CertificateParams::new(Vec::<String>::new()).map_err(|e| no_key(&e))?;
    let mut params = named(params, name);
    validity.date(&mut params);
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
    validity: Validity,
) -> Result<[SetupFile; 2], Problem> {
    let params = CertificateParams::new(vec![name.to_owned()]).map_err(|_| {
        let hint = "write a host name or an address, such as `nats.example.test`";
        Problem::new(format!("invalid name of a host `{name}`"), hint)
    })?;
    let mut params = named(params, name);
    validity.date(&mut params);
    params.extended_key_usages = vec![purpose];
    let key = KeyPair::generate().map_err(|e| no_key(&e))?;
    let signed = params.signed_by(&key, authority).map_err(|e| no_key(&e))?;
    Ok([open(&format!("{file}.pem"), signed.pem()), secret(format!("{file}.key"), key.serialize_pem())])
}
