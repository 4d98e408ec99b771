//! nginx in the foreground, with a rendered configuration. The lab adds the directives that it needs (foreground, PID
//! file, user of the workers) only if the configuration does not have them: nginx rejects duplicates.

use super::super::file::Process;
use super::super::fill::Fill;
use super::super::process::Spec;
use super::super::state::State;

pub fn spec(process: &Process, fill: &Fill, state: &State) -> Result<Spec, String> {
    let mut spec = super::plain(process, fill, state);
    let config = state.folder.join(process.config.as_deref().unwrap_or_default());
    let text =
        std::fs::read_to_string(&config).map_err(|e| format!("cannot read `{}`: {e}", config.display()))?;
    let place = state.folder.display().to_string();
    let errors = format!("{place}/{}-error.log", process.name);
    let root = nix::unistd::geteuid().is_root();
    let more = directives(&text, &format!("{place}/{}.pid", process.name), root);
    let config = config.display().to_string();
    let line = ["nginx", "-c", &config, "-p", &place, "-e", &errors, "-g", &more];
    spec.run = line.iter().map(|word| word.to_string()).collect();
    Ok(spec)
}

fn directives(config: &str, pid: &str, root: bool) -> String {
    let says = |name: &str| {
        config
            .lines()
            .any(|line| line.trim_start().strip_prefix(name).is_some_and(|r| r.starts_with([' ', '\t'])))
    };
    let mut more = Vec::new();
    if !says("daemon") {
        more.push("daemon off;".to_string());
    }
    if !says("pid") {
        more.push(format!("pid {pid};"));
    }
    // Workers with another user could not read a checkout in a private home folder.
    if root && !says("user") {
        more.push("user root;".to_string());
    }
    more.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_of_the_configuration_are_not_repeated() {
        assert_eq!(directives("events {}\n", "/s/x.pid", false), "daemon off; pid /s/x.pid;");
        assert_eq!(directives("user www;\n  pid /y;\ndaemon off;\n", "/s/x.pid", true), "");
        assert_eq!(directives("user_agent x;\npid /y;\n", "/s/x.pid", true), "daemon off; user root;");
    }
}
