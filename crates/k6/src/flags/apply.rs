//! Sets what a flag or a variable means.

use super::{Flag, LogFormat, LogOutput, SecretSource, Source, SummaryMode};
use crate::settings::network::{block_hostnames_of, dns_text, ip_range, local_ips_text};
use crate::settings::{check_system_tags, check_trend_stats, http_debug_text, time_unit_text};
use crate::test::Stage;
use crate::value::{boolean_text, duration_text_ns, int_text};
use plimsoll_plan::Problem;

/// Sets a value. Variables (`is_variable`) hold all entries of a list, and durations in ms without a unit.
pub(super) fn set(source: &mut Source, flag: &Flag, text: &str, is_variable: bool) -> Result<(), Problem> {
    let settings = &mut source.layer.settings;
    let duration = || match is_variable {
        true => duration_text_ns(text),
        false => flag_duration_ns(text),
    };
    let number = || match int_text(text)? {
        Some(number) => Ok(Some(number)),
        None => Err(Problem::plain("empty value: expected a whole number")),
    };
    let items = || text.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>();
    match flag.long {
        "vus" => source.layer.vus = number()?,
        "duration" => source.layer.duration_ns = Some(duration()?),
        "iterations" => source.layer.iterations = number()?,
        "stage" => {
            let stages = text.split(',').map(|item| stage(item.trim())).collect::<Result<Vec<_>, _>>()?;
            source.layer.stages.get_or_insert_default().extend(stages);
        }
        "execution-segment" => source.layer.segment = Some(text.to_owned()),
        "execution-segment-sequence" => source.layer.sequence = Some(text.to_owned()),
        "no-setup" => settings.no_setup = boolean_text(text)?,
        "no-teardown" => settings.no_teardown = boolean_text(text)?,
        "no-thresholds" => settings.no_thresholds = boolean_text(text)?,
        "max-redirects" => settings.max_redirects = number()?,
        "batch" => settings.batch = number()?,
        "batch-per-host" => settings.batch_per_host = number()?,
        "rps" => settings.rps = number()?.map(|limit| Some(limit).filter(|limit| *limit > 0)),
        "user-agent" => settings.user_agent = Some(Some(text.to_owned())),
        "http-debug" => settings.http_debug = Some(http_debug_text(text)?),
        "insecure-skip-tls-verify" => settings.insecure_skip_tls_verify = boolean_text(text)?,
        "no-connection-reuse" => settings.no_connection_reuse = boolean_text(text)?,
        "no-vu-connection-reuse" => settings.no_vu_connection_reuse = boolean_text(text)?,
        "min-iteration-duration" => settings.min_iteration_duration_ns = Some(duration()?),
        "throw" => settings.throw = boolean_text(text)?,
        "blacklist-ip" => {
            let ranges = items().iter().map(|item| ip_range(item)).collect::<Result<Vec<_>, _>>()?;
            settings.blacklist_ips.get_or_insert_default().extend(ranges);
        }
        "block-hostnames" => {
            settings.block_hostnames.get_or_insert_default().extend(block_hostnames_of(items())?);
        }
        "summary-trend-stats" => settings.summary_trend_stats = Some(check_trend_stats(items())?),
        "summary-time-unit" => settings.summary_time_unit = Some(time_unit_text(text)?),
        "system-tags" => settings.system_tags = Some(check_system_tags(items())?),
        "tag" => {
            let tags = match is_variable {
                true => items().iter().map(|item| tag(item, ':')).collect::<Result<Vec<_>, _>>()?,
                false => vec![tag(text, '=')?],
            };
            settings.tags.get_or_insert_default().extend(tags);
        }
        "console-output" => source.console_output = Some(text.to_owned()),
        "discard-response-bodies" => settings.discard_response_bodies = boolean_text(text)?,
        "local-ips" => settings.local_ips = Some(local_ips_text(text)?),
        "dns" => settings.dns = dns_text(text)?,
        "env" => source.env.push(text.to_owned()),
        "include-system-env-vars" => source.includes_system = boolean_text(text)?,
        "out" => {
            let outputs = if is_variable { items() } else { vec![text.to_owned()] };
            source.outputs.get_or_insert_default().extend(outputs);
        }
        "secret-source" => source.secret_sources.get_or_insert_default().push(secret_source(text)?),
        "summary-export" => source.summary_export = Some(text.to_owned()),
        "summary-mode" => source.summary_mode = Some(summary_mode(text)?),
        "no-summary" => source.no_summary = boolean_text(text)?,
        "config" => source.config = Some(text.to_owned()),
        "quiet" => source.quiet = boolean_text(text)?,
        "verbose" => source.verbose = boolean_text(text)?,
        // The variable counts by its presence.
        "no-color" if is_variable => source.no_color = Some(true),
        "no-color" => source.no_color = boolean_text(text)?,
        "log-output" => source.log_output = Some(log_output(text)?),
        "log-format" => source.log_format = Some(log_format(text)?),
        "compatibility-mode" => match text {
            "extended" => {}
            "base" | "experimental_enhanced" => {
                source.notes.push(format!(
                    "The compatibility mode `{text}` has no effect: scripts run as in `extended`."
                ));
            }
            other => {
                let hint = "use `extended`, `base`, or `experimental_enhanced`";
                return Err(Problem::new(format!("unknown mode `{other}`"), hint));
            }
        },
        // Nothing is ever reported.
        "no-usage-report" => drop(boolean_text(text)?),
        other => return Err(Problem::plain(format!("`{other}` cannot be set"))),
    }
    Ok(())
}

