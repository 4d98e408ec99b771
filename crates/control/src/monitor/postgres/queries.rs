//! Queries of each sample. Every statement contains the comment by which it is excluded from its own results.

use super::Say;
use crate::monitor::counters::Counters;
use plimsoll_plan::watch::Unit;
use std::collections::BTreeSet;
use tokio_postgres::{Client, Error, Row};

/// Backends that serve a client. Without permission to see others' (`pg_monitor`), their type and state are NULL, and
/// only clients have both a user and a database.
const CLIENTS: &str = "(backend_type = 'client backend' OR (backend_type IS NULL AND usesysid IS NOT NULL \
                       AND datid IS NOT NULL))";

/// Reported from the first sample, so that their curves begin with the run.
const STATES: [&str; 3] = ["active", "idle", "idle in transaction"];

/// Counters of `pg_stat_database` with their names here.
const COUNTERS: [(&str, &str, Unit); 10] = [
    ("xact_commit", "commits", Unit::PerS),
    ("xact_rollback", "rollbacks", Unit::PerS),
    ("tup_returned", "rows_returned", Unit::PerS),
    ("tup_fetched", "rows_fetched", Unit::PerS),
    ("tup_inserted", "rows_inserted", Unit::PerS),
    ("tup_updated", "rows_updated", Unit::PerS),
    ("tup_deleted", "rows_deleted", Unit::PerS),
    ("deadlocks", "deadlocks", Unit::PerS),
    ("temp_files", "temp_files", Unit::PerS),
    ("temp_bytes", "temp_bytes", Unit::BytesPerS),
];

/// Read for each connection and every ten seconds, because some can change while the server runs.
const FACTS: [&str; 6] =
    ["server_version", "max_connections", "shared_buffers", "work_mem", "synchronous_commit", "fsync"];

