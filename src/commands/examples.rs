//! `plimsoll examples [NAME]`: the example experiments, which are part of the binary.

use crate::exit::{Exit, Failure};
use crate::flags::tool::Examples;
use crate::say;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use std::fmt::Write;

macro_rules! examples {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each experiment, sorted by name.
        const EXPERIMENTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../examples/", $name, ".yaml"))),)*];
    };
}

examples! {
    "arrivals-over-time", "checks", "choose-and-conditions", "connections", "cookies", "data-csv",
    "data-unique-once", "exact-mix", "extract-and-reuse", "find", "forms", "generate-data", "graphql",
    "groups-and-names", "grpc", "gzip-body-file", "http10", "https", "ladder", "login-and-token", "logins",
    "made-values", "many-streams", "monitors", "multipart-upload", "pages-and-schemas", "parallel", "parts",
    "poisson", "redirects", "replay", "scenarios-with-own-loads", "schedule", "secrets-and-env", "sequence",
    "setup-teardown", "spike", "stages", "staircase", "stream-events", "sweep", "think-and-pace", "thresholds",
    "thresholds-scoped", "variants", "websocket-broadcast", "websocket-chat", "weighted-mix", "whole-api",
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Files that the experiments read, and report templates.
        const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../examples/", $name))),)*];
    };
}

files! {
    "data/gaps.txt", "data/page.headers", "data/shop.openapi.yaml", "data/shop.proto", "data/users.csv",
    "data/vouchers.csv", "templates/audit.md", "templates/comparison.md", "templates/experiment.md",
    "templates/pull-request.md", "templates/search.md", "templates/summary.html",
}

pub fn command(flags: &Examples) -> Result<Exit, Failure> {
    let Some(name) = &flags.name else {
        say::result(&list())?;
        return Ok(Exit::Pass);
    };
    let wanted = name.strip_suffix(".yaml").unwrap_or(name);
    let wanted = wanted.strip_prefix("examples/").unwrap_or(wanted);
    let all = || EXPERIMENTS.iter().chain(FILES);
    let Some((_, text)) = all().find(|(name, _)| *name == wanted) else {
        let hint = match plimsoll_build::nearest::nearest(wanted, all().map(|(name, _)| *name)) {
            Some(right) => format!("did you mean `plimsoll examples {right}`?"),
            None => "`plimsoll examples` lists all examples".into(),
        };
        return Err(Diagnostic::new("U023", Place::Whole, format!("unknown example `{name}`"), hint).into());
    };
    say::result(text)?;
    // Printed to stderr, so that a redirected file contains only the experiment.
    for (file, _) in FILES.iter().filter(|(file, _)| text.contains(file)) {
        say::talk(&format!(
            "note: this experiment reads `{file}`; print it with `plimsoll examples {file}`\n"
        ));
    }
    Ok(Exit::Pass)
}

/// Returns a line per example: its name and the first sentence of its comment.
fn list() -> String {
    let mut text = String::new();
    let width = EXPERIMENTS.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, example) in EXPERIMENTS {
        let about = example.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<width$}  {about}");
    }
    text.push_str("\nData files and templates:\n");
    for (name, _) in FILES {
        let _ = writeln!(text, "{name}");
    }
    text.push_str(
        "\nTry one:\n  plimsoll test-server --listen 127.0.0.1:8080 &\n  \
         plimsoll examples sequence > sequence.yaml && plimsoll run sequence.yaml\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::{EXPERIMENTS, FILES};
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Returns the texts of a folder of the repository.
    fn texts(folder: &str, prefix: &str) -> BTreeSet<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(folder);
        let names =
            std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_text = |name: &String| !name.starts_with('.') && !name.ends_with(".gz") && name.contains('.');
        names.filter(is_text).map(|name| format!("{prefix}{name}")).collect()
    }

    #[test]
    fn contains_every_example_of_the_repository() {
        let mut there = texts("", "");
        there.remove("README.md");
        let embedded: BTreeSet<String> = EXPERIMENTS.iter().map(|(name, _)| format!("{name}.yaml")).collect();
        assert_eq!(embedded, there);
        let there: BTreeSet<String> =
            texts("data", "data/").into_iter().chain(texts("templates", "templates/")).collect();
        assert_eq!(FILES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), there);
    }
}
