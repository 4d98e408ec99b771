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

fn key_of(agent: &str) -> String {
    format!("{agent}.nk")
}

/// Returns the name of an agent of the indexed job.
fn agent(index: u32) -> String {
    plimsoll_cluster::subject::numbered(index)
}

/// The secrets, and the files in each of them.
fn files(agents: u32, has_server: bool, has_load: bool) -> Vec<(&'static str, Vec<String>)> {
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut of_agents = texts(&[AUTHORITY, COORDINATOR_KEY]);
    of_agents.extend((0..agents).map(|index| key_of(&agent(index))));
    let mut all = Vec::new();
    all.extend(has_server.then(|| ("plimsoll-nats", texts(SERVER))));
    all.push(("plimsoll-agents", of_agents));
    let own = key_of(COORDINATOR);
    all.extend(has_load.then(|| ("plimsoll-coordinator", texts(&[AUTHORITY, &own, SIGNING_KEY]))));
    all
}

/// Returns the commands that create keys and secrets in the directory `keys`.
pub fn commands(namespace: &str, agents: u32, nats: Option<&str>, has_load: bool) -> Vec<String> {
    let mut lines = match nats {
        None => vec![format!("plimsoll cluster init keys --host {HOST} --agents {agents}")],
        Some(_) => vec![format!("plimsoll cluster add keys --agents {agents}")],
    };
    for (name, files) in files(agents, nats.is_none(), has_load) {
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
    if requires_certificates(&configuration) {
        let hint = "write keys without `--mutual-tls`".to_owned();
        return Err(wrong(format!("the server of `{shown}` requires certificates of its clients"), hint));
    }
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
        for file in files {
            text.push_str(&format!("  {file}: {}\n", text_of(&read(&file)?)));
        }
        Ok(text)
    };
    files(agents, has_server, has_load).into_iter().map(secret).collect()
}
