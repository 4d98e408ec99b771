//! `cargo xtask nightly kubernetes`: what `plimsoll k8s` prints is valid for the API of Kubernetes, also for its older
//! versions, and the chart passes Helm's checks and has the same objects. The Compose file is valid for Compose's own
//! reader. The validator (PyPI), Helm, and that reader (Go) are installed below the target folder.

use chore::{Outcome, shell};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The validator contains the schemas of all these versions.
const VALIDATOR: &str = "kubernetes-validate==1.37.0";
const VERSIONS: &[&str] = &["1.37", "1.33", "1.29"];
const HELM: &str = "helm.sh/helm/v3/cmd/helm@v3.22.0";
/// The reader of Compose files that Docker uses; its program is called `cmd`.
const COMPOSE: &str = "github.com/compose-spec/compose-go/v2/cmd@v2.16.2";
/// What the installations need.
pub const NEEDS: [&str; 2] = ["python3", "go"];

/// Compares the objects in two files, by their kinds and names.
const SAME: &str = "
import sys, yaml
def objects(path):
    found = [one for one in yaml.safe_load_all(open(path)) if one and one['kind'] != 'Secret']
    return {(one['kind'], one['metadata']['name']): one for one in found}
first, second = map(objects, sys.argv[1:])
differ = sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))
sys.exit(f'different objects: {differ}' if differ or not first else 0)
";

struct Tools {
    python: PathBuf,
    validator: PathBuf,
    helm: PathBuf,
    compose: PathBuf,
    plimsoll: PathBuf,
    folder: PathBuf,
}

pub fn check() -> Outcome {
    let tools = Tools::install()?;
    let example = shell::root().join("examples/poisson.yaml").display().to_string();
    tools.plimsoll(&["cluster", "init", "keys", "--host", "plimsoll-nats", "--agents", "3"])?;
    let mutual = ["cluster", "init", "mutual", "--host", "plimsoll-nats", "--agents", "3", "--mutual-tls"];
    tools.plimsoll(&mutual)?;
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("one", &["--agents", "1"], &["agents=1"]),
        (
            "existing-server",
            &["--agents", "20", "--namespace", "load", "--nats", "tls://nats.example.test:4222"],
            &["agents=20", "nats=tls://nats.example.test:4222"],
        ),
        (
            "load",
            &["--agents", "3", "--run", &example, "--allow", "a.example.test", "--allow", "b.example.test"],
            &["agents=3", "run=poisson.yaml", "allow={a.example.test,b.example.test}"],
        ),
        (
            "mutual",
            &["--agents", "3", "--keys", "mutual", "--run", &example],
            &["agents=3", "run=poisson.yaml", "mutualTls=true"],
        ),
        (
            "sizes",
            &["--agents", "3", "--cpus", "4", "--memory", "3Gi", "--image", "registry.test/plimsoll:1"],
            &["agents=3", "cpus=4", "memory=3Gi", "image=registry.test/plimsoll:1"],
        ),
    ];
    tools.plimsoll(&["k8s", "chart", "chart"])?;
    shell::run(tools.command(&tools.helm).args(["lint", "--strict", "chart"]))?;
    for (name, flags, values) in cases {
        let printed = tools.plimsoll(&[&["k8s", "manifests"], flags].concat())?;
        let printed = tools.write(&format!("{name}.yaml"), &printed)?;
        tools.validate(&printed)?;
        let namespace = if flags.contains(&"load") { "load" } else { "plimsoll" };
        let mut helm = tools.command(&tools.helm);
        helm.args(["template", "load", "chart", "--namespace", namespace]);
        let rendered = shell::output(helm.args(values.iter().map(|value| format!("--set={value}"))))?;
        let rendered = tools.write(&format!("{name}-chart.yaml"), &rendered)?;
        tools.validate(&rendered)?;
        shell::run(tools.command(&tools.python).args(["-c", SAME]).args([&printed, &rendered]))
            .map_err(|_| format!("the chart and the manifests `{name}` differ"))?;
    }
    let keys = tools.plimsoll(&["k8s", "manifests", "--agents", "3", "--keys", "keys", "--run", &example])?;
    tools.validate(&tools.write("keys.yaml", &keys)?)?;
    // The twin: the validator finds a key that does not exist.
    let wrong = keys.replace("completionMode: Indexed", "completionsMode: Indexed");
    let wrong = tools.write("wrong.yaml", &wrong)?;
    if tools.validate(&wrong).is_ok() {
        return Err("the validator accepts a key that does not exist".into());
    }
    tools.check_compose()
}

impl Tools {
    fn install() -> Result<Tools, String> {
        let target = shell::target_folder()?;
        let environment = target.join("tools/kubernetes");
        let bin = target.join("tools/bin");
        let validator = environment.join("bin/kubernetes-validate");
        if !validator.is_file() {
            shell::run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
            shell::run(Command::new(environment.join("bin/pip")).args(["install", "--quiet", VALIDATOR]))?;
        }
        let (helm, compose) = (bin.join("helm"), bin.join("cmd"));
        for (program, package) in [(&helm, HELM), (&compose, COMPOSE)] {
            if !program.is_file() {
                shell::run(Command::new("go").args(["install", package]).env("GOBIN", &bin))?;
            }
        }
        shell::run(shell::cargo().args(["build", "--bin", "plimsoll"]))?;
        let folder = target.join("kubernetes");
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .map_err(|e| format!("cannot delete {}: {e}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
        let python = environment.join("bin/python");
        Ok(Tools { python, validator, helm, compose, plimsoll: target.join("debug/plimsoll"), folder })
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        command
    }

    fn plimsoll(&self, words: &[&str]) -> Result<String, String> {
        shell::output(self.command(&self.plimsoll).args(words))
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let file = self.folder.join(name);
        std::fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        Ok(file)
    }

    /// The Compose file of the examples is valid, and a wrong key in it is found.
    fn check_compose(&self) -> Outcome {
        let file = shell::root().join("examples/agents/compose.yaml");
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        let read = |name: &str, text: &str| {
            let file = self.write(name, text)?;
            shell::output(self.command(&self.compose).arg(file)).map(drop)
        };
        read("compose.yaml", &text)?;
        match read("wrong-compose.yaml", &text.replace("stop_signal:", "stop_signals:")) {
            Err(_) => Ok(()),
            Ok(()) => Err("the reader of Compose files accepts a key that does not exist".into()),
        }
    }

    fn validate(&self, file: &Path) -> Outcome {
        VERSIONS.iter().try_for_each(|version| {
            let mut command = self.command(&self.validator);
            shell::run(command.args(["--strict", "--quiet", "--kubernetes-version", version]).arg(file))
        })
    }
}
