//! `scenarios:`, which becomes the requests of the draft.

use super::key::{Section, find};
use super::reader::Reader;
use super::request;
use super::site::{Headers, Site, base};
use super::yaml::{Node, Pos, Value};
use plimsoll_plan::Request;
use plimsoll_plan::draft::Draft;
use std::collections::HashMap;

/// The pieces of the requests as the file gives them, in whatever order.
#[derive(Default)]
pub struct Parts<'n> {
    pub target: Option<(String, Pos)>,
    /// Keys that a misspelt one was meant for: that they are missing is said already.
    pub misspelt: Vec<&'static str>,
    pub headers: Headers,
    pub scenarios: Option<&'n Node>,
}

impl Parts<'_> {
    /// Makes the requests and the target of the draft.
    pub fn assemble(self, draft: &mut Draft, r: &mut Reader<'_>) {
        let base = self.target.as_ref().and_then(|(text, pos)| base(text, *pos, r));
        let Some(scenarios) = self.scenarios else {
            if self.misspelt.contains(&"scenarios") {
                return;
            }
            r.complain(
                "F016",
                Pos::TOP,
                "there is no key `scenarios`: nothing to send",
                "add one, such as `scenarios: { browse: [ { get: /pick } ] }`",
            );
            return;
        };
        let mut taken = HashMap::new();
        let mut site = Site {
            written: self.target.is_some() || self.misspelt.contains(&"target"),
            base,
            common: self.headers,
        };
        for item in requests(scenarios, r) {
            if let Some(mut request) = request::read(item, &mut site, r) {
                name_apart(&mut request, item, &mut taken, r);
                draft.requests.push(request);
            }
        }
        draft.target = site.base.map(|base| base.target);
    }
}

/// The requests of the one scenario.
fn requests<'n>(node: &'n Node, r: &mut Reader<'_>) -> &'n [Node] {
    let Some(row) = find(Section::Top, "scenarios") else { return &[] };
    let Some(scenarios) = r.map(node, row) else { return &[] };
    for more in scenarios.iter().skip(1) {
        r.complain("F012", more.pos, "several scenarios are not supported yet", "keep one per file");
    }
    let Some(scenario) = scenarios.first() else {
        r.complain("F016", node.pos, "there is no scenario", format!("expected {}", row.expects));
        return &[];
    };
    let list = match &scenario.value.value {
        Value::List(list) => list.as_slice(),
        _ => {
            r.complain(
                "F014",
                scenario.value.pos,
                format!("the scenario `{}` is no list of requests", scenario.key),
                "write its requests below it, each behind a `-`, such as `- get: /pick`",
            );
            return &[];
        }
    };
    if list.is_empty() {
        let message = format!("the scenario `{}` has no requests", scenario.key);
        r.complain("F016", scenario.value.pos, message, "name at least one, such as `- get: /pick`");
    }
    list
}

/// Every series of a report needs a name of its own: equal default names are counted, equal chosen ones are refused.
fn name_apart(request: &mut Request, item: &Node, taken: &mut HashMap<String, u32>, r: &mut Reader<'_>) {
    let plain = request.name.clone();
    while let Some(times) = taken.get_mut(&request.name) {
        let chosen = match &item.value {
            Value::Map(entries) => entries.iter().find(|e| e.key == "name"),
            _ => None,
        };
        if let Some(entry) = chosen {
            r.complain(
                "F013",
                entry.value.pos,
                format!("two requests are called `{plain}`"),
                "give each a name of its own: reports tell them apart by it",
            );
            return;
        }
        *times += 1;
        request.name = format!("{plain} ({times})");
    }
    taken.insert(request.name.clone(), 1);
}
