//! `lab up` installs and builds what is missing, and then starts the processes in the order of the file. Each must be
//! healthy before the next one starts. After a failure, it stops everything that it has started.

use super::fill::Fill;
use super::state::{self, State};
use super::{certificate, down, kinds, link, places, prepare, process};
use chore::interrupt;
use chore::{Outcome, needs};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Instant;

/// Starts a system, or reports that it is up. The caller holds the lock of the system. After an error, nothing is left
/// running.
pub fn up(name: &str, base: Option<u16>) -> Result<State, String> {
    let folder = places::state(name);
    if let Some(running) = State::read(&folder)? {
        let asked = base.unwrap_or(running.base);
        // Complete and alive: with a dead process, a measurement would be of a different system.
        let alive = running.this_boot() && running.whole && running.processes.iter().all(|p| p.lives());
        if alive && asked == running.base {
            println!("{name}: is up already, at base {}", running.base);
            return Ok(running);
        }
        if alive {
            return Err(format!(
                "`{name}` is up at base {}, not {asked}\nhelp: run `cargo xtask lab down {name}` first",
                running.base
            ));
        }
        println!("{name}: stopping the rest of an incomplete system first");
        down::down(name)?;
    }
    let begin = Instant::now();
    let mut state = State::new(&folder, 0);
    let started = start(name, base, &mut state);
    if let Err(sentence) = started {
        let sentence = format!("`{name}` did not start: {sentence}");
        if state.processes.is_empty() && state.links.is_empty() && state.folders.is_empty() {
            state.forget()?;
            return Err(sentence);
        }
        return match down::down(name) {
            Ok(()) => Err(format!("{sentence}\neverything that had started is stopped")),
            Err(also) => Err(format!("{sentence}\nnot everything could be stopped: {also}")),
        };
    }
    println!("{name}: up within {:.1} s, at base {}", begin.elapsed().as_secs_f64(), state.base);
    Ok(state)
}

fn start(name: &str, base: Option<u16>, state: &mut State) -> Outcome {
    let (draft, _) = places::system(name, base)?;
    needs::ensure(&draft.programs())?;
    certificate::ensure(&places::ca())?;
    // Saved before the first process starts, so that `lab down` finds everything.
    state.base = draft.base;
    super::make_folder(&state.folder.join("log"))?;
    state.save()?;
    // Before the links exist, because a build is long and does not depend on an address.
    prepare::all(&draft, &places::prepared())?;
    if link::allowed() {
        for link in &draft.link {
            link::make(link, state)?;
        }
    }
    password(&state.folder.join("password"))?;
    // Read again with the new password and links.
    let (system, fill) = places::system(name, Some(draft.base))?;
    for file in &system.file {
        render(&system.here.join(&file.from), &state.folder.join(&file.to), &fill)?;
    }
    for process in &system.process {
        interrupt::check()?;
        if let Some(link) = process.link.as_ref().filter(|_| !link::allowed()) {
            println!("{name}: {} is skipped: only root can create its link `{link}`", process.name);
            continue;
        }
        let begin = Instant::now();
        let spec = kinds::spec(process, &system, &fill, state)?;
        let mut started = process::start(&spec, state)?;
        process::healthy(&spec, &mut started)?;
        kinds::settle(process, &system, &fill, state)?;
        let ports: Vec<String> = spec.ports.iter().map(u16::to_string).collect();
        let ports = if ports.is_empty() { String::new() } else { format!(", port {}", ports.join(" ")) };
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "{name}: {} is healthy after {seconds:.1} s (PID {}{ports})",
            process.name,
            started.child.id()
        );
    }
    state.whole = true;
    state.save()
}

/// Writes a configuration with all placeholders filled in. Every start rewrites it, because the ports may differ.
fn render(from: &Path, to: &Path, fill: &Fill) -> Outcome {
    let shown = super::describe(from);
    let text = std::fs::read_to_string(from).map_err(|e| format!("cannot read `{shown}`: {e}"))?;
    let text = fill.text(&text).map_err(|e| format!("{shown}: {e}"))?;
    if let Some(folder) = to.parent() {
        super::make_folder(folder)?;
    }
    std::fs::write(to, text).map_err(|e| format!("cannot write `{}`: {e}", to.display()))
}

/// Writes a new random password for this start, readable only by its owner. It is a secret, so it is from the kernel
/// and not from a seed.
fn password(file: &Path) -> Outcome {
    let mut bytes = [0u8; 16];
    let mut source = std::fs::File::open("/dev/urandom").map_err(|e| format!("no randomness: {e}"))?;
    source.read_exact(&mut bytes).map_err(|e| format!("no randomness: {e}"))?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    super::remove_file(file)?;
    let written = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let written = written.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|e| format!("cannot write `{}`: {e}", file.display()))
}

/// `lab up NAME...`: after a failure, stops the systems that this command has started.
pub fn command(names: &[String], base: Option<u16>) -> Outcome {
    let mut done: Vec<&String> = Vec::new();
    for name in names {
        let lock = state::lock(&places::state(name), name)?;
        // A system that was up before stays up.
        let was_up = State::read(&places::state(name))?.is_some();
        let outcome = up(name, base);
        drop(lock);
        if let Err(sentence) = outcome {
            for name in done {
                let _lock = state::lock(&places::state(name), name)?;
                down::down(name)?;
            }
            return Err(sentence);
        }
        if !was_up {
            done.push(name);
        }
    }
    super::list::print(names)
}
