//! TLS for a console that other machines can reach.

use crate::Secure;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Creates the TLS acceptor.
///
/// # Errors
/// Returns a sentence if the certificate or its key cannot be read, or do not match.
pub fn acceptor(secure: &Secure) -> Result<TlsAcceptor, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&secure.certificate)
        .and_then(Iterator::collect)
        .map_err(|e| unreadable("certificate", &secure.certificate, &e))?;
    if chain.is_empty() {
        return Err(format!("`{}` contains no certificate", secure.certificate.display()));
    }
    let key = PrivateKeyDer::from_pem_file(&secure.key).map_err(|e| unreadable("key", &secure.key, &e))?;
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|e| format!("cannot use the certificate and its key: {e}"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(what: &str, path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("cannot read the {what} `{}`: {why}", path.display())
}
