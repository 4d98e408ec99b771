//! Certificate verification where the ordinary check does not fit the user's settings: no check at all (`insecure`), or
//! the server's own certificate given as the authority.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;

/// Accepts every certificate and every signature: without trust in the certificate, a signature by its key proves
/// nothing, and merely parsing old certificates (X.509 v1) would fail.
#[derive(Debug)]
pub struct AcceptAnyCert {
    pub schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for AcceptAnyCert {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// The ordinary check with the user's own authorities. Like OpenSSL and curl, it also accepts a server whose
/// certificate is itself one of them: `openssl req -x509` marks a self-signed certificate as an authority, and webpki
/// rejects an authority's certificate as a server's.
#[derive(Debug)]
pub struct Own {
    pub ordinary: Arc<WebPkiServerVerifier>,
    pub given: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Own {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let error = match self.ordinary.verify_server_cert(leaf, chain, name, ocsp, now) {
            Ok(verified) => return Ok(verified),
            Err(error) => error,
        };
        // webpki checks the dates before this mark, so they are valid at this point; the name is not checked yet.
        if marked_as_authority(&error) && self.given.iter().any(|own| own == leaf) {
            rustls::client::verify_server_name(&ParsedCertificate::try_from(leaf)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        Err(error)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.ordinary.verify_tls12_signature(message, leaf, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.ordinary.verify_tls13_signature(message, leaf, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.ordinary.supported_verify_schemes()
    }
}

/// Returns whether a certificate was refused only because it is marked as an authority.
pub fn marked_as_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(inner))) = error else { return false };
    matches!(inner.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
