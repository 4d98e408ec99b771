//! Agents with slow links: each in its own network namespace, with a rate limit in both directions.

use super::server::{Server, ends};
use crate::support::{BINARY, Ruler, Running, Tool, namespace, run_alongside};
use std::path::Path;
use std::process::Command;

/// Address of the server and the target, for all agents.
const HOST: &str = "10.9.0.1";
/// Shape of each direction of a link. A queue of 400 ms is that of a bad router.
const SHAPE: &str = "root tbf rate 1mbit burst 8kb latency 400ms";

fn sh(script: &str) {
    let output = Command::new("sh").args(["-ec", script]).output().expect("`sh` can be started");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Starts an agent in a new namespace, which a link connects to this one.
fn agent(number: u32, nats: &str) -> Running {
    let script = format!(
        "ip link set lo up\nread go\nip addr add 10.9.{number}.2/24 dev eth0\nip link set eth0 up\n\
         ip route add {HOST} via 10.9.{number}.1\ntc qdisc add dev eth0 {SHAPE}\n\
         exec {BINARY} agent --nats {nats} --name agent-{number}"
    );
    let mut command = Command::new("unshare");
    command.args(["-n", "sh", "-ec", &script]);
    let mut running = Tool::of(command).start_steered();
    let namespace = |of: &str| std::fs::read_link(Path::new("/proc").join(of).join("ns/net")).ok();
    while namespace(&running.pid().to_string()) == namespace("self") {
        std::thread::yield_now();
    }
    sh(&format!(
        "ip link add v{number} type veth peer name eth0 netns {}\nip addr add 10.9.{number}.1/24 dev v{number}\n\
         ip link set v{number} up\ntc qdisc add dev v{number} {SHAPE}",
        running.pid()
    ));
    running.say("go");
    running
}

#[test]
#[ignore = "needs nft, tc, and half a minute: `cargo xtask nightly`"]
fn agents_behind_slow_links_that_are_cut_for_a_while_are_merged_exactly() {
    let test = "agents::links::agents_behind_slow_links_that_are_cut_for_a_while_are_merged_exactly";
    namespace::inside(test, &format!("ip addr add {HOST}/32 dev lo"), run_alongside, || {
        let server = Server::start_with(&["-a", "0.0.0.0"]);
        let mut command = Command::new(BINARY);
        command.args(["test-server", "--listen", "0.0.0.0:0", "--until-stdin-closes", "--seconds", "300"]);
        let ruler = Ruler::from_command(command);
        let nats = format!("nats://{HOST}:{}", server.port);
        let agents = [agent(1, &nats), agent(2, &nats)];
        server.wait_for(2);
        let target = format!("http://{HOST}:{}/", ruler.port());
        let args = [&target, "-r", "60", "-d", "14s", "--nats", &server.url(), "--agents", "2", "--json"];
        let running = Tool::new(&args).start();
        ruler.wait_for_requests(200);
        // The way to the server, and not that of the load.
        sh(&format!(
            "nft add table inet cut\nnft add chain inet cut input '{{ type filter hook input priority 0; }}'\n\
             nft add rule inet cut input iifname v1 tcp dport {} drop",
            server.port
        ));
        ruler.wait_for_requests(500);
        sh("nft delete table inet cut");
        let output = running.wait();
        let json = output.json();
        assert_eq!(
            (json["totals"]["requests"].as_u64(), ruler.requests()),
            (Some(840), 840),
            "{}",
            output.stderr
        );
        assert_eq!(json["is_complete"], true, "{}", output.stderr);
        assert!(output.stderr.contains("agent `agent-1` is heard again"), "{}", output.stderr);
        for row in json["generators"].as_array().unwrap() {
            assert_eq!(row["requests"], 420, "{row}");
            assert!(row["agent"]["clock_bound_ns"].as_u64().unwrap() < 100_000_000, "{row}");
        }
        agents.into_iter().for_each(|agent| assert_eq!(ends(agent).code, 0));
    });
}
