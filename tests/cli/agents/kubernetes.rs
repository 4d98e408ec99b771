//! Manifests for Kubernetes: they fit together, their commands exist, and the chart has the same objects.

use super::files::{accepts, documents, texts};
use super::server::Server;
use crate::support::{Scratch, Tool};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeMap;

fn manifests(more: &[&str]) -> String {
    Tool::run(&[&["k8s", "manifests"], more].concat()).expect_code(0).stdout
}

fn name(object: &Value) -> (&str, &str) {
    (object["kind"].as_str().expect("a kind"), object["metadata"]["name"].as_str().expect("a name"))
}

fn find<'a>(all: &'a [Value], kind: &str, named: &str) -> &'a Value {
    all.iter().find(|object| name(object) == (kind, named)).unwrap_or_else(|| panic!("{kind} {named}"))
}

/// Keys for three agents, and the documents with an experiment of theirs.
fn whole(scratch: &Scratch, more: &[&str]) -> Vec<Value> {
    let keys = scratch.path("keys");
    let init = ["cluster", "init", &keys, "--host", "plimsoll-nats", "--agents", "3"];
    Tool::run(&[&init[..], more].concat()).expect_code(0);
    let file = scratch.file(
        "a.yaml",
        "target: http://127.0.0.1:1\nscenarios: { s: [ { get: / } ] }\nload: { users: 90000, duration: 1m }\n",
    );
    documents(&manifests(&["--agents", "3", "--keys", &keys, "--run", &file, "--allow", "shop.example.test"]))
}

/// Each pod has the volumes that it mounts, with the files that its command names.
#[test]
fn the_manifests_are_whole() {
    are_whole(&[]);
}

#[test]
fn the_manifests_with_certificates_of_clients_are_whole() {
    let all = are_whole(&["--mutual-tls"]);
    let words =
        |job: &str| texts(&find(&all, "Job", job)["spec"]["template"]["spec"]["containers"][0]["args"]);
    assert!(words("plimsoll-agent").contains(&"--nats-cert=/keys/agent.pem".to_owned()));
    assert!(words("plimsoll-load").contains(&"--nats-key=/keys/coordinator.key".to_owned()));
}

fn are_whole(more: &[&str]) -> Vec<Value> {
    let scratch = Scratch::new();
    let all = whole(&scratch, more);
    let mut commands = 0;
    for object in &all {
        assert_eq!(object["metadata"]["namespace"], "plimsoll", "{object}");
        let pod = &object["spec"]["template"]["spec"];
        let Some(containers) = pod["containers"].as_array() else { continue };
        let account = pod["serviceAccountName"].as_str().expect("an account");
        assert_eq!(find(&all, "ServiceAccount", account)["automountServiceAccountToken"], false);
        assert_eq!(pod["automountServiceAccountToken"], false);
        let container = &containers[0];
        let words: Vec<String> =
            texts(&container["args"]).iter().map(|word| word.replace("$(INDEX)", "2")).collect();
        if container["image"].as_str().expect("an image").starts_with("plimsoll:") {
            accepts(&words);
            commands += 1;
        }
        let mut files = BTreeMap::new();
        for mount in container["volumeMounts"].as_array().into_iter().flatten() {
            let volumes = pod["volumes"].as_array().expect("a mount has a volume");
            let volume = volumes.iter().find(|volume| volume["name"] == mount["name"]).expect("its volume");
            let Some(secret) = volume["secret"]["secretName"].as_str() else { continue };
            let data = find(&all, "Secret", secret)["data"].as_object().expect("files");
            let path = mount["mountPath"].as_str().expect("a path").to_owned();
            let own = mount["subPath"].as_str().or(mount["subPathExpr"].as_str());
            match own.map(|own| own.replace("$(INDEX)", "2")) {
                Some(own) => {
                    assert!(data.contains_key(&own), "{secret} has {own}");
                    files.insert(path, own);
                }
                None => files.extend(data.keys().map(|file| (format!("{path}/{file}"), file.clone()))),
            }
        }
        for word in words.iter().filter_map(|word| word.split_once("=/keys/")) {
            assert!(files.contains_key(&format!("/keys/{}", word.1)), "{word:?} of {files:?}");
        }
    }
    assert_eq!(commands, 2, "an agent and a load");
    let job = find(&all, "Job", "plimsoll-agent");
    let spec = &job["spec"];
    assert_eq!((&spec["completionMode"], &spec["completions"]), (&"Indexed".into(), &3.into()));
    let agent = &spec["template"]["spec"]["containers"][0];
    // 30,000 users with 64 KiB each, and the base.
    assert_eq!(agent["resources"]["limits"]["memory"], "2304Mi");
    assert!(texts(&agent["args"]).contains(&"--allow=shop.example.test".to_owned()));
    let load = &find(&all, "Job", "plimsoll-load")["spec"]["template"]["spec"]["containers"][0];
    assert!(texts(&load["args"]).starts_with(&["run".into(), "a.yaml".into(), "--agents=3".into()]));
    // The policy of the server admits the pods that connect to it.
    let policy = find(&all, "NetworkPolicy", "plimsoll-nats");
    let admitted = &policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchExpressions"][0]["values"];
    for job in ["plimsoll-agent", "plimsoll-load"] {
        let labels = &find(&all, "Job", job)["spec"]["template"]["metadata"]["labels"];
        assert!(texts(admitted).contains(&labels["app.kubernetes.io/name"].as_str().unwrap().to_owned()));
    }
    all
}