/// Reads a duration of a flag, which requires a unit.
fn flag_duration_ns(text: &str) -> Result<u64, Problem> {
    if text.parse::<f64>().is_ok_and(|number| number != 0.0) {
        let message = format!("missing unit in duration `{text}`");
        return Err(Problem::new(message, format!("write `{text}s` for seconds")));
    }
    duration_text_ns(text)
}

fn stage(text: &str) -> Result<Stage, Problem> {
    let wrong = || Problem::new(format!("invalid stage `{text}`"), "write DURATION:USERS, such as `30s:10`");
    let (duration, target) = text.split_once(':').ok_or_else(wrong)?;
    let target = target.trim().parse().map_err(|_| wrong())?;
    Ok(Stage { duration_ns: duration_text_ns(duration.trim())?, target })
}

fn tag(text: &str, sign: char) -> Result<(String, String), Problem> {
    match text.split_once(sign) {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err(Problem::new(format!("invalid tag `{text}`"), format!("write NAME{sign}VALUE"))),
    }
}

fn summary_mode(text: &str) -> Result<SummaryMode, Problem> {
    match text {
        "compact" => Ok(SummaryMode::Compact),
        "full" => Ok(SummaryMode::Full),
        "legacy" => Ok(SummaryMode::Legacy),
        "disabled" => Ok(SummaryMode::Disabled),
        other => {
            let hint = "use `compact`, `full`, `legacy`, or `disabled`";
            Err(Problem::new(format!("unknown summary mode `{other}`"), hint))
        }
    }
}

/// Reads `TYPE=[name=NAME,][default,]REST`.
fn secret_source(text: &str) -> Result<SecretSource, Problem> {
    let hint = "use `file=FILE`, or `mock=NAME=VALUE` for tests";
    let (kind, rest) = text.split_once('=').unwrap_or((text, ""));
    let mut source = SecretSource { name: kind.to_owned(), ..SecretSource::default() };
    for part in rest.split(',').filter(|part| !part.is_empty()) {
        match (part.split_once('='), kind) {
            (Some(("name", name)), _) => name.clone_into(&mut source.name),
            (None, _) if part == "default" => source.is_default = true,
            (Some(("filename", _)) | None, "file") if source.file.is_none() => {
                source.file = Some(part.strip_prefix("filename=").unwrap_or(part).to_owned());
            }
            (Some((name, value)), "mock") => source.pairs.push((name.to_owned(), value.to_owned())),
            _ => return Err(Problem::new(format!("invalid part `{part}` of a source of secrets"), hint)),
        }
    }
    match kind {
        "file" if source.file.is_none() => Err(Problem::new("missing name of the file", hint)),
        "file" | "mock" => Ok(source),
        other => Err(Problem::new(format!("the source of secrets `{other}` is not supported"), hint)),
    }
}

fn log_output(text: &str) -> Result<LogOutput, Problem> {
    let hint = "use `stderr`, `stdout`, `none`, or `file=PATH`";
    match text {
        "stderr" => Ok(LogOutput::Stderr),
        "stdout" => Ok(LogOutput::Stdout),
        "none" => Ok(LogOutput::None),
        other if other.starts_with("loki") => {
            Err(Problem::new("logs to Loki are not supported", "write a file, and send it with an agent"))
        }
        other => match other.strip_prefix("file=") {
            Some(path) if path.contains(",level=") => {
                Err(Problem::new("a level of a log file is not supported", "write `file=PATH`"))
            }
            Some(path) if !path.is_empty() => Ok(LogOutput::File(path.to_owned())),
            _ => Err(Problem::new(format!("unknown log output `{other}`"), hint)),
        },
    }
}

fn log_format(text: &str) -> Result<LogFormat, Problem> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        "raw" => Ok(LogFormat::Raw),
        other => Err(Problem::new(format!("unknown log format `{other}`"), "use `text`, `json`, or `raw`")),
    }
}
