//! Failures of samples without a response, as JMeter names them.

use plimsoll_plan::Fault;
use plimsoll_plan::request::Target;
use std::borrow::Cow;

/// A failure: the class of Java's exception, and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    class: &'static str,
    message: String,
    /// The URL of the request, as far as it was made.
    pub url: String,
}

impl Failure {
    pub fn new(class: &'static str, message: String) -> Failure {
        Failure { class, message, url: String::new() }
    }

    /// Returns the failure of a request to a URL.
    pub fn to(self, url: &str) -> Failure {
        Failure { url: url.to_owned(), ..self }
    }

    /// Returns whether the URL could not be made because of its protocol.
    pub fn is_of_protocol(&self) -> bool {
        self.class == "java.net.MalformedURLException" && self.url.is_empty()
    }

    /// Returns the response code and the response message.
    pub fn columns(&self) -> (Cow<'static, str>, Cow<'static, str>) {
        (
            Cow::Owned(format!("Non HTTP response code: {}", self.class)),
            Cow::Owned(format!("Non HTTP response message: {}", self.message)),
        )
    }
}

/// Returns the failure of a request that failed with a fault.
pub fn of_fault(fault: Fault, target: &Target) -> Failure {
    let (host, port) = (target.host.as_str(), target.port);
    let place = format!("{host}:{port}");
    // An address has no name in Java's texts.
    let name = if host.parse::<std::net::IpAddr>().is_ok() { "" } else { host };
    let (class, message) = match fault {
        Fault::ConnectionRefused => (
            "org.apache.http.conn.HttpHostConnectException",
            format!("Connect to {place} [{name}/{host}] failed: Connection refused"),
        ),
        Fault::ConnectTimeout => (
            "org.apache.http.conn.ConnectTimeoutException",
            format!("Connect to {place} [{name}/{host}] failed: Connect timed out"),
        ),
        Fault::HostUnreachable => {
            ("java.net.NoRouteToHostException", "No route to host (Host unreachable)".to_owned())
        }
        Fault::ConnectionReset => ("java.net.SocketException", "Connection reset".to_owned()),
        Fault::StaleConnection | Fault::ClosedBeforeResponse => {
            ("org.apache.http.NoHttpResponseException", format!("{place} failed to respond"))
        }
        Fault::ClosedMidResponse => (
            "org.apache.http.ConnectionClosedException",
            "Premature end of Content-Length delimited message body".to_owned(),
        ),
        Fault::Timeout => ("java.net.SocketTimeoutException", "Read timed out".to_owned()),
        Fault::DnsFailed | Fault::DnsTimeout => {
            ("java.net.UnknownHostException", format!("{host}: Name or service not known"))
        }
        Fault::Tls | Fault::TlsTimeout | Fault::CertificateRejected => {
            ("javax.net.ssl.SSLHandshakeException", fault.sentence().to_owned())
        }
        Fault::MalformedResponse | Fault::UnsafeResponse => {
            ("org.apache.http.client.ClientProtocolException", "null".to_owned())
        }
        other => ("java.io.IOException", other.sentence().to_owned()),
    };
    Failure::new(class, message)
}
