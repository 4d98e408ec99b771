//! Every line of load generator health and every caution of `findings::caution`, provoked by its real cause, and for
//! each a twin without the cause and without the caution. The cautions about client-side failures are in `faults`.
//!
//! One cause is out of reach: time stolen by the host cannot be provoked from inside a machine. What the tool reads
//! is compared with the kernel's own count, and its caution is tested by one changed number in the record of a real
//! run.

mod connections;
mod course;
mod cpu;
mod network;
mod record;
mod samples;
mod scripted;
mod sending;
mod steered;
mod used;
mod way;

use crate::help::{caution, cautions, patiently};
use crate::provoke::{Elsewhere, json};
use crate::support::{BINARY, Ruler, Tool, alone, namespace, run_alongside};
use plimsoll_analysis::caution::Kind;
use serde_json::Value;
use std::process::Command;

#[track_caller]
fn warns(said: &Value, code: &str) -> String {
    caution(said, code)["evidence"].as_str().unwrap_or("").to_owned()
}

#[track_caller]
fn silent(said: &Value, code: &str) {
    assert!(!cautions(said).contains(&code), "{code}: {}", caution(said, code));
}

/// For twins in which another program on this machine could cause the caution as well.
fn silent_enough(said: &Value, code: &str) -> Result<(), String> {
    match cautions(said).contains(&code) {
        true => Err(format!("{code}: {}", warns(said, code))),
        false => Ok(()),
    }
}

/// A body in chunks of one byte each: one write for the server, ten thousand lines to read for the client.
fn dear_to_read() -> Vec<u8> {
    let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    answer.extend(b"1\r\nx\r\n".repeat(10_000));
    answer.extend(b"0\r\n\r\n");
    answer
}

/// Returns the tool with a high CPU priority (if this user may set it), so that other programs cannot cause the
/// caution.
fn ahead_of_others(args: &[&str]) -> Tool {
    let mut command = Command::new("nice");
    command.args(["-n", "-19", BINARY]).args(args);
    Tool::of(command)
}

/// The twin of them all: a service on another machine, a modest rate, ten seconds.
#[test]
fn a_healthy_run_raises_no_caution_at_all() {
    namespace::inside("trust::a_healthy_run_raises_no_caution_at_all", "", alone, || {
        let elsewhere = Elsewhere::new("10.77.0.1/24", "10.77.0.2/24");
        let ruler = elsewhere.ruler("10.77.0.2:0");
        ruler.set("delay=50ms");
        patiently("something is said against a healthy run", || {
            // p99.9 needs 10,000 samples.
            let args = [&ruler.url("/"), "-r", "1010", "-d", "10s", "--json"];
            let said = ahead_of_others(&args).start().wait().json();
            let verdict = &said["verdict"];
            if cautions(&said).is_empty() && verdict["result"] == "PASS" {
                return Ok(());
            }
            Err(format!("{verdict}, {}", said["cautions"]))
        });
    });
}

#[test]
fn a_target_on_this_machine_is_noted() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&[]);
    let said = json(&[&ruler.url("/"), "-n", "20", "-c", "2"], 0);
    assert!(warns(&said, "same_machine").contains("127.0.0.1"));
    assert_eq!(said["environments"][0]["is_same_machine"], true);
}

/// A new caution needs a test: this list is the promise that none was forgotten.
#[test]
fn every_caution_of_the_table_has_its_test() {
    let in_faults = [
        "client_fd_limit",
        "client_ports_exhausted",
        "client_out_of_memory",
        "client_limit",
        "client_send_refused",
        "censored_by_timeouts",
        "stale_connections",
        "unexpected_bytes",
        // In `http2`.
        "requests_unprocessed",
        "stream_limit_reached",
    ];
    let here = [
        "client_stalled",
        "merged_runs_not_concurrent",
        "incomplete_record",
        "no_requests",
        "offered_rate_missed",
        "late_sends",
        "too_few_samples",
        "coordinated_omission",
        "connection_limit_reached",
        "littles_law",
        "client_cpu_saturated",
        "client_cpu_wait",
        "cpu_steal",
        "retransmits",
        "mean_above_p95",
        "merged_targets_differ",
        "same_machine",
        "censored_at_end",
        "short_run",
        "load_changed_manually",
        "stopped_early",
        "data_exhausted",
        "redirects_not_followed",
        "certificate_not_verified",
        "iterations_abandoned",
        "response_changed",
        "rows_not_written",
        "origin_refused",
        "invalid_request",
        "network_saturated",
        "syn_retransmits",
        "rtt_bound",
        "connections_not_reused",
        "connections_unfair",
        "low_ephemeral_ports",
        "backlog_grew",
        "unsteady_start",
    ];
    let in_watched = [
        "monitor_failed",
        "memory_growth",
        "listen_queue_overflow",
        "process_fd_limit",
        "cpu_throttled",
        "thundering_herd",
    ];
    // No file asks for them; see `crates/engine/tests/opened.rs`, `cli::script_reasons`, and the tests of the analysis.
    let of_programs = ["event_streams_as_responses", "too_many_series", "values_rejected"];
    let mut tested = [&in_faults[..], &here[..], &in_watched[..], &of_programs[..]].concat();
    let mut table: Vec<&str> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    tested.sort_unstable();
    table.sort_unstable();
    assert_eq!(table, tested);
}
