//! `lab up`: what is missing is installed and built, then the processes start in the order of the file, each healthy
//! before the next. If anything fails, everything that was started is stopped again.

use super::fill::Fill;
use super::state::{self, State};
use super::{certificate, down, kinds, link, places, prepare, process};
use chore::interrupt;
use chore::{Outcome, needs};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Instant;

/// Starts a system, or says that it is up. Whoever calls holds its lock.
/// An error leaves nothing running.
pub fn up(name: &str, base: Option<u16>) -> Result<State, String> {
    let folder = places::state(name);
    if let Some(running) = State::read(&folder)? {
        let asked = base.unwrap_or(running.base);
        // Whole and alive: a system of which one part has died measures something else.
        let alive = running.this_boot() && running.whole && running.processes.iter().all(|p| p.lives());
        if alive && asked == running.base {
            println!("{name}: is up already, at base {}", running.base);
            return Ok(running);
        }
        if alive {
            return Err(format!(
                "`{name}` is up at base {}, not {asked}\nhint: `cargo xtask lab down {name}` first",
                running.base
            ));
        }
        println!("{name}: was left behind in pieces; they are stopped first");
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
            Ok(()) => Err(format!("{sentence}\nwhat had been started is stopped")),
            Err(also) => Err(format!("{sentence}\nand not all of it could be stopped: {also}")),
        };
    }
    println!("{name}: up within {:.1} s, at base {}", begin.elapsed().as_secs_f64(), state.base);
    Ok(state)
}

fn start(name: &str, base: Option<u16>, state: &mut State) -> Outcome {
    let (draft, _) = places::system(name, base)?;
    needs::ensure(&draft.programs())?;
    certificate::ensure(&places::ca())?;
    // On disk before the first process: from here on `lab down` finds whatever there is.
    state.base = draft.base;
    super::make_folder(&state.folder.join("log"))?;
    state.save()?;
    // Prepared before the links exist: a build is long, and its result does not depend on an address.
    prepare::all(&draft, &places::prepared())?;
    if link::allowed() {
        for link in &draft.link {
            link::make(link, state)?;
        }
    }
    password(&state.folder.join("password"))?;
    // Read again: password and links are new, and the file that was saved knows them now.
    let (system, fill) = places::system(name, Some(draft.base))?;
    for file in &system.file {
        render(&system.here.join(&file.from), &state.folder.join(&file.to), &fill)?;
    }
    for process in &system.process {
        interrupt::check()?;
        if let Some(link) = process.link.as_ref().filter(|_| !link::allowed()) {
            println!("{name}: {} is left out: only root may make its link `{link}`", process.name);
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
            "{name}: {} is healthy after {seconds:.1} s (pid {}{ports})",
            process.name,
            started.child.id()
        );
    }
    state.whole = true;
    state.save()
}

/// A configuration with everything filled in. It is written anew at each start: ports may be others.
fn render(from: &Path, to: &Path, fill: &Fill) -> Outcome {
    let shown = super::describe(from);
    let text = std::fs::read_to_string(from).map_err(|e| format!("cannot read `{shown}`: {e}"))?;
    let text = fill.text(&text).map_err(|e| format!("{shown}: {e}"))?;
    if let Some(folder) = to.parent() {
        super::make_folder(folder)?;
    }
    std::fs::write(to, text).map_err(|e| format!("cannot write `{}`: {e}", to.display()))
}

/// A new random text, for this start only and readable by its owner only. A secret is no measurement: it comes from
/// the kernel and not from a seed.
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

/// `lab up NAME...`: on a failure the systems that this command had started go down with it.
pub fn command(names: &[String], base: Option<u16>) -> Outcome {
    let mut done: Vec<&String> = Vec::new();
    for name in names {
        let lock = state::lock(&places::state(name), name)?;
        // A system that was up before is not ours to stop.
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
