//! Redis servers that programs of users ask for data. Their commands are not part of the load: the finder of origins
//! sends them on its own threads, subject to the target policy.

use crate::link::TlsFiles;
use crate::request::Target;
use crate::value::Secret;
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A client of one user: where it connects to, and how. Times are in ns; [`u64::MAX`] means no limit.
#[derive(Debug)]
pub struct RedisClient {
    pub target: Target,
    /// Certificates and keys instead of those of the plan.
    pub tls_files: Option<Arc<TlsFiles>>,
    pub user: Option<String>,
    pub password: Option<Secret>,
    /// The name that the server shows for its connections.
    pub name: Option<String>,
    pub database: u32,
    pub connect_timeout_ns: u64,
    /// Timeout of a command and its reply.
    pub reply_timeout_ns: u64,
    /// Most connections; each has one command at a time.
    pub connections_max: usize,
    /// How long a command waits for a connection.
    pub pool_timeout_ns: u64,
    /// How long a connection may be unused.
    pub idle_timeout_ns: u64,
    /// How long a connection is used.
    pub lifetime_ns: u64,
    /// How often a command is repeated that got no reply.
    pub retries: u32,
    /// Shortest and longest wait before that.
    pub backoff_ns: (u64, u64),
    /// The connections, which belong to the finder.
    pub pool: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// A command and the place for its reply.
#[derive(Debug)]
pub struct RedisCommand {
    pub client: Arc<RedisClient>,
    /// The server: that of the client, or what the test maps it to.
    pub target: Target,
    /// The command as sent (RESP 2).
    pub bytes: Vec<u8>,
    /// The reply as received (RESP 2), or why there is none; set before the program is resumed.
    pub reply: OnceLock<Result<Vec<u8>, String>>,
}

/// A command in a query for an origin. Each is equal only to itself.
#[derive(Debug, Clone)]
pub struct RedisQuery(pub Arc<RedisCommand>);

impl PartialEq for RedisQuery {
    fn eq(&self, other: &RedisQuery) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RedisQuery {}

impl Hash for RedisQuery {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
