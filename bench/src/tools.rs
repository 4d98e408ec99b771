//! The participants: plimsoll and other tools, with the command line of each for each bench. Adding one takes only a
//! row of `PEERS`. Words in braces are filled in; a line is split at blanks first, so a value may contain
//! blanks.

use crate::templates::{
    BASE_CLOSING, BASE_LUA, BASE_SCRIPTED, ECHO, ECHO_ONCE, GHZ, GHZ_ONCE, H2LOAD, H2LOAD_HELD, H2LOAD_ONCE,
    H2LOAD_OPEN, JMETER_PLAN, JMETER_PLAN_ONCE, K6_SCRIPT, K6_SCRIPT_ONCE, MESSAGE, OWN_FILE, OWN_FILE_ONCE,
    OWN_HTTP2_HELD, OWN_HTTP2_OPEN, OWN_IDLE, OWN_LUA, OWN_OPEN, OWN_PLAIN, OWN_PLAN, OWN_PLAN_ONCE,
    OWN_READ, OWN_READ_LARGE, OWN_READ_SMALL, OWN_SCRIPT, OWN_SCRIPT_HELD, OWN_SCRIPT_ONCE, OWN_SCRIPT_OPEN,
    TONIC_CALLS, TONIC_ONCE,
};
use chore::machine;
use chore::shell;
use std::path::{Path, PathBuf};

/// The name of plimsoll in all results.
pub const OWN: &str = "plimsoll";
/// plimsoll with an experiment file, where the question is another input.
pub const OWN_YAML: &str = "plimsoll-yaml";
/// The binary of `--before`, with plimsoll's command line. It cannot be changed, so a bench that it cannot do
/// leaves it out, like another tool.
pub const BEFORE: &str = "before";
/// Ratios are relative to this tool.
pub const BASE: &str = "wrk";
/// The same for HTTP/2, WebSocket, and gRPC.
pub const H2LOAD_BASE: &str = "h2load";
pub const TUNGSTENITE: &str = "tungstenite";
pub const GHZ_BASE: &str = "ghz";
pub const TONIC: &str = "tonic";
/// The same for scripts.
pub const K6_BASE: &str = "k6";
/// The same for test plans, whose folder this variable names.
pub const JMETER_BASE: &str = "jmeter";
pub const JMETER_HOME: &str = "PLIMSOLL_JMETER";

struct Peer {
    name: &'static str,
    program: &'static str,
    /// Closed model, as fast as possible.
    plain: &'static str,
    /// Open model at a rate; empty if the tool has none.
    open: &'static str,
    /// Opens connections to an endless stream; empty if the tool ends by itself.
    idle: &'static str,
}

