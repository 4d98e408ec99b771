//! `plimsoll k8s`: agents in a Kubernetes cluster, as manifests or as a chart for Helm. Both come from the same texts.

mod chart;
mod keys;

use super::{jmeter, run, script};
use crate::exit::{Exit, Failure};
use crate::flags::k8s::{K8s, K8sAction, Manifests};
use crate::flags::load::LoadFlags;
use crate::say;
use plimsoll_plan::diag::Place;
use plimsoll_plan::{Diagnostic, Plan};
use std::path::Path;

const NATS: &str = include_str!("k8s/nats.yaml");
const AGENTS: &str = include_str!("k8s/agents.yaml");
const LOAD: &str = include_str!("k8s/load.yaml");

/// Name of the service before the NATS server, for which its certificate is valid.
pub const HOST: &str = "plimsoll-nats";
/// Address of the NATS server in the same namespace.
const ADDRESS: &str = "tls://plimsoll-nats:4222";
const NATS_IMAGE: &str = "nats:2";
const NAMESPACE: &str = "plimsoll";
const CPUS: &str = "2";
/// Memory of an agent that needs little, MiB.
const MEMORY_MIN_MIB: u64 = 1024;
/// Memory of a load generator without users, MiB.
const MEMORY_BASE_MIB: u64 = 256;
/// Memory of a user with its connection, KiB: buffers of TLS are the largest part.
const MEMORY_USER_KIB: u64 = 64;
/// The same for a user of a script or a test plan. One with global variables has its own context: 124 KiB in
/// a load of 4,000, and 12 KiB without them.
const MEMORY_CODE_USER_KIB: u64 = 192;
/// Largest content of a config map, bytes.
const CONFIG_MAP_BYTES: u64 = 1 << 20;
/// Longest name of a namespace.
const NAMESPACE_CHARS: usize = 63;
/// Most agents that a load can use.
const AGENTS_MAX: u32 = 10_000;

/// What a server needs that requires certificates of its clients: flags of an agent, the files that it sees, and flags
/// of a load.
const CERTIFICATE: &str =
    "            - --nats-cert=/keys/agent.pem\n            - --nats-key=/keys/agent.key\n";
const CERTIFICATE_FILES: &str = concat!(
    "            - { name: keys, mountPath: /keys/agent.pem, subPathExpr: agent-$(INDEX).pem, readOnly: true }\n",
    "            - { name: keys, mountPath: /keys/agent.key, subPathExpr: agent-$(INDEX).key, readOnly: true }\n",
);
const LOAD_CERTIFICATE: &str =
    "            - --nats-cert=/keys/coordinator.pem\n            - --nats-key=/keys/coordinator.key\n";

/// What differs between manifests; a chart has expressions of Helm instead.
struct Slots {
    namespace: String,
    agents: String,
    image: String,
    nats_image: String,
    nats: String,
    cpus: String,
    memory: String,
    /// Whole lines, as the next three: those of a server that requires certificates of its clients.
    allow: String,
    certificate: String,
    certificate_files: String,
    load_certificate: String,
    run: String,
}

impl Slots {
    fn fill(&self, text: &str) -> String {
        let slots = [
            ("@NAMESPACE@", &self.namespace),
            ("@AGENTS@", &self.agents),
            ("@IMAGE@", &self.image),
            ("@NATS_IMAGE@", &self.nats_image),
            ("@NATS@", &self.nats),
            ("@CPUS@", &self.cpus),
            ("@MEMORY@", &self.memory),
            ("@ALLOW@\n", &self.allow),
            ("@CERTIFICATE@\n", &self.certificate),
            ("@CERTIFICATE_FILES@\n", &self.certificate_files),
            ("@LOAD_CERTIFICATE@\n", &self.load_certificate),
            ("@RUN@", &self.run),
        ];
        slots.into_iter().fold(text.to_owned(), |text, (slot, value)| text.replace(slot, value))
    }
}

/// `plimsoll k8s manifests|chart`.
pub fn command(flags: &K8s) -> Result<Exit, Failure> {
    match &flags.action {
        Some(K8sAction::Manifests(asked)) => {
            say::result(&manifests(asked)?)?;
            Ok(Exit::Pass)
        }
        Some(K8sAction::Chart { folder }) => chart::write(folder.as_deref()),
        None => Err(Diagnostic::new(
            "U012",
            Place::Whole,
            "missing action of `k8s`",
            "write `plimsoll k8s manifests --agents 4`, or `plimsoll k8s chart DIR`",
        )
        .into()),
    }
}