#[test]
fn the_secrets_contain_the_keys_and_a_server_starts_with_its_own() {
    for more in [&[][..], &["--mutual-tls"]] {
        secrets_contain_the_keys(more);
    }
}

fn secrets_contain_the_keys(more: &[&str]) {
    let scratch = Scratch::new();
    let all = whole(&scratch, more);
    for secret in all.iter().filter(|object| object["kind"] == "Secret") {
        let folder = scratch.folder().join(name(secret).1);
        std::fs::create_dir(&folder).unwrap();
        for (file, data) in secret["data"].as_object().expect("files") {
            let content = STANDARD.decode(data.as_str().expect("text")).expect("Base64");
            assert_eq!(content, std::fs::read(scratch.path(&format!("keys/{file}"))).unwrap(), "{file}");
            std::fs::write(folder.join(file), content).unwrap();
        }
    }
    Server::start_in(&scratch.folder().join("plimsoll-nats"), &["-c", "server.conf"]);
    for coordinator in ["coordinator.nk", "signing.nk"] {
        assert!(!scratch.folder().join("plimsoll-agents").join(coordinator).exists());
    }
}

#[test]
fn an_existing_server_is_used_instead_of_one_in_the_namespace() {
    let text =
        manifests(&["--agents", "20", "--namespace", "load", "--nats", "tls://nats.example.test:4222"]);
    assert!(text.contains("kubectl -n load create secret generic plimsoll-agents"), "{text}");
    let all = documents(&text);
    assert!(all.iter().all(|object| name(object).1 == "plimsoll-agent"), "{text}");
    let job = find(&all, "Job", "plimsoll-agent");
    let words = texts(&job["spec"]["template"]["spec"]["containers"][0]["args"]);
    assert!(words.contains(&"--nats=tls://nats.example.test:4222".to_owned()), "{words:?}");
    assert_eq!(job["spec"]["completions"], 20);
    assert_eq!(job["metadata"]["namespace"], "load");
}

#[test]
fn the_users_of_a_script_and_of_a_test_plan_have_memory() {
    let scratch = Scratch::new();
    let script = scratch.file(
        "a.js",
        "import http from 'k6/http';\nexport const options = { vus: 30000, duration: '1m' };\n\
         export default () => { http.get('http://127.0.0.1:1/'); };\n",
    );
    let lines = "
TestPlan p
  ThreadGroup Users | threads=30000 | loops=1
    HTTPSamplerProxy page | domain=127.0.0.1 | port=1 | path=/
";
    let plan = scratch.file("a.jmx", &crate::support::jmx::plan(lines));
    for file in [script, plan] {
        let all = documents(&manifests(&["--agents", "3", "--run", &file]));
        let agent = &find(&all, "Job", "plimsoll-agent")["spec"]["template"]["spec"]["containers"][0];
        // 10,000 users with 192 KiB each, and the base.
        assert_eq!(agent["resources"]["requests"]["memory"], "2304Mi", "{file}");
    }
}

#[test]
fn files_of_a_load_must_fit_into_a_config_map() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.folder().join("data")).unwrap();
    let with_data = |name: &str, data: &str| {
        let text = format!(
            "target: http://127.0.0.1:1\ndata: {{ users: {{ file: {data} }} }}\n\
             scenarios: {{ s: [ {{ get: \"/${{users.name}}\" }} ] }}\nload: {{ users: 3, duration: 1m }}\n"
        );
        scratch.file(name, &text)
    };
    for name in ["data/users.csv", "users.csv"] {
        scratch.file(name, "name\nann\n");
    }
    scratch.file("many.csv", &format!("name\n{}", "ann\n".repeat(300_000)));
    let print = |file: &str| Tool::run(&["k8s", "manifests", "--agents", "3", "--run", file]);
    print(&with_data("a.yaml", "users.csv")).expect_code(0);
    let output = print(&with_data("b.yaml", "data/users.csv")).expect_code(2);
    assert!(
        output.stderr.contains("data/users.csv`, and a config map has no directories"),
        "{}",
        output.stderr
    );
    let output = print(&with_data("c.yaml", "many.csv")).expect_code(2);
    assert!(output.stderr.contains("a config map at most 1 MiB"), "{}", output.stderr);
}

