//! The client's side: a limit of this machine makes a run INCONCLUSIVE and is never an error of the server.

use crate::help::{caution, count, patiently};
use crate::provoke::{
    MemoryCgroup, ROUTES_FIRST, after, faults, json, middle, no_faults, only, reasons, shell,
};
use crate::support::{BINARY, Ruler, Scratch, Tool, namespace, run_alongside};
use serde_json::Value;
use std::process::Command;

/// The limit of a plan on open files; the key is a name, not prose.
const OPEN_FILES: &str = stringify!(descriptors);

#[track_caller]
fn is_the_clients(said: &Value, class: &str, code: &str) -> u64 {
    let count_of_class = only(said, class, "client");
    assert_eq!(said["verdict"]["result"], "INCONCLUSIVE");
    assert_eq!(reasons(said), [code]);
    assert_eq!((count(said, "/totals/errors"), said["errors"].clone()), (0, serde_json::json!([])));
    assert_eq!(caution(said, code)["severity"], "inconclusive");
    // The requests that could be sent succeeded.
    assert!(count(said, "/totals/requests") > 0, "{}", said["totals"]);
    assert_eq!(count(said, "/status_codes/200"), count(said, "/totals/requests"));
    count_of_class
}

#[test]
fn a_hard_limit_of_256_files_is_a_client_failure_with_its_fix() {
    let _turn = run_alongside();
    let (ruler, scratch) = (Ruler::start(&["--delay", "5ms"]), Scratch::new());
    let run_file = scratch.path("run.plim");
    let limited = "ulimit -Sn 256; ulimit -Hn 256";
    let args = [&ruler.url("/"), "-c", "300", "-d", "2s", "--json", "--out", &run_file];
    let output = after(limited, &args).start().wait().expect_code(3);
    let said = output.json();
    is_the_clients(&said, "fd_limit", "client_fd_limit");
    let told = caution(&said, "client_fd_limit");
    assert!(told["evidence"].as_str().unwrap().contains("hard limit 256"), "{told}");
    assert!(told["advice"].as_str().unwrap().contains("`ulimit -Hn 65536`"), "{told}");
    assert_eq!(said["environments"][0]["nofile_hard"], 256);
    // The connections that got a file descriptor stayed open to the end: all 256 except for those of standard streams,
    // the run file, and the event loops.
    let opened = count(&said, "/client/connections/opened");
    assert!((216..=250).contains(&opened), "{opened} connections with 256 file descriptors");
    assert_eq!(count(&said, "/client/connections/peak"), opened);
    assert_eq!(count(&said, "/client/connections/open_at_end"), opened);
    let counters = ruler.counters();
    // One more is the trial connection before the load.
    assert_eq!(counters["accepted"], opened + 1);
    assert_eq!(counters["requests"], count(&said, "/totals/requests_sent"));
    // The run file needs file descriptors, too, and had them.
    let again = Tool::run(&["report", &run_file, "--json"]).expect_code(3);
    assert_eq!(again.stdout, output.stdout);

    let calm = after(limited, &[&ruler.url("/"), "-c", "200", "-d", "1s", "--json"]).start().wait();
    no_faults(&calm.expect_code(0).json());
}

#[test]
fn a_low_soft_limit_is_raised_to_the_hard_one_and_no_further() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let args = [&ruler.url("/"), "-c", "300", "-d", "500ms", "--json"];
    let said = after("ulimit -Sn 64; ulimit -Hn 1000", &args).start().wait().expect_code(0).json();
    no_faults(&said);
    let limit = |name: &str| said["environments"][0][name].as_u64().unwrap();
    assert_eq!((limit("nofile_soft_found"), limit("nofile_soft"), limit("nofile_hard")), (64, 1_000, 1_000));
}

#[test]
fn a_plan_may_allow_fewer_open_files_than_the_machine() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let limit = format!("{OPEN_FILES}=256");
    let args = [&ruler.url("/"), "-c", "300", "-d", "1s", "--limit", &limit];
    let said = json(&args, 3);
    is_the_clients(&said, "fd_limit", "client_fd_limit");
    let told = caution(&said, "client_fd_limit");
    assert!(told["advice"].as_str().unwrap().contains(&format!("`{OPEN_FILES}`")), "{told}");
    assert_eq!(said["environments"][0]["nofile_soft"], 256);
    assert!(said["environments"][0]["nofile_hard"].as_u64().unwrap() > 256);
}

const PORTS: &str = "echo '40000 40063' > /proc/sys/net/ipv4/ip_local_port_range";
const MANY_PORTS: &str = "echo '32768 60999' > /proc/sys/net/ipv4/ip_local_port_range";

#[test]
fn exhausted_ports_are_a_client_failure_with_its_fix() {
    namespace::inside(
        "faults::client::exhausted_ports_are_a_client_failure_with_its_fix",
        "",
        run_alongside,
        || {
            let ruler = Ruler::start(&["--delay", "5ms"]);
            let run = |connections: &str, code| {
                ruler.get("/_test-server/clear");
                shell(PORTS);
                let said = json(&[&ruler.url("/"), "-c", connections, "-d", "2s"], code);
                // The test needs a port as well to ask the ruler.
                shell(MANY_PORTS);
                assert_eq!(ruler.requests(), count(&said, "/totals/requests_sent"));
                said
            };
            let calm = run("40", 0);
            no_faults(&calm);

            let said = run("100", 3);
            is_the_clients(&said, "ports_exhausted", "client_ports_exhausted");
            let told = caution(&said, "client_ports_exhausted");
            assert!(told["evidence"].as_str().unwrap().contains("range 40000-40063, 64 ports"), "{told}");
            assert!(
                told["advice"].as_str().unwrap().contains("sysctl -w net.ipv4.ip_local_port_range"),
                "{told}"
            );
            // One or two ports are still in TIME_WAIT, from the trial connection and from the previous run.
            let opened = count(&said, "/client/connections/opened");
            assert!((20..=64).contains(&opened), "with 64 ports: {}", said["client"]["connections"]);
            assert_eq!(count(&said, "/client/connections/open_at_end"), opened);
        },
    );
}

