//! Every class of failure of `plan::fault`, provoked by its real cause and counted only under its own name and side.
//! Each has a twin: the same load without the cause, which counts 0.
//!
//! | class | cause here |
//! |---|---|
//! | fd_limit | a hard limit of 256 file descriptors |
//! | ports_exhausted | a network whose port range is 64 wide |
//! | client_out_of_memory | a memory cgroup that is full, its OOM killer off |
//! | client_send_refused | a routing rule that prohibits (EACCES) |
//! | connection_refused | the listener closes in the middle of the run |
//! | connect_timeout | a firewall that drops SYNs; a listen queue that is full |
//! | host_unreachable | a routing rule without a way |
//! | dns_failed, dns_timeout | a hosts file that changes, a silent name server (tests/scenarios/names.rs) |
//! | origin_refused | a public host without permission (crates/control/tests/found.rs) |
//! | invalid_request | a script with an invalid URL (tests/truth/trust/scripted.rs) |
//! | client_limit | a limit below its default |
//! | the others | a server that does just that |

mod client;
mod network;
mod odd_faults;
mod scripted;
mod server;

use crate::provoke::reasons;
use plimsoll_plan::Fault;
use serde_json::Value;

#[track_caller]
fn fails(said: &Value) {
    assert_eq!(said["verdict"]["result"], "FAIL");
    // If no request succeeded, the outage is a reason as well.
    let others = &reasons(said)[1..];
    assert!(others.iter().all(|rule| rule.starts_with("longest_outage")), "{}", said["verdict"]);
    assert!(reasons(said)[0].starts_with("error_rate == 0"), "{}", said["verdict"]);
}

/// A new class needs a test: this list must contain every class.
#[test]
fn every_class_of_the_table_has_its_test() {
    let tested = [
        "fd_limit",
        "ports_exhausted",
        "client_out_of_memory",
        "client_send_refused",
        "connection_refused",
        "connect_timeout",
        "host_unreachable",
        "connection_reset",
        "stale_connection",
        "closed_before_response",
        "closed_mid_response",
        "malformed_response",
        "unsafe_response",
        "timeout",
        "http_status",
        "check_failed",
        "tls_failed",
        "certificate_rejected",
        "tls_timeout",
        "stream_idle_timeout",
        "stream_failed",
        "too_many_redirects",
        "decode_failed",
        "client_limit",
        "stream_reset",
        "stream_refused",
        "protocol_changed",
        // In `websocket`.
        "websocket_handshake_failed",
        "websocket_closed",
        "message_timeout",
        // In `grpc`: `every_status_is_a_failure_of_its_own`, and responses that are not gRPC.
        "grpc_cancelled",
        "grpc_unknown",
        "grpc_invalid_argument",
        "grpc_deadline_exceeded",
        "grpc_not_found",
        "grpc_already_exists",
        "grpc_permission_denied",
        "grpc_resource_exhausted",
        "grpc_failed_precondition",
        "grpc_aborted",
        "grpc_out_of_range",
        "grpc_unimplemented",
        "grpc_internal",
        "grpc_unavailable",
        "grpc_data_loss",
        "grpc_unauthenticated",
        "grpc_no_status",
        "grpc_content_type",
        "grpc_invalid_message",
        // In `crates/script/tests/program/logins.rs`: `errors_in_a_graphql_response_have_their_own_name`.
        "graphql_errors",
        // In `tests/truth/routes.rs`.
        "proxy_refused",
        "proxy_credentials",
        "proxy_failed",
        "proxy_timeout",
        "accept_queue_full",
        // In `tests/scenarios/names.rs`.
        "dns_failed",
        "dns_timeout",
        // In `crates/control/tests/found.rs`.
        "origin_refused",
        // In `tests/truth/trust/scripted.rs`.
        "invalid_request",
    ];
    let table: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    assert_eq!(table, tested);
}
