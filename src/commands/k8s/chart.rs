//! The same manifests as a chart for Helm, whose values are set when it is installed.

use super::{ADDRESS, AGENTS, CERTIFICATE, CERTIFICATE_FILES, LOAD, LOAD_CERTIFICATE, NATS, Slots};
use crate::exit::{Exit, Failure};
use crate::say;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::path::Path;

const VALUES: &str = include_str!("values.yaml");
const NOTES: &str = include_str!("notes.txt");

/// Returns the files of the chart.
fn files() -> Vec<(&'static str, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let if_mutual = |lines: &str| {
        format!("            {{{{- if .Values.mutualTls }}}}\n{lines}            {{{{- end }}}}\n")
    };
    let slots = Slots {
        namespace: "{{ .Release.Namespace }}".into(),
        agents: "{{ .Values.agents }}".into(),
        image: "{{ .Values.image }}".into(),
        nats_image: "{{ .Values.natsImage }}".into(),
        nats: format!("{{{{ .Values.nats | default \"{ADDRESS}\" }}}}"),
        cpus: "{{ .Values.cpus }}".into(),
        memory: "{{ .Values.memory }}".into(),
        allow:
            "            {{- range .Values.allow }}\n            - --allow={{ . }}\n            {{- end }}\n"
                .into(),
        certificate: if_mutual(CERTIFICATE),
        certificate_files: if_mutual(CERTIFICATE_FILES),
        load_certificate: if_mutual(LOAD_CERTIFICATE),
        run: "{{ .Values.run }}".into(),
    };
    let only_if = |condition: &str, text: &str| {
        format!("{{{{- if {condition} }}}}\n{}{{{{- end }}}}\n", slots.fill(text))
    };
    let about = format!(
        "apiVersion: v2\nname: plimsoll\ndescription: Agents of plimsoll, which send the load of one run together\n\
         type: application\nversion: {version}\nappVersion: \"{version}\"\n"
    );
    vec![
        ("Chart.yaml", about),
        ("values.yaml", VALUES.replace("@VERSION@", version)),
        ("templates/nats.yaml", only_if("not .Values.nats", NATS)),
        ("templates/agents.yaml", slots.fill(AGENTS)),
        ("templates/load.yaml", only_if(".Values.run", LOAD)),
        ("templates/NOTES.txt", NOTES.to_owned()),
    ]
}

/// Writes the chart into a new directory.
///
/// # Errors
/// Returns an error if there is no name, if it exists, or if it cannot be written.
pub fn write(folder: Option<&str>) -> Result<Exit, Failure> {
    let Some(folder) = folder else {
        let hint = "name a new one: `plimsoll k8s chart plimsoll`";
        return Err(Diagnostic::new("U012", Place::Whole, "missing directory", hint).into());
    };
    let path = Path::new(folder);
    if path.exists() {
        let message = format!("`{folder}` exists already");
        return Err(Diagnostic::new("U020", Place::Whole, message, "name a new directory").into());
    }
    let failed = |file: &Path, e: std::io::Error| {
        Failure::machine(format!("cannot write `{}`: {e}", file.display()), None)
    };
    let templates = path.join("templates");
    std::fs::create_dir_all(&templates).map_err(|e| failed(&templates, e))?;
    for (name, content) in files() {
        let file = path.join(name);
        std::fs::write(&file, content).map_err(|e| failed(&file, e))?;
    }
    say::result(&format!(
        "{folder}: a chart for Helm\nInstall it:    helm install load {folder} --namespace plimsoll --create-namespace \
         --set agents=4\n"
    ))?;
    Ok(Exit::Pass)
}
