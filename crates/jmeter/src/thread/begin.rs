//! The beginning of a sampler: pre-processors, timers, and what needs no request.

use super::finish::Judged;
use super::{After, Stage, Thread, scope};
use crate::plan::{Code, PreProcessor, Rewriting, SamplerId, SamplerKind, Timer};
use crate::sample::{DataType, Sample};
use crate::scope::Wish;
use crate::script::Context;
use crate::template::Template;
use crate::timer::{self, Delay, Waiting};
use plimsoll_jmx::plan::{Action, JavaClass, Target};
use plimsoll_plan::program::{At, Outbox};
use std::borrow::Cow;
use std::rc::Rc;

impl Thread {
    /// Runs everything before a sampler, and the sampler itself unless it has to wait.
    pub(super) fn begin_sampler(&mut self, sampler: SamplerId, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].samplers[sampler as usize];
        let mut wish = Wish::default();
        match of.label.fixed() {
            Some(label) if *self.label == *label => {}
            _ => {
                let label = of.label.value(&mut scope!(self, at, &mut wish));
                self.label = label.into();
            }
        }
        self.limit_ms = None;
        self.has_sampled = true;
        self.replaced.clear();
        for pre in &of.pre {
            match &**pre {
                PreProcessor::Parameters(parameters) => {
                    crate::config::parameters(parameters, &mut scope!(self, at, &mut wish));
                }
                PreProcessor::Script(code) => self.run_script(code, None, at, &mut wish),
                PreProcessor::Timeout(limit) => {
                    let limit = limit.integer(&mut scope!(self, at, &mut wish));
                    self.limit_ms = u64::try_from(limit).ok().filter(|limit| *limit > 0);
                }
                PreProcessor::Rewriting(rewriting) => self.find_session(rewriting, at),
                PreProcessor::Replacement(of) => {
                    let mut replaced = std::mem::take(&mut self.replaced);
                    crate::config::replacements(of, &mut replaced, &mut scope!(self, at, &mut wish));
                    self.replaced = replaced;
                }
            }
        }
        self.delay(sampler, 0, 0, at, out)
    }

    /// Waits for the timers from a number on, then runs the sampler.
    fn delay(
        &mut self,
        sampler: SamplerId,
        from: usize,
        mut delay_ms: i64,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].samplers[sampler as usize];
        for (number, one) in of.timers.iter().enumerate().skip(from) {
            let mut wish = Wish::default();
            let mut scope = scope!(self, at, &mut wish);
            match timer::delay(one, &mut self.slots, &mut scope) {
                Delay::For(ms) => delay_ms += ms,
                Delay::Ends(ms) => {
                    let step = self.next_step();
                    out.sleep(step, ms as u64 * 1_000_000);
                    self.stage = Stage::Ending;
                    return After::Waits;
                }
                Delay::Together => {
                    let Timer::Synchronizing(barrier) = &**one else { continue };
                    if let Some(waiting) = barrier.join(&mut scope) {
                        let step = self.next_step();
                        out.sleep(step, super::POLL_NS);
                        self.stage = Stage::Gathering(sampler, waiting, number, delay_ms);
                        return After::Waits;
                    }
                }
            }
        }
        if delay_ms <= 0 {
            return self.run_sampler(sampler, at, out);
        }
        let step = self.next_step();
        out.sleep(step, delay_ms as u64 * 1_000_000);
        self.stage = Stage::Delaying(sampler);
        After::Waits
    }

    /// Looks whether enough threads have gathered.
    pub(super) fn gathered(
        &mut self,
        sampler: SamplerId,
        waiting: Waiting,
        number: usize,
        delay_ms: i64,
        at: At,
        out: &mut Outbox,
    ) -> After {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].samplers[sampler as usize];
        let is_stopped = self.worker.run.is_stopped() || self.is_over(at);
        if let (Some(Timer::Synchronizing(barrier)), false) =
            (of.timers.get(number).map(|timer| &**timer), is_stopped)
            && !barrier.is_open(waiting, at.run_ns)
        {
            let step = self.next_step();
            out.sleep(step, super::POLL_NS);
            self.stage = Stage::Gathering(sampler, waiting, number, delay_ms);
            return After::Waits;
        }
        if is_stopped {
            return After::Continues;
        }
        self.delay(sampler, number + 1, delay_ms, at, out)
    }

    /// Runs a sampler after its delay.
    pub(super) fn run_sampler(&mut self, sampler: SamplerId, at: At, out: &mut Outbox) -> After {
        let plan = Rc::clone(&self.plan);
        let of = &plan.groups[self.identity.group].samplers[sampler as usize];
        let begin_ms = at.unix_ns / 1_000_000;
        match &of.kind {
            SamplerKind::Http(_) => self.begin_request(sampler, at, out),
            SamplerKind::Debug { variables, properties } => {
                let mut sample = Sample::local(&self.label, begin_ms);
                sample.body = self.listed(*variables, *properties).into_bytes();
                sample.data_type = DataType::Text;
                sample.bytes = sample.body.len() as u64;
                self.finish_sampler(sampler, Some(sample), Judged::Nothing, at, out)
            }
            SamplerKind::Action { action, target, pause_ms } => {
                let mut wish = Wish::default();
                match action {
                    Action::Pause => {
                        let pause_ms = pause_ms.integer(&mut scope!(self, at, &mut wish));
                        if pause_ms <= 0 {
                            return After::Continues;
                        }
                        let step = self.next_step();
                        out.sleep(step, pause_ms as u64 * 1_000_000);
                        self.stage = Stage::Pausing;
                        After::Waits
                    }
                    Action::Stop | Action::StopNow if *target == Target::Test => {
                        self.worker.run.stop(*action == Action::StopNow);
                        After::Ended
                    }
                    Action::Stop | Action::StopNow => After::Ended,
                    Action::RestartLoop => self.jump(sampler, crate::controller::Jump::Thread, at, out),
                    Action::StartNextLoop => self.jump(sampler, crate::controller::Jump::Loop, at, out),
                    Action::BreakLoop => self.jump(sampler, crate::controller::Jump::Break, at, out),
                }
            }
            SamplerKind::Script(code) => {
                let mut sample = Sample::local(&self.label, begin_ms);
                let mut wish = Wish::default();
                self.run_script(code, Some(&mut sample), at, &mut wish);
                sample.bytes = sample.body.len() as u64;
                self.finish_sampler(sampler, Some(sample), Judged::Nothing, at, out)
            }
            SamplerKind::Java { class, arguments } => self.begin_java(sampler, *class, arguments, at, out),
            SamplerKind::Socket(socket) => self.begin_socket(sampler, socket, at, out),
            SamplerKind::Set(pairs) => {
                let mut wish = Wish::default();
                let mut scope = scope!(self, at, &mut wish);
                // All values are evaluated before any variable changes.
                let values: Vec<_> = pairs
                    .iter()
                    .map(|(name, value)| (name.value(&mut scope), value.value(&mut scope)))
                    .collect();
                for (name, value) in values {
                    scope.vars.set(&name, &value);
                }
                After::Continues
            }
        }
    }

    /// Begins a sample that only waits.
    fn begin_java(
        &mut self,
        sampler: SamplerId,
        class: JavaClass,
        arguments: &[(Template, Template)],
        at: At,
        out: &mut Outbox,
    ) -> After {
        let begin_ms = at.unix_ns / 1_000_000;
        let mut wish = Wish::default();
        let mut scope = scope!(self, at, &mut wish);
        let given: Vec<(String, String)> =
            arguments.iter().map(|(name, value)| (name.value(&mut scope), value.value(&mut scope))).collect();
        let get = |name: &str| {
            given.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim().to_owned())
        };
        let text = |name: &str, usual: &str| get(name).unwrap_or_else(|| usual.to_owned());
        let number = |name: &str, usual: i64| get(name).map_or(usual, |text| parsed(&text).unwrap_or(usual));
        let mut sample = Sample::local(&self.label, begin_ms);
        let (sleep, mask) = match class {
            JavaClass::SleepTest => (number("SleepTime", 1000), number("SleepMask", 0x3FF)),
            JavaClass::JavaTest => (number("Sleep_Time", 100), number("Sleep_Mask", 0xFF)),
            JavaClass::Dummy { .. } => (number("RESPONSE_TIME", 0), 0),
        };
        // The part of the current time that a mask leaves spreads the samples.
        let extra = if mask > 0 { begin_ms as i64 % mask } else { 0 };
        let wait_ms = (sleep + extra).max(0) as u64;
        (sample.code, sample.message) = Default::default();
        let mut waits = true;
        match class {
            JavaClass::SleepTest => {}
            JavaClass::JavaTest => {
                if let Some(label) = get("Label").filter(|label| !label.is_empty()) {
                    sample.label = label.into();
                }
                sample.code = Cow::Owned(text("ResponseCode", ""));
                sample.message = Cow::Owned(text("ResponseMessage", ""));
                sample.is_success = text("Status", "OK").eq_ignore_ascii_case("ok");
                sample.body = text("ResultData", "").into_bytes();
                sample.request_body = text("SamplerData", "").into_bytes();
                sample.sent_bytes = sample.request_body.len() as u64;
            }
            JavaClass::Dummy { is_success, waits: lasts } => {
                let whole =
                    |name: &str| given.iter().find(|(known, _)| known == name).map(|(_, value)| value);
                sample.code = Cow::Owned(text("RESPONSE_CODE", ""));
                sample.message = Cow::Owned(text("RESPONSE_MESSAGE", ""));
                sample.is_success = is_success;
                sample.body = whole("RESPONSE_DATA").cloned().unwrap_or_default().into_bytes();
                sample.request_body = whole("REQUEST_DATA").cloned().unwrap_or_default().into_bytes();
                sample.url = text("URL", "").into();
                sample.latency_ms = number("LATENCY", 0).max(0) as u64;
                sample.connect_ms = number("CONNECT", 0).max(0) as u64;
                sample.elapsed_ms = wait_ms;
                waits = lasts;
            }
        }
        if class != JavaClass::SleepTest {
            sample.bytes = sample.body.len() as u64;
            sample.data_type = DataType::Text;
        }
        if !waits {
            // Its time ends now.
            sample.begin_ms = begin_ms.saturating_sub(wait_ms);
            return self.finish_sampler(sampler, Some(sample), Judged::Nothing, at, out);
        }
        let step = self.next_step();
        out.sleep(step, wait_ms * 1_000_000);
        self.stage = Stage::Sleeping(sampler, Box::new(sample));
        After::Waits
    }

    /// Ends the sleep of a Java sampler.
    pub(super) fn woke(&mut self, sampler: SamplerId, mut sample: Sample, at: At, out: &mut Outbox) -> After {
        sample.elapsed_ms = (at.unix_ns / 1_000_000).saturating_sub(sample.begin_ms);
        self.finish_sampler(sampler, Some(sample), Judged::Nothing, at, out)
    }

    /// Returns variables and properties as the Debug Sampler lists them.
    pub(super) fn listed(&self, variables: bool, properties: bool) -> String {
        let mut text = String::new();
        if variables {
            text.push_str("JMeterVariables:\n");
            for (name, value) in self.vars.all() {
                text.push_str(&format!("{name}={value}\n"));
            }
            text.push('\n');
        }
        if properties {
            text.push_str("JMeterProperties:\n");
            for (name, value) in self.worker.run.properties() {
                text.push_str(&format!("{name}={value}\n"));
            }
            text.push('\n');
        }
        text
    }

    /// Runs a script of a sampler, or of a processor around it.
    pub(super) fn run_script(&mut self, code: &Code, sample: Option<&mut Sample>, at: At, wish: &mut Wish) {
        let mut scope = scope!(self, at, wish);
        let text = code.text.value(&mut scope);
        let compiled = scope.caches.script(&text, code.language);
        let script = match &*compiled {
            Ok(script) => script,
            Err(refused) => {
                // What was recognized before the load can change with a variable.
                scope.run.warn_once(&format!("`{}`: {} is not supported", code.name, refused.what));
                return;
            }
        };
        let parameters = code.parameters.value(&mut scope);
        let is_sampler = matches!(&sample, Some(sample) if sample.method.is_empty() && sample.url.is_empty());
        let mut context = Context {
            scope: &mut scope,
            sample,
            parameters,
            label: code.name.clone(),
            failure: (false, String::new()),
        };
        match script.run(&mut context) {
            Ok(outcome) => {
                if let (Some(sample), true) = (context.sample, is_sampler)
                    && sample.body.is_empty()
                    && !outcome.value.is_null()
                {
                    sample.body = outcome.value.to_text(code.language).into_bytes();
                    sample.data_type = DataType::Text;
                }
            }
            Err(why) => {
                if let (Some(sample), true) = (context.sample, is_sampler) {
                    sample.is_success = false;
                    sample.code = Cow::Borrowed("500");
                    sample.message = Cow::Owned(why.clone());
                }
                self.worker.run.warn_once(&format!("`{}`: {why}", code.name));
            }
        }
    }

    /// Finds the session ID in the last response for an HTTP URL Re-writing Modifier.
    fn find_session(&mut self, of: &Rewriting, at: At) {
        let mut wish = Wish::default();
        let argument = of.argument.value(&mut scope!(self, at, &mut wish));
        let name = regex::escape(&argument);
        let separator = if of.is_path_extension && of.has_no_equals { "" } else { "=" };
        let mark = if of.is_path_extension { ";" } else { "[;?&]" };
        let end = if of.is_path_extension && of.has_no_question_mark { "?" } else { "" };
        let patterns = [
            format!("{mark}{name}{separator}([^\"'<>&\\s;{end}]*)"),
            format!("(?i)\\s+name\\s*=\\s*[\"']?{name}[\"']?[^>]*\\s+value\\s*=\\s*[\"']?([^\"'>\\s]*)"),
            format!(
                "(?i)\\s+value\\s*=\\s*[\"']?([^\"'>\\s]*)[\"']?[^>]*\\s+name\\s*=\\s*[\"']?{name}[\"']?"
            ),
        ];
        let found = self.previous.as_ref().and_then(|sample| {
            let text = sample.text();
            patterns.iter().find_map(|pattern| {
                let compiled = self.worker.caches.pattern(pattern);
                let compiled = compiled.as_ref().as_ref().ok()?;
                Some(compiled.captures(&text)?.get(1)?.as_str().to_owned())
            })
        });
        match found.filter(|value| !value.is_empty() || !of.caches_value) {
            Some(value) => self.vars.set(&of.kept, &value),
            None if self.previous.is_none() => self.vars.remove(&of.kept),
            None if !of.caches_value || self.vars.get(&of.kept).is_none() => self.vars.set(&of.kept, ""),
            None => {}
        }
    }
}

fn parsed(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
