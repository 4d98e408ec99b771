//! A test as a [`Draft`]: its scenarios as workloads, and its settings where plimsoll has the same.
//!
//! The draft has no target and no script: a k6 script names its targets while it runs. Settings that apply to single
//! requests (redirects, batches, hosts, block lists, tags) stay in [`Settings`] for the program that sends them.

use crate::settings::Settings;
use crate::settings::network::Select;
use crate::test::{Executor, Pool, Scenario, Stage, Test};
use crate::threshold::Threshold;
use plimsoll_plan::draft::{Draft, LoadDraft, WorkloadDraft};
use plimsoll_plan::link::{Addresses, ClientFiles, Dns, Link, Reuse, Tls, TlsFiles};
use plimsoll_plan::load::{self, FirstArrival, OnBusy, Profile, Rules, Share, UserSteps};
use plimsoll_plan::script::Entry;
use plimsoll_plan::threshold::Threshold as Own;
use plimsoll_plan::unit::SECOND_NS;
use plimsoll_plan::{Diagnostic, Problem, diag::Place};

/// The timeout of a request without one.
const TIMEOUT_NS: u64 = 60 * SECOND_NS;

/// Builds the draft of a test. Workload i runs scenario i of [`Test::scenarios`].
///
/// # Errors
/// Returns an error if the client certificates apply to different hosts, which plimsoll does not support.
pub fn draft(test: &Test) -> Result<Draft, Vec<Diagnostic>> {
    let mut draft = Draft::default();
    let share = test.shard.unwrap_or_default();
    let last_ns = draft.limits.duration_ns;
    draft.workloads = (0..).zip(&test.scenarios).map(|(n, one)| workload(n, one, share, last_ns)).collect();
    draft.shard = test.shard;
    draft.timeout_ns = Some(TIMEOUT_NS);
    draft.link = link(&test.settings);
    draft.tls_files = tls_files(&test.settings).map_err(|problem| {
        vec![Diagnostic::of(crate::options::code::UNSUPPORTED, Place::Whole, problem.within("`tlsAuth`: "))]
    })?;
    draft.thresholds = test.thresholds.iter().filter_map(|threshold| counterpart(threshold, test)).collect();
    draft.no_default_thresholds = true;
    Ok(draft)
}

/// Returns the threshold of plimsoll with the same meaning. The series of a single scenario do not have its name.
fn counterpart(threshold: &Threshold, test: &Test) -> Option<Own> {
    let mut threshold = threshold.clone();
    if let [only] = test.scenarios.as_slice() {
        threshold.tags.retain(|(name, value)| name != "scenario" || *value != only.name);
    }
    threshold.counterpart()
}

fn workload(number: u16, scenario: &Scenario, share: Share, last_ns: u64) -> WorkloadDraft {
    WorkloadDraft {
        name: scenario.name.clone(),
        entry: Entry::Scenario(number),
        load: load(scenario, share, last_ns.saturating_sub(scenario.start_ns)),
        start_ns: scenario.start_ns,
    }
}

/// Returns the load of a scenario; one without an end lasts as long as a run may, `last_ns`.
fn load(scenario: &Scenario, share: Share, last_ns: u64) -> LoadDraft {
    let rules = Rules {
        graceful_stop_ns: Some(scenario.graceful_stop_ns),
        counts_iterations: true,
        ..Rules::default()
    };
    let base = LoadDraft { rules, ..LoadDraft::default() };
    match &scenario.executor {
        Executor::ConstantVus { vus, duration_ns } => {
            LoadDraft { users: Some(*vus), duration_ns: Some(*duration_ns), ..base }
        }
        Executor::RampingVus { start_vus, stages, graceful_ramp_down_ns } => LoadDraft {
            stages: Some((profile(u64::from(*start_vus), stages, 1.0), false)),
            rules: Rules {
                user_steps: UserSteps::Reached,
                graceful_ramp_down_ns: Some(*graceful_ramp_down_ns),
                ramps_out: stages.last().is_some_and(|stage| stage.target == 0),
                ..rules
            },
            ..base
        },
        Executor::SharedIterations { vus, iterations, max_duration_ns } => LoadDraft {
            users: Some(*vus),
            iterations: Some(*iterations),
            duration_ns: Some(*max_duration_ns),
            ..base
        },
        Executor::PerVuIterations { vus, iterations, max_duration_ns } => LoadDraft {
            users: Some(*vus),
            iterations_per_user: Some(*iterations),
            duration_ns: Some(*max_duration_ns),
            ..base
        },
        Executor::ConstantArrivalRate { rate, time_unit_ns, duration_ns, vus } => LoadDraft {
            rate_per_s: Some(*rate as f64 * per_s(*time_unit_ns)),
            duration_ns: Some(*duration_ns),
            ..arrivals(base, *vus, share, FirstArrival::AtStart)
        },
        Executor::RampingArrivalRate { start_rate, time_unit_ns, stages, vus } => LoadDraft {
            stages: Some((profile(*start_rate, stages, per_s(*time_unit_ns)), true)),
            ..arrivals(base, *vus, share, FirstArrival::WhenDue)
        },
        Executor::ExternallyControlled { vus, max_vus, duration_ns } => LoadDraft {
            // A level of 0 users is a profile: a number of users must be above 0.
            stages: Some((
                profile(u64::from(*vus), &[stage(duration_ns.unwrap_or(last_ns), u64::from(*vus))], 1.0),
                false,
            )),
            rules: Rules { capacity: Some(*max_vus), ..rules },
            ..base
        },
    }
}

