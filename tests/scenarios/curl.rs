//! curl as a second opinion: a table of requests that are described once is sent by curl, by an experiment file, and by
//! `plimsoll curl` with the words of the curl line. One server records what arrives. Each difference is intended and
//! has a reason, or it is a mistake; so is a reason without a difference.

mod case;
mod compare;
mod reasons;
mod table;

use crate::bench::all_at_once;
use crate::support::peers::{LOCAL, Node, Pki};
use crate::support::relay::{Relay, Speaks, unix_relay};
use crate::support::{Ruler, Scratch, Tool};
use case::{Case, FILES, LOGIN, Ways};
use compare::{Arrived, Difference, Record, TAG, differences};
use reasons::REASONS;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// How plimsoll gets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// `plimsoll run FILE`
    File,
    /// `plimsoll curl WORDS`
    Line,
}

const DOORS: [Door; 2] = [Door::File, Door::Line];

/// The server, and the relays of a tool.
struct Station {
    ways: Ways,
    relays: [Relay; 2],
    /// The relay that is reached over TLS, and what is in front of it.
    enclosed: Relay,
    _outer: Node,
}

struct Servers {
    ruler: Ruler,
    ipv6: Ruler,
    _pki: Pki,
    /// Of curl and of the doors.
    stations: [Station; 3],
    scratch: Scratch,
}

impl Servers {
    fn start() -> Self {
        let (pki, scratch) = (Pki::new(LOCAL), Scratch::new());
        let (certificate, key) = pki.server();
        let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
        let keeps = ["--keep-requests", "first:100000", "--http2"];
        let tls = ["--tls-listen", "127.0.0.1:0", "--tls-certificate", &certificate, "--tls-key", &key];
        let ruler = Ruler::start(&[&keeps[..], &tls].concat());
        let ipv6 = Ruler::start(&[&["--listen", "[::1]:0"], &keeps[..]].concat());
        for (name, content) in FILES {
            std::fs::write(scratch.path(name), content()).expect("the folder is writable");
        }
        let secure = ruler.https_url("").trim_start_matches("https://").to_owned();
        let stations = ["curl", "file", "line"].map(|tool| {
            let unix_socket = scratch.path(&format!("{tool}.sock"));
            unix_relay(unix_socket.as_ref(), ruler.address());
            let relay = |speaks, login| Relay::start(speaks, login, ruler.address());
            let [proxy, socks] = [Speaks::Http, Speaks::Socks5].map(|speaks| relay(speaks, None));
            let [proxy_login, socks_login] =
                [Speaks::Http, Speaks::Socks5].map(|speaks| relay(speaks, Some(LOGIN)));
            let enclosed = relay(Speaks::Http, None);
            let to = enclosed.address();
            let [host, port] = [to.ip().to_string(), to.port().to_string()];
            let outer = Node::start_with("tls-relay.mjs", &[&certificate, &key, &host, &port]);
            let ways = Ways {
                server: ruler.address().to_string(),
                server_port: ruler.port(),
                secure: secure.clone(),
                ca: pki.ca_file().display().to_string(),
                ipv6: ipv6.address().to_string(),
                unix_socket,
                proxy: format!("http://{}", proxy.address()),
                proxy_tls: format!("https://localhost:{}", outer.address().port()),
                proxy_login: format!("http://{}", proxy_login.address()),
                socks: format!("socks5h://{}", socks.address()),
                socks_login: format!("socks5h://{}", socks_login.address()),
                folder: scratch.folder().display().to_string(),
            };
            Station { ways, relays: [proxy, proxy_login], enclosed, _outer: outer }
        });
        Self { ruler, ipv6, _pki: pki, stations, scratch }
    }

