//! Volumes and numbers that a text derives: visitors a month, bytes of a test, the clock behind a first byte, the
//! machines whose results are shown.

use super::open_load::counted;
use super::say::{Out, num, time};
use super::view::has;
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Claim, Document, Figure, Measure, Statement};
use crate::foreign::table::number::numbers;
use crate::foreign::table::unit::Kind;

/// The concurrency that follows from visitors a month, the length of a visit and the hours of a day.
pub fn visitors(documents: &[Document], out: &mut Out) {
    for document in documents {
        for (i, claim) in document.claims.iter().enumerate() {
            let nouns = ["visitors", "visits", "sessions", "users"];
            let Some(count) = counted(claim, &nouns).filter(|c| c.value >= 100.0) else { continue };
            let text = claim.text.to_lowercase();
            let per = |unit: &str| {
                [" per ", " a ", "/", "/ ", " each ", " every "]
                    .iter()
                    .any(|p| nouns.iter().any(|n| text.contains(&format!("{n}{p}{unit}"))))
            };
            let days = [("month", 30.0), ("week", 7.0), ("day", 1.0)].into_iter().find(|(unit, _)| per(unit));
            let Some((unit, days)) = days.filter(|_| !text.contains("peak")) else { continue };
            let near: Vec<&Claim> = document.claims[i..]
                .iter()
                .filter(|c| c.headings == claim.headings && c.line <= claim.line + 6)
                .collect();
            let all = near.iter().flat_map(|c| c.figures.iter().map(move |(_, f)| (*c, f)));
            let hours = all
                .clone()
                .find(|(_, f)| f.unit.starts_with("hour") && f.value >= 3_600.0 && f.value < 86_400.0);
            let length = all.clone().find(|(c, f)| {
                (f.unit.starts_with("min") || f.unit.starts_with("sec"))
                    && has(&c.text, &["session", "visit", "stay"])
            });
            let stated = near.iter().find_map(|c| {
                let at = c.text.to_lowercase().find("concurren")?;
                let behind = c
                    .figures
                    .iter()
                    .find(|(_, f)| f.unit != "hours" && c.text.find(&f.written).is_some_and(|p| p > at));
                behind.map(|(_, f)| (*c, f))
            });
            let (Some((_, length)), Some((said, stated))) = (length, stated) else { continue };
            let active = hours.map_or(24.0, |(_, h)| h.value / 3_600.0);
            let per_hour = count.value / days / active;
            let at_once = per_hour * length.value / 3_600.0;
            if stated.value <= 0.0 || (0.75..=1.35).contains(&(stated.value / at_once)) {
                continue;
            }
            let mut say = out.say(
                Likely,
                format!(
                    "{} visitors a {unit} with {} each are {} at once, not {}",
                    count.written,
                    length.written,
                    num(at_once),
                    stated.written
                ),
            );
            say = say
                .line(format!(
                    "{} / {} days / {} h = {} an hour",
                    num(count.value),
                    num(days),
                    num(active),
                    num(per_hour)
                ))
                .line(format!("{} x {} s / 3,600 s = {}", num(per_hour), num(length.value), num(at_once)))
                .line(format!("stated: {}, {} of it", stated.written, num(stated.value / at_once)));
            let daily = count.value / days;
            let hourly = all.clone().find(|(c, f)| {
                (f.value / daily - 1.0).abs() < 0.01 && has(&c.text, &["hour"]) && f.value != count.value
            });
            if let Some((_, figure)) = hourly {
                say = say.line(format!(
                    "`{}` an hour is the number of a whole day: {} / {}",
                    figure.written,
                    num(count.value),
                    num(days)
                ));
            }
            say.claim(document, claim)
                .claim(document, said)
                .explained("a day taken for an hour, or a slip of the decimal point")
                .advise("N = arrivals per second x length of a visit, times a factor for the peak hour");
        }
    }
}

