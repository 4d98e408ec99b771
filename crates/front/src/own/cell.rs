//! Reads one experiment out of a tree: its top level, key by key.

use super::key::{self, Section, of};
use super::reader::Reader;
use super::scenario::Parts;
use super::work::Work;
use super::yaml::{Node, Scalar, Value, one_or_more};
use super::{connection, constants, data, load, monitor, search, steps, threshold};
use crate::located::Located;
use crate::overrides::Overrides;
use plimsoll_build::draft::ScriptDraft;
use plimsoll_build::requests;
use plimsoll_build::sentence::alternatives;
use plimsoll_build::source::Pos;
use plimsoll_plan::diag::Field;
use plimsoll_plan::draft::key as field;
use plimsoll_plan::experiment::{Expectation, Experiment};
use plimsoll_plan::link::Http;
use plimsoll_plan::load::Share;
use plimsoll_plan::route::ProxyKind;
use plimsoll_plan::scale::Scale;
use plimsoll_plan::script::Script;
use plimsoll_plan::{Diagnostic, Draft, limit, unit};
use std::rc::Rc;

/// Reads one cell of a file: a tree without variants and without lists that span axes.
pub fn read(
    mut tree: Node,
    given: &Overrides,
    mut r: Reader<'_>,
) -> Result<(Located, Experiment), Vec<Diagnostic>> {
    constants::fill(&mut tree, given, &mut r);
    let mut w = Work {
        r,
        in_setup: false,
        method_above: None,
        redirects: 0,
        schemas: None,
        calls: None,
        open_calls: Vec::new(),
        is_scripted: false,
    };
    let mut terms = Experiment::default();
    let (mut draft, script) = experiment(&tree, &mut terms, given, &mut w);
    if !w.r.wrong.is_empty() {
        return Err(w.r.wrong);
    }
    terms.name = draft.name.clone().unwrap_or_default();
    terms.seed = draft.seed;
    terms.question = draft.question.clone().unwrap_or_default();
    let places = std::mem::take(&mut w.r.places);
    requests::settle(script, w.is_scripted, &mut draft);
    Ok((Located { draft, places }, terms))
}

