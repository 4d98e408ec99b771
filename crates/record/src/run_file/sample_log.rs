//! Writes monitor samples to the file and reads them back. Samples wait for the next tick, so that a second of all
//! monitors is one transaction; none of them stays in memory. The body of a sample consists of pairs: the channel's
//! number as a [`varint`], then the value as eight bytes, little-endian. Eighty channels take 720 bytes per second.

use super::reader::Bad;
use super::rows::json;
use super::schema::{WATCHED_BYTES, WATCHED_TABLES, tick_id};
use super::sums::{self, Sums};
use crate::event::{Fact, MissedSample, MonitorSample};
use crate::record::{Channel, Watched};
use plimsoll_plan::watch::Unit;
use plimsoll_stats::varint;
use rusqlite::{Connection, OptionalExtension, Result};
use std::collections::BTreeMap;

/// Number of waiting samples that are written before the next tick, because a run of one request may have ticks far
/// apart.
const WAITING_MOST: usize = 256;
/// Upper bound for a row of `channel`, `fact`, or `lapse`, without its texts.
const ROW_BYTES: usize = 64;

/// Samples that the file does not have yet.
#[derive(Default)]
pub struct SampleLog {
    /// Time of each channel's last value.
    last_ns: Vec<Option<u64>>,
    waiting: Vec<(u64, Vec<u8>)>,
    /// Limits in the file, by channel; later channels are not in the file.
    stored: Vec<Option<f64>>,
    facts: Vec<Fact>,
    lapses: usize,
    lapsed: u64,
    /// Number of the next row.
    next: u32,
    /// Whether the tables exist.
    made: bool,
    /// First and last sample that could not be written.
    lost_ns: Option<(u64, u64)>,
}

impl SampleLog {
    /// Takes a sample; its points are not added to `watched`.
    pub fn take(&mut self, watched: &mut Watched, sight: &MonitorSample) {
        let mut body = Vec::new();
        for reading in sight.readings.iter().filter(|reading| reading.value.is_finite()) {
            let Some(at) = watched.channel(sight.monitor, reading) else { continue };
            if self.last_ns.len() <= at {
                self.last_ns.resize(at + 1, None);
            }
            if self.last_ns[at].is_none_or(|last_ns| last_ns < sight.at_ns) {
                self.last_ns[at] = Some(sight.at_ns);
                put_pair(&mut body, at, reading.value);
            }
        }
        if !body.is_empty() {
            self.waiting.push((sight.at_ns, body));
        }
    }

    /// Returns whether enough samples wait to be written before the next tick.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_MOST
    }

    /// Returns the bytes that [`SampleLog::put`] would write, or `None` if the file is up to date.
    pub fn due_bytes(&self, watched: &Watched) -> Option<usize> {
        let bodies: usize = self.waiting.iter().map(|(_, body)| body.len() + ROW_BYTES).sum();
        let channels = self.changed(watched).map(|(_, c)| c.part.len() + c.metric.len() + ROW_BYTES);
        let mut bytes = bodies + channels.sum::<usize>();
        if self.facts != watched.facts {
            bytes += watched.facts.iter().map(|f| f.name.len() + f.value.len() + ROW_BYTES).sum::<usize>();
        }
        if self.lapsed != watched.lapsed.values().sum::<u64>() {
            let fresh = watched.lapses.iter().skip(self.lapses);
            bytes += ROW_BYTES + fresh.map(|l| l.why.len() + ROW_BYTES).sum::<usize>();
        }
        (bytes > 0).then(|| bytes + if self.made { 0 } else { WATCHED_BYTES })
    }

    /// Writes everything that the file does not have yet.
    pub fn put(&self, db: &Connection, at: i64, watched: &Watched) -> Result<()> {
        if !self.made {
            db.execute_batch(WATCHED_TABLES)?;
        }
        for (number, channel) in self.changed(watched) {
            put_channel(db, tick_id(at, number as u32), channel)?;
        }
        put_sights(db, at, self.next, self.waiting.iter().map(|(at_ns, body)| (*at_ns, body.as_slice())))?;
        if self.facts != watched.facts {
            put_facts(db, at, &watched.facts)?;
        }
        put_lapses(db, at, watched, self.lapses)
    }

    /// Notes that everything was committed.
    pub fn written(&mut self, watched: &Watched) {
        self.made = true;
        self.next = self.next.saturating_add(self.waiting.len() as u32);
        self.waiting.clear();
        self.stored = watched.channels.iter().map(|channel| channel.limit).collect();
        self.facts.clone_from(&watched.facts);
        self.lapses = watched.lapses.len();
        self.lapsed = watched.lapsed.values().sum();
    }

    /// Drops the waiting samples, for which there is no room, to be reported at the end. Everything else is tried
    /// again.
    pub fn lose(&mut self) {
        let times = self.waiting.iter().map(|(at_ns, _)| *at_ns);
        for at_ns in times {
            let (first, _) = self.lost_ns.unwrap_or((at_ns, at_ns));
            self.lost_ns = Some((first, at_ns));
        }
        self.waiting.clear();
    }

    /// Returns the sentence for the timeline.
    pub fn lost(&self) -> Option<(u64, String)> {
        let (first_ns, last_ns) = self.lost_ns?;
        let [from_s, to_s] = [first_ns, last_ns].map(|ns| (ns as f64 / 1e8).round() / 10.0);
        let text =
            format!("samples of monitors between {from_s} s and {to_s} s are missing: the disk was full");
        Some((first_ns, text))
    }

    fn changed<'a>(&'a self, watched: &'a Watched) -> impl Iterator<Item = (usize, &'a Channel)> {
        let is_new = |(at, channel): &(usize, &Channel)| self.stored.get(*at) != Some(&channel.limit);
        watched.channels.iter().enumerate().filter(is_new)
    }
}