    /// Sends a case with curl; returns the statuses of its responses and the body of the last one, if it is text.
    fn curl(&self, number: usize, case: &Case) -> (Vec<u16>, Option<String>) {
        let tag = tag(number, None);
        let (heads, body) = (self.scratch.path(&format!("{tag}.heads")), self.scratch.path(&tag));
        let mut command = Command::new("curl");
        command.args([
            "-q",
            "-sS",
            "--max-time",
            "20",
            "--suppress-connect-headers",
            "-D",
            &heads,
            "-o",
            &body,
        ]);
        command.args(case.curl(&self.stations[0].ways, &tag));
        // A variable must not send it through a proxy.
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(name);
        }
        let output = command.stdin(Stdio::null()).output().expect("curl is installed: `apt install curl`");
        assert!(output.status.success(), "curl: {}", String::from_utf8_lossy(&output.stderr));
        let text = |path: &str| std::fs::read(path).ok().map(|bytes| String::from_utf8(bytes).ok());
        let heads = text(&heads).flatten().expect("curl wrote the heads");
        let status = |line: &str| line.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse::<u16>().ok();
        let mut statuses: Vec<u16> =
            heads.lines().filter_map(status).filter(|status| *status >= 200).collect();
        statuses.sort_unstable();
        // With `-I`, curl writes the head as if it was the body; without a body, it writes no file.
        let body = match case.method {
            "HEAD" => Some(String::new()),
            _ => text(&body).unwrap_or(Some(String::new())),
        };
        (statuses, body)
    }

    /// Sends a case with plimsoll; returns the statuses and whether the body was the expected one, or the message by
    /// which it refuses. `requests` is how many there are with redirects.
    fn plimsoll(
        &self,
        (number, case): (usize, &Case),
        door: Door,
        requests: usize,
        expected: Option<&str>,
    ) -> Result<(Vec<u16>, Option<bool>), String> {
        let tag = tag(number, Some(door));
        let ways = &self.stations[1 + DOORS.iter().position(|one| *one == door).expect("one of them")].ways;
        let out = self.scratch.path(&format!("{tag}.plim"));
        let words: Vec<String> = match door {
            Door::File => {
                let text = case.experiment(ways, &tag, expected);
                vec!["run".to_owned(), self.scratch.file(&format!("{tag}.yaml"), &text)]
            }
            Door::Line => {
                // Each redirect counts as a request.
                let own = ["-n", &requests.to_string(), "-c", "1", "curl"].map(str::to_owned);
                [&own[..], &case.curl(ways, &tag)].concat()
            }
        };
        let mut args = vec!["--json", "--out", &out];
        args.extend(words.iter().map(String::as_str));
        let output = Tool::run(&args);
        if output.code == 2 {
            return Err(output.stderr.lines().next().unwrap_or_default().to_owned());
        }
        assert!([0, 3, 99].contains(&output.code), "code {}: {}", output.code, output.stderr);
        let said = output.json();
        let mut statuses = Vec::new();
        for (status, count) in said["status_codes"].as_object().expect("a mapping") {
            let status: u16 = status.parse().expect("a status");
            statuses.extend(std::iter::repeat_n(status, count.as_u64().expect("a count") as usize));
        }
        statuses.sort_unstable();
        let checks = said["checks"].as_array().map_or(&[][..], Vec::as_slice);
        let of_body = checks.iter().find(|check| check["name"] == "response");
        Ok((statuses, of_body.map(|check| check["failures"] == 0)))
    }

    /// All requests by their tag, in the order of their arrival.
    fn arrived(&self) -> BTreeMap<String, Vec<Arrived>> {
        let mut all: BTreeMap<String, Vec<Arrived>> = BTreeMap::new();
        for ruler in [&self.ruler, &self.ipv6] {
            let kept = ruler.json("/_test-server/requests");
            assert_eq!(kept["discarded"], 0, "the ruler kept everything");
            for row in kept["requests"].as_array().expect("a list") {
                let mut headers = row["headers"].as_array().expect("a list of headers").iter();
                let is_tag =
                    |pair: &&Value| pair[0].as_str().is_some_and(|name| name.eq_ignore_ascii_case(TAG));
                let tag = headers.find(is_tag).and_then(|pair| pair[1].as_str()).expect("all have a tag");
                all.entry(tag.to_owned()).or_default().push(Arrived::of(row));
            }
        }
        all
    }
}

/// The value of the header that distinguishes requests; without a door, of curl.
fn tag(number: usize, door: Option<Door>) -> String {
    match door {
        None => format!("{number}-curl"),
        Some(door) => format!("{number}-{door:?}"),
    }
}

