//! `plimsoll grpc`: the services and types of a server, or of `.proto` files; and how the other commands ask a server
//! for its schemas.

use super::load;
use crate::exit::{Exit, Failure};
use crate::flags::draft;
use crate::flags::load::{LoadFlags, MannerFlags};
use crate::flags::tool::{Grpc, GrpcAction, SchemaSource};
use crate::say;
use plimsoll_build::header;
use plimsoll_control::session::Service;
use plimsoll_front::proto::Proto;
use plimsoll_front::{Places, Reflect};
use plimsoll_plan::diag::Place;
use plimsoll_plan::origin::{Origin, origins};
use plimsoll_plan::request::url;
use plimsoll_plan::{Diagnostic, Draft, Problem};
use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::rc::Rc;

pub fn command(flags: &Grpc) -> Result<Exit, Failure> {
    let text = match &flags.action {
        Some(GrpcAction::List { host, source }) => {
            let proto = proto_of(host.as_deref(), source)?;
            let services = proto.services().into_iter();
            services.map(|(name, methods)| format!("{name}\n{}", indented(&methods))).collect()
        }
        Some(GrpcAction::Describe { words, source }) => {
            let (host, name) = match (words.as_slice(), source.protos.is_empty()) {
                ([host, name], true) => (Some(host), Some(name)),
                ([host], true) => (Some(host), None),
                ([name], false) => (None, Some(name)),
                ([_, _], false) => return Err(two_sources()),
                _ => (None, None),
            };
            let proto = proto_of(host.map(String::as_str), source)?;
            let names = match name {
                Some(name) => vec![name.clone()],
                None => proto.services().into_iter().map(|(name, _)| name).collect(),
            };
            let described = names.iter().map(|name| proto.describe(name)).collect::<Result<Vec<_>, _>>();
            described.map_err(|problem| Diagnostic::of("F042", Place::Whole, problem))?.join("\n")
        }
        None => {
            let hint = "write `plimsoll grpc list HOST` or `plimsoll grpc describe HOST NAME`";
            return Err(Diagnostic::new("U006", Place::Whole, "missing action of `grpc`", hint).into());
        }
    };
    say::result(&text)?;
    Ok(Exit::Pass)
}

fn indented(names: &[String]) -> String {
    names.iter().map(|name| format!("  {name}\n")).collect()
}

fn two_sources() -> Failure {
    let hint = "omit the server: `--proto` reads the schemas from files";
    Diagnostic::new("U006", Place::Flag("--proto".into()), "both a server and `.proto` files", hint).into()
}

/// Returns the schemas of a server or of files, and saves them if that is requested.
fn proto_of(host: Option<&str>, source: &SchemaSource) -> Result<Proto, Failure> {
    let proto = match (host, source.protos.is_empty()) {
        (Some(_), false) => return Err(two_sources()),
        (None, true) => {
            let hint = "add one, such as `plimsoll grpc list 127.0.0.1:50051`, or `--proto FILE`";
            return Err(Diagnostic::new("U012", Place::Whole, "missing server", hint).into());
        }
        (None, false) => Proto::of_files(&source.protos, &source.folders).map_err(Failure::Text)?,
        (Some(host), true) => Proto::of_set(&fetch_set(host, source)?).map_err(Failure::of)?,
    };
    if let Some(name) = &source.save {
        let written = File::create_new(name).and_then(|mut file| file.write_all(&proto.set()));
        written.map_err(|error| {
            let message = format!("cannot write `{name}`: {error}");
            Diagnostic::new("U020", Place::Flag("--save".into()), message, "choose another name")
        })?;
    }
    Ok(proto)
}

