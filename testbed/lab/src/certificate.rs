//! The lab's certificate authority and one server certificate. openssl creates them, and they are kept while they are
//! valid. A tool under test verifies the certificate like any other, and trusts `@{ca}`.

use chore::{Outcome, shell};
use std::path::Path;
use std::process::{Command, Stdio};

/// Links have numbers below this one. The certificate lists all their addresses, because addresses have no wildcards.
pub const LINKS: u8 = 16;

const DAY_S: u32 = 86_400;

/// Creates `ca.pem`, `cert.pem`, and `key.pem`, unless they exist and are valid for another day.
pub fn ensure(folder: &Path) -> Outcome {
    super::make_folder(folder)?;
    // All systems share it: if two start concurrently, one creates it and the other waits.
    let lock = folder.join("lock");
    let lock = std::fs::File::create(&lock).map_err(|e| format!("cannot write `{}`: {e}", lock.display()))?;
    lock.lock().map_err(|e| format!("cannot lock the certificates: {e}"))?;
    if good(folder) {
        return Ok(());
    }
    let names: Vec<String> =
        (0..LINKS).flat_map(|n| [format!("IP:10.203.{n}.1"), format!("IP:10.203.{n}.2")]).collect();
    let config = format!(
        "[req]\ndistinguished_name = who\nprompt = no\n[who]\nCN = plimsoll lab\n\
         [authority]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign\n\
         subjectKeyIdentifier = hash\n\
         [server]\nbasicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature\n\
         extendedKeyUsage = serverAuth\nsubjectAltName = DNS:localhost, IP:127.0.0.1, {}\n",
        names.join(", ")
    );
    let file = folder.join("openssl.cnf");
    std::fs::write(&file, config).map_err(|e| format!("cannot write `{}`: {e}", file.display()))?;
    let new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    // Elliptic-curve keys: a handshake should cost the server as much as with current certificates, not as with RSA.
    let mut authority = vec!["req", "-x509", "-config", "openssl.cnf", "-extensions", "authority"];
    authority.extend(new_key);
    authority.extend(["-days", "3650", "-keyout", "ca-key.pem", "-out", "ca.pem"]);
    let mut request = vec!["req", "-config", "openssl.cnf", "-subj", "/CN=localhost"];
    request.extend(new_key);
    request.extend(["-keyout", "key.pem", "-out", "cert.csr"]);
    let sign = [
        "x509",
        "-req",
        "-in",
        "cert.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca-key.pem",
        "-set_serial",
        "2",
        "-days",
        "800",
        "-extfile",
        "openssl.cnf",
        "-extensions",
        "server",
        "-out",
        "cert.pem",
    ];
    openssl(folder, &authority)?;
    openssl(folder, &request)?;
    openssl(folder, &sign)?;
    if good(folder) { Ok(()) } else { Err("openssl cannot verify the certificate that it created".into()) }
}

/// Returns whether key, certificate, and authority match and are valid for another day, enough for a measurement.
fn good(folder: &Path) -> bool {
    let fine = |arguments: &[&str]| {
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    let day = DAY_S.to_string();
    folder.join("key.pem").is_file()
        && fine(&["x509", "-in", "cert.pem", "-noout", "-checkend", &day])
        && fine(&["verify", "-CAfile", "ca.pem", "cert.pem"])
}

fn openssl(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(arguments).stdin(Stdio::null());
    let out = command.output().map_err(|e| format!("cannot start openssl: {e}"))?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr).trim().to_string();
    Err(format!("`{}` failed: {}\n{said}", shell::show(&command), out.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_created_once_and_verified_by_its_authority() {
        let folder = std::env::temp_dir().join(format!("plimsoll-ca-{}", std::process::id()));
        ensure(&folder).expect("openssl is here");
        let first = std::fs::read(folder.join("cert.pem")).expect("it exists");
        ensure(&folder).expect("openssl is here");
        assert_eq!(first, std::fs::read(folder.join("cert.pem")).expect("it still exists"));
        std::fs::write(folder.join("cert.pem"), "torn").expect("the folder is writable");
        ensure(&folder).expect("a damaged one is replaced");
        assert!(good(&folder));
        std::fs::remove_dir_all(&folder).expect("the folder is removable");
    }
}