const PEERS: &[Peer] = &[
    Peer {
        name: "wrk",
        program: "wrk",
        plain: "-t1 -c{conns} -d{secs}s {url}",
        open: "",
        idle: "-t1 -c{conns} -d120s --timeout 300s {url}",
    },
    Peer {
        name: "ab",
        program: "ab",
        plain: "-q -k -c {conns} -t {secs} -n 20000000 {url}",
        open: "",
        idle: "",
    },
    Peer {
        name: "h2load",
        program: "h2load",
        plain: "--h1 -t1 -c {conns} -D {secs} {url}",
        open: "",
        idle: "--h1 -t1 -c {conns} -n {conns} {url}",
    },
    Peer {
        name: "wrk2",
        program: "wrk2",
        plain: "",
        open: "-t1 -c{conns} -d{secs}s -R{rate} {url}",
        idle: "",
    },
    Peer {
        name: "oha",
        program: "oha",
        plain: "--no-tui -c {conns} -z {secs}s {url}",
        open: "--no-tui -c {conns} -z {secs}s -q {rate} {url}",
        idle: "--no-tui -c {conns} -n {conns} -t 300s {url}",
    },
    Peer {
        name: "hey",
        program: "hey",
        plain: "-c {conns} -z {secs}s {url}",
        open: "-c {conns} -z {secs}s -q {rate_each} {url}",
        idle: "-t 0 -c {conns} -n {conns} {url}",
    },
    Peer {
        name: "bombardier",
        program: "bombardier",
        plain: "-q -c {conns} -d {secs}s {url}",
        open: "-q -c {conns} -d {secs}s -r {rate} {url}",
        idle: "-q -t 300s -c {conns} -n {conns} {url}",
    },
    Peer {
        name: "fortio",
        program: "fortio",
        plain: "load -loglevel error -qps 0 -c {conns} -t {secs}s {url}",
        open: "load -loglevel error -nocatchup -qps {rate} -c {conns} -t {secs}s {url}",
        idle: "",
    },
    Peer {
        name: "vegeta",
        program: "vegeta",
        plain: "attack -targets={targets} -output={scrap} -rate=0 -max-workers={conns} -connections={conns} \
                -duration={secs}s",
        open: "attack -targets={targets} -output={scrap} -rate={rate} -max-workers={conns} -connections={conns} \
               -duration={secs}s",
        idle: "",
    },
    Peer {
        name: "k6",
        program: "k6",
        plain: "run -q --no-usage-report --vus {conns} --duration {secs}s -e URL={url} {here}/k6-get.js",
        open: "run -q --no-usage-report -e URL={url} -e RATE={rate} -e SECS={secs} -e VUS={conns} {here}/k6-rate.js",
        idle: "run -q --no-usage-report -e URL={url} -e VUS={conns} -e SECS=300 {here}/k6-hold.js",
    },
    Peer {
        name: "k6-discard",
        program: "k6",
        plain: "run -q --no-usage-report --vus {conns} --duration {secs}s -e URL={url} -e DISCARD=1 {here}/k6-get.js",
        open: "",
        idle: "",
    },
];

/// One participant of one bench.
#[derive(Clone)]
pub struct Tool {
    pub name: &'static str,
    pub program: PathBuf,
    template: &'static str,
    /// The command line without a load, whose CPU is subtracted; empty: a start counts.
    once: &'static str,
}

/// The values for the braces.
pub struct Values<'a> {
    pub url: &'a str,
    pub connections: u32,
    /// Requests in flight on each connection.
    pub streams: u32,
    pub secs: u32,
    pub rate_per_s: u32,
    /// Scratch directory of the bench.
    pub folder: &'a Path,
}

impl Tool {
    pub fn own(&self) -> bool {
        self.name.starts_with(OWN)
    }

    pub fn arguments(&self, values: &Values) -> Vec<String> {
        self.filled(self.template, values)
    }

    /// The arguments for a start without a load; `None` if it is a part of the measurement.
    pub fn once(&self, values: &Values) -> Option<Vec<String>> {
        (!self.once.is_empty()).then(|| self.filled(self.once, values))
    }

    fn filled(&self, template: &str, values: &Values) -> Vec<String> {
        let rate_each = values.rate_per_s / values.connections.max(1);
        let address = values.url.split('/').nth(2).unwrap_or_default();
        let table = [
            ("{url}", values.url.to_string()),
            ("{address}", address.to_string()),
            ("{port}", address.rsplit(':').next().unwrap_or_default().to_string()),
            ("{jmeter}", std::env::var(JMETER_HOME).unwrap_or_default() + "/bin/ApacheJMeter.jar"),
            ("{conns}", values.connections.to_string()),
            ("{streams}", values.streams.to_string()),
            ("{streams_all}", (values.connections * values.streams).to_string()),
            ("{secs}", values.secs.to_string()),
            ("{rate}", values.rate_per_s.to_string()),
            ("{rate_each}", rate_each.to_string()),
            ("{out}", run_file(values.folder).display().to_string()),
            ("{targets}", targets_file(values.folder).display().to_string()),
            ("{scrap}", values.folder.join("scrap").display().to_string()),
            ("{file}", experiment_file(values.folder).display().to_string()),
            ("{once}", once_file(values.folder).display().to_string()),
            ("{script}", script_file(values.folder).display().to_string()),
            ("{lua}", lua_file(values.folder).display().to_string()),
            ("{message}", MESSAGE.to_string()),
            ("{close}", "Connection: close".to_string()),
            ("{here}", shell::root().join("bench").display().to_string()),
        ];
        let fill =
            |word: &str| table.iter().fold(word.to_string(), |word, (name, value)| word.replace(name, value));
        template.split_whitespace().map(fill).collect()
    }

