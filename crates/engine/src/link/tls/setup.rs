//! Creates the configuration of every handshake from the user's settings, once and before the load: every mistake that
//! can be found without a server is reported here.

use super::tickets::Tickets;
use super::verify::{AcceptAnyCert, Own};
use super::{KeyLogFile, Versions, Wanted, pem};
use crate::clock;
use plimsoll_plan::{Problem, cipher};
use rustls::client::{ClientConfig, Resumption, Tls12Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::time_provider::TimeProvider;
use rustls::{CertificateError, Error, KeyLog, RootCertStore, SupportedProtocolVersion, version};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Everything that the connections to one server share.
#[derive(Clone)]
pub struct Setup {
    pub(super) config: Arc<ClientConfig>,
    /// The same for each further client certificate.
    others: Arc<[Arc<ClientConfig>]>,
    key_log: Option<Arc<KeyLogFile>>,
    pub(super) name: ServerName<'static>,
    resumes: Resumes,
}

/// How sessions are resumed.
#[derive(Debug, Clone, Copy)]
enum Resumes {
    Never,
    /// By tickets and session IDs, or only by session IDs.
    By {
        only_id: bool,
    },
}

impl Setup {
    /// # Errors
    /// Returns an error that says what is wrong and how to fix it: an invalid name, unreadable PEM, a key that does not
    /// belong to the certificate, or contradictory settings.
    pub fn new(wanted: &Wanted) -> Result<Setup, Problem> {
        let name = server_name(&wanted.server_name)?;
        let provider = Arc::new(provider(&wanted.ciphers)?);
        let versions: &[&SupportedProtocolVersion] = match wanted.versions {
            Versions::Both => &[&version::TLS13, &version::TLS12],
            Versions::Tls12 => &[&version::TLS12],
            Versions::Tls13 => &[&version::TLS13],
        };
        let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(Wall))
            .with_protocol_versions(versions)
            .map_err(|e| {
                Problem::new(
                    format!("cannot offer these versions of TLS with these cipher suites: {e}"),
                    "name suites of these versions",
                )
            })?;
        let builder = if wanted.insecure {
            if !wanted.ca_pem.is_empty() {
                return Err(Problem::new(
                    "a custom CA and `insecure` contradict each other: the CA would not be used",
                    "remove one of them",
                ));
            }
            let schemes = provider.signature_verification_algorithms.supported_schemes();
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCert { schemes }))
        } else if wanted.ca_pem.is_empty() {
            // The system's store is not used: plimsoll is one static file, and the same command must trust the same
            // servers in a bare container as on a desktop.
            let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
            builder.with_root_certificates(roots)
        } else {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(own(&wanted.ca_pem, &provider)?))
        };
        let mut identities = Vec::new();
        for (at, (certificate, key)) in (2..).zip(&wanted.more_clients) {
            let file = format!("client certificate file `{at}`");
            let chain = pem::certificates(&file, certificate)?;
            identities.push((chain, pem::key(&format!("client key file `{at}`"), key)?));
        }
        let others =
            identities.into_iter().map(|(chain, key)| builder.clone().with_client_auth_cert(chain, key));
        let mut others = others.collect::<Result<Vec<_>, _>>().map_err(|e| unfit(&e))?;
        let mut config = match client_certificate(wanted)? {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|e| unfit(&e))?,
        };
        if let Some(bad) = wanted.alpn.iter().find(|name| name.is_empty() || name.len() > 255) {
            let bytes = bad.len();
            return Err(Problem::plain(format!(
                "a protocol name (ALPN) must have 1 to 255 bytes, not `{bytes}`"
            )));
        }
        let all = std::iter::once(&mut config).chain(&mut others);
        all.for_each(|config| settle(config, wanted, resumes(wanted)));
        let others = others.into_iter().map(Arc::new).collect();
        let key_log = wanted.key_log.clone();
        Ok(Setup { config: Arc::new(config), others, key_log, name, resumes: resumes(wanted) })
    }

    /// Returns the configuration for a handshake outside the load.
    pub fn config(&self) -> Arc<ClientConfig> {
        self.config.clone()
    }

    /// Returns the name that the certificate must contain.
    pub fn server_name(&self) -> ServerName<'static> {
        self.name.clone()
    }

    /// Returns a copy with a separate session store: one for each worker, so that no worker waits for another one's
    /// lock.
    pub fn for_worker(&self) -> Setup {
        let own = |config: &Arc<ClientConfig>| {
            let mut config = ClientConfig::clone(config);
            config.resumption = resumption(self.resumes);
            Arc::new(config)
        };
        Setup { config: own(&self.config), others: self.others.iter().map(own).collect(), ..self.clone() }
    }

    /// Returns the number of client certificates; 1 if there is none.
    pub fn clients(&self) -> usize {
        1 + self.others.len()
    }

    /// Returns the configuration of a client; numbers beyond the last begin again.
    pub(super) fn config_of(&self, client: usize) -> &Arc<ClientConfig> {
        match client % self.clients() {
            0 => &self.config,
            at => &self.others[at - 1],
        }
    }

    /// Returns why the file of keys is incomplete, if it is.
    pub fn key_log_trouble(&self) -> Option<String> {
        self.key_log.as_ref().and_then(|file| file.trouble())
    }
}