/// Writes everything of a complete record, including its points.
pub fn put_all(db: &Connection, at: i64, watched: &Watched) -> Result<()> {
    if *watched == Watched::default() {
        return Ok(());
    }
    db.execute_batch(WATCHED_TABLES)?;
    let mut bodies: BTreeMap<(u64, u32), Vec<u8>> = BTreeMap::new();
    for (number, channel) in watched.channels.iter().enumerate() {
        put_channel(db, tick_id(at, number as u32), channel)?;
        for (at_ns, value) in &channel.points {
            put_pair(bodies.entry((*at_ns, channel.monitor)).or_default(), number, *value);
        }
    }
    put_sights(db, at, 0, bodies.iter().map(|((at_ns, _), body)| (*at_ns, body.as_slice())))?;
    put_facts(db, at, &watched.facts)?;
    put_lapses(db, at, watched, 0)
}

fn put_channel(db: &Connection, id: i64, channel: &Channel) -> Result<()> {
    let Channel { monitor, part, metric, unit, limit, .. } = channel;
    sums::CHANNEL.put(db)?.row(&[&id, monitor, part, metric, &json(unit)?, limit])
}

fn put_sights<'a>(
    db: &Connection,
    at: i64,
    first: u32,
    sights: impl Iterator<Item = (u64, &'a [u8])>,
) -> Result<()> {
    let mut put = sums::SIGHT.put(db)?;
    for (number, (at_ns, body)) in (first..).zip(sights) {
        put.row(&[&tick_id(at, number), &(at_ns as i64), &body])?;
    }
    Ok(())
}

/// Writes all facts, because their values change.
fn put_facts(db: &Connection, at: i64, facts: &[Fact]) -> Result<()> {
    let mut put = sums::FACT.put(db)?;
    for (number, fact) in (0..).zip(facts) {
        put.row(&[&tick_id(at, number), &fact.monitor, &fact.name, &fact.value])?;
    }
    Ok(())
}

fn put_lapses(db: &Connection, at: i64, watched: &Watched, stored: usize) -> Result<()> {
    let mut put = sums::LAPSE.put(db)?;
    for (number, lapse) in (0..).zip(&watched.lapses).skip(stored) {
        put.row(&[&tick_id(at, number), &lapse.monitor, &(lapse.at_ns as i64), &lapse.why])?;
    }
    let mut put = sums::LAPSED.put(db)?;
    for (monitor, count) in &watched.lapsed {
        put.row(&[&at, monitor, &(*count as i64)])?;
    }
    Ok(())
}

