//! The time and the users that a test requires at most (`k6 inspect --execution-requirements`).

use crate::test::{Executor, Scenario, Stage, Test};

/// Requirements of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// The end of the last scenario with its graceful stop; `None`: until the test is stopped.
    pub duration_ns: Option<u64>,
    /// The largest number of users at one moment.
    pub max_vus: u32,
}

/// Returns the requirements of a test.
pub fn requirements(test: &Test) -> Requirements {
    let all = &test.scenarios;
    let end = |one: &Scenario| Some(one.start_ns + one.executor.length_ns()? + one.graceful_stop_ns);
    let ends: Option<Vec<u64>> = all.iter().map(end).collect();
    // Between these moments, no number of users has a maximum.
    let moments: Vec<u64> = all.iter().flat_map(moments).flat_map(|ns| [ns.saturating_sub(1), ns]).collect();
    let users_at = |ns: u64| all.iter().map(|one| u64::from(users(one, ns))).sum::<u64>();
    let max_vus = moments.into_iter().map(users_at).max().unwrap_or(0);
    Requirements {
        duration_ns: ends.map(|ends| ends.into_iter().max().unwrap_or(0)),
        max_vus: u32::try_from(max_vus).unwrap_or(u32::MAX),
    }
}

/// Returns when the users of a scenario change the direction in which their number changes.
fn moments(one: &Scenario) -> Vec<u64> {
    let length_ns = one.executor.length_ns().unwrap_or(0);
    let mut all = vec![0, length_ns, length_ns + one.graceful_stop_ns];
    if let Executor::RampingVus { stages, graceful_ramp_down_ns, .. } = &one.executor {
        let mut end_ns = 0;
        for stage in stages {
            end_ns += stage.duration_ns;
            all.extend([end_ns, end_ns + graceful_ramp_down_ns]);
        }
    }
    all.into_iter().map(|ns| one.start_ns + ns).collect()
}

/// Returns the users of a scenario at a moment of the test.
fn users(one: &Scenario, at_ns: u64) -> u32 {
    let Some(at_ns) = at_ns.checked_sub(one.start_ns) else { return 0 };
    let Some(length_ns) = one.executor.length_ns() else { return one.executor.max_vus() };
    if at_ns >= length_ns + one.graceful_stop_ns {
        return 0;
    }
    let Executor::RampingVus { start_vus, stages, graceful_ramp_down_ns } = &one.executor else {
        return one.executor.max_vus();
    };
    // A user whose time is over may finish its iteration, so the number is the largest one of a window.
    let last_ns = at_ns.min(length_ns);
    let first_ns = at_ns.saturating_sub(*graceful_ramp_down_ns).min(last_ns);
    let ends = stages.iter().scan(0, |end_ns, stage| {
        *end_ns += stage.duration_ns;
        Some(*end_ns)
    });
    let within = ends.filter(|end_ns| (first_ns..=last_ns).contains(end_ns));
    let levels = within.chain([first_ns, last_ns]).map(|ns| level(*start_vus, stages, ns));
    levels.max().unwrap_or(0)
}

/// Returns the number of users that a ramp has at a moment.
fn level(start: u32, stages: &[Stage], at_ns: u64) -> u32 {
    let (mut begin_ns, mut from) = (0, u64::from(start));
    for stage in stages {
        if at_ns < begin_ns + stage.duration_ns {
            let part = (at_ns - begin_ns) as f64 / stage.duration_ns as f64;
            let users = from as f64 + (stage.target as f64 - from as f64) * part;
            return users.round() as u32;
        }
        begin_ns += stage.duration_ns;
        from = stage.target;
    }
    u32::try_from(from).unwrap_or(u32::MAX)
}
