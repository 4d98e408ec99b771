//! Keys of `plimsoll cluster init` as secrets of Kubernetes.

use super::HOST;
use crate::exit::Failure;
use plimsoll_cluster::bytes::text_of;
use plimsoll_cluster::server_setup::{
    COORDINATOR, COORDINATOR_KEY, SIGNING_KEY, address_in, requires_certificates,
};
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

/// What the NATS server, and who connects to it, need.
const SERVER: &[&str] = &["server.conf", "server.pem", "server.key"];
const AUTHORITY: &str = "ca.pem";
/// Largest content of a secret, bytes.
const SECRET_BYTES: usize = 1 << 20;

fn key_of(agent: &str) -> String {
    format!("{agent}.nk")
}

/// Returns the name of an agent of the indexed job.
fn agent(index: u32) -> String {
    plimsoll_cluster::subject::numbered(index)
}

/// The files of a client that has a certificate, too.
fn certificate_of(client: &str) -> [String; 2] {
    [format!("{client}.pem"), format!("{client}.key")]
}

/// The secrets, and the files in each of them.
fn files(
    agents: u32,
    has_server: bool,
    has_load: bool,
    has_certificates: bool,
) -> Vec<(&'static str, Vec<String>)> {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut of_agents = texts(&[AUTHORITY, COORDINATOR_KEY]);
    of_agents.extend((0..agents).map(|index| key_of(&agent(index))));
    let mut of_server = texts(SERVER);
    let mut of_load = texts(&[AUTHORITY, &key_of(COORDINATOR), SIGNING_KEY]);
    if has_certificates {
        of_agents.extend((0..agents).flat_map(|index| certificate_of(&agent(index))));
        of_server.push(AUTHORITY.to_owned());
        of_load.extend(certificate_of(COORDINATOR));
    }
    let mut all = Vec::new();
    all.extend(has_server.then_some(("plimsoll-nats", of_server)));
    all.push(("plimsoll-agents", of_agents));
    all.extend(has_load.then_some(("plimsoll-coordinator", of_load)));
    all
}

/// Returns the commands that create keys and secrets in the directory `keys`.
pub fn commands(namespace: &str, agents: u32, nats: Option<&str>, has_load: bool) -> Vec<String> {
    let mut lines = match nats {
        None => vec![format!("plimsoll cluster init keys --host {HOST} --agents {agents}")],
        Some(_) => vec![format!("plimsoll cluster add keys --agents {agents}")],
    };
    for (name, files) in files(agents, nats.is_none(), has_load, false) {
        let is_of_agent = |file: &String| file.starts_with("agent-");
        let mut words: Vec<String> = files
            .iter()
            .filter(|file| !is_of_agent(file))
            .map(|file| format!("--from-file=keys/{file}"))
            .collect();
        if files.iter().any(is_of_agent) {
            let last = agents - 1;
            words.push(format!("$(printf ' --from-file=keys/agent-%s.nk' $(seq 0 {last}))"));
        }
        lines.push(format!("kubectl -n {namespace} create secret generic {name} {}", words.join(" ")));
    }
    lines
}

/// Returns whether the server of these keys requires certificates of its clients.
///
/// # Errors
/// Returns an error if its configuration is missing.
pub fn have_certificates(folder: &Path) -> Result<bool, Failure> {
    let path = folder.join(SERVER[0]);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(requires_certificates(&text)),
        Err(e) => {
            let hint = format!("write the keys with `plimsoll cluster init {}`", folder.display());
            let message = format!("cannot read `{}`: {e}", path.display());
            Err(Diagnostic::new("U011", Place::Flag("--keys".into()), message, hint).into())
        }
    }
}

/// Returns the secrets with the keys of a directory.
///
/// # Errors
/// Returns an error if a file is missing, or if the keys are those of another server.
pub fn secrets(
    folder: &Path,
    namespace: &str,
    agents: u32,
    has_server: bool,
    has_load: bool,
) -> Result<Vec<String>, Failure> {
    let wrong = |message: String, hint: String| {
        Failure::from(Diagnostic::new("U011", Place::Flag("--keys".into()), message, hint))
    };
    let shown = folder.display();
    let read = |name: &str| {
        std::fs::read(folder.join(name)).map_err(|e| {
            let hint =
                format!("write them with `plimsoll cluster init {shown} --host {HOST} --agents {agents}`");
            wrong(format!("cannot read `{shown}/{name}`: {e}"), hint)
        })
    };
    let configuration = String::from_utf8_lossy(&read("server.conf")?).into_owned();
    let address = address_in(&configuration).unwrap_or_default();
    if has_server && address != format!("{HOST}:4222") {
        let hint =
            format!("write them with `--host {HOST}`, or name that server with `--nats tls://{address}`");
        return Err(wrong(format!("the keys in `{shown}` are for the server `{address}`"), hint));
    }
    let secret = |(name, files): (&str, Vec<String>)| {
        let mut text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: {namespace}\n  \
             labels: {{ app.kubernetes.io/part-of: plimsoll }}\ntype: Opaque\ndata:\n"
        );
        let mut bytes = 0;
        for file in files {
            let content = read(&file)?;
            bytes += content.len();
            text.push_str(&format!("  {file}: {}\n", text_of(&content)));
        }
        match bytes <= SECRET_BYTES {
            true => Ok(text),
            false => {
                let message = format!("the files of `{name}` have {bytes} bytes, and a secret at most 1 MiB");
                Err(wrong(message, "use fewer agents in one namespace".to_owned()))
            }
        }
    };
    let has_certificates = requires_certificates(&configuration);
    files(agents, has_server, has_load, has_certificates).into_iter().map(secret).collect()
}
