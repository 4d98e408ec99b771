//! Asks a server about itself before any load: its schemas by gRPC server reflection, and its health.

use super::caller::Caller;
use plimsoll_plan::Problem;
use plimsoll_plan::grpc::Status;
pub use plimsoll_wire::grpc::reflection::Reflected;
use plimsoll_wire::grpc::reflection::{Failed, Reflection, Response, text_field};
use plimsoll_wire::proto::{Value, take_field};

/// Asks a server for the schemas of all its services.
///
/// # Errors
/// Returns an error if the server does not offer reflection, or answers with something else.
pub fn schemas(caller: &mut Caller) -> Result<Reflected, Problem> {
    let mut reflection = Reflection::default();
    let mut question = reflection.begin();
    loop {
        let end = caller.call(&question.path, &question.messages)?;
        let response = match end.status {
            Status::Ok => Response::Messages(&end.messages),
            Status::Unimplemented => Response::Unimplemented,
            _ => {
                return Err(Problem::plain(format!("it rejected server reflection with {}", end.describe())));
            }
        };
        match reflection.answered(response) {
            Ok(Ok(next)) => question = next,
            Ok(Err(reflected)) => return Ok(reflected),
            Err(Failed::Other(why)) => return Err(Problem::plain(why)),
            Err(Failed::NotOffered) => {
                return Err(Problem::new(
                    "it does not offer server reflection (UNIMPLEMENTED)",
                    "enable reflection in the server, or name the schemas as files",
                ));
            }
        }
    }
}

/// Asks a server whether one of its services is ready to serve; an empty name means the server as a whole
/// (`grpc.health.v1.Health/Check`).
///
/// # Errors
/// Returns an error that says what it is instead.
pub fn check_health(caller: &mut Caller, service: &str) -> Result<(), Problem> {
    const SERVING: u64 = 1;
    let end = caller.call("/grpc.health.v1.Health/Check", &[text_field(1, service)])?;
    match end.status {
        Status::Ok => {}
        Status::Unimplemented => {
            return Err(Problem::new(
                "it has no health service (UNIMPLEMENTED)",
                "register `grpc.health.v1.Health` in the server, or remove `health`",
            ));
        }
        _ => return Err(Problem::plain(format!("its health check ended with {}", end.describe()))),
    }
    let mut found = 0;
    for message in &end.messages {
        let invalid = |_| Problem::plain("its response is not a valid message of the health service");
        let mut rest = &message[..];
        while let Some((number, value)) = take_field(&mut rest).map_err(invalid)? {
            if let (1, Value::Varint(status)) = (number, value) {
                found = status;
            }
        }
    }
    match found {
        SERVING => Ok(()),
        2 => Err(Problem::plain("its health is NOT_SERVING")),
        3 => Err(Problem::plain("its health is SERVICE_UNKNOWN")),
        _ => Err(Problem::plain("its health is UNKNOWN")),
    }
}
