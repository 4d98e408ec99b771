//! A script with its options as a test that can run.

use crate::builtins::{BuiltIn, BuiltInOrRemote};
use crate::code::ScriptCode;
use crate::grpc::CompileSchemas;
use crate::log::Log;
use crate::options::in_effect;
use crate::remote::RemoteModules;
use crate::settings::{HostRule, Isolation, ScenarioSettings, Secret, Settings};
use crate::source::{Init, ReadFile, Script, initialize};
use plimsoll_bundle::{Bundle, Disk, Entry, Files, Isolation as Need};
use plimsoll_k6::settings::HttpDebug;
use plimsoll_k6::settings::network::Host;
use plimsoll_k6::{Overrides, Test};
use plimsoll_plan::diag::Place;
use plimsoll_plan::request::{Target, url};
use plimsoll_plan::{Diagnostic, Draft, Problem};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

/// What the caller decides besides the script itself.
pub struct Given {
    /// `__ENV`.
    pub env: Vec<(String, String)>,
    /// Options with priority over those of the script.
    pub overrides: Overrides,
    /// What `k6/secrets` returns.
    pub secrets: Vec<Secret>,
    pub log: Log,
    /// Fetches modules from addresses; `None`: they are refused.
    pub remote: Option<Arc<RemoteModules>>,
    /// Memory of one runtime, bytes; an allocation beyond it throws an error.
    pub memory_bytes: Option<usize>,
    /// Compiles the schemas of gRPC services.
    pub compile_schemas: Arc<CompileSchemas>,
}

/// A test that can run.
pub struct Ready {
    pub test: Test,
    /// Those of the script, or of its archive, as they were given.
    pub options: Value,
    /// With its code, and with its target if it is known before the run.
    pub draft: Draft,
    pub code: Arc<ScriptCode>,
    pub init: Init,
}

/// Loads a script with everything that it imports, evaluates its init part, and reads its options.
///
/// # Errors
/// Returns every mistake with its place, as far as one does not hide the others.
pub fn read(entry: Entry, given: Given) -> Result<Ready, Vec<Diagnostic>> {
    let bundle = match &given.remote {
        Some(remote) => plimsoll_bundle::load(entry, &DiskAndRemote(remote), &BuiltInOrRemote)?,
        None => plimsoll_bundle::load(entry, &Disk, &BuiltIn)?,
    };
    let bundle = Arc::new(bundle);
    // Variables of the archive, and then those of the command, which have priority.
    let archived = bundle.archive.iter().flat_map(|archive| archive.env.clone());
    let mut settings = Settings {
        env: archived.chain(given.env).collect(),
        secrets: given.secrets,
        memory_bytes: given.memory_bytes,
        isolation: isolation(&bundle),
        is_asynchronous: bundle.asynchronous.is_some(),
        ..Settings::default()
    };
    settings.reads_bodies = bundle.usage.reads_bodies.is_some();
    let script = Script {
        read_file: read_file(&bundle),
        bundle: Arc::clone(&bundle),
        log: given.log,
        compile_schemas: given.compile_schemas,
    };
    let init = initialize(&script, &settings).map_err(|why| {
        if why.has_aborted {
            let hint = "call `exec.test.abort()` in `setup()` or in an iteration to run the test until then";
            return vec![Diagnostic::new("K014", why.place, why.message, hint)];
        }
        let hint = "the init part is everything outside of functions; it runs once for each virtual user";
        vec![Diagnostic::new(
            "K013",
            why.place,
            format!("the init part of the script throws: {}", why.message),
            hint,
        )]
    })?;
    if init.has_invalid_options {
        let hint = "export an object, such as `export const options = { vus: 10, duration: '30s' }`";
        return Err(vec![Diagnostic::new("K101", Place::Whole, "`options` must be an object", hint)]);
    }
    let options: Value = match (&bundle.archive, &init.options_json) {
        // Those of the script and of the command that made the archive.
        (Some(archive), _) if !archive.options.is_null() => without_nulls(&archive.options),
        (_, Some(json)) => serde_json::from_str(json).unwrap_or(Value::Null),
        (_, None) => Value::Null,
    };
    let mut overrides = given.overrides;
    overrides.metrics =
        init.metrics.iter().filter_map(|one| Some((one.name.clone(), one.family.custom()?))).collect();
    let placed = |wrong| placed(wrong, &bundle);
    let test = plimsoll_k6::read(&options, &overrides, &init.functions).map_err(placed)?;
    refuse_unsupported(&test).map_err(placed)?;
    let mut draft = plimsoll_k6::draft::draft(&test).map_err(placed)?;
    if bundle.usage.builtins.iter().any(|one| one.name == "k6/net/grpc") {
        draft.thresholds.iter_mut().for_each(plimsoll_k6::threshold::exclude_calls);
    }
    draft.link.resolve = resolved(&test);
    apply(&test, &options, &mut settings);
    let mut code = ScriptCode::new(script, settings, init.functions.clone());
    code.runs_setup = !test.settings.no_setup;
    code.runs_teardown = !test.settings.no_teardown;
    let code = Arc::new(code);
    draft.name = bundle.modules.get(bundle.entry).map(|module| module.name.clone());
    // With `blacklistIPs`, a request fails whose address is refused, and the others are sent.
    draft.target = target(&bundle, &init).filter(|_| test.settings.blacklist_ips.is_empty());
    draft.code = Some(Arc::clone(&code) as Arc<dyn plimsoll_plan::code::Code>);
    // A test without thresholds is judged by the default ones, and no test passes whose iterations throw, unless no
    // thresholds are evaluated.
    draft.no_default_thresholds = test.settings.no_thresholds || !test.thresholds.is_empty();
    if !test.settings.no_thresholds && draft.no_default_thresholds {
        draft.thresholds.push(plimsoll_plan::threshold::without_exceptions());
    }
    Ok(Ready { test, options, draft, code, init })
}

