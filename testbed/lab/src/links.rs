//! Pictures in a report in Markdown: the tool links each where it drew it, and a report that is moved takes its
//! pictures along or does not speak of them. A link into a folder of runs is dead for whoever reads the record.

use super::describe;
use std::path::Path;

/// The report with the links of its pictures as `to` gives them from the path below `folder`: `01-line/figures/x.svg`.
/// A picture that lies elsewhere, or that `to` has no place for, is left out.
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
            // With the empty line above it.
            None => drop(lines.pop_if(|line| line.is_empty())),
        }
    }
    let text = lines.join("\n");
    if markdown.ends_with('\n') { text + "\n" } else { text }
}

/// What a line that is a picture says, and where the picture lies: `![about](target)`, `![about](<target>)`.
fn picture(line: &str) -> Option<(&str, &str)> {
    let (about, target) = line.strip_prefix("![")?.strip_suffix(')')?.rsplit_once("](")?;
    let bare = target.strip_prefix('<').and_then(|target| target.strip_suffix('>'));
    Some((about, bare.unwrap_or(target)))
}

/// What a picture is called in a record: figures of several parts may have the same name, so the part's folder becomes
/// part of it.
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
    fn pictures_are_linked_where_the_record_has_them() {
        let saved = moved(TEXT, &folder(), |inside| Some(format!("figures/{}", saved_name(inside))));
        assert!(saved.contains("![rate: 18 runs](figures/01-a-over-users.svg)\n"), "{saved}");
        assert!(saved.starts_with("## PASS\n\n| a |\n|---|\n\n### Pictures\n"), "{saved}");
        assert!(!saved.contains("target/lab"), "{saved}");
    }

    #[test]
    fn a_picture_that_lies_elsewhere_is_left_out_and_no_path_of_the_machine_stays() {
        let beside = moved(TEXT, &folder(), |inside| Some(inside.to_owned()));
        assert!(beside.contains("](01-a/figures/over-users.svg)"), "{beside}");
        assert!(!beside.contains("/srv/"), "{beside}");
        let none = moved(TEXT, &folder(), |_| None);
        assert!(!none.contains("!["), "{none}");
    }

    #[test]
    fn a_link_with_the_whole_path_is_the_same_picture() {
        let whole = format!("![a]({}/figures/search.svg)\n", folder().display());
        let saved = moved(&whole, &folder(), |inside| Some(format!("figures/{}", saved_name(inside))));
        assert_eq!(saved, "![a](figures/search.svg)\n");
    }
}