/// An arrival that finds no port keeps its stamp and waits for another's connection; none is lost, none counted twice.
#[test]
fn exhausted_ports_lose_no_arrival() {
    namespace::inside("faults::client::exhausted_ports_lose_no_arrival", "", run_alongside, || {
        // 200/s for 400 ms each need 80 connections (Little); there are ports for 64, which serve 160/s.
        let ruler = Ruler::start(&["--delay", "400ms"]);
        shell(PORTS);
        let said = json(&[&ruler.url("/"), "-r", "200", "--max-connections", "100", "-d", "3s"], 3);
        shell(MANY_PORTS);
        is_the_clients(&said, "ports_exhausted", "client_ports_exhausted");
        let at = |place: &str| count(&said, place);
        assert_eq!(at("/offered/arrivals"), 600);
        assert_eq!(
            at("/totals/requests_sent") + at("/totals/arrivals_not_started"),
            600,
            "{}",
            said["totals"]
        );
        assert_eq!(at("/totals/requests") + at("/totals/in_flight_at_end"), at("/totals/requests_sent"));
        assert_eq!(ruler.requests(), at("/totals/requests_sent"));
    });
}

#[test]
fn a_prohibition_of_this_machine_is_the_clients() {
    namespace::inside(
        "faults::client::a_prohibition_of_this_machine_is_the_clients",
        ROUTES_FIRST,
        run_alongside,
        || {
            let ruler = Ruler::start(&["--delay", "2ms"]);
            let args = [&ruler.url("/"), "-c", "5", "-d", "1s", "--no-keepalive"];
            no_faults(&middle(&ruler, &args, 0, || ()));
            let rule = format!("ip rule add pref 50 ipproto tcp dport {} prohibit", ruler.port());
            let said = middle(&ruler, &args, 3, || {
                shell(&rule);
            });
            is_the_clients(&said, "client_send_refused", "client_send_refused");
        },
    );
}

/// 20 users first; then the memory runs out, and 1,000 more come.
#[test]
fn a_kernel_without_memory_for_sockets_is_the_clients() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let args = [&ruler.url("/"), "--stages", "0s:20,1s:20,0s:1000,1s:1000", "--json"];
    let Some(cgroup) = MemoryCgroup::new() else {
        eprintln!("no memory cgroup of version 1 here: the kernel's answer is tested by injection alone");
        return;
    };
    no_faults(&after(&cgroup.enter(), &args).start().wait().expect_code(0).json());

    // The kernel may deny memory to a worker before it denies it to a socket; then repeat.
    patiently("memory ran out, and nothing was refused", || {
        ruler.get("/_test-server/clear");
        let running = after(&cgroup.enter(), &args).start();
        ruler.wait_for_requests(50);
        cgroup.leave(1 << 19);
        cgroup.refuse();
        let said = running.wait().json();
        let found = faults(&said);
        assert_eq!(count(&said, "/totals/errors"), 0);
        assert_eq!(ruler.requests(), count(&said, "/totals/requests_sent"));
        // Without memory for its inode the kernel calls a socket one file too many (ENFILE).
        assert!(
            found.keys().all(|class| ["client_out_of_memory", "fd_limit"].contains(&class.as_str())),
            "{found:?}"
        );
        if !found.contains_key("client_out_of_memory") {
            return Err(format!("{found:?}"));
        }
        assert_eq!(said["verdict"]["result"], "INCONCLUSIVE");
        // The doubt that decides is the first one of the two, which the kernel chooses.
        let own = ["client_out_of_memory", "client_fd_limit"];
        assert!(reasons(&said).iter().all(|code| own.contains(code)), "{}", said["verdict"]);
        caution(&said, "client_out_of_memory");
        assert_eq!(found["client_out_of_memory"].0, "client");
        Ok(())
    });
}

/// The same by a debugger's hand, for machines where memory cannot run out without a killing: every second socket from
/// the 40th on is refused.
#[test]
fn sockets_without_buffers_are_a_client_failure() {
    let _turn = run_alongside();
    let ruler = Ruler::start(&["--delay", "5ms"]);
    let run = |error: &str, when: &str| {
        let mut command = Command::new("strace");
        let inject = format!("inject=socket:error={error}:when={when}");
        command.args(["-f", "-qqq", "-o", "/dev/null", "-e", "trace=socket", "-e", &inject, BINARY]);
        command.args([&ruler.url("/"), "-c", "60", "-t", "1", "-d", "1s", "--json"]);
        Tool::of(command).start().wait()
    };
    for error in ["ENOBUFS", "ENOMEM"] {
        let said = run(error, "40+2").expect_code(3).json();
        is_the_clients(&said, "client_out_of_memory", "client_out_of_memory");
    }
    no_faults(&run("ENOBUFS", "60000").expect_code(0).json());
}