/// Reads connections by state, waiting connections by event type, the oldest transaction, and locks not granted.
pub async fn activity(
    client: &Client,
    say: &mut Say,
    parts: &mut BTreeSet<(&'static str, String)>,
) -> Result<(), Error> {
    // Connections reserved for superusers are unavailable to others. Version 16 added a second reserve.
    let whole = "SELECT /* plimsoll */ count(*)::float8, current_setting('max_connections')::float8 \
                 - current_setting('superuser_reserved_connections')::float8 \
                 - coalesce(current_setting('reserved_connections', true)::float8, 0), \
                 coalesce(extract(epoch FROM max(clock_timestamp() - xact_start) \
                 FILTER (WHERE pid <> pg_backend_pid())), 0)::float8, \
                 (SELECT count(*) FROM pg_locks WHERE NOT granted)::float8 FROM pg_stat_activity WHERE ";
    let Some(row) = one(client, &format!("{whole}{CLIENTS}")).await? else { return Ok(()) };
    say.reading("", "connections", Unit::Count, Some(row.get(1)), row.get(0));
    say.reading("", "longest_transaction", Unit::Seconds, None, row.get::<_, f64>(2).max(0.0));
    say.reading("", "locks_waiting", Unit::Count, None, row.get(3));
    let text = format!(
        "SELECT /* plimsoll */ coalesce(state, 'not visible'), \
         CASE WHEN state = 'active' THEN wait_event_type END, count(*)::float8 FROM pg_stat_activity \
         WHERE {CLIENTS} AND pid <> pg_backend_pid() GROUP BY 1, 2"
    );
    let mut now: Vec<(&'static str, String, f64)> = Vec::new();
    for row in all(client, &text).await? {
        let (state, wait, count) = (row.get(0), row.get::<_, Option<String>>(1), row.get(2));
        now.push(("connections", state, count));
        now.extend(wait.map(|wait| ("waiting", wait, count)));
    }
    parts.extend(STATES.map(|state| ("connections", state.to_owned())));
    parts.extend(now.iter().map(|(metric, part, _)| (*metric, part.clone())));
    for (metric, part) in parts.iter() {
        let of_it = now.iter().filter(|(m, p, _)| m == metric && p == part);
        // Not `sum`, whose result for nothing is -0.
        let count = of_it.fold(0.0, |sum, (.., count)| sum + count);
        say.reading(part, metric, Unit::Count, None, count);
    }
    Ok(())
}

/// Reads the counters of the connected database.
pub async fn database(client: &Client, say: &mut Say, counters: &mut Counters) -> Result<(), Error> {
    let columns: Vec<String> = COUNTERS.iter().map(|(theirs, ..)| format!("{theirs}::float8")).collect();
    let text = format!(
        "SELECT /* plimsoll */ {}, blks_hit::float8, blks_read::float8, \
         coalesce(extract(epoch FROM stats_reset), 0)::text || datid::text \
         FROM pg_stat_database WHERE datname = current_database()",
        columns.join(", ")
    );
    let Some(row) = one(client, &text).await? else { return Ok(()) };
    let after = COUNTERS.len();
    // Statistics that were reset are new counters.
    let life: String = row.get(after + 2);
    for (at, (_, name, unit)) in COUNTERS.iter().enumerate() {
        if let Some(rate) = counters.rate(&format!("{name} {life}"), say.at, row.get(at)) {
            say.reading("", name, *unit, None, rate);
        }
    }
    let mut growth = |name: &str, at: usize| counters.growth(&format!("{name} {life}"), say.at, row.get(at));
    if let (Some((hit, over_s)), Some((read, _))) = (growth("hit", after), growth("read", after + 1)) {
        say.reading("", "blocks_hit", Unit::PerS, None, hit / over_s);
        say.reading("", "blocks_read", Unit::PerS, None, read / over_s);
        if hit + read > 0.0 {
            say.reading("", "cache_hit_share", Unit::Share, None, hit / (hit + read));
        }
    }
    Ok(())
}

/// Reads the checkpoints of the whole server; version 17 moved them to a separate view.
pub async fn checkpoints(
    client: &Client,
    version: i32,
    say: &mut Say,
    counters: &mut Counters,
) -> Result<(), Error> {
    let from = if version >= 170_000 {
        "num_timed::float8, num_requested::float8, buffers_written::float8, \
         current_setting('block_size')::float8 FROM pg_stat_checkpointer"
    } else {
        "checkpoints_timed::float8, checkpoints_req::float8, buffers_checkpoint::float8, \
         current_setting('block_size')::float8 FROM pg_stat_bgwriter"
    };
    let Some(row) = one(client, &format!("SELECT /* plimsoll */ {from}")).await? else { return Ok(()) };
    for (at, part) in [(0, "timed"), (1, "requested")] {
        if let Some(rate) = counters.rate(&format!("checkpoints {part}"), say.at, row.get(at)) {
            say.reading(part, "checkpoints", Unit::PerS, None, rate);
        }
    }
    let written = row.get::<_, f64>(2) * row.get::<_, f64>(3);
    if let Some(rate) = counters.rate("checkpoint_written", say.at, written) {
        say.reading("", "checkpoint_written", Unit::BytesPerS, None, rate);
    }
    Ok(())
}

/// Reads the settings and the size of the database, for which the server examines each of its files.
pub async fn seldom(client: &Client, say: &mut Say) -> Result<(), Error> {
    let settings: Vec<String> = FACTS.iter().map(|name| format!("current_setting('{name}')")).collect();
    let text = format!(
        "SELECT /* plimsoll */ pg_database_size(current_database())::float8, {}",
        settings.join(", ")
    );
    let Some(row) = one(client, &text).await? else { return Ok(()) };
    say.reading("", "database_size", Unit::Bytes, None, row.get(0));
    for (at, name) in FACTS.iter().enumerate() {
        say.fact(name, row.get::<_, String>(1 + at));
    }
    Ok(())
}

/// Returns the version number, such as 150004, which determines the available views; 0 if unknown.
pub async fn version(client: &Client) -> Result<i32, Error> {
    let row = one(client, "SELECT /* plimsoll */ current_setting('server_version_num')::int").await?;
    Ok(row.map_or(0, |row| row.get(0)))
}

async fn all(client: &Client, text: &str) -> Result<Vec<Row>, Error> {
    // Without a prepared statement: one round trip, and no session state, which a connection pooler would not keep.
    client.query_typed(text, &[]).await
}

async fn one(client: &Client, text: &str) -> Result<Option<Row>, Error> {
    Ok(all(client, text).await?.pop())
}