/// The reason of a difference, by its number.
fn reason_of(case: &Case, door: Door, difference: &Difference) -> Option<usize> {
    REASONS.iter().position(|reason| {
        reason.door.is_none_or(|of| of == door)
            && reason.aspect == difference.aspect
            && (reason.cases.is_empty() || reason.cases.contains(&case.name))
    })
}

#[test]
fn requests_arrive_as_those_of_curl() {
    let cases: Vec<(usize, Case)> = table::cases().into_iter().enumerate().collect();
    let names: BTreeSet<&str> = cases.iter().map(|(_, case)| case.name).collect();
    assert!(names.len() == cases.len() && names.len() >= 60, "{} of {} names", names.len(), cases.len());
    let servers = Servers::start();
    // By tag: the record without its requests, or a message.
    let sent: Mutex<BTreeMap<String, Result<Record, String>>> = Mutex::default();
    let keep = |tag: String, result| {
        sent.lock().expect("no thread panics while holding it").insert(tag, result);
    };
    all_at_once(
        &cases,
        |(_, case)| case.name.to_owned(),
        |(number, case)| {
            let (statuses, body) = servers.curl(*number, case);
            let requests = statuses.len();
            keep(tag(*number, None), Ok(Record { statuses, ..Record::default() }));
            for door in DOORS {
                let result = servers.plimsoll((*number, case), door, requests, body.as_deref());
                let record = |(statuses, has_body)| Record { statuses, has_body, ..Record::default() };
                keep(tag(*number, Some(door)), result.map(record));
            }
        },
    );
    let (mut arrived, mut sent) = (servers.arrived(), sent.into_inner().expect("all threads have ended"));
    let mut record = |tag: String| {
        let requests = arrived.remove(&tag).unwrap_or_default();
        match sent.remove(&tag).expect("each was sent") {
            Ok(record) => Ok(Record { requests, ..record }),
            Err(message) => {
                assert!(requests.is_empty(), "{tag}: refused, and sent all the same");
                Err(message)
            }
        }
    };
    let (mut left, mut used) = (Vec::new(), BTreeSet::new());
    for (number, case) in &cases {
        let curl = record(tag(*number, None)).expect("curl refuses nothing");
        assert!(!curl.requests.is_empty(), "{}: nothing of curl arrived", case.name);
        for door in DOORS {
            let found = match record(tag(*number, Some(door))) {
                Ok(record) => differences(&curl, &record),
                Err(said) => {
                    vec![Difference { aspect: "refused".into(), curl: "sent".into(), plimsoll: said }]
                }
            };
            for difference in &found {
                let Difference { aspect, curl, plimsoll } = difference;
                match reason_of(case, door, difference) {
                    Some(at) => drop(used.insert(at)),
                    None => left.push(format!(
                        "{}, {door:?}: {aspect}\n    curl      {curl}\n    plimsoll  {plimsoll}",
                        case.name
                    )),
                }
            }
        }
    }
    assert!(left.is_empty(), "{} differences without a reason:\n{}", left.len(), left.join("\n"));
    let unused = REASONS.iter().enumerate().filter(|(at, _)| !used.contains(at));
    let unused: Vec<String> =
        unused.map(|(_, reason)| format!("{:?}: {} ({})", reason.cases, reason.aspect, reason.why)).collect();
    assert!(unused.is_empty(), "reasons without a difference:\n{}", unused.join("\n"));
    // What the proxies saw, in any order.
    let sorted = |relays: &[Relay]| {
        let mut all: Vec<String> = relays.iter().flat_map(|relay| relay.log().requests).collect();
        all.sort();
        all
    };
    let lines = |station: &Station| sorted(&station.relays);
    let enclosed = |station: &Station| sorted(std::slice::from_ref(&station.enclosed));
    let [curl, file, line] = &servers.stations;
    assert_eq!(lines(curl), lines(line));
    assert_eq!(enclosed(curl), enclosed(file));
    let spaces = |all: Vec<String>| -> BTreeSet<String> {
        all.into_iter().map(|line| line.replace('+', "%20")).collect()
    };
    assert_eq!(spaces(lines(curl)), spaces(lines(file)));
}