/// Fills the expressions of a chart as Helm does with its default values.
fn rendered(template: &str, run: &str) -> String {
    let lines = template.lines().filter(|line| !line.trim_start().starts_with("{{-"));
    let is_optional = |line: &&str| {
        ["--allow={{ . }}", "--nats-cert=", "--nats-key=", "/keys/agent.pem", "/keys/agent.key"]
            .iter()
            .any(|part| line.contains(part))
    };
    let lines = lines.filter(|line| !is_optional(line));
    let values = [
        ("{{ .Release.Namespace }}", "plimsoll"),
        ("{{ .Values.agents }}", "4"),
        ("{{ .Values.natsImage }}", "nats:2"),
        ("{{ .Values.nats | default \"tls://plimsoll-nats:4222\" }}", "tls://plimsoll-nats:4222"),
        ("{{ .Values.cpus }}", "2"),
        ("{{ .Values.memory }}", "1Gi"),
        ("{{ .Values.run }}", run),
    ];
    let image = format!("plimsoll:{}", env!("CARGO_PKG_VERSION"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    values.iter().fold(text, |text, (from, to)| text.replace(from, to)).replace("{{ .Values.image }}", &image)
}

#[test]
fn the_chart_has_the_same_objects_as_the_manifests() {
    let scratch = Scratch::new();
    let folder = scratch.path("chart");
    let output = Tool::run(&["k8s", "chart", &folder]).expect_code(0);
    assert!(output.stdout.contains("helm install"), "{}", output.stdout);
    let read = |name: &str| std::fs::read_to_string(scratch.folder().join("chart").join(name)).unwrap();
    let own = &documents(&read("Chart.yaml"))[0];
    assert_eq!((&own["name"], &own["appVersion"]), (&"plimsoll".into(), &env!("CARGO_PKG_VERSION").into()));
    let file = scratch.file(
        "b.yml",
        "target: http://127.0.0.1:1\nscenarios: { s: [ { get: / } ] }\nload: { users: 1, iterations: 1 }\n",
    );
    let expected = documents(&manifests(&["--agents", "4", "--run", &file]));
    let templates =
        ["nats", "agents", "load"].map(|name| rendered(&read(&format!("templates/{name}.yaml")), "b.yml"));
    assert!(!templates.concat().contains("{{"), "{templates:?}");
    let all: Vec<Value> = templates.iter().flat_map(|text| documents(text)).collect();
    assert_eq!(all, expected);
    assert!(read("templates/nats.yaml").starts_with("{{- if not .Values.nats }}\n"));
    assert!(read("templates/load.yaml").starts_with("{{- if .Values.run }}\n"));
    let again = Tool::run(&["k8s", "chart", &folder]).expect_code(2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
}

#[test]
fn values_that_do_not_fit_are_named() {
    let scratch = Scratch::new();
    let keys = |folder: &str, more: &[&str]| {
        let folder = scratch.path(folder);
        Tool::run(&[&["cluster", "init", &folder, "--agents", "2"], more].concat()).expect_code(0);
        folder
    };
    let other = keys("other", &["--host", "nats.example.test"]);
    let own = keys("own", &["--host", "plimsoll-nats"]);
    let cases: [(&[&str], &str); 13] = [
        (&[], "missing number of agents"),
        (&["--agents", "0"], "invalid number of agents `0`"),
        (&["--agents", "a,b"], "invalid number of agents `a,b`"),
        (&["--agents", "2", "--namespace", "Load"], "invalid name of a namespace `Load`"),
        (&["--agents", "2", "--nats", "nats://10.0.0.1:4222"], "invalid address `nats://10.0.0.1:4222`"),
        (&["--agents", "2", "--cpus", "0.5"], "invalid number of CPUs `0.5`"),
        (&["--agents", "2", "--memory", "1"], "invalid memory `1`"),
        (&["--agents", "2", "--image", "a\nb: c"], "invalid value"),
        (&["--agents", "2", "--allow", "a b"], "invalid value `a b`"),
        (&["--agents", "2", "--keys", &scratch.path("none")], "server.conf`: "),
        (&["--agents", "2", "--keys", &other], "are for the server `nats.example.test:4222`"),
        (&["--agents", "3", "--keys", &own], "agent-2.nk`: "),
        (&["--agents", "2", "--run", &scratch.path("none.yaml")], "none.yaml"),
    ];
    for (more, said) in cases {
        let output = Tool::run(&[&["k8s", "manifests"], more].concat());
        assert!(output.code != 0 && output.stderr.contains(said), "{more:?}: {}", output.stderr);
    }
    for fits in [&["--keys", &own][..], &["--keys", &other, "--nats", "tls://nats.example.test:4222"]] {
        manifests(&[&["--agents", "2"], fits].concat());
    }
    let output = Tool::run(&["k8s"]).expect_code(2);
    assert!(output.stderr.contains("missing action of `k8s`"), "{}", output.stderr);
}

#[test]
fn an_agent_that_kubernetes_ends_is_started_again_and_one_that_you_end_is_not() {
    let server = Server::start();
    for (signal, code) in [("TERM", 143), ("INT", 0)] {
        let agent = server.agent("a", &[]);
        server.wait_for(1);
        agent.signal(signal);
        assert_eq!(agent.wait().code, code, "{signal}");
    }
}
