//! Rows at different loads beside each other: what cannot differ and does, what should differ and does not.

use super::say::{Out, num, share, time};
use super::view::{MEDIAN, Seen, by_variant, rows, spread};
use crate::Certainty::{Likely, Possible, Proved};
use crate::foreign::model::{Document, Measure};
use std::collections::BTreeMap;

/// Requested minus refused is the same number at different requests: the client ran out of something (`wrk.c` counts
/// a failed `socket()` as a connect error).
pub fn same_number_live(documents: &[Document], out: &mut Out) {
    let seen = rows(documents);
    let refused: Vec<&Seen> =
        seen.iter().filter(|s| s.get(Measure::ConnectErrors).is_some_and(|e| e > 0.0)).collect();
    let mut done: Vec<f64> = Vec::new();
    for first in &refused {
        let Some(live) = first.live().filter(|l| !done.contains(l)) else { continue };
        done.push(live);
        let mut same: Vec<&&Seen> = refused.iter().filter(|s| s.live() == Some(live)).collect();
        same.sort_by(|a, b| a.users().unwrap_or(0.0).total_cmp(&b.users().unwrap_or(0.0)));
        same.dedup_by_key(|s| s.users().map(f64::to_bits));
        if same.len() < 2 {
            continue;
        }
        let certainty = if same.len() > 2 { Proved } else { Likely };
        let levels = same.len();
        let mut say = out.say(
            certainty,
            format!(
                "{} connections were live at each of {levels} levels: a limit of the load generator",
                num(live)
            ),
        );
        for s in &same {
            let (users, errors) = (s.users().unwrap_or(0.0), s.get(Measure::ConnectErrors).unwrap_or(0.0));
            say = say.line(format!("{} - {} = {}", num(users), num(errors), num(live)));
            say = say.figures(s.document, s.row, &[Measure::ConnectErrors]);
        }
        for s in &same {
            if let (Some(x), Some(r)) = (s.get(Measure::Rate), s.get(Measure::Mean)) {
                say = say.line(format!("{}/s x {} = {} in flight", num(x), time(r), num(x * r)));
            }
        }
        if let Some(limit) = [256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0]
            .into_iter()
            .find(|l| (1.0..=40.0).contains(&(l - live)))
        {
            say = say.line(format!(
                "{} - {} = {} files open for other ends",
                num(limit),
                num(live),
                num(limit - live)
            ));
        }
        let more = seen.iter().find(|s| {
            s.users().is_some_and(|u| u > live)
                && s.get(Measure::ConnectErrors).unwrap_or(0.0) == 0.0
                && s.get(Measure::Rate).is_some()
        });
        if let Some(more) = more {
            say = say
                .line(format!("{} connections came about in another run", num(more.users().unwrap_or(0.0))));
        }
        say.explained(
            "the limit of open files of the client's shell (`ulimit -n`), not the server under test",
        )
        .advise("raise the limit, and count refusals by the server apart from failures of the client");
    }
}

/// Two runs of one configuration differ by more than what is concluded from.
pub fn noise(documents: &[Document], out: &mut Out) {
    for (_, group) in by_variant(&rows(documents)) {
        let mut repeats: BTreeMap<String, Vec<(&Seen, f64)>> = BTreeMap::new();
        for s in &group {
            if let (Some(key), Some(rate)) = (s.settings(), s.get(Measure::Rate)) {
                repeats.entry(key).or_default().push((s, rate));
            }
        }
        for rates in repeats.values() {
            let live = rates[0].0.live().unwrap_or(0.0);
            let values: Vec<f64> = rates.iter().map(|(_, x)| *x).collect();
            // Twice as much is another service at the same address.
            let Some(ratio) = spread(&values).filter(|r| (1.08..2.0).contains(r) && values.len() <= 3) else {
                continue;
            };
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let half = (ratio - 1.0) / (ratio + 1.0);
            let mut say = out.say(
                Likely,
                format!(
                    "runs with {} live connections differ by +-{}: smaller differences rank nothing",
                    num(live),
                    share(half)
                ),
            );
            for (s, x) in rates {
                say = say.line(format!(
                    "{}: {}/s, {:+.1}% of their mean",
                    s.row.label,
                    num(*x),
                    (x / mean - 1.0) * 100.0
                ));
                say = say.figures(s.document, s.row, &[Measure::Rate]);
            }
            say.explained("one run of each level; network, server and client change between runs")
                .advise("repeat every level, in turns, and state the range of the repeats");
        }
    }
}

