//! `grpc:`: the schemas of gRPC services, from `.proto` files or compiled by `protoc`, and messages in their terms.

mod compile;
mod message;
mod path;
mod types;

pub use compile::{ReadSource, of_files as compiled, of_sources as compiled_sources};
pub use message::message;
pub use path::check as check_path;
pub use types::schemas;

use super::key::{Row, of};
use super::monitor::revealed;
use super::reader::Reader;
use super::yaml::{Node, Value, one_or_more};
use compile::Compiled;
use plimsoll_build::header;
use plimsoll_build::nearest::nearest;
use plimsoll_build::sentence::short;
use plimsoll_build::source::Pos;
use plimsoll_plan::Problem;
use plimsoll_plan::grpc::{Protocol, Types};
use prost_reflect::{DescriptorPool, MethodDescriptor};
use std::path::PathBuf;
use std::sync::Arc;
use types::Shapes;

/// All schemas of a file.
pub struct Schemas {
    pool: DescriptorPool,
    shapes: Shapes,
    pub types: Arc<Types>,
    /// How calls are sent.
    pub protocol: Protocol,
    /// A mistake in them is already reported, so names that they lack are not.
    is_spoiled: bool,
}

/// What `grpc:` says.
#[derive(Default)]
pub struct Grpc {
    pub schemas: Option<Schemas>,
    /// The service that must be healthy before the load.
    pub health: Option<String>,
}

/// Reads `grpc:` and the files that it names. `reflect` asks the target for its schemas, if it may be asked.
pub fn read(
    node: &Node,
    row: &Row,
    reflect: Option<impl Fn(&[(String, String)]) -> Result<Vec<u8>, Problem>>,
    r: &mut Reader<'_>,
) -> Grpc {
    let before = r.wrong.len();
    let (mut protos, mut sets, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reflection, mut health, mut protocol) = (None, None, Protocol::Grpc);
    let Some(entries) = r.map(node, row) else { return Grpc::default() };
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, r.key(entry)) else { continue };
        let into: &mut Vec<(String, PathBuf, Pos)> = match key {
            of::Grpc::Protos => &mut protos,
            of::Grpc::DescriptorSets => &mut sets,
            of::Grpc::ImportPaths => &mut folders,
            of::Grpc::Reflection => {
                reflection = reflection_of(node, row, r).map(|metadata| (entry.pos, metadata));
                continue;
            }
            of::Grpc::Protocol => {
                protocol = r.choice(node, row, &Protocol::NAMED).unwrap_or_default();
                continue;
            }
            of::Grpc::Health => {
                health = health_of(node, row, r);
                continue;
            }
        };
        for item in one_or_more(node) {
            let Some(name) = r.text(item, row).map(str::to_owned) else { continue };
            let Some(path) = r.path(&name, item.pos) else { continue };
            into.push((name, path, item.pos));
        }
    }
    for (name, path, pos) in &folders {
        if !path.is_dir() {
            let message = format!("no such directory: `{name}`");
            r.complain("F026", *pos, message, "name the directory that imports start from");
        }
    }
    if protos.is_empty() && sets.is_empty() && reflection.is_none() && r.wrong.len() == before {
        r.expected(node, row, "add `protos`, `descriptor_sets`, or `reflection: true`");
    }
    if let (Some((pos, _)), false) = (&reflection, protos.is_empty() && sets.is_empty()) {
        let message = "`reflection` and files with schemas exclude each other";
        r.complain("F017", *pos, message, "keep one of them");
    }
    let folders = folders.into_iter().map(|(_, path, _)| path).collect();
    let Compiled { mut pool, is_whole } = compile::all(&protos, &sets, folders, r);
    if let (Some((pos, metadata)), true) = (reflection, r.wrong.len() == before) {
        match reflect {
            None => {
                let message = "`reflection` asks the server for its schemas, and nothing is sent here";
                let hint = "save them with `plimsoll grpc list HOST --save FILE`, and name the file under \
                            `descriptor_sets`";
                r.complain("F041", pos, message, hint);
            }
            Some(reflect) => {
                let added = reflect(&metadata).and_then(|set| {
                    let invalid = |error| Problem::plain(format!("invalid schemas of the server: {error}"));
                    pool.decode_file_descriptor_set(&set[..]).map_err(invalid)
                });
                if let Err(problem) = added {
                    r.complain("F041", pos, problem.message, problem.hint);
                }
            }
        }
    }
    let (shapes, types) = types::of(&pool);
    let is_spoiled = !is_whole || r.wrong.len() > before;
    Grpc { schemas: Some(Schemas { pool, shapes, types: Arc::new(types), protocol, is_spoiled }), health }
}