fn experiment(tree: &Node, terms: &mut Experiment, given: &Overrides, w: &mut Work<'_>) -> (Draft, Script) {
    let mut draft = Draft::default();
    let mut script = ScriptDraft::default();
    let Value::Map(entries) = &tree.value else {
        w.r.complain(
            "F014",
            tree.pos,
            "an experiment must be a mapping of keys to values",
            "write lines such as `target: http://127.0.0.1:8080`",
        );
        return (draft, Script::default());
    };

    let mut parts = Parts::default();
    let (mut target, mut data, mut reuse, mut keep, mut tls) = (None, None, None, None, None);
    let (mut graceful, mut find, mut scale, mut origins) = (None, None, None, None);
    let mut schemas = None;
    for entry in entries {
        let (node, Some((row, key))) = (&entry.value, w.r.key(entry)) else {
            parts.misspelt.extend(key::meant(Section::Top, &entry.key));
            continue;
        };
        if let Some(field) = field_of(key) {
            w.r.mark(field, node.pos);
        }
        let r = &mut w.r;
        match key {
            of::Top::Name => draft.name = r.text(node, row).map(str::to_owned),
            of::Top::Target => {
                script.has_target = true;
                target = r.written(node, row).map(|text| (text.to_owned(), node.pos));
            }
            of::Top::Origins => origins = Some((node, row)),
            of::Top::Data => data = Some((node, row)),
            of::Top::Headers => {
                script.headers =
                    r.map(node, row).map(|entries| steps::headers(entries, r)).unwrap_or_default()
            }
            of::Top::Auth => script.auth = steps::auth(node, row, r),
            of::Top::Cookies => script.cookies = r.truth(node, row).unwrap_or_default(),
            of::Top::Redirects => w.redirects = steps::redirects(node, row, &mut w.r).unwrap_or_default(),
            of::Top::Grpc => schemas = Some((node, row)),
            of::Top::Setup => parts.setup = Some(node),
            of::Top::Scenarios => parts.scenarios = Some(node),
            of::Top::Teardown => parts.teardown = Some(node),
            of::Top::Mix => parts.mix = steps::order(node, row, r).map(|order| (order, entry.pos)),
            of::Top::Load => {
                if let Value::Map(fields) = &node.value {
                    graceful =
                        fields.iter().find(|field| field.key == "graceful_stop").map(|field| field.pos);
                }
                parts.load = Some((load::read(node, row, Section::Load, r), entry.pos));
            }
            of::Top::Thresholds => threshold::read(node, row, &mut draft, r),
            of::Top::Timeout => draft.timeout_ns = r.parsed(node, row, unit::duration_ns),
            of::Top::Warmup => draft.warmup_ns = r.parsed(node, row, unit::duration_ns),
            of::Top::GracefulStop => draft.graceful_stop_ns = r.parsed(node, row, unit::duration_ns),
            of::Top::KeepAlive => {
                draft.keep_alive = r.truth(node, row);
                keep = Some(entry.pos);
            }
            of::Top::Connection => reuse = connection::read(node, row, &mut draft.link, r),
            of::Top::Tls => {
                tls = Some(entry.pos);
                draft.link.tls = connection::tls(node, row, &mut draft.tls_files, r);
            }
            of::Top::ReadBodies => draft.read_bodies = r.truth(node, row),
            of::Top::Workers => draft.workers = r.count(node, row),
            of::Top::Seed => draft.seed = r.whole(node, row),
            of::Top::Shard => {
                draft.shard = r.parsed(node, row, |t| unit::share(t).map(|(part, of)| Share { part, of }));
            }
            of::Top::Buckets => draft.buckets_ns = buckets(node, row, r),
            of::Top::Limits => limits(node, row, &mut draft.limits, r),
            of::Top::Question => draft.question = question(node, row, r),
            of::Top::TimeScale => scale = r.parsed(node, row, Scale::parse).map(|scale| (scale, entry.pos)),
            of::Top::Generators => terms.generators = generators_of(node, row, r),
            of::Top::Monitors => draft.watches = monitor::read(node, row, r),
            of::Top::Environment => draft.system_under_test = monitor::environment(node, row, r),
            of::Top::Find => {
                terms.find = search::read(node, row, r);
                find = Some(entry.pos);
            }
            of::Top::Repeat => terms.repeat = repeat(node, row, r),
            of::Top::Cooldown => {
                terms.cooldown_ns = r.parsed(node, row, unit::duration_ns).unwrap_or_default()
            }
            of::Top::MinDuration => {
                terms.min_duration_ns = r.parsed(node, row, unit::duration_ns).unwrap_or_default()
            }
            of::Top::TrimToSteadyState => terms.trim_to_steady_state = r.truth(node, row).unwrap_or_default(),
            of::Top::StopOnMiss => terms.stop_on_miss = r.truth(node, row).unwrap_or_default(),
            of::Top::Expect => {
                let sentences = one_or_more(node).iter();
                terms.expects =
                    sentences.filter_map(|node| r.parsed(node, row, Expectation::parse)).collect();
            }
            // Resolved before anything else.
            of::Top::Variants | of::Top::Parts | of::Top::Vars => {}
        }
    }
    if let (Some(keep), Some(reuse)) = (keep, reuse) {
        let message = "`keep_alive` and `reuse` both set when a connection is reused";
        w.r.complain(
            "F017",
            keep.max(reuse),
            message,
            "keep `reuse` (`keep_alive: false` means `reuse: request`)",
        );
    }
    if let (Some(pos), true) = (graceful, draft.graceful_stop_ns.is_some()) {
        w.r.complain("F017", pos, "`graceful_stop` is also set at the top level", "keep one of them");
    }
    script.has_target |= parts.misspelt.contains(&"target");
    script.origins = origins.map(|(node, row)| super::origins::read(node, row, &mut w.r)).unwrap_or_default();
    script.target = target.and_then(|(text, pos)| {
        plimsoll_build::base(&text, pos).map_err(|complaint| w.r.take(complaint)).ok()
    });
    if let Some((node, row)) = data {
        let mut made = Vec::new();
        if let Some(setup) = parts.setup {
            data::made_by(setup, w.r.folder, &mut made);
        }
        script.feeders = data::read(node, row, &made, &mut w.r);
    }
    if let Some(pos) = find {
        let load = entries.iter().find(|entry| entry.key == "load").map(|entry| &entry.value);
        search::judge_load(pos, terms.find.as_ref().is_some_and(|find| find.users), load, &mut w.r);
    } else if let Some((load, pos)) = &mut parts.load {
        terms.find = load.ladder.take();
        find = terms.find.is_some().then_some(*pos);
    }
    if let Some((node, row)) = schemas {
        let target = script.target.as_ref().map(|base| base.target.clone());
        let asked = Draft { target, ..draft.clone() };
        let reflect = given
            .reflect
            .as_deref()
            .map(|reflect| move |metadata: &[(String, String)]| reflect(&asked, metadata));
        let read = super::grpc::read(node, row, reflect, &mut w.r);
        draft.health = read.health;
        w.schemas = read.schemas.map(Rc::new);
    }
    parts.assemble(&mut script, &mut draft, w);
    if let Some(pos) = w.calls {
        let is_web = w.schemas.as_ref().is_some_and(|schemas| schemas.protocol.is_web());
        require_version(is_web, &mut draft.link.http, pos, &mut w.r);
    }
    script.constants = w.r.constants.keys().cloned().collect();
    script.secrets = std::mem::take(&mut w.r.secrets);
    let built = plimsoll_build::script(script);
    built.wrong.into_iter().for_each(|complaint| w.r.take(complaint));

    if let (Some(terms), Some(pos)) = (&terms.find, find) {
        if draft.entry.is_none() && !draft.workloads.is_empty() {
            let message = "every scenario has its own `load`, so the search has no load to vary";
            w.r.complain("F017", pos, message, "remove the `load` of one scenario");
        }
        search::stand_in(terms, &mut draft);
    }
    if let Some((scale, pos)) = scale {
        let is_recorded = draft.load.recorded.is_some()
            || draft.workloads.iter().any(|workload| workload.load.recorded.is_some());
        if is_recorded && !scale.is_whole() {
            let message = "`time_scale` cannot scale the recorded arrivals of `replay`";
            w.r.complain("F017", pos, message, "remove one of them, or set the `speed` of `replay`");
        }
        scale.draft(&mut draft);
        scale.experiment(terms);
    }
    draft.target = built.target;
    draft.more_origins = built.more_origins;
    // Monitors and proxies use its certificates.
    let is_proxied = draft.link.route.proxy.as_ref().is_some_and(|proxy| proxy.kind == ProxyKind::Https);
    let is_trusting = is_proxied || draft.watches.iter().any(|watch| watch.source.is_tls());
    let is_plain = draft.target.as_ref().is_some_and(|target| !target.tls)
        && !draft.more_origins.iter().any(|more| more.target.tls);
    if let (Some(pos), true, false) = (tls, is_plain, is_trusting) {
        let hint = "write `https://` in `target`, or remove `tls`";
        w.r.complain("F017", pos, "`tls` has no effect: the target is `http`", hint);
    }
    (draft, built.script)
}