/// One level is far worse than several higher ones: an accident of that run, not a limit.
pub fn worse_at_less_load(documents: &[Document], out: &mut Out) {
    let seen = rows(documents);
    let mut groups: Vec<(&str, Vec<&Seen>)> = Vec::new();
    for s in seen.iter().filter(|s| s.row.table.is_none() && s.clean() && s.users().is_some()) {
        match groups.iter_mut().find(|(url, _)| *url == s.url) {
            Some((_, group)) => group.push(s),
            None => groups.push((s.url, vec![s])),
        }
    }
    for (_, mut group) in groups {
        group.sort_by(|a, b| a.users().unwrap_or(0.0).total_cmp(&b.users().unwrap_or(0.0)));
        group.dedup_by(|a, b| a.users() == b.users() && a.get(Measure::Rate) == b.get(Measure::Rate));
        for (i, s) in group.iter().enumerate() {
            let tail =
                |s: &Seen| s.get(Measure::Percentile(9_900)).or_else(|| s.get(Measure::Percentile(9_500)));
            let Some(own) = tail(s) else { continue };
            let higher: Vec<(&&Seen, f64)> = group[i + 1..]
                .iter()
                .filter(|h| h.users() > s.users())
                .filter_map(|h| Some((h, tail(h)?)))
                .collect();
            if higher.len() < 2 || higher.iter().any(|(_, t)| *t * 2.0 > own) {
                continue;
            }
            let users = num(s.users().unwrap_or(0.0));
            let mut say = out.say(
                Likely,
                format!(
                    "the tail at {users} users is at least twice that at every higher level: an \
                     accident of one run"
                ),
            );
            say = say.line(format!("{users} users: {}", time(own)));
            for (h, t) in &higher {
                say = say.line(format!("{} users: {}", num(h.users().unwrap_or(0.0)), time(*t)));
            }
            say.figures(s.document, s.row, &[Measure::Percentile(9_900), Measure::Percentile(9_500)])
                .explained("something else happened during that run; more load would have shown it too")
                .advise("repeat the level before calling it a limit");
        }
    }
}

/// More users wait longer and get no more: the resource was full at the lowest level that was measured.
pub fn flat_from_the_start(documents: &[Document], out: &mut Out) {
    for (_, group) in by_variant(&rows(documents)) {
        let level = |s: &Seen| Some((s.users()?, s.get(Measure::Rate)?, s.get(Measure::Mean)?));
        let levels: Vec<(f64, f64, f64)> = group.iter().filter_map(level).collect();
        let (users, rates): (Vec<f64>, Vec<f64>) = levels.iter().map(|(u, x, _)| (*u, *x)).unzip();
        let per_user: Vec<f64> = levels.iter().map(|(u, _, r)| r / u).collect();
        let flat = spread(&rates).is_some_and(|s| s <= 1.06) && spread(&per_user).is_some_and(|s| s <= 1.12);
        if levels.len() < 3 || levels.len() != group.len() || !flat || spread(&users).is_none_or(|s| s < 3.0)
        {
            continue;
        }
        let (low, high) = (levels[0], levels[levels.len() - 1]);
        let mut say = out.say(
            Likely,
            format!(
                "from {} to {} users the rate stays at {}/s and the mean grows from {} to {}: a \
                     resource is full at the lowest level",
                num(low.0),
                num(high.0),
                num(low.1),
                time(low.2),
                time(high.2)
            ),
        );
        for (s, (u, x, r)) in group.iter().zip(&levels) {
            let bytes = s
                .get(Measure::BytesPerS)
                .map_or(String::new(), |b| format!(", {} Mbit/s", num(b * 8.0 / 1e6)));
            say = say.line(format!(
                "{} users: {}/s, {} = {} x {}{bytes}",
                num(*u),
                num(*x),
                time(*r),
                num(*u),
                time(r / u)
            ));
            say = say.figures(s.document, s.row, &[Measure::Rate, Measure::Mean]);
        }
        say.explained("a saturated link, lock or processor: N = X R with X fixed makes R proportional to N")
            .advise(
                "name the full resource (bytes per second, CPU of both sides), and measure below it as well",
            );
    }
}

