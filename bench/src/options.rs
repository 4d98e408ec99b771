//! The bench's command line.

use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bench {
    Plain,
    Large,
    Open,
    Idle,
    Start,
    Scripted,
    Mix,
    Https,
    Handshakes,
    Streams,
    Console,
    Http2,
    Http2Open,
    Http2Held,
    WebSocket,
    Grpc,
    Script,
    ScriptOpen,
    ScriptHeld,
    Jmeter,
    Lua,
    Agents,
}

/// Those of other protocols than HTTP/1.1.
const PROTOCOLS: [Bench; 5] =
    [Bench::Http2, Bench::Http2Open, Bench::Http2Held, Bench::WebSocket, Bench::Grpc];

/// Those of scripts.
const SCRIPTS: [Bench; 3] = [Bench::Script, Bench::ScriptOpen, Bench::ScriptHeld];

const ALL: [Bench; 22] = [
    Bench::Plain,
    Bench::Large,
    Bench::Open,
    Bench::Idle,
    Bench::Start,
    Bench::Scripted,
    Bench::Mix,
    Bench::Https,
    Bench::Handshakes,
    Bench::Streams,
    Bench::Console,
    Bench::Http2,
    Bench::Http2Open,
    Bench::Http2Held,
    Bench::WebSocket,
    Bench::Grpc,
    Bench::Script,
    Bench::ScriptOpen,
    Bench::ScriptHeld,
    Bench::Jmeter,
    Bench::Lua,
    Bench::Agents,
];

impl Bench {
    pub fn name(self) -> &'static str {
        match self {
            Bench::Plain => "plain",
            Bench::Large => "large",
            Bench::Open => "open",
            Bench::Idle => "idle",
            Bench::Start => "start",
            Bench::Scripted => "scripted",
            Bench::Mix => "mix",
            Bench::Https => "https",
            Bench::Handshakes => "handshakes",
            Bench::Streams => "streams",
            Bench::Console => "console",
            Bench::Http2 => "http2",
            Bench::Http2Open => "http2-open",
            Bench::Http2Held => "http2-held",
            Bench::WebSocket => "websocket",
            Bench::Grpc => "grpc",
            Bench::Script => "script",
            Bench::ScriptOpen => "script-open",
            Bench::ScriptHeld => "script-held",
            Bench::Jmeter => "jmeter",
            Bench::Lua => "lua",
            Bench::Agents => "agents",
        }
    }
}

#[derive(Debug)]
pub struct Options {
    /// One short round, to show that every bench still runs.
    pub smoke: bool,
    pub rounds: usize,
    /// Length of a round of every bench that counts requests per CPU-second.
    pub secs: u32,
    /// Length of a round of `open` and `http2-open`: ten seconds unless `--secs` says otherwise.
    pub open_secs: u32,
    pub benches: Vec<Bench>,
    /// The only other tools to run; without any, all that are found.
    pub peers: Option<Vec<String>>,
    /// Leaves plimsoll out (to look at a machine).
    pub peers_only: bool,
    pub note: Option<String>,
    /// An existing binary instead of a release build.
    pub tool: Option<PathBuf>,
    /// A binary of an earlier state, measured in the same rounds.
    pub before: Option<PathBuf>,
    /// As typed, for the record.
    pub line: String,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            smoke: false,
            rounds: 15,
            secs: 4,
            open_secs: 10,
            benches: Vec::new(),
            peers: None,
            peers_only: false,
            note: None,
            tool: None,
            before: None,
            line: format!("cargo xtask bench {}", arguments.join(" ")).trim_end().to_string(),
        };
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or_else(|| format!("`{word}` needs a value"));
            match word.as_str() {
                "--smoke" => options.smoke = true,
                "--peers-only" => options.peers_only = true,
                "--rounds" => options.rounds = positive(word, value()?)? as usize,
                "--secs" => {
                    options.secs = positive(word, value()?)?;
                    options.open_secs = options.secs;
                }
                "--peers" => options.peers = Some(value()?.split(',').map(str::to_string).collect()),
                "--note" => options.note = Some(value()?.clone()),
                "--tool" => options.tool = Some(value()?.into()),
                "--before" => options.before = Some(value()?.into()),
                "all" => options.benches.extend(ALL),
                "protocols" => options.benches.extend(PROTOCOLS),
                "scripts" => options.benches.extend(SCRIPTS),
                name => match ALL.into_iter().find(|bench| bench.name() == name) {
                    Some(bench) => options.benches.push(bench),
                    None => {
                        return Err(format!(
                            "unknown argument `{name}`\nusage: cargo xtask bench {}",
                            super::USAGE
                        ));
                    }
                },
            }
        }
        if options.benches.is_empty() {
            options.benches.extend(ALL);
        }
        if options.tool.is_some() && !options.smoke {
            return Err("`--tool` requires `--smoke`: kept results are those of the release build".into());
        }
        if options.peers_only && options.before.is_some() {
            return Err("`--before` compares with plimsoll, which `--peers-only` leaves out".into());
        }
        if options.smoke {
            (options.rounds, options.secs, options.open_secs) = (1, 1, 1);
        }
        Ok(options)
    }
}

fn positive(flag: &str, text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("invalid `{flag} {text}`: expected a whole number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn without_arguments_everything_runs_fifteen_rounds() {
        let options = parse("").unwrap();
        assert_eq!((options.benches.len(), options.rounds, options.secs, options.open_secs), (22, 15, 4, 10));
        assert_eq!(parse("protocols").unwrap().benches, PROTOCOLS);
        assert_eq!(parse("scripts").unwrap().benches, SCRIPTS);
    }

    #[test]
    fn smoke_is_one_round_of_a_second_with_any_other_options() {
        let options = parse("open --rounds 9 --smoke --peers wrk,ab").unwrap();
        assert_eq!((options.rounds, options.secs, options.open_secs), (1, 1, 1));
        assert_eq!(options.benches, [Bench::Open]);
        assert_eq!(options.peers.unwrap(), ["wrk", "ab"]);
    }

    #[test]
    fn before_needs_plimsoll() {
        assert_eq!(parse("plain --before old/plimsoll").unwrap().before, Some("old/plimsoll".into()));
        assert!(parse("--before old --peers-only").unwrap_err().contains("`--peers-only`"));
    }

    #[test]
    fn a_zero_and_an_unknown_argument_are_rejected() {
        assert!(parse("--rounds 0").unwrap_err().contains("`--rounds 0`"));
        assert!(parse("--rounds").unwrap_err().contains("needs a value"));
        assert!(parse("fast").unwrap_err().contains("unknown argument `fast`"));
    }
}
