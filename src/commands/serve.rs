//! `plimsoll serve`: the web console. Addresses, certificates, and passwords are checked here, before anything
//! listens; the server itself is [`plimsoll_console`].

use super::{compare, folder_page, page, run};
use crate::exit::{Exit, Failure};
use crate::flags::load::LoadFlags;
use crate::flags::verbs::Serve;
use crate::interrupt::Interrupts;
use crate::{home, say, wall};
use plimsoll_analysis::summarise;
use plimsoll_console::{Config, Error, Secure, Server, Tool};
use plimsoll_output::html::Page;
use plimsoll_plan::Diagnostic;
use plimsoll_plan::diag::Place;
use plimsoll_record::run_file;
use std::fs::File;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Interval of the checks whether the server has ended, ns.
const LOOK_NS: u64 = 1_000_000_000;
/// Shorter passwords are too easy to guess.
const PASSWORD_CHARS_MIN: usize = 12;

pub fn command(flags: &Serve) -> Result<Exit, Failure> {
    let listen = listen(flags)?;
    let secure = secure(flags)?;
    if !listen.ip().is_loopback() && secure.is_none() {
        let error = Error::Unprotected { address: listen };
        return Err(wrong("U062", "--listen", error.to_string(), error.hint().unwrap_or_default()).into());
    }
    has_pages(plimsoll_ui::missing())?;
    // Blocks the signals before any other thread starts, so that all threads inherit this.
    let interrupts = Interrupts::install()?;
    let config = Config {
        listen,
        folders: folders(flags)?,
        agents: flags.access.words(),
        signing_key: flags.signing_key.clone(),
        allow_commands: flags.allow_commands,
        state: state()?,
        version: env!("CARGO_PKG_VERSION"),
        secure,
        tool: tool()?,
    };
    let server = Server::start(config).map_err(failed)?;
    say::result(&format!("{}\n", server.url()))?;
    if listen.ip().is_unspecified() {
        say::talk("from other machines, replace the address by one of this machine's names or addresses\n");
    }
    while !interrupts.happened() && !server.has_ended() {
        wall::rest(LOOK_NS, &interrupts);
    }
    server.stop().map_err(failed)?;
    Ok(Exit::Pass)
}

/// Checks that the build contains the pages; `missing` is the reason why it does not.
fn has_pages(missing: Option<plimsoll_ui::Missing>) -> Result<(), Failure> {
    match missing {
        None => Ok(()),
        Some(missing) => Err(Failure::machine(missing.why, Some(missing.fix.to_owned()))),
    }
}

fn failed(error: Error) -> Failure {
    let hint = error.hint().map(str::to_owned);
    Failure::machine(error, hint)
}

fn wrong(code: &'static str, flag: &str, message: String, hint: &str) -> Diagnostic {
    Diagnostic::new(code, Place::Flag(flag.to_owned()), message, hint)
}

fn listen(flags: &Serve) -> Result<SocketAddr, Failure> {
    flags.listen.parse().map_err(|_| {
        let message = format!("invalid address `{}`", flags.listen);
        wrong(
            "U060",
            "--listen",
            message,
            "use `ADDRESS:PORT`, such as `127.0.0.1:7117`, or port 0 for a free one",
        )
        .into()
    })
}

/// Returns certificate, key, and password, which only work together.
fn secure(flags: &Serve) -> Result<Option<Secure>, Failure> {
    let (Some(cert), Some(key), Some(file)) = (&flags.tls_cert, &flags.tls_key, &flags.password_file) else {
        let given = [
            ("--tls-cert", &flags.tls_cert),
            ("--tls-key", &flags.tls_key),
            ("--password-file", &flags.password_file),
        ];
        let missing: Vec<String> =
            given.iter().filter(|(_, value)| value.is_none()).map(|(flag, _)| format!("`{flag}`")).collect();
        return match given.iter().find(|(_, value)| value.is_some()) {
            None => Ok(None),
            Some((flag, _)) => {
                let message = format!("requires {} as well", missing.join(" and "));
                Err(wrong("U061", flag, message, "set all three of the flags, or none of them").into())
            }
        };
    };
    let text = secret(file)?;
    let password = text.lines().next().unwrap_or_default().to_owned();
    if password.chars().count() < PASSWORD_CHARS_MIN {
        let message = format!("the password in `{file}` has fewer than {PASSWORD_CHARS_MIN} characters");
        let hint = "create one with `openssl rand -base64 24`";
        return Err(wrong("U063", "--password-file", message, hint).into());
    }
    Ok(Some(Secure { certificate: PathBuf::from(cert), key: PathBuf::from(key), password }))
}