/// Reads the monitor data of one origin.
pub fn read(db: &Connection, sums: &Sums<'_>, at: i64) -> std::result::Result<Watched, Bad> {
    let (mut watched, _) = after(db, sums, at, tick_id(at, 0))?;
    if !is_there(db)? {
        return Ok(watched);
    }
    let range = (tick_id(at, 0), tick_id(at, u32::MAX));
    let mut all = sums.select(&sums::FACT, "WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query(range)?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::FACT, row)?;
        watched.facts.push(Fact { monitor: row.get(1)?, name: row.get(2)?, value: row.get(3)? });
    }
    let mut all = sums.select(&sums::LAPSE, "WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query(range)?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::LAPSE, row)?;
        let at_ns = row.get::<_, i64>(2)? as u64;
        watched.lapses.push(MissedSample { monitor: row.get(1)?, at_ns, why: row.get(3)? });
    }
    let mut all = sums.select(&sums::LAPSED, "WHERE origin = ?1")?;
    let mut rows = all.query([at])?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::LAPSED, row)?;
        watched.lapsed.insert(row.get(1)?, row.get::<_, i64>(2)? as u64);
    }
    Ok(watched)
}

/// Returns whether the tables exist; a run without monitors lacks them.
fn is_there(db: &Connection) -> Result<bool> {
    let known = "SELECT 1 FROM sqlite_schema WHERE name = 'channel'";
    Ok(db.query_row(known, (), |_| Ok(())).optional()?.is_some())
}

/// Returns the channels with their points from sample id `from` on, and the id of the last sample.
pub fn after(
    db: &Connection,
    sums: &Sums<'_>,
    at: i64,
    from: i64,
) -> std::result::Result<(Watched, Option<i64>), Bad> {
    let mut watched = Watched::default();
    if !is_there(db)? {
        return Ok((watched, None));
    }
    let range = (tick_id(at, 0), tick_id(at, u32::MAX));
    let mut all = sums.select(&sums::CHANNEL, "WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query(range)?;
    while let Some(row) = rows.next()? {
        sums.see(&sums::CHANNEL, row)?;
        let unit: String = row.get(4)?;
        let Ok(unit) = serde_json::from_str::<Unit>(&unit) else {
            return Err(Bad::Content(format!("unknown unit `{unit}` of a monitor")));
        };
        if row.get::<_, i64>(0)? != tick_id(at, watched.channels.len() as u32) {
            return Err(Bad::Content("a monitor's channel is missing".into()));
        }
        watched.channels.push(Channel {
            monitor: row.get(1)?,
            part: row.get(2)?,
            metric: row.get(3)?,
            unit,
            limit: row.get::<_, Option<f64>>(5)?.filter(|x| x.is_finite()),
            points: Vec::new(),
        });
    }
    let mut all = sums.select(&sums::SIGHT, "WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = all.query((from, range.1))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        sums.see(&sums::SIGHT, row)?;
        last = Some(row.get(0)?);
        let at_ns = row.get::<_, i64>(1)? as u64;
        let body = row.get_ref(2)?;
        let taken = body.as_blob().ok().and_then(|body| take_pairs(&mut watched.channels, at_ns, body));
        if taken.is_none() {
            return Err(Bad::Content("a monitor's sample is unreadable".into()));
        }
    }
    Ok((watched, last))
}

fn put_pair(body: &mut Vec<u8>, channel: usize, value: f64) {
    varint::put(body, channel as u128);
    body.extend(value.to_le_bytes());
}

fn take_pairs(channels: &mut [Channel], at_ns: u64, mut body: &[u8]) -> Option<()> {
    while !body.is_empty() {
        let channel = usize::try_from(varint::take_u64(&mut body).ok()?).ok()?;
        let (value, rest) = body.split_first_chunk::<8>()?;
        body = rest;
        let value = Some(f64::from_le_bytes(*value)).filter(|value| value.is_finite())?;
        let points = &mut channels.get_mut(channel)?.points;
        points.last().is_none_or(|(last_ns, _)| *last_ns < at_ns).then_some(())?;
        points.push((at_ns, value));
    }
    Some(())
}