    /// The command for the record, without directories of this machine.
    pub fn describe(&self) -> String {
        let program = self.program.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        format!("{program} {}", self.template)
    }
}

/// The path of plimsoll's run file, which is removed before each round, because it is never overwritten.
pub fn run_file(folder: &Path) -> PathBuf {
    folder.join("round.plim")
}

/// The path in a bench of an experiment.
pub fn experiment_file(folder: &Path) -> PathBuf {
    folder.join("experiment.yaml")
}

/// The same experiment for one iteration of one user.
pub fn once_file(folder: &Path) -> PathBuf {
    folder.join("once.yaml")
}

/// The path in a bench of a script.
pub fn script_file(folder: &Path) -> PathBuf {
    folder.join("script.js")
}

/// The path in a bench of a script of wrk.
pub fn lua_file(folder: &Path) -> PathBuf {
    folder.join("script.lua")
}

/// vegeta reads its targets from a file.
pub fn targets_file(folder: &Path) -> PathBuf {
    folder.join("targets.txt")
}

/// Returns all tools that were found on this machine.
pub struct Roster {
    own: Option<PathBuf>,
    before: Option<PathBuf>,
    peers: Vec<(&'static Peer, PathBuf)>,
    pub missing: Vec<&'static str>,
}

impl Roster {
    pub fn find(
        own: Option<&Path>,
        before: Option<&Path>,
        only: Option<&[String]>,
    ) -> Result<Roster, String> {
        if let Some(stranger) =
            only.into_iter().flatten().find(|name| !PEERS.iter().any(|p| p.name == **name))
        {
            let known: Vec<&str> = PEERS.iter().map(|p| p.name).collect();
            return Err(format!("unknown peer `{stranger}`\nknown: {}", known.join(", ")));
        }
        let [own, before] = [own, before].map(|file| file.map(Path::to_path_buf));
        let mut roster = Roster { own, before, peers: Vec::new(), missing: Vec::new() };
        for peer in PEERS.iter().filter(|p| only.is_none_or(|list| list.iter().any(|name| name == p.name))) {
            match shell::find_program(peer.program) {
                Some(file) => roster.peers.push((peer, file)),
                None => roster.missing.push(peer.name),
            }
        }
        Ok(roster)
    }

    pub fn own(&self) -> Option<&Path> {
        self.own.as_deref()
    }

    /// plimsoll and, if given, its earlier state.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let own = self.own.iter().map(|file| (OWN, file.as_path()));
        own.chain(self.before.iter().map(|file| (BEFORE, file.as_path())))
    }

