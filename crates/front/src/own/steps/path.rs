//! Where a request goes: a path with values in it, joined to the target, and its query.

use crate::own::escape;
use crate::own::expression::{Expression, Piece};
use crate::own::key::Row;
use crate::own::one_or_more;
use crate::own::template::Build;
use crate::own::work::Work;
use crate::own::yaml::{Node, Scalar, Value};
use plimsoll_plan::value::{Escape, Text};

/// A path as it will be sent.
pub struct Way {
    pub text: Text,
    /// As the author wrote it: for names of series.
    pub shown: String,
    /// `user:password` of its URL.
    pub credentials: Option<String>,
}

/// Reads a path. With `encode`, values and blanks are percent-encoded.
pub fn read(node: &Node, row: &Row, encode: bool, w: &mut Work<'_>) -> Option<Way> {
    let scalar = match &node.value {
        Value::Scalar(scalar) if !scalar.pieces.is_empty() && !scalar.spoiled => scalar,
        _ => {
            let text = w.r.written(node, row)?;
            let text = if encode { escape::path(text) } else { text.to_owned() };
            let url = w.site.join(&text, node.pos, &mut w.r)?;
            let mut build = Build::default();
            build.literal(&url.path);
            return Some(Way { text: build.finish(), shown: url.path, credentials: url.credentials });
        }
    };
    if let Some(Piece::Expression { written, .. }) = scalar.pieces.first() {
        if !encode {
            // A path out of an answer: it is one as it stands.
            let text = w.filled(scalar, node.pos, Escape::None, &str::to_owned)?;
            let credentials = w.site.base.as_ref().and_then(|base| base.credentials.clone());
            return Some(Way { text, shown: scalar.text.clone(), credentials });
        }
        // What is not known at all is worse than where it stands.
        w.filled(scalar, node.pos, Escape::Percent, &str::to_owned)?;
        let message =
            format!("a path that begins with `{written}` would be percent-encoded, slashes included");
        w.r.complain("F015", node.pos, message, "begin it with `/`, or add `encode: false`");
        return None;
    }
    let marked = Marked::new(scalar, encode);
    if marked.in_host() {
        let hint = "write one `target`; a host from the environment is written `${env.HOST}`";
        w.r.complain("F015", node.pos, "the host cannot change from request to request", hint);
        return None;
    }
    let before = w.r.wrong.len();
    let joined = w.site.join(&marked.text, node.pos, &mut w.r);
    for diagnostic in &mut w.r.wrong[before..] {
        diagnostic.message = marked.unmarked(&diagnostic.message);
    }
    let escape = if encode { Escape::Percent } else { Escape::None };
    let url = joined?;
    let text = marked.text_of(&url.path, escape, node, w)?;
    Some(Way { text, shown: marked.unmarked(&url.path), credentials: url.credentials })
}

/// A path in which words stand for its expressions, so that it can be judged as the path that it will be.
struct Marked<'n> {
    text: String,
    /// Mark, expression as written, and what it means.
    marks: Vec<(String, &'n str, &'n Expression)>,
}

impl<'n> Marked<'n> {
    fn new(scalar: &'n Scalar, encode: bool) -> Marked<'n> {
        let mut stem = "zValue".to_owned();
        while scalar.text.contains(&stem) {
            stem.push('z');
        }
        let (mut text, mut marks) = (String::new(), Vec::new());
        for piece in &scalar.pieces {
            match piece {
                Piece::Literal(literal) if encode => text.push_str(&escape::path(literal)),
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Expression { written, means } => {
                    let mark = format!("{stem}{}z", marks.len());
                    text.push_str(&mark);
                    marks.push((mark, written.as_str(), means));
                }
            }
        }
        Marked { text, marks }
    }

    fn in_host(&self) -> bool {
        let Some((scheme, rest)) = self.text.split_once("://") else { return false };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        !scheme.contains(['/', '?', '#']) && self.marks.iter().any(|(mark, ..)| host.contains(mark.as_str()))
    }

    fn unmarked(&self, text: &str) -> String {
        self.marks
            .iter()
            .fold(text.to_owned(), |text, (mark, written, _)| text.replace(mark.as_str(), written))
    }

    fn text_of(&self, path: &str, escape: Escape, node: &Node, w: &mut Work<'_>) -> Option<Text> {
        let (mut build, mut rest, mut whole) = (Build::default(), path, true);
        for (mark, written, means) in &self.marks {
            let part = w.part(means, written, node.pos, escape);
            whole &= part.is_some();
            // One behind a `#` is never sent.
            if let (Some((front, behind)), Some(part)) = (rest.split_once(mark.as_str()), part) {
                build.literal(front);
                build.part(part);
                rest = behind;
            }
        }
        build.literal(rest);
        whole.then(|| build.finish())
    }
}

/// Appends `query:` to a path.
pub fn query(node: &Node, row: &Row, encode: bool, way: &mut Way, w: &mut Work<'_>) {
    let escape = if encode { Escape::Percent } else { Escape::None };
    let mut build = Build::default();
    build.text(std::mem::take(&mut way.text));
    for entry in w.r.map(node, row).unwrap_or_default() {
        for value in one_or_more(&entry.value) {
            let Some(text) = w.template(value, row, escape) else { continue };
            if !encode && let Some(bad) = unsendable(&text) {
                let message = format!("{bad:?} cannot stand in a query as it is");
                w.r.complain(
                    "F015",
                    value.pos,
                    message,
                    "leave out `encode: false`, or write it percent-encoded",
                );
                continue;
            }
            let sign = if way.shown.contains('?') { '&' } else { '?' };
            let key = escape::escaped(&entry.key, Escape::Percent);
            let front = format!("{sign}{key}=");
            build.literal(&front);
            build.text(text);
            way.shown.push_str(&front);
            if let Value::Scalar(scalar) = &value.value {
                way.shown.push_str(&as_written(scalar, escape));
            }
        }
    }
    way.text = build.finish();
}

/// A value as names show it: expressions as written, the rest as sent.
fn as_written(scalar: &Scalar, escape: Escape) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Literal(text) => escape::escaped(text, escape),
        Piece::Expression { written, .. } => written.clone(),
    };
    match scalar.pieces.is_empty() {
        true => escape::escaped(&scalar.text, escape),
        false => scalar.pieces.iter().map(piece).collect(),
    }
}

/// The first sign of the literal parts that no request line may hold.
fn unsendable(text: &Text) -> Option<char> {
    let shown = text.shown();
    shown.chars().find(|c| c.is_ascii_control() || *c == ' ' || !c.is_ascii())
}
