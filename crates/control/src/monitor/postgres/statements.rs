//! Time by statement since the start of the run, from the extension `pg_stat_statements`.

use super::Say;
use plimsoll_plan::watch::Unit;
use std::collections::HashMap;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

/// Number of statements reported per sample.
const TOP: usize = 5;

/// Maximum number of statements. Once reported, a statement stays, so that its curve has no gaps; beyond this, the
/// least one is dropped.
const MOST: usize = 10;

/// Maximum length of a statement in a report, characters.
const SHOWN: usize = 60;

#[derive(Default)]
pub struct Statements {
    /// Schema of its functions, if the extension is installed.
    schema: Option<String>,
    why_not: String,
    /// Counts at the first sample; a statement not among them has started since.
    begin: Option<HashMap<Key, Count>>,
    /// Counts at the previous sample.
    before: HashMap<Key, Count>,
    before_at_s: f64,
    /// Reported statements, in order of appearance.
    told: Vec<(Key, String)>,
    texts: HashMap<Key, Text>,
}

/// User and statement; the same text of another user counts separately.
type Key = (u32, i64);

#[derive(Clone, Copy, Default)]
struct Count {
    calls: f64,
    time_ms: f64,
}

enum Text {
    Shown(String),
    /// A query of a monitor.
    Own,
}

impl Statements {
    /// Adds readings, or a fact that explains why there are none.
    pub async fn look(&mut self, client: &Client, say: &mut Say, seldom: bool) -> Result<(), Error> {
        if seldom {
            self.find(client).await?;
        }
        let Some(schema) = self.schema.clone() else {
            say.fact("pg_stat_statements", self.why_not.clone());
            return Ok(());
        };
        // Without texts, which are in a file that would be read entirely each time.
        let counts = format!(
            "SELECT /* plimsoll */ userid, queryid, sum(calls)::float8, sum(total_exec_time)::float8 \
             FROM {schema}.pg_stat_statements(false) WHERE queryid IS NOT NULL AND dbid = \
             (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY 1, 2"
        );
        let rows = match client.query_typed(&counts, &[]).await {
            Ok(rows) => rows,
            // The extension is installed but not loaded, or not visible to this user; the rest of the server can
            // still be monitored.
            Err(error) => match error.as_db_error() {
                Some(refused) => {
                    self.why_not = refused.message().to_owned();
                    self.schema = None;
                    say.fact("pg_stat_statements", self.why_not.clone());
                    return Ok(());
                }
                None => return Err(error),
            },
        };
        let now: HashMap<Key, Count> = rows
            .iter()
            .map(|row| ((row.get(0), row.get(1)), Count { calls: row.get(2), time_ms: row.get(3) }))
            .collect();
        say.fact("pg_stat_statements", "installed");
        if self.begin.is_none() {
            self.begin = Some(now.clone());
        } else {
            self.choose(client, &schema, &now).await?;
            self.tell(say, &now);
        }
        self.before = now;
        self.before_at_s = say.at.now_ns as f64 / 1e9;
        Ok(())
    }

    async fn find(&mut self, client: &Client) -> Result<(), Error> {
        let text = "SELECT /* plimsoll */ extnamespace::regnamespace::text FROM pg_extension \
                    WHERE extname = 'pg_stat_statements'";
        self.schema = client.query_typed(text, &[]).await?.first().map(|row| row.get(0));
        self.why_not = "not installed".into();
        Ok(())
    }

