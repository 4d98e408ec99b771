//! Where the requests of a file go: `target:`, and the paths that are joined to it.

use super::reader::Reader;
use super::yaml::Pos;
use plimsoll_plan::Target;
use plimsoll_plan::request::{Url, url};

/// Where requests go.
#[derive(Debug, Default)]
pub struct Site {
    /// Whether the file has a `target:`, right or wrong.
    pub written: bool,
    /// From `target:`, or from the first whole URL of a request.
    pub base: Option<Url>,
}

impl Site {
    /// Joins a path to the target. A whole URL is fine as long as it leads to the same host and port.
    pub fn join(&mut self, path: &str, pos: Pos, r: &mut Reader<'_>) -> Option<Url> {
        // Not every `://` opens a URL: `/go?to=http://h` is a path.
        if path.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#'])) {
            let mut whole = url(path).map_err(|sentence| r.complain_sentence(pos, &sentence)).ok()?;
            match &self.base {
                Some(base) if base.target != whole.target => {
                    let message = format!(
                        "this request leads to `{}`, others to `{}`: several targets are not supported yet",
                        whole.target.authority(),
                        base.target.authority()
                    );
                    r.complain("F012", pos, message, "write paths, and one `target`");
                    return None;
                }
                Some(base) => whole.credentials = whole.credentials.or_else(|| base.credentials.clone()),
                // Only the host is taken over: the next request's path does not start below this one's.
                None => self.base = Some(Url { path: String::new(), ..whole.clone() }),
            }
            return Some(whole);
        }
        let Some(base) = &self.base else {
            if !self.written {
                r.complain(
                    "F016",
                    pos,
                    format!("there is no `target` that `{path}` could be joined to"),
                    "add `target: http://127.0.0.1:8080` at the left edge",
                );
                // Once is enough; the next requests are judged as if there were one.
                self.written = true;
            }
            // Judged against any host, so that a bad path is found in the same pass.
            let anywhere = Target { host: "localhost".into(), port: 80, tls: false };
            check_path(&anywhere, path, pos, r);
            return None;
        };
        let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
        let path = check_path(&base.target, &format!("{}{slash}{path}", base.path), pos, r)?;
        Some(Url { target: base.target.clone(), path, credentials: base.credentials.clone() })
    }
}

/// Path and query as they will be sent, if they may be.
fn check_path(target: &Target, path: &str, pos: Pos, r: &mut Reader<'_>) -> Option<String> {
    let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
    let front = format!("http://{}{slash}", target.authority());
    url(&format!("{front}{path}"))
        .map(|url| url.path)
        // The sentence quotes a whole URL, of which the author wrote only the path.
        .map_err(|sentence| r.complain_sentence(pos, &sentence.replace(&front, "")))
        .ok()
}

/// Takes the target apart; its path, without a slash at the end, stands in front of every request's.
pub fn base(text: &str, pos: Pos, r: &mut Reader<'_>) -> Option<Url> {
    let scheme = ["http:", "https:"].into_iter().find(|scheme| text.starts_with(scheme));
    if let Some((scheme, rest)) = scheme.and_then(|s| Some((s, text.strip_prefix(s)?)))
        && !rest.starts_with("//")
    {
        let message = format!("`{}` lacks a slash behind `{scheme}`", super::expression::short(text));
        let hint = format!("write two slashes: `{scheme}//{}`", rest.trim_start_matches('/'));
        r.complain("F015", pos, message, hint);
        return None;
    }
    let mut url = url(text).map_err(|sentence| r.complain_sentence(pos, &sentence)).ok()?;
    if url.path.contains('?') {
        r.complain(
            "F015",
            pos,
            "`target` holds a query, which cannot be joined to a path",
            "move it into the requests",
        );
        return None;
    }
    url.path.truncate(url.path.trim_end_matches('/').len());
    Some(url)
}
