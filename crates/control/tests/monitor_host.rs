//! The host monitor, checked with the kernel's files, and with recorded files of known values.

use crate::monitor_support;
use crate::monitor_support::{Folder, Servant, fact, limit, now, reading, second, value};
use plimsoll_control::monitor::{Host, Probe};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Instant;

#[test]
fn a_busy_loop_and_a_transfer_over_loopback_are_measured() {
    let mut host = Host::new(Path::new("/"));
    let mut servant = Servant::start(None, "");
    let begin = Instant::now();
    let from = now(begin);
    let first = host.look(from).unwrap();
    assert!(reading(&first, "", "cpu").is_none() && reading(&first, "lo", "net_rx").is_none());
    servant.order("burn", 0.3);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    let sink = std::thread::spawn(move || far.read_to_end(&mut Vec::new()).unwrap());
    near.write_all(&vec![0; 3_000_000]).unwrap();
    drop(near);
    sink.join().unwrap();
    let to = now(begin);
    let found = host.look(to).unwrap();
    let span_s = to.since_s(from);
    // Other processes use this machine as well, so only the bounds are known.
    assert!(value(&found, "", "cpu") * span_s >= 0.25, "{}", value(&found, "", "cpu") * span_s);
    let cpus = limit(&found, "", "cpu").unwrap();
    assert!(value(&found, "", "cpu") <= cpus * 1.2 + 0.1);
    assert!(value(&found, "lo", "net_rx") * span_s >= 3e6);
    assert!(value(&found, "lo", "net_tx_packets") > 0.0);
    assert!(value(&found, "", "tcp_accepts") * span_s >= 0.99);
    assert!(value(&found, "", "memory_used") < limit(&found, "", "memory_used").unwrap());
    assert!(value(&found, "", "context_switches") > 0.0);
    for there in ["run_queue", "load1", "tcp_established", "tcp_time_wait", "tcp_orphans"] {
        assert!(value(&found, "", there) >= 0.0);
    }
    assert_eq!(fact(&found, "cpus").unwrap().parse::<f64>().unwrap(), cpus);
}

#[test]
fn connections_that_are_never_accepted_overflow_the_queue_and_are_counted() {
    let mut host = Host::new(Path::new("/"));
    let mut servant = Servant::start(None, "");
    // A queue of one, from which nothing is accepted.
    let port = servant.order("full", 0.0) as u16;
    let begin = Instant::now();
    let from = now(begin);
    host.look(from).unwrap();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    let patience = std::time::Duration::from_millis(50);
    let tries: Vec<_> =
        (0..12).map(|_| std::thread::spawn(move || TcpStream::connect_timeout(&address, patience))).collect();
    let kept: Vec<_> = tries.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(kept.iter().any(|connection| connection.is_err()), "the queue is full");
    let to = now(begin);
    let found = host.look(to).unwrap();
    let overflows = value(&found, "", "tcp_listen_overflows") * to.since_s(from);
    assert!(overflows >= 0.99, "{overflows}");
    assert!(value(&found, "", "tcp_listen_drops") * to.since_s(from) >= overflows - 0.01);
}

/// One second of a machine with two CPUs that has been up for `n` seconds.
fn record(folder: &Folder, n: u64) {
    // Ticks: 100 user, 10 nice, 20 system, 5 irq, 5 softirq, 10 steal, 30 iowait in each second, guests within user.
    let cpu = format!("{} {} {} 9 {} {} {} {} 50 0", 100 * n, 10 * n, 20 * n, 30 * n, 5 * n, 5 * n, 10 * n);
    let rest = "procs_running 4\nprocs_blocked 2\n";
    let stat = format!("cpu  {cpu}\ncpu0 1\ncpu1 1\nctxt {}\nprocesses {}\n{rest}", 900 * n, 3 * n);
    folder.write("/proc/stat", &stat);
    folder.write("/proc/loadavg", "1.25 0.5 0.1 2/300 12345\n");
    folder.write("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 600 kB\n");
    folder.write("/proc/vmstat", &format!("pswpin {}\npswpout 0\n", 2 * n));
    let disk = |name: &str| format!("8 0 {name} {n} 0 {} 0 {n} 0 {} 0 0 {} 0\n", 8 * n, 16 * n, 700 * n);
    folder.write(
        "/proc/diskstats",
        &format!("{}{}8 1 idle 0 0 0 0 0 0 0 0 0 0 0\n", disk("sda"), disk("sda1")),
    );
    folder.write("/sys/block/sda/size", "1\n");
    folder.write("/sys/block/idle/size", "1\n");
    let lo = format!(
        "  lo: {} {n} 0 {n} 0 0 0 0 {} {n} 1 0 0 0 0 0\n eth9: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        10 * n,
        20 * n
    );
    folder.write("/proc/net/dev", &format!("Inter-| Receive\n face |bytes\n{lo}"));
    folder.write("/proc/net/snmp", &format!("Tcp: RetransSegs CurrEstab OutRsts\nTcp: {} 17 {n}\n", 4 * n));
    folder.write(
        "/proc/net/netstat",
        &format!("TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 0 {}\n", 6 * n),
    );
    folder.write("/proc/net/sockstat", "sockets: used 9\nTCP: inuse 8 orphan 3 tw 7 alloc 8 mem 171\n");
    folder.write(
        "/proc/pressure/cpu",
        &format!("some avg10=9.00 avg60=0 avg300=0 total={}\nfull total=1\n", 250_000 * n),
    );
}