    /// Adds the statements that took the most time since the first sample to the reported ones.
    async fn choose(
        &mut self,
        client: &Client,
        schema: &str,
        now: &HashMap<Key, Count>,
    ) -> Result<(), Error> {
        let begin = self.begin.as_ref();
        let since = |(key, count): (&Key, &Count)| {
            let begun = begin.and_then(|begin| begin.get(key)).copied().unwrap_or_default();
            (*key, count.since(begun).time_ms)
        };
        let mut order: Vec<(Key, f64)> =
            now.iter().map(since).filter(|(_, time_ms)| *time_ms > 0.0).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut top = 0;
        for (key, _) in &order {
            if top == TOP {
                break;
            }
            if !self.texts.contains_key(key) {
                self.read_text(client, schema, *key).await?;
            }
            if let Some(Text::Shown(text)) = self.texts.get(key) {
                top += 1;
                if self.told.iter().all(|(told, _)| told != key) {
                    // Two long statements may begin alike.
                    let twin = self.told.iter().any(|(_, part)| part == text);
                    let part = if twin { format!("{text} [{}]", key.1) } else { text.clone() };
                    self.told.push((*key, part));
                }
            }
        }
        // Never drops one of the top statements, of which there are fewer than may stay.
        while self.told.len() > MOST {
            let place =
                |(key, _): &(Key, String)| order.iter().position(|(k, _)| k == key).unwrap_or(usize::MAX);
            let Some(least) = (0..self.told.len()).max_by_key(|at| place(&self.told[*at])) else { break };
            self.told.remove(least);
        }
        Ok(())
    }

    async fn read_text(&mut self, client: &Client, schema: &str, key: Key) -> Result<(), Error> {
        let text = format!(
            "SELECT /* plimsoll */ query FROM {schema}.pg_stat_statements(true) \
             WHERE userid = $1 AND queryid = $2 LIMIT 1"
        );
        let rows = client.query_typed(&text, &[(&key.0, Type::OID), (&key.1, Type::INT8)]).await?;
        let text: String = rows.first().and_then(|row| row.get(0)).unwrap_or_default();
        let text = if text.contains("/* plimsoll */") { Text::Own } else { Text::Shown(describe(&text)) };
        self.texts.insert(key, text);
        Ok(())
    }

    fn tell(&self, say: &mut Say, now: &HashMap<Key, Count>) {
        let over_s = say.at.now_ns as f64 / 1e9 - self.before_at_s;
        let since = |key: &Key| {
            let before = self.before.get(key).copied().unwrap_or_default();
            now.get(key).copied().unwrap_or_default().since(before)
        };
        let others = now.keys().filter(|key| !matches!(self.texts.get(key), Some(Text::Own)));
        let whole_ms: f64 = others.map(|key| since(key).time_ms).sum();
        for (key, part) in &self.told {
            let Count { calls, time_ms } = since(key);
            if over_s > 0.0 {
                say.reading(part, "statement_calls", Unit::PerS, None, calls / over_s);
            }
            // Without calls there is no mean, and without time no share.
            if calls > 0.0 {
                say.reading(part, "statement_mean_time", Unit::Seconds, None, time_ms / calls / 1e3);
            }
            if whole_ms > 0.0 {
                say.reading(part, "statement_time_share", Unit::Share, None, time_ms / whole_ms);
            }
        }
    }
}

impl Count {
    /// Returns the increase, or everything if the counters were reset meanwhile.
    fn since(self, before: Count) -> Count {
        if self.calls < before.calls || self.time_ms < before.time_ms {
            return self;
        }
        Count { calls: self.calls - before.calls, time_ms: self.time_ms - before.time_ms }
    }
}

/// Returns the text on one line, without literals, shortened. The server replaces constants with `$1` only in
/// statements that it plans; of all others (`ALTER ROLE ... PASSWORD '...'`) only the first word is shown. Quoted
/// text is always removed, because an entry that is recreated while its statement runs keeps the original text.
fn describe(text: &str) -> String {
    const PLANNED: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "VALUES"];
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = line.split([' ', '(', ';']).next().unwrap_or_default().to_ascii_uppercase();
    if !PLANNED.contains(&first.as_str()) {
        let word: String = first.chars().filter(char::is_ascii_alphabetic).take(SHOWN).collect();
        return if word.is_empty() { "(no text)".into() } else { word };
    }
    let mut out = String::new();
    for (at, piece) in line.split('\'').enumerate() {
        out.push_str(if at % 2 == 0 { piece } else { "'...'" });
    }
    if out.chars().count() > SHOWN {
        out = out.chars().take(SHOWN - 3).collect::<String>() + "...";
    }
    out
}