fn fetch_set(host: &str, source: &SchemaSource) -> Result<Vec<u8>, Failure> {
    let wrong = |problem| Diagnostic::of("U010", Place::Flag("HOST".into()), problem);
    let target = url(host).map_err(wrong)?.target;
    let flags = LoadFlags { ca: source.ca.clone(), insecure: source.insecure, ..LoadFlags::default() };
    let mut draft = Draft { target: Some(target), ..Draft::default() };
    draft::apply(&flags, &mut draft, &mut Places::default()).map_err(Failure::Text)?;
    let mut metadata = Vec::new();
    for text in &source.headers {
        let refuse = |problem| Diagnostic::of("U011", Place::Flag("--header".into()), problem);
        let (name, value) = text.split_once(':').ok_or_else(|| {
            refuse(Problem::new("invalid metadata: expected `name: value`", "write such as `x-tenant: blue`"))
        })?;
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        header::check(&name, value).map_err(refuse)?;
        metadata.push((name, value.to_owned()));
    }
    let manner = MannerFlags { allow: source.allow.clone(), ..MannerFlags::default() };
    set_of(&draft, &metadata, &manner)
}

/// Returns the compiled schemas of the target of a draft.
fn set_of(draft: &Draft, metadata: &[(String, String)], manner: &MannerFlags) -> Result<Vec<u8>, Failure> {
    let Some(target) = &draft.target else {
        let hint = "add `target: http://127.0.0.1:50051`";
        let message = "`reflection` requires a `target` to ask";
        return Err(Diagnostic::new("F041", Place::Whole, message, hint).into());
    };
    let all: Vec<Origin> = origins(target, &[], draft.link.tls.as_ref());
    let service = Service { origin: &all[0], tls_files: &draft.tls_files, link: &draft.link, metadata };
    Ok(load::reflect(&service, manner)?.set)
}

/// Asks servers for their schemas while an experiment is read, each once.
pub struct Reflector {
    flags: LoadFlags,
    state: Rc<RefCell<State>>,
}

/// A server that was asked, and the metadata of that call.
type Question = (String, Vec<(String, String)>);

#[derive(Default)]
struct State {
    /// Sets by the URL of their server and the metadata of the call.
    known: Vec<(Question, Vec<u8>)>,
    /// Why the first server was not asked, with its own exit code.
    failure: Option<Failure>,
}

impl Reflector {
    pub fn new(flags: &LoadFlags) -> Reflector {
        Reflector { flags: flags.clone(), state: Rc::default() }
    }

    /// Returns the function that the reader calls.
    pub fn asker(&self) -> Box<Reflect> {
        let (flags, state) = (self.flags.clone(), Rc::clone(&self.state));
        Box::new(move |draft: &Draft, metadata: &[(String, String)]| {
            let asked = ask(draft, metadata, &flags, &state);
            asked.map_err(|failure| {
                let problem = Problem::plain(failure.sentence());
                state.borrow_mut().failure.get_or_insert(failure);
                problem
            })
        })
    }

    /// Returns the failure of a server, or else the mistakes of the file.
    pub fn failure(&self, wrong: Vec<Diagnostic>) -> Failure {
        self.state.borrow_mut().failure.take().unwrap_or(Failure::Text(wrong))
    }
}

fn ask(
    draft: &Draft,
    metadata: &[(String, String)],
    flags: &LoadFlags,
    state: &RefCell<State>,
) -> Result<Vec<u8>, Failure> {
    // Only what says where and how to connect; the rest of the flags is applied and checked later.
    let only = LoadFlags {
        target: flags.target.clone(),
        ca: flags.ca.clone(),
        insecure: flags.insecure,
        ..LoadFlags::default()
    };
    let mut draft = draft.clone();
    draft::apply(&only, &mut draft, &mut Places::default()).map_err(Failure::Text)?;
    let name = draft.target.as_ref().map(|target| format!("{} {}", target.tls, target.authority()));
    let asked = (name.unwrap_or_default(), metadata.to_vec());
    let known = state.borrow().known.iter().find(|(known, _)| *known == asked).map(|(_, set)| set.clone());
    if let Some(set) = known {
        return Ok(set);
    }
    let set = set_of(&draft, metadata, &flags.manner)?;
    state.borrow_mut().known.push((asked, set.clone()));
    Ok(set)
}
