//! The command line: a few flags for the process, and every key of the settings as a flag.

use crate::error::Error;
use crate::fault::FAULTS;
use crate::keys::KEYS;
use crate::settings::Settings;
use crate::units::{duration_ns, whole};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A parsed command line.
pub(crate) enum Invocation {
    Run(Box<Options>),
    Help,
}

/// How the process runs, and the settings that it starts with.
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) until_stdin_closes: bool,
    pub(crate) life_s: u64,
    pub(crate) busy_poll_ns: u64,
    pub(crate) log_max: u64,
    pub(crate) settings: Settings,
    pub(crate) tls: Option<TlsOptions>,
}

/// A second listener, for HTTP/2 over TLS.
pub(crate) struct TlsOptions {
    pub(crate) listen: SocketAddr,
    /// PEM files.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Flags that are not keys: name, placeholder of the value, meaning.
const OWN: [(&str, &str, &str); 8] = [
    ("listen", " <ADDRESS:PORT>", "Address to listen on; port 0 takes a free one [default: 127.0.0.1:0]"),
    ("until-stdin-closes", "", "End when stdin reaches its end"),
    ("seconds", " <N>", "End after N seconds in any case [default: 3600]"),
    ("busy-poll", " <DURATION>", "Busy-poll instead of sleeping before a response is due [default: 0]"),
    ("log-max", " <N>", "Maximum number of records in the log, 40 bytes each [default: 20000000]"),
    ("tls-listen", " <ADDRESS:PORT>", "Second address, for HTTP/2 over TLS; requires the next two flags"),
    ("tls-certificate", " <FILE>", "Its certificate chain, PEM"),
    ("tls-key", " <FILE>", "Its key, PEM"),
];

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Invocation, Error> {
    let mut options = Options {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        until_stdin_closes: false,
        life_s: 3600,
        busy_poll_ns: 0,
        log_max: 20_000_000,
        settings: Settings::default(),
        tls: None,
    };
    let (mut tls_listen, mut tls_certificate, mut tls_key) = (None, None, None);
    let mut pairs = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        if arg == "--help" || arg == "-h" {
            return Ok(Invocation::Help);
        }
        let Some(flag) = arg.strip_prefix("--") else {
            return Err(Error::wrong(format!("unexpected argument `{arg}`; see --help")));
        };
        let (name, mut inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let name = name.replace('_', "-");
        // These keys are switches, so their flags need no value.
        if ["leave-in-backlog", "http2"].contains(&name.as_str())
            && inline.is_none()
            && args.peek().is_none_or(|next| next.starts_with("--"))
        {
            inline = Some("1".into());
        }
        let mut value = || {
            inline
                .take()
                .or_else(|| args.next())
                .ok_or_else(|| Error::wrong(format!("`--{name}` requires a value")))
        };
        let wrong = |text: String| Error::wrong(format!("--{name}: {text}"));
        match name.as_str() {
            "listen" => options.listen = address(&value()?).map_err(wrong)?,
            "tls-listen" => tls_listen = Some(address(&value()?).map_err(wrong)?),
            "tls-certificate" => tls_certificate = Some(PathBuf::from(value()?)),
            "tls-key" => tls_key = Some(PathBuf::from(value()?)),
            "until-stdin-closes" => options.until_stdin_closes = true,
            "seconds" => options.life_s = whole(&value()?, 1, 1_000_000_000).map_err(wrong)?,
            "busy-poll" => options.busy_poll_ns = duration_ns(&value()?).map_err(wrong)?,
            "log-max" => options.log_max = whole(&value()?, 0, 1 << 32).map_err(wrong)?,
            _ => {
                let key = name.replace('-', "_");
                if !KEYS.iter().any(|row| row.name == key) {
                    return Err(Error::wrong(format!("unknown flag `--{name}`; see --help")));
                }
                pairs.push((key, value()?));
            }
        }
        if inline.is_some() {
            return Err(Error::wrong(format!("`--{name}` takes no value")));
        }
    }
    options.tls = match (tls_listen, tls_certificate, tls_key) {
        (None, None, None) => None,
        (Some(listen), Some(certificate), Some(key)) => Some(TlsOptions { listen, certificate, key }),
        _ => {
            let text = "`--tls-listen`, `--tls-certificate`, and `--tls-key` require each other";
            return Err(Error::wrong(text));
        }
    };
    options.settings = options.settings.changed(&pairs).map_err(Error::wrong)?;
    Ok(Invocation::Run(Box::new(options)))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("invalid address `{text}`: expected for example 127.0.0.1:0"))
}

/// Returns the text of `--help`, generated from the tables.
pub(crate) fn help() -> String {
    let mut text = String::from(
        "Start a server with configurable behavior that counts what it receives.\n\n\
    Usage: plimsoll test-server [--listen <ADDRESS:PORT>] [--KEY VALUE]...\n\nFlags:\n",
    );
    for (name, value, meaning) in OWN {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<32} {meaning}", format!("--{name}{value}"));
    }
    text.push_str(
        "\nKeys (`--KEY VALUE` or `/_test-server/set?KEY=VALUE`; those marked * also in a request's query):\n",
    );
    for row in &KEYS {
        let mark = if row.per_request() { '*' } else { ' ' };
        let _ = writeln!(text, "{mark} {:<32} {}", format!("{}={}", row.name, row.example), row.meaning);
    }
    text.push_str("\nFaults:\n");
    for (name, _, meaning) in FAULTS {
        let _ = writeln!(text, "  {name:<32} {meaning}");
    }
    text
}