fn stage(duration_ns: u64, target: u64) -> Stage {
    Stage { duration_ns, target }
}

/// Adds the users of arrivals. The limit of plimsoll applies to each machine, that of k6 to all of them.
fn arrivals(base: LoadDraft, vus: Pool, share: Share, first_arrival: FirstArrival) -> LoadDraft {
    let here = |users: u32| share.count_of(users);
    LoadDraft {
        max_connections: Some(here(vus.max).max(1)),
        rules: Rules {
            on_busy: OnBusy::Drop,
            initial_users: Some(here(vus.allocated)),
            first_arrival,
            ..base.rules
        },
        ..base
    }
}

/// Returns the rate per second of one iteration per time unit.
fn per_s(time_unit_ns: u64) -> f64 {
    SECOND_NS as f64 / time_unit_ns as f64
}

fn profile(start: u64, stages: &[Stage], factor: f64) -> Profile {
    let level = |target: u64| target as f64 * factor;
    let stages = stages.iter().map(|one| load::Stage { duration_ns: one.duration_ns, to: level(one.target) });
    Profile { start: level(start), stages: stages.collect() }
}

fn link(settings: &Settings) -> Link {
    let reuse = match (settings.no_connection_reuse, settings.no_vu_connection_reuse) {
        (true, _) => Reuse::Request,
        (false, true) => Reuse::Iteration,
        (false, false) => Reuse::User,
    };
    let tls = Tls {
        insecure: settings.insecure_skip_tls_verify,
        versions: settings.tls_version.map_or_else(Default::default, |tls| tls.versions),
        ciphers: settings.tls_cipher_suites.clone(),
        ..Tls::default()
    };
    // An answer that is kept for a limited time is looked up for each connection: it is never older.
    let dns = match settings.dns.ttl_ns {
        u64::MAX => Dns::Once,
        ttl_ns if ttl_ns == Settings::default().dns.ttl_ns => Dns::Once,
        _ => Dns::EachConnection,
    };
    Link {
        reuse,
        addresses: match (settings.dns.select, dns) {
            // The answers rotate by themselves.
            (Select::First, _) | (_, Dns::EachConnection) => Addresses::First,
            (Select::Random | Select::RoundRobin, Dns::Once) => Addresses::All,
        },
        dns,
        source_addresses: settings.local_ips.clone(),
        tls: Some(tls),
        ..Link::default()
    }
}

/// Returns the client certificates. Connections to all hosts present them, so they must not be for different hosts.
fn tls_files(settings: &Settings) -> Result<TlsFiles, Problem> {
    let differ = settings.tls_auth.windows(2).any(|pair| pair[0].domains != pair[1].domains);
    if differ {
        return Err(Problem::new(
            "certificates for different hosts are not supported",
            "use one certificate, or run the hosts separately",
        ));
    }
    let clients = settings.tls_auth.iter().map(|auth| ClientFiles {
        certificate: auth.cert.clone().into_bytes(),
        key: auth.key.clone().into_bytes(),
    });
    Ok(TlsFiles { clients: clients.collect(), ..TlsFiles::default() })
}
