//! Isolation and usage of a bundle, from those of its modules.

use super::Node;
use crate::isolation::{self, Isolation, Need, Needs};
use crate::link::Linker;
use crate::module::Target;
use crate::scan::{NeedAt, Use};
use crate::usage::{BuiltinUse, Member, Mention, Open, Url, Usage};
use plimsoll_plan::diag::Place;

/// Returns isolation and usage of all modules.
pub fn of(linker: &Linker<'_>) -> (Needs, Usage) {
    let mut all = Needs { isolation: Isolation::Shared, asynchronous: None };
    let mut usage = Usage::default();
    for node in linker.nodes {
        needs(node, &mut all);
        builtins(node, &mut all, &mut usage);
        rest(node, &mut usage);
    }
    usage.exports = exports(linker);
    (all, usage)
}

fn builtin(node: &Node, request: usize) -> Option<&str> {
    match &node.targets[request] {
        Target::Builtin(name) => Some(name),
        _ => None,
    }
}

fn needs(node: &Node, all: &mut Needs) {
    // Other built-in modules are libraries in JavaScript, which each user has for itself.
    let is_shared = |name: &str| name == "k6" || name.starts_with("k6/");
    let applies =
        |need: &&NeedAt| need.if_builtin.is_none_or(|request| builtin(node, request).is_some_and(is_shared));
    let mut needs: Vec<&NeedAt> = node.scan.needs.iter().filter(applies).collect();
    needs.sort_by_key(|need| need.at);
    for need in needs {
        all.add(need.need, &need.why, node.text.place(need.at));
    }
}

fn builtins(node: &Node, needs: &mut Needs, usage: &mut Usage) {
    for (request, asked) in node.scan.requests.iter().enumerate() {
        let Some(name) = builtin(node, request) else { continue };
        let place = node.text.place(asked.at);
        if let Some(why) = isolation::builtin(name) {
            needs.add(Need::Jobs, &why, place.clone());
        }
        let index = match usage.builtins.iter().position(|one| one.name == name) {
            Some(index) => index,
            None => {
                let (members, computed) = (Vec::new(), None);
                usage.builtins.push(BuiltinUse { name: name.to_owned(), place, members, computed });
                usage.builtins.len() - 1
            }
        };
        let mut uses: Vec<&Use> = node.scan.uses.iter().filter(|one| one.request == request).collect();
        uses.sort_by_key(|one| one.at);
        for one in uses {
            add_use(&mut usage.builtins[index], one, node.text.place(one.at), needs);
        }
        if node.scan.stars.iter().any(|star| star.0 == request) {
            usage.builtins[index].computed.get_or_insert_with(|| node.text.place(asked.at));
        }
        for export in &node.scan.exports {
            if let crate::scan::Value::Import { request: from, imported } = &export.value
                && *from == request
            {
                let path = imported.clone().filter(|name| name != "default");
                let one = Use { request, path, is_called: false, at: export.at };
                add_use(&mut usage.builtins[index], &one, node.text.place(export.at), needs);
            }
        }
    }
}

fn add_use(all: &mut BuiltinUse, one: &Use, place: Place, needs: &mut Needs) {
    let Some(path) = &one.path else {
        all.computed.get_or_insert(place);
        return;
    };
    if let Some(why) = isolation::member(&all.name, path) {
        needs.add(Need::Jobs, &why, place.clone());
    }
    match all.members.iter_mut().find(|member| member.path == *path) {
        Some(member) => member.is_called |= one.is_called,
        None => all.members.push(Member { path: path.clone(), place, is_called: one.is_called }),
    }
}

fn rest(node: &Node, usage: &mut Usage) {
    let place = |at: u32| node.text.place(at);
    let mention = |list: &mut Vec<Mention>, (name, at): &(String, u32)| {
        if !list.iter().any(|one| one.name == *name) {
            list.push(Mention { name: name.clone(), place: place(*at) });
        }
    };
    node.scan.env.iter().for_each(|one| mention(&mut usage.env, one));
    node.scan.globals.iter().for_each(|one| mention(&mut usage.globals, one));
    if usage.env_computed.is_none() {
        usage.env_computed = node.scan.env_computed.map(place);
    }
    for (path, is_binary, at) in &node.scan.opens {
        usage.opens.push(Open { path: path.clone(), is_binary: *is_binary, place: place(*at) });
    }
    for url in &node.scan.urls {
        let (text, is_head, is_request) = (url.text.clone(), url.is_head, url.is_request);
        usage.urls.push(Url { text, is_head, is_request, place: place(url.at) });
    }
    if usage.reads_bodies.is_none() {
        usage.reads_bodies = node.scan.reads_bodies.map(place);
    }
}

fn exports(linker: &Linker<'_>) -> Vec<Mention> {
    let Some(entry) = linker.nodes.first() else { return Vec::new() };
    let names = linker.names(0);
    let own = entry.scan.exports.iter().map(|export| (export.name.clone(), export.at));
    let visible = entry.scan.visible.iter().cloned();
    let stars =
        linker.star_names(0).into_iter().map(|(name, request)| (name, entry.scan.requests[request].at));
    let mut out: Vec<Mention> = Vec::new();
    for (name, at) in own.chain(visible).chain(stars) {
        if names.contains(&name) && !out.iter().any(|one| one.name == name) {
            out.push(Mention { name, place: entry.text.place(at) });
        }
    }
    out
}
