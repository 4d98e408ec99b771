//! The command line: a few flags of its own, and every key of the settings as a flag.

use crate::error::Error;
use crate::fault::FAULTS;
use crate::keys::KEYS;
use crate::settings::Settings;
use crate::units::{duration_ns, whole};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What the command line asks for.
pub(crate) enum Invocation {
    Run(Box<Options>),
    Help,
}

/// How to run.
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) until_stdin_closes: bool,
    pub(crate) life_s: u64,
    pub(crate) spin_ns: u64,
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

/// Flags that are not keys: name, its value in the help, meaning.
const OWN: [(&str, &str, &str); 8] = [
    ("listen", "127.0.0.1:0", "address to serve; port 0 takes a free one"),
    ("until-stdin-closes", "", "end when stdin reaches its end"),
    ("seconds", "3600", "end after so long in any case"),
    ("spin", "50us", "poll instead of sleeping for the last stretch before something is due"),
    ("log-max", "20000000", "records kept in the log (40 bytes each)"),
    ("tls-listen", "127.0.0.1:0", "second address, for HTTP/2 over TLS; needs the two that follow"),
    ("tls-certificate", "FILE", "its certificate chain, PEM"),
    ("tls-key", "FILE", "its key, PEM"),
];

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Invocation, Error> {
    let mut options = Options {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        until_stdin_closes: false,
        life_s: 3600,
        spin_ns: 0,
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
            return Err(Error::wrong(format!("`{arg}` is no flag; see --help")));
        };
        let (name, mut inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (flag, None),
        };
        let name = name.replace('_', "-");
        // A switch among the keys may stand alone.
        if ["accept-none-beyond", "http2"].contains(&name.as_str())
            && inline.is_none()
            && args.peek().is_none_or(|next| next.starts_with("--"))
        {
            inline = Some("1".into());
        }
        let mut value = || {
            inline
                .take()
                .or_else(|| args.next())
                .ok_or_else(|| Error::wrong(format!("`--{name}` needs a value")))
        };
        let wrong = |text: String| Error::wrong(format!("--{name}: {text}"));
        match name.as_str() {
            "listen" => options.listen = address(&value()?).map_err(wrong)?,
            "tls-listen" => tls_listen = Some(address(&value()?).map_err(wrong)?),
            "tls-certificate" => tls_certificate = Some(PathBuf::from(value()?)),
            "tls-key" => tls_key = Some(PathBuf::from(value()?)),
            "until-stdin-closes" => options.until_stdin_closes = true,
            "seconds" => options.life_s = whole(&value()?, 1, 1_000_000_000).map_err(wrong)?,
            "spin" => options.spin_ns = duration_ns(&value()?).map_err(wrong)?,
            "log-max" => options.log_max = whole(&value()?, 0, 1 << 32).map_err(wrong)?,
            _ => {
                let key = name.replace('-', "_");
                if !KEYS.iter().any(|row| row.name == key) {
                    return Err(Error::wrong(format!("`--{name}` is no flag; see --help")));
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
            let text = "`--tls-listen`, `--tls-certificate`, and `--tls-key` need each other";
            return Err(Error::wrong(text));
        }
    };
    options.settings = options.settings.changed(&pairs).map_err(Error::wrong)?;
    Ok(Invocation::Run(Box::new(options)))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("`{text}` is not an address; write for example 127.0.0.1:0"))
}

/// The text of `--help`, made from the tables.
pub(crate) fn help() -> String {
    let mut text =
        String::from("A server whose behaviour is commanded, and which counts what it receives.\n\n");
    text.push_str("Usage: plimsoll test-server [--listen ADDRESS:PORT] [--KEY VALUE]...\n\nFlags:\n");
    for (name, value, meaning) in OWN {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:<32} {meaning}", format!("--{name} {value}"));
    }
    text.push_str(
        "\nKeys (--KEY VALUE; /_test-server/set?KEY=VALUE; those marked * also in any request's query):\n",
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
