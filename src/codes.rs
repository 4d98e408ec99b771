//! What the codes of the command line mean; those of files and plans are `plimsoll_front::explain`'s.

use plimsoll_front::explain::Explained;

const fn row(code: &'static str, title: &'static str, text: &'static str) -> Explained {
    Explained { code, title, text }
}

/// Codes `U0xx`, ascending.
pub const TABLE: &[Explained] = &[
    row(
        "U001",
        "there is no such flag",
        "No flag is ever ignored. The hint names the nearest flag, or what is not supported yet.\n\n  plimsoll URL \
         -c 100 -d 15s",
    ),
    row(
        "U002",
        "one word too many",
        "A command takes one URL or one file. Words that belong together are quoted for the shell.\n\n  \
         plimsoll URL -H 'Accept: text/html'",
    ),
    row("U003", "a flag without its value", "The flag needs a value behind it.\n\n  plimsoll URL -d 15s"),
    row(
        "U004",
        "a value for a flag that takes none",
        "The flag is a switch: it stands alone.\n\n  plimsoll URL --quiet",
    ),
    row(
        "U005",
        "flags that exclude each other",
        "Only one of them can hold, such as one form of a report.\n\n  plimsoll report run.plim --json",
    ),
    row("U006", "the command line cannot be read", "`plimsoll --help` lists all flags and commands."),
    row(
        "U007",
        "there is no such command",
        "The nearest right one stands in the hint.\n\n  plimsoll check a.yaml",
    ),
    row("U009", "a word that is no UTF-8", "File names and values on the command line are UTF-8 text."),
    row(
        "U010",
        "the URL cannot be loaded",
        "A URL has a scheme (`http` or `https`), a host and perhaps a port and a path.\n\n  \
         plimsoll http://127.0.0.1:8080/pick",
    ),
    row(
        "U011",
        "the value of a flag cannot be read",
        "The sentence says what was expected: a time such as `15s`, a rate such as `100/s`, a whole number.\n\n  \
         plimsoll URL -r 100/s -d 1m",
    ),
    row("U012", "no URL", "There is nothing to load.\n\n  plimsoll http://127.0.0.1:8080/ -c 100 -d 15s"),
    row(
        "U013",
        "no file",
        "The command needs the name of an experiment file.\n\n  plimsoll run experiment.yaml",
    ),
    row(
        "U014",
        "a URL where a file stands",
        "A URL is loaded without a command.\n\n  plimsoll http://127.0.0.1:8080/",
    ),
    row(
        "U015",
        "a file where a URL stands",
        "Experiment files are run, run files are reported.\n\n  plimsoll run experiment.yaml\n  \
         plimsoll report run.plim",
    ),
    row("U016", "no run file to report", "Name the file of a run.\n\n  plimsoll report run.plim"),
    row(
        "U017",
        "no run files to add up",
        "Name two or more.\n\n  plimsoll merge a.plim b.plim --out both.plim",
    ),
    row(
        "U018",
        "a flag that could change nothing",
        "Scenarios say themselves what is sent, and some have load models of their own. A flag that would be ignored \
         is refused: change it in the file.",
    ),
    row(
        "U019",
        "`--set` without a file",
        "Variables belong to experiment files.\n\n  plimsoll run a.yaml --set n=3",
    ),
    row(
        "U020",
        "the output is there already",
        "No run file and no page is ever overwritten.\n\n  plimsoll URL --out another.plim",
    ),
    row("U021", "there is no such code", "`plimsoll explain` lists all codes."),
    row(
        "U022",
        "TLS flags for a plain target",
        "`--ca` and `--insecure` say which certificate is believed; without `https://` there is none.\n\n  \
         plimsoll https://127.0.0.1:8443/ --ca ca.pem",
    ),
    row(
        "U023",
        "unknown example",
        "`plimsoll examples` lists the examples that are part of plimsoll.\n\n  plimsoll examples sequence > \
         sequence.yaml",
    ),
    row(
        "U024",
        "unknown shell",
        "There are completions for bash, zsh and fish.\n\n  plimsoll completions fish",
    ),
    row("U025", "no text to audit", "Name the files; `-` is standard input.\n\n  plimsoll audit report.md"),
    row(
        "U026",
        "no one level to search",
        "A search varies one load. Scenarios with load models of their own have several: give the load once at the \
         top, and weights to the scenarios.",
    ),
    row(
        "U027",
        "the folder holds another experiment",
        "Runs of a changed plan are not mixed with those that were made before. The same file goes on where it was \
         stopped; a changed one needs another folder.\n\n  plimsoll run experiment.yaml --out another",
    ),
    row(
        "U028",
        "nothing to search",
        "Name a URL or an experiment file, and what is to be met.\n\n  \
         plimsoll find http://127.0.0.1:8080/ --threshold 'response_time p99 < 250ms'",
    ),
    row(
        "U029",
        "a flag that the search sets itself",
        "A search chooses the level and the length of its steps: `--from`, `--to`, `--step-duration`, `--step` and \
         `--stop-when` steer it.\n\n  plimsoll find URL --from 100/s --to 5000/s --step-duration 10s",
    ),
    row(
        "U030",
        "a form that only a single run has",
        "An experiment has many runs, each with a timeline of its own.\n\n  plimsoll report FOLDER --csv",
    ),
    row(
        "U031",
        "not two sides",
        "A comparison has two sides: runs or folders of repeats, the variants of one folder, or one side and a \
         baseline.\n\n  plimsoll compare before/ after/",
    ),
    row(
        "U032",
        "no cell is on both sides",
        "Cells are compared with equal settings: the same level, the same payload.\n\n  plimsoll compare a.plim b.plim",
    ),
    row(
        "U033",
        "no baseline can be made of this",
        "A baseline is what later runs are held against: its runs are whole, without errors, and not INCONCLUSIVE.",
    ),
    row(
        "U034",
        "the numbers do not determine an answer",
        "Little's law needs two of three: who comes, how long they stay, how many are there.\n\n  \
         plimsoll size --visitors 100000/month --session 5min --active 12h",
    ),
    row(
        "U035",
        "a flag over an axis",
        "The cells of an axis differ in just what the flag would set for all of them.\n\n  \
         plimsoll run sweep.yaml --set users=8",
    ),
    row(
        "U036",
        "one run of a file that makes several",
        "`--single-run` makes the one cell that is left a single run: for machines that share it, or to look at it \
         again. The rest is chosen before.\n\n  plimsoll run sweep.yaml --set users=8 --single-run --shard 1/2",
    ),
    row(
        "U037",
        "generators where they cannot share",
        "`generators: N` makes each run of a sweep by N processes of this machine, each with its share. A search sets \
         its loads itself, and a share that is written already is one of several machines.\n\n  \
         generators: 2\n  load: { users: [100, 1000], duration: 30s }",
    ),
    row(
        "U038",
        "two results on standard output",
        "A page on standard output stands in place of the text; beside a document it needs a file of its own.\n\n  \
         plimsoll report run.plim --json --html run.html",
    ),
    row(
        "U039",
        "unknown run",
        "`plimsoll runs list` lists the runs in the state directory. A name may be cut short as long as one run has \
         it.\n\n  plimsoll runs show 2026-11-21",
    ),
    row(
        "U040",
        "a list and a URL",
        "`--urls` names a list of requests. A URL beside it would be one more, so it belongs in the list.\n\n  \
         plimsoll --urls urls.txt -c 100 -d 15s",
    ),
    row(
        "U041",
        "a target with a path",
        "`--target` replaces scheme, host and port of an experiment file; the paths are those of the file.\n\n  \
         plimsoll run experiment.yaml --target http://127.0.0.1:8080",
    ),
    row(
        "U042",
        "no one target to replace",
        "`--target` is for experiment files that load one target. A URL names its target itself, and an experiment \
         that \
         compares targets has none to replace.\n\n  plimsoll run experiment.yaml --target http://127.0.0.1:8080",
    ),
    row(
        "U043",
        "no results to audit",
        "No table and no output of a known tool was found in the text.\n\n  wrk -d 10s http://127.0.0.1:8080/ | \
         plimsoll audit -",
    ),
    row(
        "U047",
        "images of no pictures",
        "`--png` makes images of the pictures that `--charts` draws, beside them.\n\n  \
         plimsoll report run.plim --charts pictures --png",
    ),
    row(
        "U048",
        "a template that gives no text",
        "It is no template, names something that the result does not have, or does not come to an end. Everything that \
         there is to name stands in the document of `--json`, and `charts` beside it.\n\n  \
         plimsoll report run.plim --template comment.md",
    ),
    row(
        "U060",
        "no address to listen on",
        "An address of this machine and a port; names are not looked up.\n\n  plimsoll serve --listen 127.0.0.1:0",
    ),
    row(
        "U061",
        "half a protection",
        "A console that others can reach needs a certificate, its key and a password.\n\n  \
         plimsoll serve --listen 0.0.0.0:7117 --tls-cert cert.pem --tls-key key.pem --password-file password",
    ),
    row(
        "U062",
        "others could start loads",
        "Without a certificate, its key and a password the console listens on this machine only.\n\n  \
         plimsoll serve --listen 127.0.0.1:7117",
    ),
    row(
        "U063",
        "a password that is guessed",
        "The first line of the file is the password, 12 characters or more.\n\n  openssl rand -base64 24 > password",
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
