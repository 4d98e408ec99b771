//! `--allow-remote`: fetches the modules that a script imports from addresses.

use crate::exit::Failure;
use crate::home;
use plimsoll_control::{dns, fetch, place};
use plimsoll_js::RemoteModules;
use plimsoll_plan::link::{Http, Tls, TlsFiles};
use plimsoll_plan::{origin, request};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Largest module, in bytes.
const BYTES_MAX: usize = 64 << 20;
/// Longest wait for a module.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most redirects from an address to its module.
const REDIRECTS_MAX: usize = 5;

/// Returns the modules of a script, whose lock file is next to it.
///
/// # Errors
/// Returns an error if a certificate cannot be read, or if there is no folder for the cache.
pub fn modules(file: &str, ca: &[String], is_insecure: bool) -> Result<Arc<RemoteModules>, Failure> {
    let unreadable =
        |name: &str, e: std::io::Error| Failure::machine(format!("cannot read `{name}`: {e}"), None);
    let ca: Vec<Vec<u8>> = ca
        .iter()
        .map(|name| std::fs::read(name).map_err(|e| unreadable(name, e)))
        .collect::<Result<_, _>>()?;
    let files = TlsFiles { ca, ..TlsFiles::default() };
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let cache = home::state_folder()?.with_file_name("modules");
    let fetch = move |address: &str| fetched(address, &files, is_insecure);
    Ok(Arc::new(RemoteModules::new(folder, cache, Box::new(fetch))))
}

/// Fetches an address, and follows its redirects.
fn fetched(address: &str, files: &TlsFiles, is_insecure: bool) -> Result<Vec<u8>, String> {
    let mut address = address.to_owned();
    for _ in 0..=REDIRECTS_MAX {
        let page = page(&address, files, is_insecure)?;
        match (page.status, page.location) {
            (200, _) if page.body.len() >= BYTES_MAX => {
                return Err(format!("it is larger than {} MiB", BYTES_MAX >> 20));
            }
            (200, _) => return Ok(page.body),
            (301 | 302 | 303 | 307 | 308, Some(location)) => address = joined(&address, &location),
            (status, _) => return Err(format!("the server responded with status {status}")),
        }
    }
    Err(format!("it has more than {REDIRECTS_MAX} redirects"))
}

fn page(address: &str, files: &TlsFiles, is_insecure: bool) -> Result<fetch::Page, String> {
    let url = request::url(address).map_err(|problem| problem.message.to_string())?;
    if !url.target.tls {
        return Err("it redirects to `http://`".to_owned());
    }
    let settings = Tls { insecure: is_insecure, ..Tls::default() };
    let origin = origin::found(&url.target, Some(&settings));
    let tls = place::tls(&origin, files, Http::V11).map_err(|error| error.to_string())?;
    let resolved = dns::resolve(&url.target).map_err(|error| error.to_string())?;
    let mut why = "the host has no address".to_owned();
    for one in &resolved.addresses {
        match fetch::page_from(*one, tls.as_ref(), &origin.authority(), &url.path, BYTES_MAX, PATIENCE) {
            Ok(page) => return Ok(page),
            Err(reason) => why = reason,
        }
    }
    Err(why)
}

/// Returns the address of a redirect (RFC 3986 section 5.2).
fn joined(base: &str, location: &str) -> String {
    if location.contains("://") {
        return location.to_owned();
    }
    let rest = base.strip_prefix("https://").unwrap_or(base);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    match location.strip_prefix('/') {
        Some(path) => format!("https://{authority}/{path}"),
        None => {
            let path = rest.split('?').next().unwrap_or_default();
            let folder = path.rfind('/').map_or(authority, |at| &path[..at]);
            format!("https://{folder}/{location}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn a_redirect_is_relative_to_its_address() {
        for (location, expected) in [
            ("https://b/c.js", "https://b/c.js"),
            ("/c.js", "https://a:1/c.js"),
            ("c.js?d", "https://a:1/x/c.js?d"),
        ] {
            assert_eq!(joined("https://a:1/x/y.js?z=/", location), expected);
        }
        assert_eq!(joined("https://a:1", "c.js"), "https://a:1/c.js");
    }
}