/// The median falls while the mean rises: some connections are served, others starve.
pub fn median_against_mean(documents: &[Document], out: &mut Out) {
    for (_, group) in by_variant(&rows(documents)) {
        let level = |s: &Seen| Some((s.users()?, s.get(MEDIAN)?, s.get(Measure::Mean)?));
        let levels: Vec<(&Seen, (f64, f64, f64))> =
            group.iter().filter_map(|s| Some((s, level(s)?))).collect();
        let mut best: Option<(usize, usize)> = None;
        for i in 0..levels.len() {
            let falls =
                |j: &usize| levels[*j].1.1 <= levels[*j - 1].1.1 && levels[*j].1.0 > levels[*j - 1].1.0;
            let end = (i + 1..levels.len()).take_while(falls).last().unwrap_or(i);
            let (first, last) = (levels[i].1, levels[end].1);
            let against = end >= i + 2 && last.1 <= 0.9 * first.1 && last.2 >= 2.0 * first.2;
            if against && best.is_none_or(|(a, b)| end - i > b - a) {
                best = Some((i, end));
            }
        }
        let Some((from, to)) = best else { continue };
        let (first, last) = (levels[from].1, levels[to].1);
        let mut say = out.say(
            Likely,
            format!(
                "from {} to {} users the median falls from {} to {} while the mean rises from {} to {}: \
                     some connections starve",
                num(first.0),
                num(last.0),
                time(first.1),
                time(last.1),
                time(first.2),
                time(last.2)
            ),
        );
        for (s, (u, median, mean)) in &levels[from..=to] {
            say = say.line(format!("{} users: median {}, mean {}", num(*u), time(*median), time(*mean)));
            say = say.figures(s.document, s.row, &[MEDIAN, Measure::Mean]);
        }
        if let Some(x) = levels[to].0.get(Measure::Rate) {
            say = say.line(format!(
                "{}/s x {} = {} of {} connections are enough",
                num(x),
                time(last.1),
                num(x * last.1),
                num(last.0)
            ));
        }
        say.explained("a server or its accept queue serves a few connections again and again")
            .advise("state the tail and the requests per connection; a median alone hides who waits");
    }
}

