//! Explanations of the codes of the command line. Those of files and plans are in `plimsoll_front::explain`.

use plimsoll_front::explain::Explained;

const fn row(code: &'static str, title: &'static str, text: &'static str) -> Explained {
    Explained { code, title, text }
}

/// Codes `U0xx`, ascending.
pub const TABLE: &[Explained] = &[
    row(
        "U001",
        "unknown flag",
        "plimsoll rejects unknown flags. The help line names the closest flag, or says what is not supported \
         yet.\n\n  plimsoll URL -c 100 -d 15s",
    ),
    row(
        "U002",
        "unexpected argument",
        "A command takes one URL or one file. Quote values that contain spaces.\n\n  plimsoll URL -H 'Accept: \
         text/html'",
    ),
    row("U003", "missing value of a flag", "This flag requires a value.\n\n  plimsoll URL -d 15s"),
    row(
        "U004",
        "value for a flag that takes none",
        "This flag is a switch without a value.\n\n  plimsoll URL --quiet",
    ),
    row(
        "U005",
        "conflicting flags",
        "Only one of these flags can apply, such as one output format of a report.\n\n  plimsoll report \
         run.plim --json",
    ),
    row("U006", "invalid command line", "`plimsoll --help` lists all flags and commands."),
    row("U007", "unknown command", "The help line names the closest command.\n\n  plimsoll check a.yaml"),
    row("U009", "argument not in UTF-8", "File names and values on the command line must be UTF-8 text."),
    row(
        "U010",
        "invalid URL",
        "A URL consists of a scheme (`http` or `https`), a host, and optionally a port and a \
         path.\n\n  plimsoll http://127.0.0.1:8080/pick",
    ),
    row(
        "U011",
        "invalid value of a flag",
        "The message says what the flag expects: a duration such as `15s`, a rate such as `100/s`, or a whole \
         number.\n\n  plimsoll URL -r 100/s -d 1m",
    ),
    row(
        "U012",
        "missing URL",
        "The command requires a URL to load.\n\n  plimsoll http://127.0.0.1:8080/ -c 100 -d 15s",
    ),
    row("U013", "missing file", "The command requires an experiment file.\n\n  plimsoll run experiment.yaml"),
    row(
        "U014",
        "URL instead of a file",
        "To load a URL, write it without a command.\n\n  plimsoll http://127.0.0.1:8080/",
    ),
    row(
        "U015",
        "file instead of a URL",
        "Run experiment files with `plimsoll run`, and show run files with `plimsoll report`.\n\n  plimsoll \
         run experiment.yaml\n  plimsoll report run.plim",
    ),
    row("U016", "missing run file", "The command requires a run file.\n\n  plimsoll report run.plim"),
    row(
        "U017",
        "too few run files to merge",
        "`plimsoll merge` requires at least two run files.\n\n  plimsoll merge a.plim b.plim --out both.plim",
    ),
    row(
        "U018",
        "flag without effect",
        "The scenarios of the file already set this, so the flag would have no effect. plimsoll ignores no \
         flag: change the file instead.",
    ),
    row(
        "U019",
        "`--set` without a file",
        "`--set` requires an experiment file with variables.\n\n  plimsoll run a.yaml --set n=3",
    ),
    row(
        "U020",
        "output file exists",
        "plimsoll never overwrites a run file or a page.\n\n  plimsoll URL --out another.plim",
    ),
    row("U021", "unknown code", "`plimsoll explain` lists all codes."),
    row(
        "U022",
        "TLS flag for an HTTP target",
        "Flags such as `--ca`, `--insecure`, and `--ciphers` are settings of TLS, which requires an `https://` \
         target; `--ca` and `--insecure` also apply to an `https://` proxy.\n\n  \
         plimsoll https://127.0.0.1:8443/ --ca ca.pem",
    ),
    row(
        "U023",
        "unknown example",
        "`plimsoll examples` lists all built-in examples.\n\n  plimsoll examples sequence > sequence.yaml",
    ),
    row(
        "U024",
        "unsupported shell",
        "Completions are available for bash, zsh, and fish.\n\n  plimsoll completions fish",
    ),
    row(
        "U025",
        "missing input to audit",
        "Name the files to audit, or write `-` for standard input.\n\n  plimsoll audit report.md",
    ),
    row(
        "U026",
        "no single load to search",
        "A search varies one load, but scenarios with their own `load` have several. Write one `load` at the \
         top level, and give the scenarios weights.",
    ),
    row(
        "U027",
        "directory of another experiment",
        "plimsoll does not mix runs of a changed plan with earlier runs. An unchanged file resumes where it \
         stopped. A changed file requires another directory.\n\n  plimsoll run experiment.yaml --out another",
    ),
    row(
        "U028",
        "nothing to search",
        "Name a URL or an experiment file, and the thresholds to meet.\n\n  plimsoll find \
         http://127.0.0.1:8080/ --threshold 'response_time p99 < 250ms'",
    ),
    row(
        "U029",
        "flag that the search sets",
        "A search sets the level and the duration of its steps. Control it with `--from`, `--to`, \
         `--step-duration`, `--step`, and `--stop-when`.\n\n  plimsoll find URL --from 100/s --to 5000/s \
         --step-duration 10s",
    ),
    row(
        "U030",
        "output format for single runs only",
        "An experiment has many runs, each with its own timeline.\n\n  plimsoll report results/ --csv",
    ),
    row(
        "U031",
        "comparison without two sides",
        "A comparison requires two sides: runs or directories of repeats, the variants of one directory, or \
         one side and a baseline.\n\n  plimsoll compare before/ after/",
    ),
    row(
        "U032",
        "no common combination",
        "`plimsoll compare` matches runs with equal settings, such as the same load and the same \
         payload.\n\n  plimsoll compare a.plim b.plim",
    ),
    row(
        "U033",
        "unsuitable baseline",
        "A baseline serves as the reference for later runs. Its runs must be complete, without errors, and \
         not INCONCLUSIVE.",
    ),
    row(
        "U034",
        "not enough numbers",
        "Little's law requires two of three numbers: the arrival rate, the time each visitor stays, and the \
         number of concurrent visitors.\n\n  plimsoll size --visitors 100000/month --session 5min --active \
         12h",
    ),
    row(
        "U035",
        "flag conflicts with a list in the file",
        "The file has a list of values for this setting, and the flag would replace all of them. Select one \
         value with `--set`.\n\n  plimsoll run sweep.yaml --set users=8",
    ),
    row(
        "U036",
        "`--single-run` with several runs",
        "`--single-run` runs the one remaining combination as a single run, such as for a sharded load. \
         Select values until one combination remains.\n\n  plimsoll run sweep.yaml --set users=8 --single-run \
         --shard 1/2",
    ),
    row(
        "U037",
        "a load that is split twice",
        "`generators: N` splits each run over N processes on this machine, `--agents` over agents, and `--shard` takes \
         one part of a load. Only one of them splits a load.\n\n  generators: 2\n  load: { users: [100, 1000], \
         duration: 30s }",
    ),
    row(
        "U038",
        "two results on standard output",
        "Standard output can hold only one result. Write the page to a file.\n\n  plimsoll report run.plim \
         --json --html run.html",
    ),
    row(
        "U039",
        "unknown run",
        "`plimsoll runs list` lists the runs in the state directory. You can shorten a name as long as only \
         one run matches.\n\n  plimsoll runs show 2026-11-21",
    ),
    row(
        "U040",
        "both `--urls` and a URL",
        "`--urls` names a list of requests. Add the URL to the list.\n\n  plimsoll --urls urls.txt -c 100 -d \
         15s",
    ),
    row(
        "U041",
        "`--target` with a path",
        "`--target` replaces only scheme, host, and port of the experiment file. The paths come from the \
         file.\n\n  plimsoll run experiment.yaml --target http://127.0.0.1:8080",
    ),
    row(
        "U042",
        "no single target to replace",
        "`--target` requires an experiment file with one target. It cannot be used with a URL, or with an \
         experiment that compares targets.\n\n  plimsoll run experiment.yaml --target http://127.0.0.1:8080",
    ),
    row(
        "U047",
        "`--png` without `--charts`",
        "`--png` converts the charts of `--charts` to images.\n\n  plimsoll report run.plim --charts charts \
         --png",
    ),
    row(
        "U048",
        "invalid template",
        "The template is invalid, uses a name that the result does not have, or does not end. It can use all \
         names of the `--json` document, and `charts`.\n\n  plimsoll report run.plim --template comment.md",
    ),
    row(
        "U049",
        "not possible with agents",
        "Agents send the sums of each second, and delete their files after the load. What needs each sample during \
         the load, writes a file there, or needs something that only this machine has, is not possible with \
         `--agents`.\n\n  plimsoll k6 run script.js --agents 2 --nats nats://10.0.0.1:4222 --save run.plim",
    ),
    row(
        "U050",
        "a monitor without its agent",
        "A monitor with `on` runs on the agents that `on` names or whose label it gives. These agents must be among \
         those of the load.\n\n  monitors:\n    - { name: host, host: true, on: region=eu }",
    ),
    row(
        "U060",
        "invalid listen address",
        "Write an IP address of this machine and a port. plimsoll does not resolve host names \
         here.\n\n  plimsoll serve --listen 127.0.0.1:0",
    ),
    row(
        "U061",
        "incomplete protection",
        "A console that other machines can reach requires a certificate, its key, and a \
         password.\n\n  plimsoll serve --listen 0.0.0.0:7117 --tls-cert cert.pem --tls-key key.pem \
         --password-file password",
    ),
    row(
        "U062",
        "unprotected console",
        "Without a certificate, its key, and a password, the console listens only on this \
         machine.\n\n  plimsoll serve --listen 127.0.0.1:7117",
    ),
    row(
        "U063",
        "weak password",
        "The first line of the file is the password. It must have at least 12 characters.\n\n  openssl rand \
         -base64 24 > password",
    ),
];

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn codes_ascend_and_every_one_in_the_sources_is_explained() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code));
        let sources = [
            include_str!("exit.rs"),
            include_str!("flags/wrong.rs"),
            include_str!("flags/draft.rs"),
            include_str!("flags.rs"),
            include_str!("commands/merge.rs"),
            include_str!("commands/page.rs"),
            include_str!("commands/template.rs"),
            include_str!("commands/report.rs"),
            include_str!("commands/figures.rs"),
            include_str!("commands/run.rs"),
            include_str!("commands/explain.rs"),
            include_str!("commands/examples.rs"),
            include_str!("commands/completions.rs"),
            include_str!("commands/runs.rs"),
            include_str!("commands/campaign/folder.rs"),
            include_str!("commands/campaign/level.rs"),
            include_str!("commands/campaign.rs"),
            include_str!("commands/parts.rs"),
            include_str!("commands/parts_report.rs"),
            include_str!("commands/folder_report.rs"),
            include_str!("commands/audit.rs"),
            include_str!("commands/compare.rs"),
            include_str!("commands/find.rs"),
            include_str!("commands/size.rs"),
            include_str!("commands/serve.rs"),
        ];
        let mut seen = 0;
        for source in sources {
            for (at, _) in source.match_indices("\"U0") {
                let code = &source[at + 1..at + 5];
                assert!(TABLE.iter().any(|row| row.code == code), "{code}");
                seen += 1;
            }
        }
        assert!(seen >= TABLE.len(), "{seen} places, {} codes", TABLE.len());
    }
}