    pub fn plain(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_PLAIN)], |peer| peer.plain)
    }

    /// As `plain`, and plimsoll reading every byte, with the buffer of its choice and with others.
    pub fn large(&self) -> Vec<Tool> {
        let own = [
            (OWN, OWN_PLAIN),
            ("plimsoll-read", OWN_READ),
            ("plimsoll-read-64k", OWN_READ_SMALL),
            ("plimsoll-read-256k", OWN_READ_LARGE),
        ];
        self.with(&own, |peer| peer.plain)
    }

    pub fn open(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_OPEN)], |peer| peer.open)
    }

    pub fn idle(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_IDLE)], |peer| peer.idle)
    }

    /// An experiment file for plimsoll, plimsoll's and the base's plain GET, and for `scripted` the base's script.
    pub fn experiment(&self, scripted: bool) -> Vec<Tool> {
        let base = |template| move |peer: &Peer| if peer.name == BASE { template } else { "" };
        let mut tools =
            self.with(&[(OWN, OWN_FILE), ("plimsoll-plain", OWN_PLAIN)], |peer| base(peer.plain)(peer));
        if scripted {
            let script = self.with(&[], base(BASE_SCRIPTED)).into_iter();
            tools.extend(script.map(|tool| Tool { name: "wrk-lua", ..tool }));
        }
        tools
    }

    /// One script in plimsoll and in k6, and the plain GET of wrk.
    pub fn script(&self) -> Vec<Tool> {
        let peers = |peer: &Peer| match peer.name {
            K6_BASE => K6_SCRIPT,
            BASE => peer.plain,
            _ => "",
        };
        let once = |tool: &Tool| match tool.name {
            K6_BASE => K6_SCRIPT_ONCE,
            BASE => "",
            _ => OWN_SCRIPT_ONCE,
        };
        let tools = self.with(&[(OWN, OWN_SCRIPT)], peers).into_iter();
        tools.map(|tool| Tool { once: once(&tool), ..tool }).collect()
    }

    /// A test plan in plimsoll and in JMeter, if its folder is known, and the same as an experiment file.
    pub fn plan(&self) -> Vec<Tool> {
        let own = [(OWN, OWN_PLAN), (OWN_YAML, OWN_FILE)];
        let once = |tool: &Tool| if tool.name == OWN_YAML { OWN_FILE_ONCE } else { OWN_PLAN_ONCE };
        let tools = self.with(&own, |_| "").into_iter();
        let mut tools: Vec<Tool> = tools.map(|tool| Tool { once: once(&tool), ..tool }).collect();
        if let (Some(_), Some(program)) = (std::env::var_os(JMETER_HOME), shell::find_program("java")) {
            let (template, once) = (JMETER_PLAN, JMETER_PLAN_ONCE);
            tools.push(Tool { name: JMETER_BASE, program, template, once });
        }
        tools
    }

    /// One script of wrk, in both tools.
    pub fn lua(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_LUA)], only(BASE, BASE_LUA))
    }

    /// Arrivals that a script serves.
    pub fn script_open(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_SCRIPT_OPEN)], |peer| if peer.name == K6_BASE { peer.open } else { "" })
    }

    /// Users of a script that wait for a response.
    pub fn script_held(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_SCRIPT_HELD)], |peer| if peer.name == K6_BASE { peer.idle } else { "" })
    }

    /// An experiment file for plimsoll over HTTPS, and the base; `closing` uses a connection for each request.
    pub fn secure(&self, closing: bool) -> Vec<Tool> {
        self.with(&[(OWN, OWN_FILE)], |peer| match (peer.name == BASE, closing) {
            (true, true) => BASE_CLOSING,
            (true, false) => peer.plain,
            (false, _) => "",
        })
    }

    /// An experiment file for plimsoll over HTTP/2, and the base of HTTP/2.
    pub fn http2(&self) -> Vec<Tool> {
        self.measured(H2LOAD_BASE, H2LOAD, H2LOAD_ONCE)
    }

    pub fn http2_open(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_HTTP2_OPEN)], only(H2LOAD_BASE, H2LOAD_OPEN))
    }

    pub fn http2_held(&self) -> Vec<Tool> {
        self.with(&[(OWN, OWN_HTTP2_HELD)], only(H2LOAD_BASE, H2LOAD_HELD))
    }

    /// An experiment file for plimsoll, and this client with `tungstenite`.
    pub fn websocket(&self, client: PathBuf) -> Vec<Tool> {
        let mut tools = self.measured("", "", "");
        tools.push(Tool { name: TUNGSTENITE, program: client, template: ECHO, once: ECHO_ONCE });
        tools
    }

    /// An experiment file for plimsoll, and `ghz` and the client on tonic, if they could be built.
    pub fn grpc(&self, ghz: Option<PathBuf>, tonic: Option<PathBuf>) -> Vec<Tool> {
        let mut tools = self.measured("", "", "");
        let tool = |name, program, template, once| Tool { name, program, template, once };
        tools.extend(tonic.map(|program| tool(TONIC, program, TONIC_CALLS, TONIC_ONCE)));
        tools.extend(ghz.map(|program| tool(GHZ_BASE, program, GHZ, GHZ_ONCE)));
        tools
    }

    /// Both sides with what a start costs without a load.
    fn measured(&self, base: &'static str, template: &'static str, once: &'static str) -> Vec<Tool> {
        let tools = self.with(&[(OWN, OWN_FILE)], only(base, template)).into_iter();
        tools
            .map(|tool| Tool { once: if tool.name == base { once } else { OWN_FILE_ONCE }, ..tool })
            .collect()
    }

    /// Name and version of every participant.
    pub fn versions(&self) -> Vec<(&'static str, String)> {
        let own = self.states().map(|(name, file)| (name, machine::version(&file.display().to_string())));
        let peers =
            self.peers.iter().map(|(peer, file)| (peer.name, machine::version(&file.display().to_string())));
        own.chain(peers).collect()
    }

    fn with(
        &self,
        own: &[(&'static str, &'static str)],
        template: impl Fn(&Peer) -> &'static str,
    ) -> Vec<Tool> {
        let mut tools = Vec::new();
        if let Some(file) = &self.own {
            tools.extend(own.iter().map(|&(name, template)| Tool {
                name,
                program: file.clone(),
                template,
                once: "",
            }));
        }
        if let (Some(file), Some(&(_, template))) = (&self.before, own.iter().find(|(name, _)| *name == OWN))
        {
            tools.push(Tool { name: BEFORE, program: file.clone(), template, once: "" });
        }
        for (peer, file) in self.peers.iter().filter(|(peer, _)| !template(peer).is_empty()) {
            tools.push(Tool { name: peer.name, program: file.clone(), template: template(peer), once: "" });
        }
        tools
    }
}

