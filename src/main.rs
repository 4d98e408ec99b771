//! `plimsoll`: flags in, exit code out. The crates below hold everything that a library test could need; this one
//! selects and connects.

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
mod part;
#[cfg(target_os = "linux")]
mod say;
#[cfg(target_os = "linux")]
mod steer;
#[cfg(target_os = "linux")]
mod wall;

use std::process::ExitCode;

/// Lets a run report what it measured even when memory runs out.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: plimsoll_engine::memory::Reserve = plimsoll_engine::memory::Reserve;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let done = flags::parse(std::env::args_os().skip(1)).and_then(command);
    done.unwrap_or_else(|failure| {
        // Reads the raw words, because parsing the flags may be what failed.
        say::failure(&failure, std::env::args_os().any(|word| word == "--no-color"));
        failure.exit().into()
    })
}

/// Runs the parsed command.
#[cfg(target_os = "linux")]
fn command(asked: flags::Invocation) -> Result<ExitCode, exit::Failure> {
    use exit::Exit;
    use flags::Invocation;
    use flags::verbs::Verb;

    let done = match asked {
        Invocation::Load(flags) => commands::run::url(&flags),
        Invocation::Text(text) => say::result(&text).map(|()| Exit::Pass),
        Invocation::Nothing => {
            say::talk(&flags::verbs::short_help());
            Ok(Exit::Usage)
        }
        Invocation::Verb(verb) => match verb {
            Verb::Run(flags) => commands::run::file(&flags),
            Verb::K6(flags) => commands::k6::command(&flags),
            Verb::Jmeter(flags) => commands::jmeter::command(&flags),
            Verb::Wrk(flags) => commands::wrk::command(&flags),
            Verb::Ab(flags) => commands::ab::command(&flags),
            Verb::Hey(flags) => commands::hey::command(&flags),
            Verb::Oha(flags) => commands::oha::command(&flags),
            Verb::Vegeta(flags) => commands::vegeta::command(&flags),
            Verb::Loadtest(flags) => commands::loadtest::command(&flags),
            Verb::Curl(flags) => commands::curl::command(&flags),
            Verb::Find(flags) => commands::find::command(&flags),
            Verb::Demo(flags) => commands::demo::command(&flags),
            Verb::Report(flags) => commands::report::command(&flags),
            Verb::Compare(flags) => commands::compare::command(&flags),
            Verb::Merge(flags) => commands::merge::command(&flags),
            Verb::Audit(flags) => commands::audit::command(&flags),
            Verb::Runs(flags) => commands::runs::command(&flags),
            #[cfg(feature = "console")]
            Verb::Serve(flags) => commands::serve::command(&flags),
            #[cfg(not(feature = "console"))]
            Verb::Serve(_) => Err(exit::not_built("serve", "console")),
            Verb::Check(flags) => commands::check::command(&flags),
            Verb::Examples(flags) => commands::examples::command(&flags),
            Verb::Schema(_) => commands::check::schema(),
            Verb::Size(flags) => commands::size::command(&flags),
            Verb::Grpc(flags) => commands::grpc::command(&flags),
            Verb::Agent(flags) => commands::agents::agent(&flags),
            Verb::Agents(flags) => commands::agents::list(&flags),
            Verb::Cluster(flags) => commands::cluster::command(&flags),
            Verb::K8s(flags) => commands::k8s::command(&flags),
            Verb::Doctor(flags) => commands::doctor::command(&flags),
            // The server of the demo and the tests.
            Verb::TestServer(flags) => return Ok(ruler::main(flags.words.into_iter())),
            Verb::Completions(flags) => commands::completions::command(&flags),
            Verb::Man(_) => say::result(&flags::whole::man()).map(|()| Exit::Pass),
            Verb::Help(of) => return flags::help(&of).and_then(command),
            Verb::Explain(flags) => commands::explain::command(&flags),
            Verb::Version(_) => say::result(&flags::version()).map(|()| Exit::Pass),
            Verb::DocsDump(_) => commands::docs_dump::command(),
        },
    };
    done.map(ExitCode::from)
}

/// The engine calls the Linux kernel directly: epoll, timers in nanoseconds, `TCP_INFO`.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!(
        "error: plimsoll runs on Linux only\nhelp: use a Linux machine, a virtual machine, or a container"
    );
    ExitCode::FAILURE
}
