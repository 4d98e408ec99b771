//! Builds the destination of a request: a path with values, joined to the target, and its query.

use crate::draft::{Open, PartDraft, PathDraft, QueryDraft, TextDraft};
use crate::escape;
use crate::site::Joined;
use crate::text::Build;
use crate::work::Work;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::value::{Escape, Text};

/// A path for sending.
pub struct Way {
    pub text: Text,
    /// The origin that the request goes to.
    pub origin: OriginId,
    /// As written, for names of series.
    pub shown: String,
    /// `user:password` of its URL.
    pub credentials: Option<String>,
}

impl Work {
    /// Builds the destination of a request. Only here are paths and URLs joined to origins: a path is joined to `to`.
    pub fn way(&mut self, draft: &PathDraft, to: OriginId) -> Option<Way> {
        if let Some(PartDraft::Open(Open { written, .. })) = draft.text.parts.first() {
            if !draft.encode {
                // A path from a response is complete.
                let text = self.text(&draft.text)?;
                let credentials = self.site.base_of(to).and_then(|base| base.credentials.clone());
                return Some(Way { text, origin: to, shown: draft.text.written(), credentials });
            }
            // Report an unknown name first.
            self.text(&draft.text)?;
            let message =
                format!("the slashes in `{written}` would be percent-encoded at the beginning of a path");
            let hint = "begin the path with `/`, or add `encode: false`";
            self.wrong.complain("F015", draft.pos, message, hint);
            return None;
        }
        let marked = Marked::new(draft);
        if marked.in_host() {
            let hint = "write one `target`, or `${env.HOST}` for a host from the environment";
            let message = "the host of a URL cannot change with every request";
            self.wrong.complain("F015", draft.pos, message, hint);
            return None;
        }
        let before = self.wrong.all.len();
        let joined = self.site.join(&marked.text, to, draft.pos, &mut self.wrong);
        for complaint in &mut self.wrong.all[before..] {
            complaint.message = marked.unmarked(&complaint.message);
        }
        let escape = if draft.encode { Escape::Percent } else { Escape::None };
        let Joined { origin, url } = joined?;
        let text = self.text_of(&marked, &url.path, escape)?;
        Some(Way { text, origin, shown: marked.unmarked(&url.path), credentials: url.credentials })
    }

    fn text_of(&mut self, marked: &Marked<'_>, path: &str, escape: Escape) -> Option<Text> {
        let (mut build, mut rest, mut whole) = (Build::default(), path, true);
        for (mark, open) in &marked.marks {
            let part = self.part(open, escape);
            whole &= part.is_some();
            // A value after a `#` is never sent.
            if let (Some((front, behind)), Some(part)) = (rest.split_once(mark.as_str()), part) {
                build.literal(front);
                build.part(part);
                rest = behind;
            }
        }
        build.literal(rest);
        whole.then(|| build.finish())
    }

    /// Appends the query to a path.
    pub fn query(&mut self, fields: &[QueryDraft], encode: bool, way: &mut Way) {
        let mut build = Build::default();
        build.text(std::mem::take(&mut way.text));
        for field in fields {
            let Some(text) = self.text(&field.value) else { continue };
            if !encode && let Some(bad) = unsendable(&field.value) {
                let message = format!("invalid character {bad:?} in a query");
                let hint = "remove `encode: false`, or percent-encode the character";
                self.wrong.complain("F015", field.pos, message, hint);
                continue;
            }
            let sign = if way.shown.contains('?') { '&' } else { '?' };
            let key = escape::escaped(&field.key, Escape::Percent);
            let front = format!("{sign}{key}=");
            build.literal(&front);
            build.text(text);
            way.shown.push_str(&front);
            way.shown.push_str(&field.value.written());
        }
        way.text = build.finish();
    }
}

/// A path whose expressions are replaced with placeholder words, so that it can be validated.
struct Marked<'d> {
    text: String,
    /// Each placeholder word with its expression.
    marks: Vec<(String, &'d Open)>,
}

impl<'d> Marked<'d> {
    fn new(draft: &'d PathDraft) -> Marked<'d> {
        let whole = draft.text.written();
        let mut stem = "zValue".to_owned();
        while whole.contains(&stem) {
            stem.push('z');
        }
        let (mut text, mut marks) = (String::new(), Vec::new());
        for part in &draft.text.parts {
            match part {
                PartDraft::Literal(literal) => {
                    let literal = String::from_utf8_lossy(literal);
                    text.push_str(&if draft.encode { escape::path(&literal) } else { literal.into_owned() });
                }
                PartDraft::Open(open) => {
                    let mark = format!("{stem}{}z", marks.len());
                    text.push_str(&mark);
                    marks.push((mark, open));
                }
            }
        }
        Marked { text, marks }
    }

    fn in_host(&self) -> bool {
        let Some((scheme, rest)) = self.text.split_once("://") else { return false };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !scheme.contains(['/', '?', '#']) && self.marks.iter().any(|(mark, _)| host.contains(mark.as_str()))
    }

    fn unmarked(&self, text: &str) -> String {
        self.marks
            .iter()
            .fold(text.to_owned(), |text, (mark, open)| text.replace(mark.as_str(), &open.written))
    }
}

/// Finds the first character of the literal parts that a request line must not contain.
fn unsendable(text: &TextDraft) -> Option<char> {
    let literals = text.literals();
    let shown = String::from_utf8_lossy(&literals);
    shown.chars().find(|c| c.is_ascii_control() || *c == ' ' || !c.is_ascii())
}