/// Reads a file that only its owner may read.
fn secret(file: &str) -> Result<String, Failure> {
    let unreadable = |e| Failure::machine(format!("cannot read password file `{file}`: {e}"), None);
    let mut opened = File::open(file).map_err(unreadable)?;
    let mode = opened.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
    if mode & 0o044 != 0 {
        let sentence = format!("other users can read the password file `{file}` (mode {mode:04o})");
        return Err(Failure::machine(sentence, Some(format!("restrict it: `chmod 600 {file}`"))));
    }
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

fn folders(flags: &Serve) -> Result<Vec<PathBuf>, Failure> {
    if flags.folders.is_empty() {
        return Ok(vec![home::state_folder()?]);
    }
    let mut folders = Vec::new();
    for folder in &flags.folders {
        let path = Path::new(folder);
        if !path.is_dir() {
            let hint = "name a directory of run files";
            return Err(Failure::machine(format!("there is no directory `{folder}`"), Some(hint.into())));
        }
        // Ids are derived from paths, so they must not depend on the working directory.
        folders.push(
            path.canonicalize()
                .map_err(|e| Failure::machine(format!("cannot read directory `{folder}`: {e}"), None))?,
        );
    }
    Ok(folders)
}

/// Returns `$XDG_STATE_HOME/plimsoll`.
fn state() -> Result<PathBuf, Failure> {
    let runs = home::state_folder()?;
    Ok(runs.parent().map_or_else(|| runs.clone(), Path::to_path_buf))
}

fn tool() -> Result<Tool, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::machine(format!("cannot find this program's executable: {e}"), None))?;
    Ok(Tool {
        program,
        experiment,
        page_of,
        page_of_two: |a, b| compare::page_of_two(a, b).map_err(|e| e.sentence()),
        new_name: |word| home::name(word, wall::now_unix_ns()).map_err(|e| e.sentence()),
        interrupt: plimsoll_engine::signals::interrupt,
        now_unix_ns: wall::now_unix_ns,
        random: || wall::random().map_err(|e| e.sentence()),
    })
}

/// Returns the name that `plimsoll run` gives the experiment, and whether it is a single run.
fn experiment(file: &Path) -> Result<(String, bool), String> {
    // The console reads a file only to name its run; the process that runs it asks the server.
    let name = file.display().to_string();
    let parts =
        run::parts_of(&name, &LoadFlags::default(), &[], run::Asks::Nothing).map_err(|e| e.sentence())?;
    let is_one = matches!(parts.as_slice(), [part] if part.name.is_none() && run::is_single(&part.study));
    let own = parts.first().map(|part| part.study.experiment.name.clone()).filter(|name| !name.is_empty());
    let of_file = || file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((own.unwrap_or_else(of_file), is_one))
}

/// Returns the page that `plimsoll report --html` writes.
fn page_of(path: &Path) -> Result<Page, String> {
    let page = match path.is_dir() {
        true => folder_page::linked(path, &|run| Some(plimsoll_console::address_of(run))),
        false => run_file::read(path).map_err(Failure::from).and_then(|record| {
            let summary = summarise(&record);
            page::of_run(&record, &summary, Some(path))
        }),
    };
    page.map_err(|e| e.sentence())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_pages_says_what_is_missing_and_how_to_get_it() {
        assert!(has_pages(None).is_ok());
        let why = "the console was not built: `npm` is not there";
        let fix = "install Node and build again";
        let told = has_pages(Some(plimsoll_ui::Missing { why, fix }));
        let Err(Failure::Machine { sentence, hint }) = told else { panic!("it must not be served") };
        assert_eq!((sentence.as_str(), hint.as_str()), (why, fix));
    }
}