fn wrong(flag: &str, message: String, hint: &str) -> Failure {
    Diagnostic::new("U011", Place::Flag(flag.into()), message, hint).into()
}

fn manifests(asked: &Manifests) -> Result<String, Failure> {
    let Some(text) = &asked.agents else {
        let place = Place::Flag("--agents".into());
        return Err(Diagnostic::new(
            "U012",
            place,
            "missing number of agents",
            "add it, such as `--agents 4`",
        )
        .into());
    };
    let agents = text.parse().ok().filter(|n| (1..=AGENTS_MAX).contains(n));
    let agents: u32 = agents
        .ok_or_else(|| wrong("--agents", format!("invalid number of agents `{text}`"), "write 1 to 10000"))?;
    let namespace = namespace(asked.namespace.as_deref().unwrap_or(NAMESPACE))?;
    let allow = asked.allow.iter().map(|host| plain("--allow", host)).collect::<Result<Vec<_>, _>>()?;
    let folder = asked.keys.as_deref().map(Path::new);
    let has_certificates = folder.map_or(Ok(false), keys::have_certificates)?;
    let only_if = |text: &str| if has_certificates { text.to_owned() } else { String::new() };
    let slots = Slots {
        namespace: namespace.to_owned(),
        agents: agents.to_string(),
        image: plain("--image", asked.image.as_deref().unwrap_or(&image()))?.to_owned(),
        nats_image: NATS_IMAGE.to_owned(),
        nats: address(asked.nats.as_deref())?.to_owned(),
        cpus: cpus(asked.cpus.as_deref().unwrap_or(CPUS))?.to_owned(),
        memory: memory(asked, &plans(asked)?, agents)?,
        allow: allow.iter().map(|host| format!("            - --allow={host}\n")).collect(),
        certificate: only_if(CERTIFICATE),
        certificate_files: only_if(CERTIFICATE_FILES),
        load_certificate: only_if(LOAD_CERTIFICATE),
        run: file_name(asked.run.as_deref())?.to_owned(),
    };
    let has_server = asked.nats.is_none();
    let mut parts = match folder {
        Some(folder) => keys::secrets(folder, namespace, agents, has_server, asked.run.is_some())?,
        None => Vec::new(),
    };
    let texts = [has_server.then_some(NATS), Some(AGENTS), asked.run.as_ref().map(|_| LOAD)];
    parts.extend(texts.into_iter().flatten().map(|text| slots.fill(text)));
    Ok(format!("{}{}", head(asked, namespace, agents), parts.join("---\n")))
}

fn image() -> String {
    format!("plimsoll:{}", env!("CARGO_PKG_VERSION"))
}

/// Returns what must be done before these manifests, as comments.
fn head(asked: &Manifests, namespace: &str, agents: u32) -> String {
    let mut lines = vec![format!("kubectl create namespace {namespace}")];
    if asked.keys.is_none() {
        lines.extend(keys::commands(namespace, agents, asked.nats.as_deref(), asked.run.is_some()));
    }
    if let Some(file) = &asked.run {
        // With the files next to it that it names.
        let folder = Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.map_or_else(|| ".".to_owned(), |folder| folder.display().to_string());
        lines.push(format!(
            "kubectl -n {namespace} create configmap plimsoll-experiment --from-file={folder}"
        ));
    }
    let agents = plimsoll_plan::phrase::counted(u64::from(agents), "agent");
    let lines: String = lines.iter().map(|line| format!("#   {line}\n")).collect();
    format!("# {agents} of plimsoll in Kubernetes. Before `kubectl apply -f`:\n{lines}")
}

fn namespace(text: &str) -> Result<&str, Failure> {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = (1..=NAMESPACE_CHARS).contains(&text.len())
        && text.chars().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-');
    match is_name {
        true => Ok(text),
        false => {
            let message = format!("invalid name of a namespace `{text}`");
            Err(wrong("--namespace", message, "use lower-case letters, digits, and `-`, at most 63"))
        }
    }
}