/// The files of this machine, and modules at addresses.
struct DiskAndRemote<'a>(&'a RemoteModules);

impl Files for DiskAndRemote<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        Disk.read(path)
    }

    fn remote(&self, address: &str) -> Option<Result<Vec<u8>, Problem>> {
        Some(self.0.get(address))
    }
}

/// Refuses options that would change what is loaded if they were ignored.
fn refuse_unsupported(test: &Test) -> Result<(), Vec<Diagnostic>> {
    let mut wrong = Vec::new();
    let mut refuse = |is_set: bool, name: &str, hint: &str| {
        if is_set {
            wrong.push(Diagnostic::new("K104", Place::Whole, format!("`{name}` is not supported"), hint));
        }
    };
    let of = &test.settings;
    refuse(of.paused, "paused", "start the run from `plimsoll serve`, which can pause it");
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Returns options without those that are not set, which `k6 archive` writes as `null`.
fn without_nulls(options: &Value) -> Value {
    match options {
        Value::Object(all) => {
            let set = all.iter().filter(|(_, value)| !value.is_null());
            let set = set.map(|(name, value)| (name.clone(), without_nulls(value)));
            // Such as `dns`, whose parts are not set.
            Value::Object(
                set.filter(|(_, value)| value.as_object().is_none_or(|of| !of.is_empty())).collect(),
            )
        }
        other => other.clone(),
    }
}

/// Adds places to diagnostics of options, which are values: that of the first name in the message that the source of
/// the script has exactly once.
fn placed(mut wrong: Vec<Diagnostic>, bundle: &Bundle) -> Vec<Diagnostic> {
    for one in wrong.iter_mut().filter(|one| one.place == Place::Whole) {
        let names = one.message.split('`').skip(1).step_by(2).filter(|name| !name.is_empty());
        one.place = names.filter_map(|name| only_place(name, bundle)).next().unwrap_or(Place::Whole);
    }
    wrong
}

/// Returns the only place of a name in the script.
fn only_place(name: &str, bundle: &Bundle) -> Option<Place> {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut places = bundle.modules.iter().flat_map(|module| {
        let source = module.source();
        let is_whole = move |at: &usize| {
            !source[..*at].ends_with(is_inner) && !source[at + name.len()..].starts_with(is_inner)
        };
        source.match_indices(name).map(|(at, _)| at).filter(is_whole).map(|at| module.place_of_byte(at))
    });
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

/// Returns the addresses of hosts instead of lookups.
fn resolved(test: &Test) -> Vec<(String, IpAddr)> {
    let names = test.settings.hosts.iter().filter(|host| !needs_rule(host));
    names.map(|host| (host.pattern.clone(), host.address)).collect()
}

/// Returns whether an entry of `hosts` is more than a name with an address.
fn needs_rule(host: &Host) -> bool {
    host.pattern.starts_with("*.") || host.of_port.is_some() || host.port.is_some()
}

fn isolation(bundle: &Bundle) -> Isolation {
    match bundle.isolation {
        Need::Shared => Isolation::Shared,
        Need::Context(_) => Isolation::Context,
        Need::Runtime(_) => Isolation::Runtime,
    }
}

/// Files come from the archive, if the script does.
fn read_file(bundle: &Arc<Bundle>) -> Arc<ReadFile> {
    let bundle = Arc::clone(bundle);
    Arc::new(move |path: &Path| {
        let bytes = match &bundle.archive {
            Some(archive) => archive.read(path),
            None => Disk.read(path),
        };
        bytes.map_err(|e| e.to_string())
    })
}

/// Takes over what single requests and iterations need.
fn apply(test: &Test, options: &Value, settings: &mut Settings) {
    let of = &test.settings;
    settings.scenarios = test
        .scenarios
        .iter()
        .map(|one| ScenarioSettings {
            name: one.name.clone(),
            executor: one.executor.name().to_owned(),
            exec: one.exec.clone(),
            env: one.env.clone(),
            tags: one.tags.clone(),
            start_ns: one.start_ns,
            duration_ns: one.executor.length_ns().unwrap_or(0),
        })
        .collect();
    settings.tags.clone_from(&of.tags);
    if let Some(agent) = &of.user_agent {
        settings.user_agent.clone_from(agent);
    }
    settings.max_redirects = u32::try_from(of.max_redirects).unwrap_or(u32::MAX);
    settings.throws = of.throw;
    settings.discards_bodies = of.discard_response_bodies;
    settings.keeps_cookies = of.no_cookies_reset;
    settings.closes_connections = of.no_connection_reuse;
    settings.min_iteration_ns = of.min_iteration_duration_ns;
    settings.batch = u32::try_from(of.batch).unwrap_or(u32::MAX);
    settings.batch_per_host = u32::try_from(of.batch_per_host).unwrap_or(u32::MAX);
    settings.blocked_hosts.clone_from(&of.block_hostnames);
    settings.blocked_ranges.clone_from(&of.blacklist_ips);
    let rules = of.hosts.iter().filter(|host| needs_rule(host));
    settings.hosts = rules
        .map(|host| HostRule {
            pattern: host.pattern.to_ascii_lowercase(),
            of_port: host.of_port,
            address: host.address,
            port: host.port,
        })
        .collect();
    settings.requests_per_s = of.rps;
    settings.logs_http = of.http_debug.map(|debug| debug == HttpDebug::Full);
    // The log has the bodies, even if the script reads none.
    settings.reads_bodies |= settings.logs_http == Some(true);
    settings.setup_timeout_ns = of.setup_timeout_ns;
    settings.teardown_timeout_ns = of.teardown_timeout_ns;
    settings.options_json = in_effect(test, options).to_string();
}

/// Returns the target if it is certain before the run: the origin of a request with a literal address, or the only
/// origin that variables at the top level name.
fn target(bundle: &Bundle, init: &Init) -> Option<Target> {
    let literal = bundle.usage.urls.iter().find(|one| one.is_request && !one.is_head);
    if let Some(found) = literal.and_then(|one| url(&one.text).ok()) {
        return Some(found.target);
    }
    let texts = init.texts.iter().filter_map(|text| url(text).ok());
    let mut origins: Vec<Target> = texts.map(|url| url.target).collect();
    let names: BTreeSet<String> =
        origins.iter().map(|one| format!("{}{}", one.authority(), one.tls)).collect();
    if names.len() == 1 { origins.pop() } else { None }
}
