//! Where requests go: the target and the other origins, and the paths that are joined to them.

use super::draft::{NameDraft, OriginDraft};
use crate::sentence::short;
use crate::source::{Complaint, Complaints, Pos};
use plimsoll_plan::Target;
use plimsoll_plan::origin::{FIRST, OriginId};
use plimsoll_plan::request::{Url, url};

/// What a request calls the target where it has to.
pub const TARGET: &str = "target";

/// Where requests go.
#[derive(Debug, Default)]
pub struct Site {
    /// Whether the text names a target, right or wrong.
    pub written: bool,
    /// The target, or what the first whole URL of a request says.
    pub base: Option<Url>,
    /// The other origins, from number 1 on: those with a name, then whole URLs of requests as they come.
    pub more: Vec<OriginDraft>,
}

/// Where one request goes.
#[derive(Debug)]
pub struct Joined {
    pub origin: OriginId,
    pub url: Url,
}

impl Site {
    /// Joins a path to the target, or to another origin. A whole URL says by itself where it leads.
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
                    format!("there is no `target` that `{path}` could be joined to"),
                    "add `target: http://127.0.0.1:8080` at the left edge",
                );
                // Once is enough; the next requests are judged as if there were one.
                self.written = true;
            }
            // Judged against any host, so that a bad path is found in the same pass.
            let anywhere = Target { host: "localhost".into(), port: 80, tls: false };
            check_path(&anywhere, path, pos, wrong);
            return None;
        };
        let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
        let path = check_path(&base.target, &format!("{}{slash}{path}", base.path), pos, wrong)?;
        let url = Url { target: base.target.clone(), path, credentials: base.credentials.clone() };
        Some(Joined { origin: to, url })
    }

    /// What paths of an origin are joined to.
    pub fn base_of(&self, origin: OriginId) -> Option<&Url> {
        match usize::from(origin).checked_sub(1) {
            None => self.base.as_ref(),
            Some(at) => self.more.get(at).map(|more| &more.base),
        }
    }

    fn whole(&mut self, mut whole: Url, to: OriginId, pos: Pos, wrong: &mut Complaints) -> Option<Joined> {
        // Only the host is taken over: the next request's path does not start below this one's.
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
            wrong.complain("F017", pos, message, "write the path alone, or leave out `origin`");
            return None;
        }
        let credentials = self.base_of(origin).and_then(|base| base.credentials.clone());
        whole.credentials = whole.credentials.or(credentials);
        Some(Joined { origin, url: whole })
    }

    /// The number of an origin that a request names.
    pub fn named(&self, chosen: &NameDraft, wrong: &mut Complaints) -> Option<OriginId> {
        if chosen.name == TARGET {
            return Some(FIRST);
        }
        let at = self.more.iter().position(|more| !more.name.is_empty() && more.name == chosen.name);
        if at.is_none() {
            let named = self.more.iter().filter(|more| !more.name.is_empty());
            let names: Vec<String> = named.map(|more| format!("`{}`", more.name)).collect();
            let hint = match names.is_empty() {
                true => "name it at the left edge: `origins: { users: http://127.0.0.1:3001 }`".to_owned(),
                false => format!("use {}, or `{TARGET}`", names.join(", ")),
            };
            wrong.complain("F021", chosen.pos, format!("unknown origin `{}`", chosen.name), hint);
        }
        at.map(|at| at as OriginId + 1)
    }

    /// What names of requests begin with that go to an origin; nothing for the target.
    pub fn describe(&self, origin: OriginId) -> String {
        let more = usize::from(origin).checked_sub(1).and_then(|at| self.more.get(at));
        more.map(|more| more.named_target().describe()).unwrap_or_default()
    }
}

/// Path and query as they will be sent, if they may be.
fn check_path(target: &Target, path: &str, pos: Pos, wrong: &mut Complaints) -> Option<String> {
    let slash = if path.starts_with(['/', '?']) { "" } else { "/" };
    let front = format!("http://{}{slash}", target.authority());
    url(&format!("{front}{path}"))
        .map(|url| url.path)
        // The message quotes a whole URL, of which the author wrote only the path.
        .map_err(|mut problem| {
            problem.message = problem.message.replace(&front, "");
            wrong.complain_of(pos, problem);
        })
        .ok()
}

/// Takes the URL of an origin apart; its path, without a slash at the end, stands in front of every request's.
///
/// # Errors
/// That it is no URL, or holds a query.
pub fn base(text: &str, pos: Pos) -> Result<Url, Complaint> {
    let scheme = ["http:", "https:"].into_iter().find(|scheme| text.starts_with(scheme));
    if let Some((scheme, rest)) = scheme.and_then(|s| Some((s, text.strip_prefix(s)?)))
        && !rest.starts_with("//")
    {
        let message = format!("`{}` lacks a slash behind `{scheme}`", short(text));
        let hint = format!("write two slashes: `{scheme}//{}`", rest.trim_start_matches('/'));
        return Err(Complaint::new("F015", pos, message, hint));
    }
    let mut url = url(text).map_err(|problem| Complaint::of(pos, problem))?;
    if url.path.contains('?') {
        let message = "`target` holds a query, which cannot be joined to a path";
        return Err(Complaint::new("F015", pos, message, "move it into the requests"));
    }
    url.path.truncate(url.path.trim_end_matches('/').len());
    Ok(url)
}
