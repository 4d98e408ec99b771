//! The machine's own lateness, measured together with open-loop numbers by a thread that only reads the clock. The
//! other core is kept busy during that time, as in a real run: an idle core makes a shared host look better than it
//! is.

use super::{Context, RATE_PER_S, child};
use serde_json::Value;
use std::process::Stdio;

/// The lateness without any work.
pub struct Floor {
    pub p50_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
    pub stolen_percent: f64,
}

pub fn measure(context: &Context, secs: u32) -> Result<Floor, String> {
    let start = |core: usize, secs: u32| {
        let mut command = child::pinned(context, core, &context.programs.hiccup);
        command.arg(RATE_PER_S.to_string()).arg(secs.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
        command.spawn().map_err(|e| format!("cannot start hiccup: {e}"))
    };
    // The other one runs longer, so that the measured one never runs alone. On a single core, it would only steal time.
    let mut other = if context.pinned { Some(start(1, secs + 1)?) } else { None };
    let out = start(0, secs)?.wait_with_output();
    if let Some(child) = &mut other {
        child::kill(child)?;
        child.wait().map_err(|e| format!("cannot wait for hiccup: {e}"))?;
    }
    let out = out.map_err(|e| format!("cannot read from hiccup: {e}"))?;
    read(&String::from_utf8_lossy(&out.stdout)).ok_or_else(|| "hiccup printed no numbers".into())
}

fn read(text: &str) -> Option<Floor> {
    let value: Value = serde_json::from_str(text).ok()?;
    let late = |name: &str| value["late_us"][name].as_f64();
    Some(Floor {
        p50_us: late("p50")?,
        p99_us: late("p99")?,
        max_us: late("max")?,
        stolen_percent: value["stolen_pct"].as_f64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_hiccup_is_parsed() {
        let floor = read(
            r#"{"stolen_pct":0.32,"gaps_over_20us":113,"late_us":{"p50":0.01,"p99":70.5,"p999":16.9,"max":124}}"#,
        );
        assert!(floor.is_some_and(|f| f.p99_us == 70.5 && f.stolen_percent == 0.32));
    }
}