/// Makes all connections speak HTTP/2, which gRPC requires. gRPC-Web requires only that it is not HTTP/1.0.
fn require_version(is_web: bool, http: &mut Http, pos: Pos, r: &mut Reader<'_>) {
    let version = match *http {
        Http::V10 if is_web => {
            let message = "gRPC-Web requires HTTP/1.1 or HTTP/2, but `http` of `connection` is `1.0`";
            r.complain("F017", pos, message, "remove `http`, or write `http: 1.1`");
            return;
        }
        _ if is_web => return,
        Http::Auto | Http::V2 => {
            *http = Http::V2;
            return;
        }
        Http::V11 => "1.1",
        Http::V10 => "1.0",
    };
    let message = format!("gRPC requires HTTP/2, but `http` of `connection` is `{version}`");
    r.complain("F017", pos, message, "remove `http`, write `http: 2`, or use `protocol: grpc-web` of `grpc`");
}

/// Returns the field of the draft that a top-level key sets, if diagnostics of the seal name it; those under `load` are
/// in [`load`].
fn field_of(key: of::Top) -> Option<Field> {
    match key {
        of::Top::Target => Some(field::TARGET),
        of::Top::Scenarios => Some(field::REQUESTS),
        of::Top::Workers => Some(field::WORKERS),
        of::Top::Warmup => Some(field::WARMUP),
        of::Top::Timeout => Some(field::TIMEOUT),
        of::Top::Buckets => Some(field::BUCKETS),
        of::Top::Shard => Some(field::SHARD),
        of::Top::Thresholds => Some(field::THRESHOLDS),
        of::Top::Name
        | of::Top::Question
        | of::Top::Origins
        | of::Top::Variants
        | of::Top::Parts
        | of::Top::Vars
        | of::Top::Data
        | of::Top::Headers
        | of::Top::Auth
        | of::Top::Cookies
        | of::Top::Redirects
        | of::Top::Grpc
        | of::Top::Setup
        | of::Top::Teardown
        | of::Top::Mix
        | of::Top::Load
        | of::Top::Expect
        | of::Top::Find
        | of::Top::Repeat
        | of::Top::Cooldown
        | of::Top::MinDuration
        | of::Top::TrimToSteadyState
        | of::Top::StopOnMiss
        | of::Top::TimeScale
        | of::Top::Generators
        | of::Top::GracefulStop
        | of::Top::KeepAlive
        | of::Top::Connection
        | of::Top::Tls
        | of::Top::ReadBodies
        | of::Top::Seed
        | of::Top::Limits
        | of::Top::Monitors
        | of::Top::Environment => None,
    }
}

