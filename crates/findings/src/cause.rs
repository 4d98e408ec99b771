//! Causes: why a run failed or was slow, each as a claim of a certain strength.
//!
//! A cause is [`Claim::Certain`] only where its evidence excludes the others that are known here. Otherwise it says how
//! strong it is and what would tell. `analysis` finds the evidence, `sentences` puts it into words; renderers only
//! print.

pub mod evidence;
mod sentences;

pub use evidence::Evidence;
pub use sentences::{instant, span};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// How far the evidence goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The evidence excludes the other causes.
    Certain,
    /// Another cause would fit less well.
    Likely,
    /// Another cause fits as well.
    Possible,
}

/// A cause, and what speaks for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    pub kind: Kind,
    pub certainty: Claim,
    /// The numbers that speak for it.
    pub evidence: Evidence,
}

macro_rules! causes {
    ($($kind:ident = $code:literal, $what:literal, $tell:literal, $advice:literal;)*) => {
        /// The table of causes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind { $(#[doc = $what] $kind,)* }

        impl Kind {
            /// All of them.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// The stable name in JSON and documents.
            pub const fn code(self) -> &'static str { match self { $(Kind::$kind => $code,)* } }

            /// Returns one clause.
            pub const fn sentence(self) -> &'static str { match self { $(Kind::$kind => $what,)* } }

            const fn confirmation(self) -> &'static str { match self { $(Kind::$kind => $tell,)* } }

            /// Returns what to do about it, unless the numbers suggest something better.
            pub const fn advice(self) -> &'static str { match self { $(Kind::$kind => $advice,)* } }
        }
    };
}