/// Reads `reflection`: whether the target is asked, and the metadata of that call, which may contain secrets.
fn reflection_of(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<Vec<(String, String)>> {
    if !matches!(node.value, Value::Map(_)) {
        return r.truth(node, row).filter(|is_on| *is_on).map(|_| Vec::new());
    }
    let mut all = Vec::new();
    for entry in r.map(node, row)? {
        let (node, Some((row, of::Reflection::Metadata))) = (&entry.value, r.key(entry)) else { continue };
        for field in r.map(node, row).unwrap_or_default() {
            let Some((value, _)) = revealed(&field.value, row, r) else { continue };
            let name = field.key.to_ascii_lowercase();
            match header::check(&name, &value) {
                Ok(()) => all.push((name, value)),
                Err(problem) => r.complain("F015", field.pos, problem.message, problem.hint),
            }
        }
    }
    Some(all)
}

/// Reads `health`: the name of a service, or `true` for the server as a whole.
fn health_of(node: &Node, row: &Row, r: &mut Reader<'_>) -> Option<String> {
    match r.written(node, row)?.to_owned().as_str() {
        "true" => Some(String::new()),
        "false" => None,
        name => Some(name.to_owned()),
    }
}

impl Schemas {
    /// Finds the method `package.Service/Method`; reports one that the schemas lack.
    pub fn method(&self, text: &str, pos: Pos, r: &mut Reader<'_>) -> Option<MethodDescriptor> {
        let name = text.strip_prefix('/').unwrap_or(text);
        let split = name.split_once('/').or_else(|| name.rsplit_once('.'));
        let Some((service, method)) = split
            .filter(|(service, method)| !service.is_empty() && !method.is_empty() && !method.contains('/'))
        else {
            let message = format!("invalid method `{}`", short(text));
            r.complain("F042", pos, message, "write service and method, such as `shop.v1.Shop/GetItem`");
            return None;
        };
        let Some(found) = self.pool.get_service_by_name(service) else {
            if !self.is_spoiled {
                let all: Vec<String> =
                    self.pool.services().map(|service| service.full_name().to_owned()).collect();
                let hint = choice(service, &all, "the schemas define no service");
                r.complain("F042", pos, format!("unknown service `{}`", short(service)), hint);
            }
            return None;
        };
        let all: Vec<String> = found.methods().map(|method| method.name().to_owned()).collect();
        let wanted = found.methods().find(|known| known.name() == method);
        if wanted.is_none() {
            let hint = choice(method, &all, "the service has no methods");
            let message = format!("unknown method `{}` of service `{service}`", short(method));
            r.complain("F042", pos, message, hint);
        }
        wanted
    }

    /// Returns the number of a message in the table of types.
    pub fn number(&self, name: &str) -> usize {
        self.types.by_name.get(name).copied().unwrap_or_default()
    }
}

/// Returns the help line for an unknown name.
fn choice(name: &str, all: &[String], none: &str) -> String {
    const SHOWN: usize = 8;
    let names = || all.iter().map(String::as_str);
    match (nearest(name, names()), all.len()) {
        (Some(right), _) => format!("did you mean `{right}`?"),
        (None, 0) => none.to_owned(),
        (None, 1..=SHOWN) => format!("use {}", plimsoll_build::sentence::alternatives(names())),
        (None, _) => {
            let shown: Vec<String> = names().take(SHOWN).map(|name| format!("`{name}`")).collect();
            format!("use one of {}, ...", shown.join(", "))
        }
    }
}