/// The same settings are copies of one value.
impl PartialEq for Setup {
    fn eq(&self, other: &Setup) -> bool {
        Arc::ptr_eq(&self.config, &other.config)
    }
}

impl Eq for Setup {}

impl fmt::Debug for Setup {
    // The configuration contains secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("name", &self.name)
            .field("resumes", &self.resumes)
            .finish_non_exhaustive()
    }
}

/// The date for certificates and tickets comes from the same place as all other times.
#[derive(Debug)]
struct Wall;

impl TimeProvider for Wall {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_nanos(clock::unix_ns())))
    }
}

/// Returns X25519 first and no post-quantum group, as wrk and other clients on OpenSSL before 3.5 offer, so a handshake
/// is the same work for the server. Listing a post-quantum group without a key share for it would be worse than either:
/// a server that prefers it asks again, and each handshake takes one more round trip. The cipher suites are those
/// named, in their order.
fn provider(ciphers: &[String]) -> Result<CryptoProvider, Problem> {
    let groups =
        vec![aws_lc_rs::kx_group::X25519, aws_lc_rs::kx_group::SECP256R1, aws_lc_rs::kx_group::SECP384R1];
    let mut provider = CryptoProvider { kx_groups: groups, ..aws_lc_rs::default_provider() };
    if !ciphers.is_empty() {
        let named = ciphers.iter().map(|name| {
            let code = cipher::cipher(name).map(|cipher| cipher.code);
            let suite = provider.cipher_suites.iter().find(|suite| Some(u16::from(suite.suite())) == code);
            suite.copied().ok_or_else(|| Problem::plain(format!("unsupported cipher suite `{name}`")))
        });
        provider.cipher_suites = named.collect::<Result<_, _>>()?;
    }
    Ok(provider)
}

/// Sets what does not depend on certificates.
fn settle(config: &mut ClientConfig, wanted: &Wanted, resumes: Resumes) {
    config.alpn_protocols.clone_from(&wanted.alpn);
    // If resumption is off, tickets are not even looked up: a store that is never emptied would also use memory. A
    // resumed session has the certificate of the first one, so each certificate has its own store.
    config.resumption = resumption(resumes);
    // Early data could be replayed, and would let a request begin before its connection does.
    config.enable_early_data = false;
    if let Some(file) = &wanted.key_log {
        config.key_log = Arc::clone(file) as Arc<dyn KeyLog>;
    }
}

