//! The loads of thread groups, as numbers.

mod open;

use super::{Compiler, Properties};
use crate::code;
use crate::plan::{GroupLoad, Phase, Threads};
use crate::text::{Part, Text};
use crate::tree::Raw;
use plimsoll_build::nearest::nearest;
use plimsoll_plan::load::{Profile, Stage};
use plimsoll_plan::unit::SECOND_NS;

/// The longest time of a load, s: a year keeps sums within `u64`.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;

/// The most threads of a group on one machine.
const THREADS_MAX: i64 = 1_000_000;

impl Compiler<'_> {
    pub(super) fn load(&mut self, raw: &Raw) -> GroupLoad {
        match raw.class.as_str() {
            "UltimateThreadGroup" => self.ultimate(raw),
            "SteppingThreadGroup" => self.stepping(raw),
            "ConcurrencyThreadGroup" => self.concurrency(raw),
            "ArrivalsThreadGroup" => self.arrivals(raw),
            "FreeFormArrivalsThreadGroup" => self.free_form_arrivals(raw),
            "OpenModelThreadGroup" => self.open_model(raw),
            _ => GroupLoad::Threads(self.threads(raw)),
        }
    }

    fn threads(&mut self, raw: &Raw) -> Threads {
        let threads = self.count(raw, "ThreadGroup.num_threads", "number of threads");
        let ramp_up_ns = self.seconds_ns(raw, "ThreadGroup.ramp_time", "ramp-up");
        if ramp_up_ns == 0 && threads > 1 && self.wrong.is_empty() {
            let message = format!("all {threads} threads of `{}` start at once: its ramp-up is 0", raw.name);
            self.note(code::note::ZERO, raw.pos, message, "");
        }
        let loops = self.loops(raw);
        let (mut delay_ns, mut duration_ns) = (0, None);
        if self.flag(raw, "ThreadGroup.scheduler", false) {
            delay_ns = self.seconds_ns(raw, "ThreadGroup.delay", "startup delay");
            let length_ns = self.seconds_ns(raw, "ThreadGroup.duration", "duration");
            if length_ns == 0 {
                self.wrong(
                    code::NUMBER,
                    raw.pos,
                    format!("`{}` has a scheduler, but no duration above 0", raw.name),
                    "set its duration, or disable the scheduler",
                );
            }
            duration_ns = Some(length_ns);
        }
        if loops.is_none() && duration_ns.is_none() && phase(raw) != Phase::Main {
            self.wrong(
                code::NUMBER,
                raw.pos,
                format!("`{}` never ends: it has neither a number of loops nor a duration", raw.name),
                "set one of them",
            );
        }
        Threads { threads, ramp_up_ns, loops, delay_ns, duration_ns }
    }

    /// Returns the iterations of each thread; `None`: for ever.
    fn loops(&mut self, raw: &Raw) -> Option<u64> {
        let controller = raw.find("ThreadGroup.main_controller").cloned();
        let Some(controller) = controller else { return Some(1) };
        // Without a number, the controller of a group repeats for ever.
        controller.find("LoopController.loops")?;
        let before = self.wrong.len();
        let loops = self.integer(&controller, "LoopController.loops", "number of loops");
        if loops == 0 && self.wrong.len() == before {
            self.wrong(
                code::NUMBER,
                controller.pos,
                format!("`{}` has no loops, so it sends nothing", raw.name),
                "set a number of loops above 0",
            );
        }
        // As in JMeter, also if the plan does not say it: files that JMeter writes always do.
        let is_forever = self.flag(&controller, "LoopController.continue_forever", true);
        u64::try_from(loops).ok().filter(|_| !is_forever)
    }

    /// Returns a number of threads, which must be above 0.
    fn count(&mut self, raw: &Raw, name: &str, what: &str) -> u32 {
        let before = self.wrong.len();
        let count = self.integer(raw, name, what);
        if count <= 0 && self.wrong.len() == before {
            self.wrong(
                code::NUMBER,
                raw.find(name).map_or(raw.pos, |property| property.pos),
                format!("the {what} of `{}` is {count}, so it sends nothing", raw.name),
                "set a number above 0",
            );
        }
        if count > THREADS_MAX {
            self.wrong(
                code::NUMBER,
                raw.pos,
                format!("the {what} of `{}` is above {THREADS_MAX}", raw.name),
                "use a lower number",
            );
        }
        u32::try_from(count.clamp(0, THREADS_MAX)).unwrap_or(0)
    }

    /// Returns a whole number. As in JMeter, one that is not a number is 0, with a remark.
    fn integer(&mut self, properties: &(impl Properties + ?Sized), name: &str, what: &str) -> i64 {
        let text = self.text(properties, name);
        self.value(&text, what).map_or(0, |value| match value.parse::<i64>() {
            Ok(number) => number,
            Err(_) => self.not_a_number(&text, &value, what) as i64,
        })
    }

    /// Returns a number that may have a fraction.
    fn decimal(&mut self, text: &Text, what: &str) -> f64 {
        self.value(text, what).map_or(0.0, |value| match value.parse::<f64>() {
            Ok(number) if number.is_finite() => number,
            _ => self.not_a_number(text, &value, what),
        })
    }

    /// Returns the value of a text that the load needs; `None` if it is empty, or unknown, which is reported.
    fn value(&mut self, text: &Text, what: &str) -> Option<String> {
        match self.known.value(text) {
            Ok(value) => Some(value.trim().to_owned()).filter(|value| !value.is_empty()),
            Err(crate::evaluate::Unknown::Later(source)) => {
                self.wrong(
                    code::NUMBER,
                    text.pos,
                    format!("the {what} depends on `{source}`, which only the load evaluates"),
                    "use a number, a property, or a user-defined variable",
                );
                None
            }
        }
    }

    /// Reports a value that is not a number; returns what JMeter takes instead.
    fn not_a_number(&mut self, text: &Text, value: &str, what: &str) -> f64 {
        let undefined = text.parts.iter().find_map(|part| match part {
            Part::Variable(name) if !self.known.variables.contains_key(name) => Some(name.clone()),
            _ => None,
        });
        if let Some(name) = undefined {
            let names: Vec<String> = self.known.variables.keys().cloned().collect();
            let hint = match nearest(&name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `${{{near}}}`?"),
                None => "define it as a user-defined variable".to_owned(),
            };
            let message = format!("the {what} is `{value}`, which nothing defines: JMeter takes 0");
            self.note(code::note::ZERO, text.pos, message, hint);
        } else if crate::tokens::tokens(value).len() == 1 || value.chars().all(|c| c.is_ascii_uppercase()) {
            let message = format!("nothing has replaced `{value}`, the {what}");
            self.wrong(code::TOKEN, text.pos, message, format!("pass `--set {value}=NUMBER`"));
        } else {
            let message = format!("the {what} is `{value}`, which is not a number: JMeter takes 0");
            self.note(code::note::ZERO, text.pos, message, "write a number");
        }
        0.0
    }

    /// Returns seconds as ns.
    fn seconds_ns(&mut self, raw: &Raw, name: &str, what: &str) -> u64 {
        let seconds = self.integer(raw, name, what);
        self.in_range(raw, seconds as f64, what)
    }

    fn in_range(&mut self, raw: &Raw, seconds: f64, what: &str) -> u64 {
        if (0.0..=SECONDS_MAX).contains(&seconds) {
            return (seconds * SECOND_NS as f64).round() as u64;
        }
        let message = format!("the {what} of `{}` is {seconds} s: expected 0 s to a year", raw.name);
        self.wrong(code::NUMBER, raw.pos, message, "write a number of seconds");
        0
    }

    /// Ultimate Thread Group: rows of threads, delay, ramp-up, hold, and ramp-down, in s.
    fn ultimate(&mut self, raw: &Raw) -> GroupLoad {
        let rows = raw.find("ultimatethreadgroupdata").cloned();
        let mut profiles = Vec::new();
        for row in rows.iter().flat_map(|rows| rows.items()) {
            let texts = self.texts(Some(row));
            let mut numbers = [0.0; 5];
            for ((number, text), what) in numbers.iter_mut().zip(&texts).zip([
                "number of threads",
                "delay",
                "ramp-up",
                "hold time",
                "ramp-down",
            ]) {
                *number = self.decimal(text, what);
            }
            let [threads, times @ ..] = numbers;
            let [delay_ns, up_ns, hold_ns, down_ns] =
                times.map(|seconds| self.in_range(raw, seconds, "time"));
            profiles.push(Profile::trapezoid(delay_ns, up_ns, hold_ns, down_ns, threads));
        }
        let users = Profile::sum(profiles.iter());
        if users.peak() < 1.0 && self.wrong.is_empty() {
            let message = format!("`{}` has no row with threads", raw.name);
            self.wrong(code::NUMBER, raw.pos, message, "add a row");
        }
        GroupLoad::Profile { users, loops: self.loops(raw) }
    }

    /// Stepping Thread Group: bursts of threads at intervals.
    fn stepping(&mut self, raw: &Raw) -> GroupLoad {
        let threads = f64::from(self.count(raw, "ThreadGroup.num_threads", "number of threads"));
        let delay_ns = self.seconds_ns(raw, "Threads initial delay", "initial delay");
        let first = self.integer(raw, "Start users count burst", "first burst") as f64;
        let step = self.integer(raw, "Start users count", "number of threads of a step") as f64;
        let every_ns = self.seconds_ns(raw, "Start users period", "time between steps");
        let ramp_ns = self.seconds_ns(raw, "rampUp", "ramp-up of a step");
        let hold_ns = self.seconds_ns(raw, "flighttime", "hold time");
        let stop = self.integer(raw, "Stop users count", "number of threads to stop") as f64;
        let stop_every_ns = self.seconds_ns(raw, "Stop users period", "time between stops");
        let mut profile = Profile { start: 0.0, stages: vec![Stage { duration_ns: delay_ns, to: 0.0 }] };
        let mut level = 0.0f64;
        let mut push = |duration_ns: u64, to: f64| profile.stages.push(Stage { duration_ns, to });
        while level < threads {
            // A step of 0 threads would never end.
            let more = if level == 0.0 && first > 0.0 { first } else { step.max(1.0) };
            level = (level + more).min(threads);
            push(ramp_ns, level);
            if level < threads {
                push(every_ns, level);
            }
        }
        push(hold_ns, level);
        while level > 0.0 {
            level = (level - if stop > 0.0 { stop } else { level }).max(0.0);
            push(0, level);
            if level > 0.0 {
                push(stop_every_ns, level);
            }
        }
        GroupLoad::Profile { users: profile, loops: self.loops(raw) }
    }

    /// Returns the factor of a time unit of these groups: minutes or seconds.
    fn unit_s(&mut self, raw: &Raw) -> f64 {
        if self.choice(raw, "Unit").eq_ignore_ascii_case("S") { 1.0 } else { 60.0 }
    }

    /// Returns the ramp, in steps if there are any, and the hold, of these groups.
    fn ramp(&mut self, raw: &Raw, target: f64, unit_s: f64) -> Profile {
        let time = |compiler: &mut Self, name: &str, what: &str| {
            let text = compiler.text(raw, name);
            let value = compiler.decimal(&text, what) * unit_s;
            compiler.in_range(raw, value, what)
        };
        let ramp_ns = time(self, "RampUp", "ramp-up");
        let hold_ns = time(self, "Hold", "hold time");
        let steps = self.integer(raw, "Steps", "number of steps").clamp(0, 100_000) as u64;
        let mut stages = Vec::new();
        if steps <= 1 || ramp_ns == 0 {
            stages.push(Stage { duration_ns: ramp_ns, to: target });
        } else {
            for step in 1..=steps {
                stages.push(Stage { duration_ns: 0, to: target * step as f64 / steps as f64 });
                stages.push(Stage { duration_ns: ramp_ns / steps, to: target * step as f64 / steps as f64 });
            }
        }
        stages.push(Stage { duration_ns: hold_ns, to: target });
        Profile { start: 0.0, stages }
    }

    /// Concurrency Thread Group.
    fn concurrency(&mut self, raw: &Raw) -> GroupLoad {
        let unit_s = self.unit_s(raw);
        let target = f64::from(self.count(raw, "TargetLevel", "target concurrency"));
        let users = self.ramp(raw, target, unit_s);
        let loops = self.integer(raw, "Iterations", "limit of iterations");
        GroupLoad::Profile { users, loops: u64::try_from(loops).ok().filter(|loops| *loops > 0) }
    }
}

fn phase(raw: &Raw) -> Phase {
    match raw.class.as_str() {
        "SetupThreadGroup" => Phase::SetUp,
        "PostThreadGroup" => Phase::TearDown,
        _ => Phase::Main,
    }
}