/// The latency does not move with the load, and another client saw a fraction of it: the path was measured.
pub fn path_measured(documents: &[Document], out: &mut Out) {
    let seen = rows(documents);
    let mut clean: Vec<&Seen> =
        seen.iter().filter(|s| s.row.table.is_none() && s.clean() && s.users().is_some()).collect();
    clean.sort_by(|a, b| a.users().unwrap_or(0.0).total_cmp(&b.users().unwrap_or(0.0)));
    clean.dedup_by(|a, b| a.users() == b.users() && a.get(Measure::Rate) == b.get(Measure::Rate));
    let level =
        |s: &Seen| Some((s.users()?, s.get(Measure::Rate)?, s.get(MEDIAN).or_else(|| s.get(Measure::Mean))?));
    let levels: Vec<(&&Seen, (f64, f64, f64))> = clean.iter().filter_map(|s| Some((s, level(s)?))).collect();
    let flat = |n: usize| {
        let times: Vec<f64> = levels[..n].iter().map(|(_, l)| l.2).collect();
        let each: Vec<f64> = levels[..n].iter().map(|(_, l)| l.1 / l.0).collect();
        spread(&times).is_some_and(|s| s <= 1.08) && spread(&each).is_some_and(|s| s <= 1.08)
    };
    let Some(n) = (3..=levels.len()).take_while(|n| flat(*n)).last() else { return };
    let floor = levels[0].1.2;
    let below = |d: &Document| {
        d.claims.iter().find_map(|c| {
            let mean = c
                .figures
                .iter()
                .find(|(m, f)| *m == Some(Measure::Mean) && f.value > 0.0 && f.high < floor / 3.0)?;
            Some((c.clone(), mean.1.clone()))
        })
    };
    let Some((document, (claim, mean))) = documents.iter().find_map(|d| Some((d, below(d)?))) else { return };
    let mut say = out.say(
        Likely,
        format!(
            "the latency of {} is that of the path: it does not move with the load, and elsewhere \
             {} were seen",
            time(floor),
            time(mean.value)
        ),
    );
    for (s, (u, x, r)) in &levels[..n] {
        say = say.line(format!("{} users: {}/s = {} / {}", num(*u), num(*x), num(*u), time(u / x)));
        say = say.line(format!("  and {} at this level", time(*r)));
        say = say.figures(s.document, s.row, &[MEDIAN]);
    }
    say.claim(document, &claim)
        .explained("the distance between client and server; the server's own time is a small part of it")
        .advise(
            "state the round trip (connect time) beside the latency, and compare clients at one place only",
        );
}

/// At one user the rate is the inverse of the latency: such rows compare paths.
pub fn one_user_compared(documents: &[Document], out: &mut Out) {
    let mut groups = by_variant(&rows(documents));
    groups.retain(|(_, g)| g.first().is_some_and(|s| s.users() == Some(1.0) && s.row.table.is_some()));
    // A page compares a few; thousands of variants are a file of data.
    groups.truncate(100);
    for (i, (_, a)) in groups.iter().enumerate() {
        for (_, b) in &groups[i + 1..] {
            let (Some(one), Some(other)) = (a.first(), b.first()) else { continue };
            if one.row.table.is_none()
                || one.row.table != other.row.table
                || one.document.name != other.document.name
            {
                continue;
            }
            let single = one.users() == Some(1.0) && other.users() == Some(1.0);
            let (Some(xa), Some(xb)) = (one.get(Measure::Rate), other.get(Measure::Rate)) else { continue };
            let rate_at = |group: &[Seen], users: f64| {
                group.iter().find(|s| s.users() == Some(users)).and_then(|s| s.get(Measure::Rate))
            };
            let differ = a.iter().filter_map(|s| Some((s.get(Measure::Rate)?, rate_at(b, s.users()?)?)));
            let higher = differ.filter(|(x, y)| spread(&[*x, *y]).is_some_and(|s| s > 1.1)).count();
            if !single || higher == 0 || spread(&[xa, xb]).is_none_or(|s| s > 1.05) {
                continue;
            }
            out.say(
                Possible,
                format!(
                    "at one user {} and {} cannot be told apart: the path sets the \
                 rate",
                    one.name(),
                    other.name()
                ),
            )
            .line(format!("{}: 1 / {}/s = {} a request", one.name(), num(xa), time(1.0 / xa)))
            .line(format!("{}: 1 / {}/s = {} a request", other.name(), num(xb), time(1.0 / xb)))
            .figures(one.document, one.row, &[Measure::Rate])
            .figures(other.document, other.row, &[Measure::Rate])
            .explained(
                "with one user the rate is 1 / (round trip + service time), and the round \
                     trip is the larger part",
            )
            .advise("compare at loads where the servers work, or state the time in the server");
        }
    }
}