fn resumes(wanted: &Wanted) -> Resumes {
    match (wanted.resume, wanted.ignores_tickets) {
        (false, _) => Resumes::Never,
        (true, only_id) => Resumes::By { only_id },
    }
}

fn resumption(resumes: Resumes) -> Resumption {
    match resumes {
        Resumes::Never => Resumption::disabled(),
        Resumes::By { only_id } => {
            let by =
                if only_id { Tls12Resumption::SessionIdOnly } else { Tls12Resumption::SessionIdOrTickets };
            Resumption::store(Arc::new(Tickets::new(only_id))).tls12_resumption(by)
        }
    }
}

fn server_name(text: &str) -> Result<ServerName<'static>, Problem> {
    // In a URL, an IPv6 address has brackets (RFC 3986, section 3.2.2).
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    ServerName::try_from(bare.to_string()).map_err(|_| {
        Problem::new(
            format!("cannot use `{text}` as server name"),
            "use a host name or an IP address, without port or scheme",
        )
    })
}

fn own(files: &[Vec<u8>], provider: &Arc<CryptoProvider>) -> Result<Own, Problem> {
    let (mut roots, mut given) = (RootCertStore::empty(), Vec::new());
    for (at, pem) in files.iter().enumerate() {
        let what = format!("CA file `{}`", at + 1);
        for certificate in pem::certificates(&what, pem)? {
            roots.add(certificate.clone()).map_err(|e| {
                Problem::new(
                    format!("cannot use a certificate in {what}: {e}"),
                    "inspect it with `openssl x509 -text -in FILE`",
                )
            })?;
            given.push(certificate);
        }
    }
    let ordinary = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|e| Problem::plain(format!("cannot use the custom CAs: {e}")))?;
    Ok(Own { ordinary, given })
}

type Identity = (Vec<CertificateDer<'static>>, rustls_pki_types::PrivateKeyDer<'static>);

fn client_certificate(wanted: &Wanted) -> Result<Option<Identity>, Problem> {
    let (what, key) = match (&wanted.cert_pem, &wanted.key_pem) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(Problem::new("a client key without its certificate", "provide the certificate, too"));
        }
        (Some(_), Some(key)) => ("the client key file", key),
        (Some(both), None) if pem::has_key(both) => ("the client certificate file", both),
        (Some(_), None) => {
            return Err(Problem::new(
                "a client certificate without its key",
                "provide the key, too, in a separate file or in the certificate's",
            ));
        }
    };
    let chain =
        pem::certificates("the client certificate file", wanted.cert_pem.as_deref().unwrap_or_default())?;
    Ok(Some((chain, pem::key(what, key)?)))
}

/// Describes why certificate and key do not match.
fn unfit(error: &Error) -> Problem {
    match error {
        Error::InconsistentKeys(_) => Problem::new(
            "the client key does not belong to the client certificate",
            "`openssl x509 -noout -pubkey` and `openssl pkey -pubout` must print the same; the leaf comes first",
        ),
        Error::InvalidCertificate(CertificateError::BadEncoding) => Problem::plain(
            "cannot read the client certificate: its PEM is complete but does not contain a certificate",
        ),
        other => Problem::plain(format!("cannot use the client certificate with its key: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::provider;
    use plimsoll_plan::cipher::CIPHERS;

    #[test]
    fn the_table_of_cipher_suites_is_that_of_the_library() {
        let codes = |names: &[String]| -> Vec<u16> {
            let provider = provider(names).unwrap();
            provider.cipher_suites.iter().map(|suite| u16::from(suite.suite())).collect()
        };
        let table: Vec<u16> = CIPHERS.iter().map(|one| one.code).collect();
        assert_eq!(codes(&[]), table);
        let reversed: Vec<String> = CIPHERS.iter().rev().map(|one| one.name.to_owned()).collect();
        assert_eq!(codes(&reversed), table.into_iter().rev().collect::<Vec<_>>());
    }
}
