//! Where a request goes: its origin, which few texts name again and again, and its path.

use crate::host::Host;
use crate::http::url;
use crate::jar::Place;
use crate::settings::Settings;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::request::{Target, Url};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

/// Bytes of a path that need no encoding and begin no fragment.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        plain[byte as usize] = !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'|' | b'}' | b'^' | b'#');
        byte += 1;
    }
    plain
};

/// Origins kept at once by their texts.
const MOST: usize = 64;

/// An origin as scripts write it, with everything that its requests share.
#[derive(Debug)]
pub struct Way {
    /// Scheme and authority as written.
    written: String,
    pub target: Target,
    /// Where its connections go (`hosts` of the script), or why there are none.
    pub mapped: Result<Target, String>,
    /// As in the field `Host`.
    pub authority: String,
    /// Scheme and authority, normalized.
    pub origin: String,
    /// The host in lower case.
    pub host: String,
    /// Its number, as soon as there is one.
    number: Cell<Option<OriginId>>,
}

/// The parts of a URL.
#[derive(Debug)]
pub struct Address<'a> {
    pub way: Rc<Way>,
    /// Path and query as sent in the request line.
    pub path: Cow<'a, str>,
    /// `user:password`, percent-decoded.
    pub credentials: Option<String>,
}

impl Way {
    fn new(written: &str, target: Target, settings: &Settings) -> Way {
        let (authority, origin) = (target.authority(), url::origin(&target));
        let host = target.host.to_ascii_lowercase();
        let (written, mapped) = (written.to_owned(), settings.mapped(&target));
        Way { written, target, mapped, authority, origin, host, number: Cell::new(None) }
    }
}

impl Address<'_> {
    /// Returns what decides which cookies are sent. `now_s` is the time in s since 1970.
    pub fn place(&self, now_s: i64) -> Place<'_> {
        Place { host: &self.way.host, path: &self.path, is_secure: self.way.target.tls, now_s }
    }

    /// Returns its URL, normalized.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.way.origin.len() + self.path.len());
        text.push_str(&self.way.origin);
        text.push_str(&self.path);
        text
    }
}

/// Splits a URL in the form that nearly all have: scheme, authority without credentials, and path, without a fragment
/// and without characters that must be encoded.
fn split(text: &str) -> Option<(&str, &str)> {
    let after_scheme = match text.as_bytes() {
        [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => 7,
        [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => 8,
        _ => return None,
    };
    let slash = after_scheme + memchr::memchr(b'/', &text.as_bytes()[after_scheme..])?;
    let (written, path) = text.split_at(slash);
    (is_usual(path) && !written.bytes().any(|byte| b"@?#".contains(&byte))).then_some((written, path))
}

fn is_usual(path: &str) -> bool {
    path.bytes().all(|byte| PLAIN[usize::from(byte)])
}

impl Host {
    /// Reads a URL.
    ///
    /// # Errors
    /// Returns a message.
    pub fn address<'a>(&self, text: &'a str) -> Result<Address<'a>, String> {
        if let Some((way, path)) = self.known_way(text) {
            return Ok(Address { way, path: Cow::Borrowed(path), credentials: None });
        }
        let Url { target, path, credentials } = url::parse(text)?;
        let written = split(text).map_or_else(|| url::origin(&target), |(written, _)| written.to_owned());
        let way = self
            .way_of(&written)
            .unwrap_or_else(|| self.keep_way(Way::new(&written, target, &self.shared.settings)));
        Ok(Address { way, path: Cow::Owned(path), credentials })
    }

    /// Returns the origin that a text begins with and its path, if they have the usual form ([`split`]).
    fn known_way<'a>(&self, text: &'a str) -> Option<(Rc<Way>, &'a str)> {
        let ways = self.ways.borrow();
        // What is written before the first slash of the path is the whole origin, since it has no slash itself.
        let path_of = |way: &Rc<Way>| text.strip_prefix(&*way.written).filter(|rest| rest.starts_with('/'));
        let (way, path) = ways.iter().find_map(|way| Some((way, path_of(way)?)))?;
        is_usual(path).then(|| (Rc::clone(way), path))
    }

    fn way_of(&self, written: &str) -> Option<Rc<Way>> {
        self.ways.borrow().iter().find(|way| way.written == written).cloned()
    }

    fn keep_way(&self, way: Way) -> Rc<Way> {
        let (way, mut ways) = (Rc::new(way), self.ways.borrow_mut());
        if ways.len() >= MOST {
            ways.clear();
        }
        ways.push(Rc::clone(&way));
        way
    }

    /// Returns the number of an origin; `None` if it must be asked for.
    pub fn number_of(&self, way: &Way) -> Option<OriginId> {
        if way.number.get().is_none() {
            way.number.set(way.mapped.as_ref().ok().and_then(|target| self.origin(target)));
        }
        way.number.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usual_urls_are_split() {
        assert_eq!(split("http://h:80/a?b=/c"), Some(("http://h:80", "/a?b=/c")));
        assert_eq!(split("https://[::1]/"), Some(("https://[::1]", "/")));
        for other in
            ["http://h", "http://u:p@h/", "http://h/#a", "http://h/a b", "http://h?a=/", "HTTP://h/", "h/"]
        {
            assert_eq!(split(other), None, "{other}");
        }
    }
}
