//! A test plan as the code of a plan.

use crate::jtl::SampleSink;
use crate::log::{Level, Log};
use crate::plan::compile;
use crate::run::{Parts, Run};
use crate::scope::{Caches, Identity, Scope, Wish};
use crate::stage::Stage;
use crate::template::Template;
use crate::vars::Vars;
use plimsoll_jmx::plan::{Columns, GroupLoad, Phase, TestPlan};
use plimsoll_plan::code::Code;
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::{At, Behavior};
use plimsoll_plan::{Plan, Problem};
use plimsoll_stats::random::SplitMix64;
use std::sync::Arc;

/// What the caller decides besides the plan itself.
#[derive(Clone)]
pub struct Options {
    /// Receives a line for each sample.
    pub results: Option<Arc<dyn SampleSink>>,
    /// Of these lines.
    pub columns: Columns,
    pub log: Log,
    /// Whether scripts that cannot run are left out.
    pub skips_scripts: bool,
    /// Time since 1970, ns: of `START.MS` and of functions in user-defined variables.
    pub unix_ns: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            results: None,
            columns: Columns::default(),
            log: Log::new(|_: Level, _| {}),
            skips_scripts: false,
            unix_ns: 0,
        }
    }
}

/// A test plan with what the caller decides.
pub struct JmeterCode {
    plan: Arc<TestPlan>,
    options: Options,
}

impl std::fmt::Debug for JmeterCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JmeterCode").field("plan", &self.plan.name).finish_non_exhaustive()
    }
}

impl JmeterCode {
    pub fn new(plan: Arc<TestPlan>, options: Options) -> Arc<JmeterCode> {
        Arc::new(JmeterCode { plan, options })
    }
}

impl Code for JmeterCode {
    fn behavior(&self, plan: &Plan) -> Result<Arc<dyn Behavior>, Problem> {
        let (mut compiled, mut compiler) = compile(&self.plan);
        if self.options.results.is_some() {
            compiled.writes_results = true;
            compiled.keeps_content |= self.options.columns.has_content();
            compiled.keeps_checks |= self.options.columns.has_checks();
        }
        let groups = compiled.groups.iter().filter(|group| group.phase == Phase::Main).count();
        if compiled.is_serial && groups > 1 && plan.outline.share.of > 1 {
            return Err(Problem::new(
                "thread groups that run one after another cannot be divided over several machines",
                "omit `--shard`, or run each thread group separately",
            ));
        }
        // One element at a time: its values do not see each other.
        let mut elements: Vec<Vec<(Template, Template)>> = Vec::new();
        let mut owner = None;
        for variable in &self.plan.variables {
            let pair = (compiler.text(&variable.name), compiler.text(&variable.value));
            if let Some(name) = variable.name.fixed() {
                compiler.names.intern(name);
            }
            match elements.last_mut().filter(|_| owner == Some(variable.owner)) {
                Some(last) => last.push(pair),
                None => elements.push(vec![pair]),
            }
            owner = Some(variable.owner);
        }
        let instances = compiler.instances();
        let names = Arc::new(compiler.names);
        let size = |load: &GroupLoad| match load {
            GroupLoad::Threads(threads) => threads.threads,
            GroupLoad::Profile { users, .. } => users.peak() as u32,
            GroupLoad::Arrivals { limit, .. } => limit.unwrap_or(0),
        };
        let groups = compiled.groups.iter().map(|group| (Arc::clone(&group.title), size(&group.load)));
        let run = Run::new(Parts {
            names: Arc::clone(&names),
            plan_name: self.plan.files.first().map(|file| file_name(file)).unwrap_or_default(),
            groups: groups.collect(),
            properties: self.plan.properties.clone(),
            instances,
            folder: self.plan.folder.clone(),
            log: self.options.log.clone(),
            results: self.options.results.clone(),
            columns: self.options.columns,
        });
        let seed = plan.outline.seed;
        let vars = initial(&elements, &run, seed, self.options.unix_ns);
        let origins = plan.outline.all_origins();
        let known = (0 as OriginId..).zip(origins.iter()).filter(|(_, origin)| !origin.host.is_empty());
        let origins = known.map(|(number, origin)| (origin.target(), number)).collect();
        Ok(Stage::new(Arc::new(run), Arc::new(compiled), vars, origins, seed))
    }
}

/// Returns the last part of a path.
fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Evaluates the user-defined variables, which JMeter does once, before the first thread.
fn initial(elements: &[Vec<(Template, Template)>], run: &Run, seed: u64, unix_ns: u64) -> Vars {
    let mut vars = Vars::new(&run.names);
    let at = At { run_ns: 0, unix_ns };
    let (identity, caches) = (Identity::default(), Caches::default());
    let (mut random, mut wish) = (SplitMix64::new(seed ^ 0x4A4D), Wish::default());
    let start = crate::date::at(unix_ns, &run.zone);
    vars.set("TESTSTART.MS", &(unix_ns / 1_000_000).to_string());
    vars.set("START.MS", &(unix_ns / 1_000_000).to_string());
    for (name, pattern) in
        [("START.YMD", "yyyyMMdd"), ("START.HMS", "HHmmss"), ("START.YMDHMS", "yyyyMMdd-HHmmss")]
    {
        let mut text = String::new();
        crate::date::write(pattern, &start, &mut text);
        vars.set(name, &text);
    }
    for element in elements {
        let mut values = Vec::with_capacity(element.len());
        for (name, value) in element {
            let mut scope = Scope {
                vars: &mut vars,
                run,
                thread: &identity,
                random: &mut random,
                at,
                previous: None,
                sampler: "",
                wish: &mut wish,
                caches: &caches,
            };
            values.push((name.value(&mut scope), value.value(&mut scope)));
        }
        for (name, value) in values {
            if !name.is_empty() {
                vars.set(&name, &value);
            }
        }
    }
    vars
}
