//! Steps: what a user does, in sequence. The reader of each kind has its own file.

mod auth;
mod body;
mod check;
mod condition;
mod control;
mod delivery;
mod extract;
mod files;
mod graphql;
mod grpc;
mod headers;
mod path;
mod pause;
mod request;
mod rule;
mod schema;
mod socket;
mod source;
mod stream;

use super::key::{Key, METHODS, Row, STEPS, SYNONYMS, Section, Step, find};
use super::reader::Reader;
use super::work::{Work, names_set};
use super::yaml::{Entry, Node, Scalar, Value};
use plimsoll_build::draft::StepDraft;
use plimsoll_build::nearest::nearest;

pub use auth::auth;
pub use control::{order, weight};
pub use headers::read as headers;
pub use pause::delay;
pub use request::redirects;
pub use rule::regex;

/// Reads a list of at least one step.
pub fn list(node: &Node, row: &Row, w: &mut Work<'_>) -> Vec<StepDraft> {
    let Some(items) = w.r.list(node, row) else { return Vec::new() };
    if items.is_empty() {
        let message = format!("`{}` has no steps", row.name);
        w.r.complain("F016", node.pos, message, "add at least one step, such as `- get: /pick`");
    }
    all(items, w)
}

/// Reads the steps of a list.
pub fn all(items: &[Node], w: &mut Work<'_>) -> Vec<StepDraft> {
    let mut method = None;
    let mut steps = Vec::new();
    for item in items {
        w.method_above = method;
        method = method_of(item).or(method);
        steps.extend(step(item, w));
    }
    steps
}

/// Returns the key of a request line.
fn method_of(item: &Node) -> Option<&'static str> {
    let Value::Map(entries) = &item.value else { return None };
    let has = |name: &&&str| entries.iter().any(|entry| entry.key == **name);
    METHODS.iter().chain(&["request"]).find(has).copied()
}

/// Reads one step, or two if a pause follows it. An invalid step is reported, and the names that it would have
/// set are kept.
pub fn step(item: &Node, w: &mut Work<'_>) -> Vec<StepDraft> {
    read(item, w).unwrap_or_else(|| vec![StepDraft::Spoiled(names_set(item))])
}

fn read(item: &Node, w: &mut Work<'_>) -> Option<Vec<StepDraft>> {
    let Value::Map(entries) = &item.value else {
        let hint = match &item.value {
            Value::Scalar(Scalar { spoiled: true, .. }) => return None,
            Value::Scalar(Scalar { text, .. })
                if METHODS.iter().any(|m| text.starts_with(&format!("{m}:"))) =>
            {
                "add a space after the colon: `- get: /pick`"
            }
            _ => "write a method and a path, such as `- get: /pick`",
        };
        w.r.complain("F014", item.pos, "invalid request: expected a mapping", hint);
        return None;
    };
    let has = |name: &str| entries.iter().any(|entry| entry.key == name);
    let kinds: Vec<(&str, Step)> = STEPS
        .iter()
        .filter(|(name, step)| has(name) && (*step != Step::Think || entries.len() == 1))
        // In a request, `expect` is a word of other tools for `check`.
        .filter(|(_, step)| *step != Step::Expect || !METHODS.iter().any(|method| has(method)))
        .copied()
        .collect();
    let step = match kinds.as_slice() {
        [] => {
            // Another tool's word for a step that contains steps: the keys next to it are valid.
            let is_step = |entry: &&Entry| {
                let ours = SYNONYMS.iter().find(|(s, name, _)| *s == Section::Request && *name == entry.key);
                ours.is_some_and(|(_, _, ours)| find(Section::Request, ours).is_none())
            };
            if let Some(entry) = entries.iter().find(is_step) {
                w.r.row(Section::Request, entry);
                return None;
            }
            // A misspelled step that contains steps: the steps are valid.
            if has("steps") || has("then") {
                let beside = ["steps", "then", "else", "max_iterations", "mix", "weight"];
                let names = || STEPS.iter().map(|(name, _)| *name);
                if let Some((entry, right)) = entries
                    .iter()
                    .filter(|entry| !beside.contains(&entry.key.as_str()))
                    .find_map(|entry| Some((entry, nearest(&entry.key, names())?)))
                {
                    let message = format!("unknown step `{}`", entry.key);
                    w.r.complain("F011", entry.pos, message, format!("did you mean `{right}`?"));
                    return None;
                }
            }
            Step::Request
        }
        [(_, step), rest @ ..] => {
            if let Some((other, _)) = rest.iter().find(|(_, other)| other != step) {
                let pos =
                    entries.iter().find(|entry| entry.key == *other).map_or(item.pos, |entry| entry.pos);
                let message = format!("`{}` and `{other}` in one step", kinds[0].0);
                w.r.complain("F017", pos, message, "begin a new step with `- `");
                return None;
            }
            *step
        }
    };
    let one = match step {
        Step::Request => return request::read(item, entries, w),
        Step::Connect => return socket::connect(item, entries, w),
        Step::Send => return socket::send(entries, w),
        Step::Expect => return socket::expect(entries, w),
        Step::Ping => return socket::ping(entries, w),
        Step::Close => return socket::close(entries, w),
        Step::Grpc => return grpc::read(item, entries, w),
        Step::Think => pause::think(entries, &mut w.r),
        Step::Set => files::set(entries, &mut w.r),
        Step::Append => files::append(entries, &mut w.r),
        Step::Generate => files::generate(item, entries, w),
        Step::Group => control::group(item, entries, w),
        Step::Repeat => control::repeat(item, entries, w),
        Step::While => control::rounds(item, entries, w),
        Step::If => control::branch(item, entries, w),
        Step::OncePerUser => control::once_per_user(entries, w),
        Step::Choose => control::choose(entries, w),
        Step::Parallel => control::parallel(item, entries, w),
    };
    one.map(|step| vec![step])
}

/// A key with its row, its name in its section, and its entry.
type Known<'n, K> = (&'static Row, K, &'n Entry);

/// Returns the entries of a step with the rows of its section; reports unknown keys.
fn known<'n, K: Key>(entries: &'n [Entry], r: &mut Reader<'_>) -> Vec<Known<'n, K>> {
    entries.iter().filter_map(|entry| r.key(entry).map(|(row, key)| (row, key, entry))).collect()
}
