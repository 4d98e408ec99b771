//! Error codes and messages of failed requests, as k6 documents them (1000 to 1699).

use plimsoll_plan::Fault;

/// An address that `blacklistIPs` contains.
pub const BLOCKED_ADDRESS: u16 = 1110;
/// A host that `blockHostnames` names.
pub const BLOCKED_HOST: u16 = 1111;

/// Returns the message of k6, which scripts may compare; `None`: the sentence of the fault.
pub const fn error_text(code: u16) -> Option<&'static str> {
    Some(match code {
        1050 => "request timeout",
        1101 => "lookup: no such host",
        BLOCKED_HOST => "hostname is blocked",
        1211 => "dial: i/o timeout",
        1212 => "dial: connection refused",
        1220 => "read: connection reset by peer",
        _ => return None,
    })
}

/// Returns the code that k6 documents for a kind of failure.
pub const fn error_code(fault: Option<Fault>, status: u16) -> u16 {
    match fault {
        None if status >= 400 && status < 600 => 1000 + status,
        None => 0,
        Some(fault) => match fault {
            Fault::Timeout => 1050,
            Fault::ConnectionRefused => 1212,
            Fault::ConnectTimeout => 1211,
            Fault::ConnectionReset | Fault::StaleConnection => 1220,
            Fault::ClosedBeforeResponse | Fault::ClosedMidResponse => 1220,
            Fault::DnsFailed => 1101,
            Fault::DnsTimeout => 1100,
            Fault::HostUnreachable | Fault::PortsExhausted | Fault::FdLimit => 1210,
            Fault::Tls | Fault::TlsTimeout => 1300,
            Fault::CertificateRejected => 1310,
            Fault::StreamReset | Fault::StreamRefused => 1600,
            Fault::DecodeFailed => 1701,
            Fault::Status => 1000,
            _ => 1000,
        },
    }
}
