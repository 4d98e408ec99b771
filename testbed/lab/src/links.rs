//! Charts in a Markdown report: the tool links each chart by its path, and a report that is moved needs new paths, or
//! must omit the chart. A published record must not link into a local folder of runs.

use super::describe;
use std::path::Path;

/// Returns the report with new links to its charts: `to` maps a path below `folder`, such as `01-line/figures/x.svg`.
/// Omits charts outside of `folder`, and those for which `to` returns None.
pub fn moved(markdown: &str, folder: &Path, to: impl Fn(&str) -> Option<String>) -> String {
    let below = |target: &str| {
        [describe(folder), folder.display().to_string()]
            .iter()
            .find_map(|folder| target.strip_prefix(folder.as_str())?.strip_prefix('/'))
            .map(str::to_owned)
    };
    let mut lines: Vec<String> = Vec::new();
    for line in markdown.lines() {
        let Some((about, target)) = picture(line) else {
            lines.push(line.to_owned());
            continue;
        };
        match below(target).and_then(|inside| to(&inside)) {
            Some(place) => lines.push(format!("![{about}]({place})")),
            // Also removes the empty line above it.
            None => drop(lines.pop_if(|line| line.is_empty())),
        }
    }
    let text = lines.join("\n");
    if markdown.ends_with('\n') { text + "\n" } else { text }
}

/// Returns the text and the target of a line that is a chart: `![about](target)` or `![about](<target>)`.
fn picture(line: &str) -> Option<(&str, &str)> {
    let (about, target) = line.strip_prefix("![")?.strip_suffix(')')?.rsplit_once("](")?;
    let bare = target.strip_prefix('<').and_then(|target| target.strip_suffix('>'));
    Some((about, bare.unwrap_or(target)))
}

/// Returns the file name of a chart in a record. It includes the folder of the part, because charts of several parts
/// may have the same name.
pub fn saved_name(inside: &str) -> String {
    let name = inside.strip_prefix("figures/").unwrap_or(inside);
    name.replace("/figures/", "-").replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use chore::shell;

    const TEXT: &str = "## PASS\n\n| a |\n|---|\n\n### Pictures\n\n\
                        ![rate: 18 runs](target/lab/line/runs/1/01-a/figures/over-users.svg)\n\n\
                        ![x](</srv/elsewhere/y (1).svg>)\n";

    fn folder() -> std::path::PathBuf {
        shell::root().join("target/lab/line/runs/1")
    }

    #[test]
    fn charts_link_to_their_place_in_the_record() {
        let saved = moved(TEXT, &folder(), |inside| Some(format!("figures/{}", saved_name(inside))));
        assert!(saved.contains("![rate: 18 runs](figures/01-a-over-users.svg)\n"), "{saved}");
        assert!(saved.starts_with("## PASS\n\n| a |\n|---|\n\n### Pictures\n"), "{saved}");
        assert!(!saved.contains("target/lab"), "{saved}");
    }

    #[test]
    fn a_chart_outside_of_the_folder_is_omitted_with_its_path() {
        let relative = moved(TEXT, &folder(), |inside| Some(inside.to_owned()));
        assert!(relative.contains("](01-a/figures/over-users.svg)"), "{relative}");
        assert!(!relative.contains("/srv/"), "{relative}");
        let none = moved(TEXT, &folder(), |_| None);
        assert!(!none.contains("!["), "{none}");
    }

    #[test]
    fn an_absolute_link_is_the_same_chart() {
        let whole = format!("![a]({}/figures/search.svg)\n", folder().display());
        let saved = moved(&whole, &folder(), |inside| Some(format!("figures/{}", saved_name(inside))));
        assert_eq!(saved, "![a](figures/search.svg)\n");
    }
}
