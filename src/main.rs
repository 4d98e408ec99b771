//! `plimsoll`: flags in, exit code out. Everything that a library test could want lives in the crates below;
//! this one only chooses and connects.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod codes;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod exit;
#[cfg(target_os = "linux")]
mod flags;
#[cfg(target_os = "linux")]
mod home;
#[cfg(target_os = "linux")]
mod interrupt;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod say;
#[cfg(target_os = "linux")]
mod steer;
#[cfg(target_os = "linux")]
mod wall;

use std::process::ExitCode;

/// When memory ends, a run still says what it has measured.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: plimsoll_engine::memory::Reserve = plimsoll_engine::memory::Reserve;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exit::Exit;
    use flags::Asked;

    let done = flags::parse(std::env::args_os().skip(1)).and_then(|asked| {
        match asked {
            Asked::Load(flags) => commands::run::url(&flags),
            Asked::Run(flags) => commands::run::file(&flags),
            Asked::Curl(flags) => commands::curl::command(&flags),
            Asked::Check(flags) => commands::check::command(&flags),
            Asked::Schema => commands::check::schema(),
            Asked::Explain(flags) => commands::explain::command(&flags),
            Asked::Find(flags) => commands::find::command(&flags),
            Asked::Compare(flags) => commands::compare::command(&flags),
            Asked::Audit(flags) => commands::audit::command(&flags),
            Asked::Size(flags) => commands::size::command(&flags),
            Asked::Report(flags) => commands::report::command(&flags),
            Asked::Merge(flags) => commands::merge::command(&flags),
            #[cfg(feature = "console")]
            Asked::Serve(flags) => commands::serve::command(&flags),
            #[cfg(not(feature = "console"))]
            Asked::Serve(_) => Err(exit::not_built("serve", "console")),
            Asked::Demo(flags) => commands::demo::command(&flags),
            Asked::Doctor(flags) => commands::doctor::command(&flags),
            Asked::Examples(flags) => commands::examples::command(&flags),
            Asked::Completions(flags) => commands::completions::command(&flags),
            Asked::Runs(flags) => commands::runs::command(&flags),
            Asked::DocsDump => commands::docs_dump::command(),
            Asked::Ruler(args) => return Ok(ruler::main(args.into_iter())),
            Asked::Text(text) => say::result(&text).map(|()| Exit::Pass),
            Asked::Nothing => {
                say::talk(&flags::verbs::short_help());
                Ok(Exit::Usage)
            }
        }
        .map(ExitCode::from)
    });
    done.unwrap_or_else(|failure| {
        // Asked of the words themselves: the flags may be what is wrong.
        say::failure(&failure, std::env::args_os().any(|word| word == "--no-color"));
        failure.exit().into()
    })
}

/// The engine speaks to the Linux kernel directly: epoll, timers in nanoseconds, `TCP_INFO`.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!(
        "plimsoll: this tool runs on Linux only; use a Linux machine, a virtual machine or a container"
    );
    ExitCode::FAILURE
}
