//! The status codes of gRPC, by number and name, and the faults that they are.

use crate::{Fault, Problem};

macro_rules! statuses {
    ($($variant:ident = $number:literal, $name:literal $(, $fault:ident)?;)*) => {
        /// A status code of gRPC.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Status { $($variant = $number,)* }

        impl Status {
            /// All status codes, by number.
            pub const ALL: &'static [Status] = &[$(Status::$variant,)*];

            /// Returns the name as servers and other clients write it.
            pub const fn name(self) -> &'static str { match self { $(Status::$variant => $name,)* } }

            /// Returns the fault of a call that ends with it; `None` for OK.
            pub const fn fault(self) -> Option<Fault> {
                match self { $(Status::$variant => statuses!(@fault $($fault)?),)* }
            }
        }
    };
    (@fault) => { None };
    (@fault $fault:ident) => { Some(Fault::$fault) };
}

statuses! {
    Ok = 0, "OK";
    Cancelled = 1, "CANCELLED", GrpcCancelled;
    Unknown = 2, "UNKNOWN", GrpcUnknown;
    InvalidArgument = 3, "INVALID_ARGUMENT", GrpcInvalidArgument;
    DeadlineExceeded = 4, "DEADLINE_EXCEEDED", GrpcDeadlineExceeded;
    NotFound = 5, "NOT_FOUND", GrpcNotFound;
    AlreadyExists = 6, "ALREADY_EXISTS", GrpcAlreadyExists;
    PermissionDenied = 7, "PERMISSION_DENIED", GrpcPermissionDenied;
    ResourceExhausted = 8, "RESOURCE_EXHAUSTED", GrpcResourceExhausted;
    FailedPrecondition = 9, "FAILED_PRECONDITION", GrpcFailedPrecondition;
    Aborted = 10, "ABORTED", GrpcAborted;
    OutOfRange = 11, "OUT_OF_RANGE", GrpcOutOfRange;
    Unimplemented = 12, "UNIMPLEMENTED", GrpcUnimplemented;
    Internal = 13, "INTERNAL", GrpcInternal;
    Unavailable = 14, "UNAVAILABLE", GrpcUnavailable;
    DataLoss = 15, "DATA_LOSS", GrpcDataLoss;
    Unauthenticated = 16, "UNAUTHENTICATED", GrpcUnauthenticated;
}

impl Status {
    /// The number of status codes.
    pub const COUNT: usize = Self::ALL.len();

    /// Returns the status that clients of gRPC report for a response of another HTTP status than 200 without a status
    /// of gRPC (gRPC's "HTTP to gRPC Status Code Mapping").
    pub const fn of_http(status: u16) -> Status {
        match status {
            400 => Status::Internal,
            401 => Status::Unauthenticated,
            403 => Status::PermissionDenied,
            404 => Status::Unimplemented,
            429 | 502 | 503 | 504 => Status::Unavailable,
            _ => Status::Unknown,
        }
    }

    /// Returns the status with a number as servers send it; unknown numbers are [`Status::Unknown`], as gRPC requires.
    pub fn from_text(number: &[u8]) -> Status {
        let parsed = std::str::from_utf8(number).ok().and_then(|text| text.trim().parse::<usize>().ok());
        parsed.and_then(|number| Self::ALL.get(number).copied()).unwrap_or(Status::Unknown)
    }
}

/// A set of status codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codes(u32);

impl Codes {
    /// Only OK.
    pub const OK: Codes = Codes(1);

    pub const fn holds(self, status: Status) -> bool {
        self.0 & 1 << status as u32 != 0
    }

    /// Parses `NOT_FOUND`, `5`, or several of them separated by commas.
    ///
    /// # Errors
    /// Returns an error that names the unknown status.
    pub fn parse(text: &str) -> Result<Codes, Problem> {
        let mut all = 0;
        for part in text.split(',').map(str::trim) {
            let named = Status::ALL.iter().find(|status| status.name().eq_ignore_ascii_case(part));
            let numbered = || part.parse::<usize>().ok().and_then(|number| Status::ALL.get(number));
            let Some(status) = named.or_else(numbered) else {
                let names: Vec<&str> = Status::ALL.iter().map(|status| status.name()).collect();
                return Err(Problem::new(
                    format!("unknown gRPC status `{part}`"),
                    format!("use one of {}, or its number, 0–16", names.join(", ")),
                ));
            };
            all |= 1 << *status as u32;
        }
        Ok(Codes(all))
    }
}

/// Shows the names, separated by commas.
impl std::fmt::Display for Codes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut names = Status::ALL.iter().filter(|status| self.holds(**status)).map(|status| status.name());
        f.write_str(names.next().unwrap_or_default())?;
        names.try_for_each(|name| write!(f, ", {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Codes, Status};
    use crate::{Fault, Side};

    #[test]
    fn every_status_but_ok_is_a_fault_of_the_server() {
        assert_eq!(Status::Ok.fault(), None);
        for (number, status) in Status::ALL.iter().enumerate().skip(1) {
            assert_eq!(*status as usize, number);
            let fault = status.fault().expect("it is a failure");
            assert_eq!(fault.side(), Side::Server);
            assert_eq!(fault.name(), format!("grpc_{}", status.name().to_ascii_lowercase()));
        }
    }

    #[test]
    fn a_status_is_read_from_the_text_of_its_field() {
        assert_eq!(Status::from_text(b"5"), Status::NotFound);
        assert_eq!([&b"17"[..], b"", b"x", b"-1"].map(Status::from_text), [Status::Unknown; 4]);
        assert_eq!(Fault::GrpcNotFound.name(), "grpc_not_found");
    }

    #[test]
    fn a_set_of_statuses_has_names_and_numbers() {
        let codes = Codes::parse("ok, 5").expect("it is valid");
        assert_eq!(
            [Status::Ok, Status::NotFound, Status::Unknown].map(|s| codes.holds(s)),
            [true, true, false]
        );
        assert_eq!(codes.to_string(), "OK, NOT_FOUND");
        let problem = Codes::parse("OK,MISSING").expect_err("it is unknown");
        assert_eq!(problem.message, "unknown gRPC status `MISSING`");
    }
}