/// Returns a word that is the same with and without quotes in YAML.
fn plain<'a>(flag: &str, text: &'a str) -> Result<&'a str, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:/@*[]".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Ok(text),
        false => Err(wrong(flag, format!("invalid value `{text}`"), "use letters, digits, and `-._:/@`")),
    }
}

fn address(nats: Option<&str>) -> Result<&str, Failure> {
    let Some(text) = nats else { return Ok(ADDRESS) };
    match text.starts_with("tls://") {
        true => plain("--nats", text),
        false => {
            let hint =
                "use a server with TLS and with the keys of `plimsoll cluster init`: `tls://HOST:4222`";
            Err(wrong("--nats", format!("invalid address `{text}`"), hint))
        }
    }
}

fn cpus(text: &str) -> Result<&str, Failure> {
    match text.parse::<u32>() {
        Ok(1..=1024) => Ok(text),
        _ => {
            let hint = "write a whole number: with a part of a CPU, the kernel throttles a load generator";
            Err(wrong("--cpus", format!("invalid number of CPUs `{text}`"), hint))
        }
    }
}

/// Returns the plans of the load.
fn plans(asked: &Manifests) -> Result<Vec<Plan>, Failure> {
    let plans = match asked.run.as_deref() {
        None => Vec::new(),
        Some(file) if jmeter::is_plan(file) => vec![jmeter::plan(file)?],
        Some(file) if script::is_script(file) => script::plans(file, &LoadFlags::default())?,
        Some(file) => {
            let parts = run::plans_of("k8s", Some(file), &LoadFlags::default(), &[])?;
            parts.into_iter().flat_map(|(_, plans)| plans).collect()
        }
    };
    if let Some(file) = &asked.run {
        check_files(Path::new(file))?;
    }
    Ok(plans)
}

/// Refuses a load whose files do not fit into a config map.
fn check_files(run: &Path) -> Result<(), Failure> {
    let unreadable =
        |path: &Path, e| Failure::machine(format!("cannot read `{}`: {e}", path.display()), None);
    let whole = |path: &Path| std::path::absolute(path).map_err(|e| unreadable(path, e));
    let folder = whole(run)?.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut bytes = 0;
    for path in plimsoll_plan::inputs::noted() {
        let path = whole(&path)?;
        // A file that may be missing is not an input.
        let Ok(about) = path.metadata() else { continue };
        if path.parent() != Some(&folder) {
            let message = format!("the load reads `{}`, and a config map has no directories", path.display());
            return Err(wrong("--run", message, "put all files into the directory of the experiment"));
        }
        bytes += about.len();
    }
    match bytes <= CONFIG_MAP_BYTES {
        true => Ok(()),
        false => {
            let message = format!("the files of the load have {bytes} bytes, and a config map at most 1 MiB");
            Err(wrong("--run", message, "start the load from your machine: omit `--run`"))
        }
    }
}

/// Returns the memory of an agent: as asked for, or for its users in the largest load of the file.
fn memory(asked: &Manifests, plans: &[Plan], agents: u32) -> Result<String, Failure> {
    if let Some(text) = &asked.memory {
        let number = text.strip_suffix("Mi").or_else(|| text.strip_suffix("Gi"));
        return match number.map(str::parse::<u32>) {
            Some(Ok(1..)) => Ok(text.clone()),
            _ => Err(wrong("--memory", format!("invalid memory `{text}`"), "write `512Mi` or `2Gi`")),
        };
    }
    let needed_kib = plans.iter().map(|plan| {
        let of_user = if plan.code.is_some() { MEMORY_CODE_USER_KIB } else { MEMORY_USER_KIB };
        u64::from(plan.outline.connections).div_ceil(u64::from(agents)) * of_user
    });
    let needed_kib = needed_kib.max().unwrap_or(0);
    let mib = (MEMORY_BASE_MIB + needed_kib.div_ceil(1024)).next_multiple_of(MEMORY_BASE_MIB);
    let mib = mib.max(MEMORY_MIN_MIB);
    Ok(if mib.is_multiple_of(1024) { format!("{}Gi", mib / 1024) } else { format!("{mib}Mi") })
}

fn file_name(run: Option<&str>) -> Result<&str, Failure> {
    let Some(file) = run else { return Ok("") };
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    plain("--run", name)
}
