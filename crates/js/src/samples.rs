//! Single samples, for outputs with a line for each (`--out` of k6). Without such an output, nothing is made of them.

use crate::host::Host;
use crate::http::Response;
use crate::vu::Vu;
use plimsoll_plan::Fault;
use plimsoll_plan::series::label;

/// Takes samples from all workers.
pub trait SampleSink: Send + Sync {
    /// Takes values of metrics that were measured at the same time and have the same tags. Times are in ms.
    /// `unix_ns` is the time since 1970, ns. No two tags have the same name.
    fn take(&self, unix_ns: u64, values: &[(&str, f64)], tags: &[(&str, &str)]);
}

/// What k6 calls the samples of `setup()` and `teardown()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleGroup {
    #[default]
    Iteration,
    Setup,
    Teardown,
}

impl SampleGroup {
    fn name(self) -> &'static str {
        match self {
            SampleGroup::Iteration => "",
            SampleGroup::Setup => "::setup",
            SampleGroup::Teardown => "::teardown",
        }
    }
}

impl Host {
    /// Returns whether an output takes samples.
    pub fn takes_samples(&self) -> bool {
        self.shared.samples.is_some()
    }

    /// Passes on values that were measured now. Tags of the system have priority over those of the script.
    pub fn sample(&self, vu: &Vu, values: &[(&str, f64)], own: &[(String, String)], system: &[(&str, &str)]) {
        let Some(sink) = &self.shared.samples else { return };
        let group = format!("{}{}", vu.sample_group.get().name(), vu.group());
        let labels = self.labels(vu, &group, own);
        let mut tags = labels.pairs();
        if !tags.iter().any(|(name, _)| *name == label::GROUP) {
            tags.push((label::GROUP, ""));
        }
        let scenario = self.shared.settings.scenarios.get(vu.scenario);
        if let Some(scenario) = scenario.filter(|_| !tags.iter().any(|(name, _)| *name == label::SCENARIO)) {
            tags.push((label::SCENARIO, &scenario.name));
        }
        for (name, value) in system {
            tags.retain(|(known, _)| known != name);
            tags.push((name, value));
        }
        sink.take(self.at.get().unix_ns, values, &tags);
    }

    /// Passes on the samples of a request. `name` is that of the script, if it has given one.
    pub fn sample_request(&self, vu: &Vu, name: Option<&str>, own: &[(String, String)], response: &Response) {
        if !self.takes_samples() {
            return;
        }
        let url = name.unwrap_or(&response.request.url);
        let is_expected = response.fault.is_none();
        let (status, code) = (response.status.to_string(), response.error_code().to_string());
        let error = if response.fault == Some(Fault::Status) { String::new() } else { response.error() };
        let mut system = vec![
            ("expected_response", if is_expected { "true" } else { "false" }),
            (label::METHOD, &response.request.method),
            ("name", url),
            ("status", &status),
            ("url", url),
        ];
        if !error.is_empty() {
            system.push(("error", &error));
        }
        if code != "0" {
            system.push(("error_code", &code));
        }
        if !response.protocol().is_empty() {
            system.push(("proto", response.protocol()));
        }
        let mut values = vec![("http_reqs", 1.0)];
        // A failure of the transport has no duration.
        if response.status > 0 {
            let (phases, ms) = (&response.phases, |ns: u64| ns as f64 / 1e6);
            let is_new = phases.connect_ns > 0;
            values.extend([
                ("http_req_duration", ms(phases.service_ns())),
                ("http_req_blocked", if is_new { ms(phases.wait_ns) } else { 0.0 }),
                ("http_req_connecting", ms(phases.connect_ns.saturating_sub(phases.tls_ns))),
                ("http_req_tls_handshaking", ms(phases.tls_ns)),
                ("http_req_sending", 0.0),
                ("http_req_waiting", ms(phases.first_byte_ns)),
                ("http_req_receiving", ms(phases.body_ns)),
            ]);
        }
        values.push(("http_req_failed", if is_expected { 0.0 } else { 1.0 }));
        self.sample(vu, &values, own, &system);
    }
}