causes! {
    GeneratorLimit = "generator_limit", "the load generator reached a limit of its machine",
        "run `plimsoll doctor` on the load generator",
        "raise the limit on the load generator (`plimsoll doctor` shows how), then rerun";
    ServiceOutage = "service_outage", "the service stopped responding",
        "check the server's log and exit status at that time",
        "check the server's log and exit status at that time";
    FailingRequest = "failing_request", "only one request fails",
        "send this request by hand",
        "send this request by hand, and read the server's log for it";
    RateLimited = "rate_limited", "the server limits the rate (status 429)",
        "compare its rate limit with the load",
        "raise the server's rate limit, or lower the load";
    CredentialsRejected = "credentials_rejected", "the server rejects the credentials",
        "send the request by hand with the same credentials",
        "check the credentials that the requests send";
    NotFound = "not_found", "the server does not know the path (status 404)",
        "request the path by hand",
        "check the paths of the requests";
    RequestRejected = "request_rejected", "the server rejects the request",
        "read the body of a failed response",
        "check what the requests send";
    CheckFailed = "check_failed", "responses differ from what a check expects",
        "compare a failed response with the check",
        "compare a failed response with what the check expects";
    ScriptThrows = "script_throws", "iterations of the script throw exceptions",
        "read the first exception that the run printed, with its file and line",
        "fix the first exception that the run printed, with its file and line";
    InvalidResponses = "invalid_responses", "responses break the rules of HTTP",
        "look at one response with `curl -v`",
        "look at one response with `curl -v`, and fix how the server or its proxy frames responses";
    TruncatedResponses = "truncated_responses", "the server closes connections in the middle of responses",
        "capture one such connection on the server (`tcpdump`)",
        "check the logs of the server and its proxy for the reason";
    TlsFailed = "tls_failed", "the TLS handshake fails",
        "try `openssl s_client -connect HOST:PORT`",
        "check certificate and TLS versions of the target";
    StreamsReset = "streams_reset", "the server resets or refuses HTTP/2 streams",
        "read the server's log for its reason (such as `ENHANCE_YOUR_CALM` or a limit of streams)",
        "read the server's log for its reason, and compare its limit of streams with the load";
    IdleTimeout = "idle_timeout", "the server's idle timeout closes connections as requests arrive",
        "compare the server's idle timeout with the idle times",
        "keep idle connections open on the server for longer than its clients pause";
    ConnectionLimit = "connection_limit", "the server accepts only a limited number of connections",
        "rerun with as many users as connections were served",
        "raise the server's connection limit, or use fewer connections";
    ThreadSaturated = "thread_saturated", "one thread of the service is saturated",
        "profile the thread",
        "profile what this thread computes; more CPUs do not help a single thread";
    ResourceSaturated = "resource_saturated", "a resource of the service is saturated",
        "raise its limit and rerun",
        "raise its limit, or lower its load";
    ListenQueueFull = "listen_queue_full", "the server's listen queue is full",
        "count drops on the server during a run (`nstat -az TcpExtListenDrops`)",
        "raise the server's backlog and `net.core.somaxconn`, and check that it accepts while it works";
    UpstreamFailed = "upstream_failed", "a proxy reports that its upstream failed",
        "read the proxy's error log",
        "check the proxy's error log, and its upstream";
    ServerOverloaded = "server_overloaded", "the server rejects requests (status 503)",
        "check whether fewer users get fewer 503 responses",
        "check the server's queue and its workers, and the log of any proxy in front of it";
    ServerErrors = "server_errors", "the server fails to process requests",
        "read the server's log for the first such response",
        "check the server's log for the first such response, and fix its cause";
    ConnectionsClosed = "connections_closed", "the server closes connections instead of responding",
        "check the logs of the server and its proxy for the reason",
        "check the logs of the server and its proxy for the reason";
    ConnectionsRefused = "connections_refused", "some connections are refused because nothing listens",
        "check on the server which addresses listen (`ss -ltn`), and when it restarted",
        "check on the server which addresses listen (`ss -ltn`), and when it restarted";
    HostUnreachable = "host_unreachable", "the target cannot be reached",
        "check address, route, and firewall",
        "check address, route, and firewall of the target";
    NoResponse = "no_response", "the server accepts requests and does not finish the responses",
        "check in the server's log what such a request waits for",
        "check in the server's log or monitors what such a request waits for";
    ServiceStalls = "service_stalls", "the whole service pauses",
        "search the server's log for garbage collection, checkpoints, locks, and timers",
        "find what pauses the server: garbage collection, a checkpoint, a lock, or a timer";
    SlowRequest = "slow_request", "only one request is slow",
        "profile this request",
        "profile what the server does for this request";
    SlowBodies = "slow_bodies", "the server sends response bodies slowly",
        "download one body on the server itself",
        "find what the server waits for while it writes a body; check buffers and compression";
    BimodalLatency = "bimodal_latency", "responses have two speeds",
        "compare a fast and a slow response: which instance, cache, or data served them",
        "compare a fast and a slow response: a cache that misses, one slow instance, or a lock";
    ClientConnectionLimit = "client_connection_limit", "arrivals wait for one of the load generator's own connections",
        "rerun with a higher `--max-connections`",
        "raise `--max-connections`, unless real clients share as few connections";
    TooFewUsers = "too_few_users", "the scenarios of the script have too few users for their arrivals",
        "rerun with a higher `preAllocatedVUs`: the dropped arrivals start iterations",
        "raise `preAllocatedVUs` (and `maxVUs`) of the scenarios, or lower their rate";
    OverCapacity = "over_capacity", "the offered load exceeds the capacity of the service",
        "rerun at a lower rate: the response times fall back",
        "find the highest rate that passes with `plimsoll find`, or lower the rate";
    ConnectionsNotReused = "connections_not_reused", "the server closes connections after a few requests",
        "look at the `Connection` header of a response",
        "keep connections open on the server for more requests";
    Queueing = "queueing", "requests queue in the server",
        "rerun with half the users: the response time halves and the rate stays",
        "rerun with half the users: if the rate stays, the server has too few workers for this load";
    ServerProcessing = "server_processing", "the server takes most of the time before the first byte",
        "monitor the server in the next run (`--monitor process=:PORT` on its machine)",
        "find what the server does or waits for before it responds";
    PacketLoss = "packet_loss", "the network loses packets",
        "compare the counters of both ends (`nstat -az TcpRetransSegs`, `ip -s link`)",
        "look for packet loss on the way to the target";
    MemoryLeak = "memory_leak", "the service retains memory for each request",
        "run longer: a leak continues, but a cache that fills up does not",
        "take a heap profile of the service before and after such a run";
}

impl Kind {
    /// Returns a cause of this kind with this evidence.
    pub fn claim(self, claim: Claim, evidence: Evidence) -> Cause {
        Cause { kind: self, certainty: claim, evidence }
    }
}

impl Cause {
    /// Stable: `rate_limited`.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// One clause, as it would be said if it were certain.
    pub fn sentence(&self) -> String {
        sentences::sentence(self.kind, &self.evidence)
    }

    /// The numbers that speak for it, as one fragment.
    pub fn evidence_text(&self) -> String {
        sentences::text(self.kind, &self.evidence)
    }

    /// What would make it certain or rule it out, as an imperative; empty for a certain cause.
    pub fn confirmation(&self) -> &'static str {
        match self.certainty {
            Claim::Certain => "",
            Claim::Likely | Claim::Possible => sentences::confirmation(self.kind, &self.evidence),
        }
    }

    /// What to do about it, as an imperative.
    pub fn advice(&self) -> &'static str {
        sentences::advice(self.kind, &self.evidence)
    }

    /// Whether it is this one.
    pub fn is(&self, kind: Kind) -> bool {
        self.kind == kind
    }
}

/// Its texts, and its numbers as `figures`.
impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Cause", 7)?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("certainty", &self.certainty)?;
        fields.serialize_field("sentence", &self.sentence())?;
        fields.serialize_field("evidence", &self.evidence_text())?;
        fields.serialize_field("confirmation", self.confirmation())?;
        fields.serialize_field("advice", self.advice())?;
        fields.serialize_field("figures", &self.evidence)?;
        fields.end()
    }
}