/// Reads how often each cell runs.
fn repeat(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> u32 {
    /// A larger number is more likely a typo than a plan.
    const MOST: u32 = 1_000;
    let Some(number) = r.count(node, row) else { return 0 };
    if !(1..=MOST).contains(&number) {
        let message = format!("invalid `repeat`: expected 1–{MOST}, found `{number}`");
        r.complain("F015", node.pos, message, "write a number such as `3`");
    }
    number
}

/// Reads the question that the experiment answers, on one line.
fn question(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> Option<String> {
    let text = r.written(node, row)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

/// Reads how many processes share each run's load.
fn generators_of(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> u32 {
    /// More processes than cores only take turns.
    const MOST: u32 = 64;
    let Some(number) = r.count(node, row) else { return 0 };
    if !(1..=MOST).contains(&number) {
        let message = format!("invalid `generators`: expected 1–{MOST}, found `{number}`");
        r.complain("F015", node.pos, message, "write a number such as `2`");
    }
    number
}

/// Reads the edges of the latency buckets: a list, or the text that the flag takes.
fn buckets(node: &Node, row: &key::Row, r: &mut Reader<'_>) -> Option<Vec<u64>> {
    if let Value::List(list) = &node.value {
        let edges: Vec<u64> = list.iter().filter_map(|item| r.parsed(item, row, unit::duration_ns)).collect();
        return Some(edges);
    }
    r.parsed(node, row, |text| text.split(',').map(unit::duration_ns).collect())
}

fn limits(node: &Node, row: &key::Row, limits: &mut limit::Limits, r: &mut Reader<'_>) {
    let names = || limit::TABLE.iter().map(|row| row.name);
    for entry in r.map(node, row).unwrap_or_default() {
        if !names().any(|name| name == entry.key) {
            let hint = match plimsoll_build::nearest::nearest(&entry.key, names()) {
                Some(right) => format!("did you mean `{right}`?"),
                None => format!("use one of {}", alternatives(names())),
            };
            r.complain("F011", entry.pos, format!("unknown limit `{}`", entry.key), hint);
        } else if let Value::Scalar(Scalar { text, .. }) = &entry.value.value {
            // The reader reports a value that is not fixed.
            if r.written(&entry.value, row).is_some()
                && let Err(problem) = limits.set(&entry.key, text)
            {
                r.complain_of(entry.value.pos, problem);
            }
        } else {
            let message = format!("invalid limit `{}`: expected one value", entry.key);
            r.complain(
                "F014",
                entry.value.pos,
                message,
                "write a number, a size such as `32k`, or a duration such as `10s`",
            );
        }
    }
}