/// The first byte comes with a clock: its mean is half of an interval that the text names.
pub fn first_byte_follows_a_clock(documents: &[Document], out: &mut Out) {
    for document in documents {
        let named = document.prose.iter().filter(|s| has(&s.text, &["interval", "every"]));
        let intervals: Vec<(&Statement, f64)> = named
            .flat_map(|s| numbers(&s.text, s.line).into_iter().map(move |n| (s, n.figure.value)))
            .filter(|(_, v)| (2.0..=600.0).contains(v))
            .collect();
        for row in &document.rows {
            let Some(mean) = row.figures.get(&Measure::FirstByteMean) else { continue };
            let longest = row
                .others
                .iter()
                .find(|(k, _)| (k.contains("waiting") || k.contains("first byte")) && k.contains("max"));
            let Some((_, longest)) = longest else { continue };
            let fits = |v: f64| (0.85..=1.02).contains(&(longest.value / v)) && mean.value >= 0.2 * v;
            let Some((said, interval)) = intervals.iter().find(|(_, v)| fits(*v)) else { continue };
            let line = format!(
                "longest {} = {} of {}",
                time(longest.value),
                num(longest.value / interval),
                time(*interval)
            );
            out.say(
                Possible,
                format!(
                    "the first byte waits for a clock of {}: its time is a phase, no latency",
                    time(*interval)
                ),
            )
            .line(line)
            .line(format!("mean {} = {} of it", time(mean.value), num(mean.value / interval)))
            .figure(document, mean)
            .figure(document, longest)
            .describe(document, said)
            .explained("headers that are sent with the first event, which comes with the clock")
            .advise("measure the headers, the first event and the gaps between events apart");
        }
    }
}

/// A volume that was computed is another one later in the text.
pub fn volumes_differ(documents: &[Document], out: &mut Out) {
    for document in documents {
        let volume = |s: &Statement| {
            let computed = has(
                &s.text,
                &[
                    "calculated",
                    "computed",
                    "expected",
                    "estimated",
                    "totalmemory",
                    "total memory",
                    "total volume",
                    "total data",
                ],
            );
            let numbers = numbers(&s.text, s.line);
            let bytes: Vec<Figure> = numbers
                .into_iter()
                .filter(|n| n.kind == Kind::Bytes && n.figure.value >= 1e5)
                .map(|n| n.figure)
                .collect();
            let figure = if s.code {
                bytes.first().cloned()
            } else {
                bytes.first().cloned().filter(|_| bytes.len() <= 3)
            };
            // What was sent and what was received are two volumes.
            let is_measured = has(&s.text, &["total data sent", "total data received"]);
            figure.filter(|_| computed && !is_measured)
        };
        let found: Vec<(&Statement, Figure)> =
            document.prose.iter().filter_map(|s| Some((s, volume(s)?))).collect();
        for (i, (said, a)) in found.iter().enumerate() {
            let Some((other, b)) =
                found[i + 1..].iter().find(|(_, b)| b.low > a.high * 1.1 || b.high < a.low / 1.1)
            else {
                continue;
            };
            out.say(
                Possible,
                format!("the expected volume is {} in one place and {} in another", a.written, b.written),
            )
            .line(format!("{} / {} = {}", b.written, a.written, num(b.value / a.value)))
            .describe(document, said)
            .describe(document, other)
            .explained("framing (chunks, frames, headers) was counted once and left out once")
            .advise("count bytes of bodies, of framing and of headers apart");
            break;
        }
    }
}

/// Several machines made the load; the figures of one are shown.
pub fn one_of_several_shown(documents: &[Document], out: &mut Out) {
    for document in documents {
        for row in document.rows.iter().filter(|r| r.table.is_none()) {
            let Some(users) = row.figures.get(&Measure::Users) else { continue };
            let total = document.claims.iter().find_map(|c| {
                c.figures
                    .iter()
                    .find(|(m, f)| *m == Some(Measure::Users) && f.value > users.value)
                    .map(|(_, f)| (c, f))
            });
            let machines = document.claims.iter().find_map(|c| {
                c.figures
                    .iter()
                    .find(|(m, f)| *m == Some(Measure::Generators) && f.value >= 2.0)
                    .map(|(_, f)| (c, f))
            });
            let (Some((claim, total)), Some((where_, machines))) = (total, machines) else { continue };
            let shown = document
                .rows
                .iter()
                .filter(|r| r.figures.get(&Measure::Users).is_some_and(|u| u.value == users.value))
                .count();
            if total.value != users.value * machines.value || shown as f64 >= machines.value {
                continue;
            }
            out.say(Proved, format!("{} of {} load generators are shown", shown, num(machines.value)))
                .line(format!(
                    "{} x {} = {}, figures of {} are shown",
                    num(machines.value),
                    num(users.value),
                    num(total.value),
                    num(users.value)
                ))
                .claim(document, claim)
                .claim(document, where_)
                .figure(document, users)
                .advise("publish the result of every generator, or the merged histogram");
            break;
        }
    }
}