#[test]
fn recorded_files_give_exactly_their_rates() {
    let folder = Folder::new();
    let mut host = Host::new(folder.path());
    record(&folder, 10);
    host.look(second(1)).unwrap();
    record(&folder, 12);
    let found = host.look(second(3)).unwrap();
    let cases = [
        ("", "cpu", 1.5),
        ("", "cpu_user", 1.1),
        ("", "cpu_system", 0.25),
        ("", "cpu_softirq", 0.05),
        ("", "cpu_steal", 0.1),
        ("", "cpu_iowait", 0.3),
        ("", "run_queue", 3.0),
        ("", "blocked", 2.0),
        ("", "context_switches", 900.0),
        ("", "forks", 3.0),
        ("", "load1", 1.25),
        ("", "memory_used", 409_600.0),
        ("", "swap_in", 8_192.0),
        ("sda", "disk_read", 4_096.0),
        ("sda", "disk_write", 8_192.0),
        ("sda", "disk_operations", 2.0),
        ("sda", "disk_busy", 0.7),
        ("lo", "net_rx", 10.0),
        ("lo", "net_tx", 20.0),
        ("lo", "net_drops", 1.0),
        ("lo", "net_errors", 0.0),
        ("", "tcp_retransmits", 4.0),
        ("", "tcp_resets_sent", 1.0),
        ("", "tcp_listen_overflows", 6.0),
        ("", "tcp_syn_cookies", 0.0),
        ("", "tcp_established", 17.0),
        ("", "tcp_orphans", 3.0),
        ("", "tcp_time_wait", 7.0),
        ("", "pressure_cpu", 0.25),
    ];
    for (part, metric, expected) in cases {
        let seen = value(&found, part, metric);
        assert!((seen - expected).abs() < 1e-9, "{part}/{metric}: {seen}, not {expected}");
    }
    assert_eq!(limit(&found, "", "cpu"), Some(2.0));
    assert_eq!(limit(&found, "sda", "disk_busy"), Some(1.0));
    // Partitions belong to their disk, idle devices are omitted, and values that the kernel lacks are not 0.
    for absent in ["sda1", "idle", "eth9"] {
        assert!(found.readings.iter().all(|reading| reading.part != absent), "{absent}");
    }
    assert!(reading(&found, "", "tcp_timeouts").is_none() && reading(&found, "", "pressure_io").is_none());
}

#[test]
fn a_counter_that_decreased_has_no_rate() {
    let folder = Folder::new();
    let mut host = Host::new(folder.path());
    record(&folder, 10);
    host.look(second(1)).unwrap();
    record(&folder, 3);
    let found = host.look(second(2)).unwrap();
    assert!(reading(&found, "", "cpu").is_none() && reading(&found, "lo", "net_rx").is_none());
    record(&folder, 4);
    assert!((value(&host.look(second(3)).unwrap(), "lo", "net_rx") - 10.0).abs() < 1e-9);
}

#[test]
fn an_unreadable_machine_is_an_error() {
    let folder = Folder::new();
    let told = monitor_support::trouble(&mut Host::new(folder.path()), second(1));
    assert_eq!(told, "cannot read `/proc/stat`");
}
