//! `cargo xtask docs`: generates the reference pages from the tables of the binary (flags, metrics, faults, cautions,
//! exit codes), so that they always describe the current tool. CI runs it with `--check`.

use chore::{Outcome, shell};
use serde_json::Value;
use std::path::{Component, Path};
use std::process::Command;

/// Generated pages live here, and those of `WRITTEN_BY_HAND`; nothing else does.
const FOLDER: &str = "docs/reference";

/// Reference pages about things that no table of the binary describes.
const WRITTEN_BY_HAND: &[&str] = &[
    "audit-rules.md",
    "checks.md",
    "console-api.md",
    "feature-table.md",
    "foreign-formats.md",
    "html-page.md",
    "monitors-servers.md",
    "agents.md",
    "monitors.md",
    "report-templates.md",
    "thresholds.md",
    "values.md",
];

pub fn command(arguments: &[String]) -> Outcome {
    let mut run = shell::cargo();
    run.args(["run", "--quiet", "--package", "plimsoll", "--"]);
    let (check, mut run) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (false, run),
        ["--check"] => (true, run),
        // The binary that was built with the tests: a separate build would compile its dependencies again with other
        // features.
        ["--check", "--of", binary] => (true, Command::new(binary)),
        _ => return Err(format!("unknown arguments `{}`", arguments.join(" "))),
    };
    let text = shell::output(run.arg("docs-dump"))?;
    let pages = pages(&text)?;
    let folder = shell::root().join(FOLDER);
    if check {
        let stale = stale(&pages, &folder)?;
        if stale.is_empty() {
            println!("{} reference pages are up to date", pages.len());
            return Ok(());
        }
        return Err(format!("stale: {}\nhelp: run `cargo xtask docs`", stale.join(", ")));
    }
    write(&pages, &folder)?;
    println!("{} pages in {FOLDER}", pages.len());
    Ok(())
}

/// One generated page: its path below `docs/reference`, and its text.
type Page = (String, String);

fn pages(text: &str) -> Result<Vec<Page>, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("`docs-dump` printed no JSON: {e}"))?;
    let list = value.as_array().ok_or("`docs-dump` printed no list of pages")?;
    let mut pages = Vec::new();
    for page in list {
        let (Some(path), Some(text)) = (page["path"].as_str(), page["text"].as_str()) else {
            return Err(format!("a page requires `path` and `text`: {page}"));
        };
        // A page must stay below the folder, regardless of its name.
        if path.is_empty() || !Path::new(path).components().all(|c| matches!(c, Component::Normal(_))) {
            return Err(format!("page path `{path}` is outside of {FOLDER}"));
        }
        pages.push((path.to_string(), text.to_string()));
    }
    if pages.is_empty() { Err("`docs-dump` printed no pages".into()) } else { Ok(pages) }
}

fn write(pages: &[Page], folder: &Path) -> Outcome {
    for (path, text) in pages {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|e| format!("cannot create `{}`: {e}", parent.display()))?;
        std::fs::write(&file, text).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    }
    for extra in extras(pages, folder)? {
        let file = folder.join(&extra);
        std::fs::remove_file(&file).map_err(|e| format!("cannot remove `{}`: {e}", file.display()))?;
    }
    Ok(())
}

/// Returns pages that differ from the binary's, are missing, or are no longer generated.
fn stale(pages: &[Page], folder: &Path) -> Result<Vec<String>, String> {
    let mut stale = Vec::new();
    for (path, text) in pages {
        // A missing or unreadable file is stale: the fix is to write it in both cases.
        if std::fs::read_to_string(folder.join(path)).ok().as_deref() != Some(text.as_str()) {
            stale.push(format!("{FOLDER}/{path}"));
        }
    }
    stale.extend(extras(pages, folder)?.into_iter().map(|path| format!("{FOLDER}/{path}")));
    Ok(stale)
}

fn extras(pages: &[Page], folder: &Path) -> Result<Vec<String>, String> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let files = crate::tidy::tree::walk(folder)?;
    let is_known = |file: &String| {
        WRITTEN_BY_HAND.contains(&file.as_str()) || pages.iter().any(|(path, _)| path == file)
    };
    Ok(files.into_iter().filter(|file| !is_known(file)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-docs-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn changed_missing_and_obsolete_pages_are_stale() {
        let folder = scratch("stale");
        let old = vec![("flags.md".into(), "old".into()), ("gone.md".into(), "x".into())];
        write(&old, &folder).unwrap();
        let now = vec![("flags.md".into(), "new".into()), ("sub/faults.md".into(), "y".into())];
        let found = stale(&now, &folder).unwrap();
        assert_eq!(
            found,
            ["docs/reference/flags.md", "docs/reference/sub/faults.md", "docs/reference/gone.md"]
        );
        write(&now, &folder).unwrap();
        assert!(stale(&now, &folder).unwrap().is_empty());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn pages_written_by_hand_are_kept_and_others_are_removed() {
        let folder = scratch("by-hand");
        for name in [WRITTEN_BY_HAND[0], "forgotten.md"] {
            std::fs::write(folder.join(name), "x").unwrap();
        }
        let now = vec![("flags.md".into(), "new".into())];
        write(&now, &folder).unwrap();
        assert!(folder.join(WRITTEN_BY_HAND[0]).is_file() && !folder.join("forgotten.md").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_page_written_by_hand_exists() {
        let folder = shell::root().join(FOLDER);
        let missing: Vec<_> = WRITTEN_BY_HAND.iter().filter(|name| !folder.join(name).is_file()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn a_page_outside_of_the_folder_is_rejected() {
        let refused = pages(r#"[{"path": "../../etc/passwd", "text": ""}]"#);
        assert!(refused.unwrap_err().contains("is outside of"));
    }
}
