//! Monitor of this machine: resources used by all its programs, and packets dropped by its network. TCP metrics cover
//! the network namespace of this program.

mod devices;

use super::files::{Files, field};
use super::previous_counters::{Page, PreviousCounters, short};
use super::probe::{Found, Moment, MonitorError, Probe};
use super::process::cpus_online;
use devices::Devices;
use plimsoll_engine::machine;
use plimsoll_plan::phrase::bytes_f64;
use plimsoll_plan::watch::Unit;
use std::path::Path;

/// Reads one `/proc` and `/sys`.
pub struct Host {
    files: Files,
    previous: PreviousCounters,
    disks: Devices,
    interfaces: Devices,
    ticks_per_s: f64,
    page_bytes: f64,
}

impl Host {
    /// Creates the probe. `root` contains `proc` and `sys`: `/`, or a recorded tree.
    pub fn new(root: &Path) -> Host {
        let files = Files::new(root);
        let (ticks_per_s, page_bytes) = files.ticks_and_page();
        let (disks, interfaces) = (Devices::default(), Devices::default());
        Host { files, previous: PreviousCounters::default(), disks, interfaces, ticks_per_s, page_bytes }
    }
}

impl Probe for Host {
    fn look(&mut self, at: Moment) -> Result<Found, MonitorError> {
        let mut page = PreviousCounters::page(at);
        let cpus = f64::from(cpus_online(&mut self.files));
        let stat = self
            .files
            .text("/proc/stat")
            .ok_or_else(|| MonitorError("cannot read `/proc/stat`".to_owned()))?;
        cpu(stat, &mut page, cpus, self.ticks_per_s);
        let load = self.files.text("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok());
        if let Some(load) = load {
            page.gauge("", "load1", Unit::Count, None, load);
        }
        let memory_bytes = memory(&mut self.files, &mut page, self.page_bytes);
        self.disks.disks(&mut self.files, &mut page);
        self.interfaces.interfaces(&mut self.files, &mut page);
        tcp(&mut self.files, &mut page);
        pressure(&mut self.files, &mut page, |what| format!("/proc/pressure/{what}"));
        let facts = vec![
            ("host".to_owned(), machine::host()),
            ("kernel".to_owned(), machine::kernel()),
            ("cpu".to_owned(), machine::cpu_model()),
            ("cpus".to_owned(), short(cpus)),
            ("memory".to_owned(), bytes_f64(memory_bytes)),
        ];
        Ok(Found { readings: self.previous.take(page), facts })
    }
}

fn cpu(stat: &str, page: &mut Page, cpus: f64, ticks_per_s: f64) {
    let Some(line) = stat.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
    // Columns: user nice system idle iowait irq softirq steal guest guest_nice (proc(5)); user and nice include the
    // guests.
    let mut ticks = [0.0; 8];
    for (cell, word) in ticks.iter_mut().zip(line.split_ascii_whitespace()) {
        *cell = word.parse().unwrap_or(0.0);
    }
    let [user, nice, system, _idle, iowait, irq, softirq, steal] =
        ticks.map(|ticks: f64| ticks / ticks_per_s);
    // CPU time that other virtual machines took is not available either.
    let used = user + nice + system + irq + softirq + steal;
    page.counter("", "cpu", Unit::Cores, Some(cpus), used);
    page.counter("", "cpu_user", Unit::Cores, None, user + nice);
    page.counter("", "cpu_system", Unit::Cores, None, system + irq);
    page.counter("", "cpu_softirq", Unit::Cores, None, softirq);
    page.counter("", "cpu_steal", Unit::Cores, None, steal);
    page.counter("", "cpu_iowait", Unit::Cores, None, iowait);
    if let Some(running) = field(stat, "procs_running") {
        // Excludes the thread that reads this file.
        page.gauge("", "run_queue", Unit::Count, None, (running - 1.0).max(0.0));
    }
    if let Some(blocked) = field(stat, "procs_blocked") {
        page.gauge("", "blocked", Unit::Count, None, blocked);
    }
    for (name, metric) in [("ctxt", "context_switches"), ("processes", "forks")] {
        if let Some(count) = field(stat, name) {
            page.counter("", metric, Unit::PerS, None, count);
        }
    }
}

/// Reads memory and returns its total in bytes.
fn memory(files: &mut Files, page: &mut Page, page_bytes: f64) -> f64 {
    let text = files.text("/proc/meminfo").unwrap_or_default();
    let bytes = |name| field(text, name).map(|kib| kib * 1024.0);
    let total = bytes("MemTotal").unwrap_or(0.0);
    // Memory available without swapping; caches that can be dropped do not count as used.
    if let Some(available) = bytes("MemAvailable") {
        page.gauge("", "memory_used", Unit::Bytes, Some(total), total - available);
        page.gauge("", "memory_available", Unit::Bytes, None, available);
    }
    if let Some((all, free)) = bytes("SwapTotal").zip(bytes("SwapFree")).filter(|(all, _)| *all > 0.0) {
        page.gauge("", "swap_used", Unit::Bytes, Some(all), all - free);
    }
    let text = files.text("/proc/vmstat").unwrap_or_default();
    for (name, metric) in [("pswpin", "swap_in"), ("pswpout", "swap_out")] {
        if let Some(pages) = field(text, name) {
            page.counter("", metric, Unit::BytesPerS, None, pages * page_bytes);
        }
    }
    total
}

/// TCP counters: protocol of the row, the kernel's name, and plimsoll's name.
const TCP: &[(&str, &str, &str)] = &[
    ("Tcp", "ActiveOpens", "tcp_connects"),
    ("Tcp", "PassiveOpens", "tcp_accepts"),
    ("Tcp", "AttemptFails", "tcp_failed_connects"),
    ("Tcp", "RetransSegs", "tcp_retransmits"),
    ("Tcp", "OutRsts", "tcp_resets_sent"),
    ("Tcp", "EstabResets", "tcp_connections_reset"),
    ("TcpExt", "ListenOverflows", "tcp_listen_overflows"),
    ("TcpExt", "ListenDrops", "tcp_listen_drops"),
    ("TcpExt", "TCPTimeouts", "tcp_timeouts"),
    ("TcpExt", "TCPSynRetrans", "tcp_syn_retransmits"),
    ("TcpExt", "SyncookiesSent", "tcp_syn_cookies"),
    ("TcpExt", "TCPReqQFullDrop", "tcp_syn_queue_drops"),
];

fn tcp(files: &mut Files, page: &mut Page) {
    for list in ["/proc/net/snmp", "/proc/net/netstat"] {
        let text = files.text(list).unwrap_or_default();
        for (protocol, name, metric) in TCP {
            if let Some(count) = paired(text, protocol, name) {
                page.counter("", metric, Unit::PerS, None, count);
            }
        }
        if let Some(count) = paired(text, "Tcp", "CurrEstab") {
            page.gauge("", "tcp_established", Unit::Count, None, count);
        }
    }
    let text = files.text("/proc/net/sockstat").unwrap_or_default();
    let words: Vec<&str> = text
        .lines()
        .find_map(|line| line.strip_prefix("TCP:"))
        .unwrap_or_default()
        .split_ascii_whitespace()
        .collect();
    for pair in words.chunks_exact(2) {
        let metric = match pair[0] {
            "orphan" => "tcp_orphans",
            "tw" => "tcp_time_wait",
            _ => continue,
        };
        if let Ok(count) = pair[1].parse() {
            page.gauge("", metric, Unit::Count, None, count);
        }
    }
}

/// In `snmp` and `netstat`, a line of names precedes a line of values; both begin with the protocol.
fn paired(text: &str, protocol: &str, name: &str) -> Option<f64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol)?.strip_prefix(':'));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut pairs = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
    pairs.find(|(key, _)| *key == name)?.1.parse().ok()
}

/// Share of time in which at least one task waited for the resource (pressure stall information): the increase of
/// `total`, µs. Unlike the averages next to it, it covers the time between two samples.
pub(super) fn pressure(files: &mut Files, page: &mut Page, file: impl Fn(&str) -> String) {
    for what in ["cpu", "memory", "io"] {
        let total = files.text(&file(what)).and_then(|text| {
            let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
            some.split_ascii_whitespace().find_map(|word| word.strip_prefix("total=")?.parse::<f64>().ok())
        });
        if let Some(total_us) = total {
            page.counter("", &format!("pressure_{what}"), Unit::Share, None, total_us / 1e6);
        }
    }
}
