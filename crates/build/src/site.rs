//! The target and the other origins, and the paths that are joined to them.

use crate::draft::{NameDraft, OriginDraft};
use crate::sentence::short;
use crate::source::{Complaint, Complaints, Pos};
use plimsoll_plan::Target;
use plimsoll_plan::origin::{FIRST, OriginId};
use plimsoll_plan::request::{Url, url};
use std::borrow::Cow;

/// The name of the target as an `origin`.
pub const TARGET: &str = "target";

/// The target and all other origins.
#[derive(Debug, Default)]
pub struct Site {
    /// Whether the text names a target, valid or not.
    pub written: bool,
    /// The target, or the origin of the first whole URL of a request.
    pub base: Option<Url>,
    /// The other origins, starting at number 1: first those with a name, then those of whole URLs in requests.
    pub more: Vec<OriginDraft>,
}

/// The destination of one request.
#[derive(Debug)]
pub struct Joined {
    pub origin: OriginId,
    pub url: Url,
}

impl Site {
    /// Joins a path to the target, or to another origin. A whole URL needs no other origin.
    pub fn join(&mut self, path: &str, to: OriginId, pos: Pos, wrong: &mut Complaints) -> Option<Joined> {
        // Not every `://` opens a URL: `/go?to=http://h` is a path.
        if path.split_once("://").is_some_and(|(scheme, _)| !scheme.contains(['/', '?', '#'])) {
            let whole = url(path).map_err(|problem| wrong.complain_of(pos, problem)).ok()?;
            return self.whole(whole, to, pos, wrong);
        }
        let Some(base) = self.base_of(to) else {
            if !self.written {
                wrong.complain(
                    "F016",
                    pos,
                    format!("missing `target`: the path `{path}` requires one"),
                    "add a target at the top level, such as `target: http://127.0.0.1:8080`",
                );
                // Reported once; later requests are checked as if there were a target.
                self.written = true;
            }
            // Checked with an arbitrary host, so that an invalid path is found in the same pass.
            let anywhere = Target { host: "localhost".into(), port: 80, tls: false };
            check_path(&anywhere, path, pos, wrong);
            return None;
        };
        let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
        let path = check_path(&base.target, &format!("{}{slash}{path}", base.path), pos, wrong)?;
        let url = Url { target: base.target.clone(), path, credentials: base.credentials.clone() };
        Some(Joined { origin: to, url })
    }

    /// Returns the URL that paths of an origin are joined to.
    pub fn base_of(&self, origin: OriginId) -> Option<&Url> {
        match usize::from(origin).checked_sub(1) {
            None => self.base.as_ref(),
            Some(at) => self.more.get(at).map(|more| &more.base),
        }
    }

    fn whole(&mut self, mut whole: Url, to: OriginId, pos: Pos, wrong: &mut Complaints) -> Option<Joined> {
        // Only the host is kept: the path of the next request does not start below this one.
        let alone = |url: &Url| Url { path: String::new(), credentials: None, ..url.clone() };
        let first = self.base.get_or_insert_with(|| Url { path: String::new(), ..whole.clone() });
        let origin = if first.target == whole.target {
            FIRST
        } else {
            let at = self.more.iter().position(|more| more.base.target == whole.target);
            at.unwrap_or_else(|| {
                self.more.push(OriginDraft { name: String::new(), base: alone(&whole) });
                self.more.len() - 1
            }) as OriginId
                + 1
        };
        let base = self.base_of(to).filter(|_| to != FIRST && to != origin);
        if let Some(named) = base {
            let (leads, named) = (whole.target.authority(), named.target.authority());
            let message = format!("the URL is on `{leads}`, but `origin` names `{named}`");
            wrong.complain("F017", pos, message, "write only the path, or remove `origin`");
            return None;
        }
        let credentials = self.base_of(origin).and_then(|base| base.credentials.clone());
        whole.credentials = whole.credentials.or(credentials);
        Some(Joined { origin, url: whole })
    }

    /// Returns the number of an origin that a request names.
    pub fn named(&self, chosen: &NameDraft, wrong: &mut Complaints) -> Option<OriginId> {
        if chosen.name == TARGET {
            return Some(FIRST);
        }
        let at = self.more.iter().position(|more| !more.name.is_empty() && more.name == chosen.name);
        if at.is_none() {
            let named = self.more.iter().filter(|more| !more.name.is_empty());
            let names: Vec<String> = named.map(|more| format!("`{}`", more.name)).collect();
            let hint = match names.is_empty() {
                true => {
                    format!(
                        "define it at the top level: `origins: {{ {}: http://127.0.0.1:3001 }}`",
                        chosen.name
                    )
                }
                false => format!("use {}, or `{TARGET}`", names.join(", ")),
            };
            wrong.complain("F021", chosen.pos, format!("unknown origin `{}`", chosen.name), hint);
        }
        at.map(|at| at as OriginId + 1)
    }

    /// Returns the prefix of request names for an origin; empty for the target.
    pub fn describe(&self, origin: OriginId) -> String {
        let more = usize::from(origin).checked_sub(1).and_then(|at| self.more.get(at));
        more.map(|more| more.named_target().describe()).unwrap_or_default()
    }
}

/// Returns path and query for sending, if they are valid.
fn check_path(target: &Target, path: &str, pos: Pos, wrong: &mut Complaints) -> Option<String> {
    let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
    let front = format!("http://{}{slash}", target.authority());
    url(&format!("{front}{path}"))
        .map(|url| url.path)
        // The message quotes a whole URL, but the user wrote only the path.
        .map_err(|mut problem| {
            problem.message = problem.message.replace(&front, "");
            wrong.complain_of(pos, problem);
        })
        .ok()
}

/// Replaces the schemes of WebSockets: `ws` and `wss` name the same origins as `http` and `https`.
pub fn without_ws(text: &str) -> Cow<'_, str> {
    let is = |scheme: &str| text.get(..scheme.len()).is_some_and(|front| front.eq_ignore_ascii_case(scheme));
    match (is("ws://"), is("wss://")) {
        (true, _) => format!("http://{}", &text[5..]).into(),
        (_, true) => format!("https://{}", &text[6..]).into(),
        (false, false) => text.into(),
    }
}

/// Parses the URL of an origin. Its path, without a slash at the end, becomes the prefix of every request path.
///
/// # Errors
/// Returns an error if the text is not a valid URL, or has a query.
pub fn base(text: &str, pos: Pos) -> Result<Url, Complaint> {
    let text = &*without_ws(text);
    let scheme = ["http:", "https:"].into_iter().find(|scheme| text.starts_with(scheme));
    if let Some((scheme, rest)) = scheme.and_then(|s| Some((s, text.strip_prefix(s)?)))
        && !rest.starts_with("//")
    {
        let message = format!("missing slash after `{scheme}` in `{}`", short(text));
        let hint = format!("write two slashes: `{scheme}//{}`", rest.trim_start_matches('/'));
        return Err(Complaint::new("F015", pos, message, hint));
    }
    let mut url = url(text).map_err(|problem| Complaint::of(pos, problem))?;
    if url.path.contains('?') {
        let message = format!("`{}` must not contain a query", short(text));
        return Err(Complaint::new("F015", pos, message, "move the query into the requests"));
    }
    url.path.truncate(url.path.trim_end_matches('/').len());
    Ok(url)
}