/// Only this peer, with this command line.
fn only(name: &'static str, template: &'static str) -> impl Fn(&Peer) -> &'static str {
    move |peer| if peer.name == name { template } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_brace_of_every_command_line_is_filled_in() {
        let values = Values {
            url: "http://127.0.0.1:1/",
            connections: 100,
            streams: 10,
            secs: 4,
            rate_per_s: 10_000,
            folder: Path::new("/t/x"),
        };
        let own = [
            OWN_PLAIN,
            OWN_READ,
            OWN_READ_SMALL,
            OWN_READ_LARGE,
            OWN_OPEN,
            OWN_IDLE,
            OWN_FILE,
            OWN_FILE_ONCE,
            OWN_SCRIPT,
            OWN_SCRIPT_ONCE,
            OWN_SCRIPT_OPEN,
            OWN_SCRIPT_HELD,
            OWN_PLAN,
            OWN_PLAN_ONCE,
            JMETER_PLAN,
            JMETER_PLAN_ONCE,
            K6_SCRIPT,
            K6_SCRIPT_ONCE,
            OWN_HTTP2_OPEN,
            OWN_HTTP2_HELD,
            H2LOAD,
            H2LOAD_ONCE,
            H2LOAD_OPEN,
            H2LOAD_HELD,
            ECHO,
            ECHO_ONCE,
            GHZ,
            GHZ_ONCE,
            BASE_CLOSING,
            BASE_SCRIPTED,
        ];
        let peers = PEERS.iter().flat_map(|peer| [peer.plain, peer.open, peer.idle]);
        for template in own.into_iter().chain(peers) {
            let tool = Tool { name: "x", program: PathBuf::from("x"), template, once: "" };
            // The message of a call has braces, too.
            let line = tool.arguments(&values).join(" ").replace(MESSAGE, "");
            assert!(!line.contains(['{', '}']), "{line}");
        }
    }

    #[test]
    fn the_earlier_state_takes_part_once_with_plimsolls_command_line() {
        let [own, before] = ["target/plimsoll", "old/plimsoll"].map(Path::new);
        let roster = Roster::find(Some(own), Some(before), Some(&[])).unwrap();
        let of = |tools: Vec<Tool>| {
            let old: Vec<Tool> = tools.iter().filter(|tool| tool.name == BEFORE).cloned().collect();
            assert_eq!((old.len(), old[0].program.as_path(), old[0].own()), (1, before, false));
            assert_eq!(old[0].template, tools.iter().find(|tool| tool.name == OWN).unwrap().template);
        };
        of(roster.plain());
        of(roster.large());
        of(roster.experiment(true));
        of(roster.secure(true));
        of(roster.http2());
    }

    #[test]
    fn an_unknown_peer_is_rejected_and_a_missing_one_is_named() {
        let refused = Roster::find(None, None, Some(&["jmeter".to_string()]));
        assert!(refused.err().is_some_and(|sentence| sentence.contains("unknown peer `jmeter`")));
    }
}
