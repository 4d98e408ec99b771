//! Asks a server for its gRPC schemas, which some plans are made from. The same rules apply as for a load.

use super::caller::Caller;
use super::ready::{self, Patience};
use super::reflection::{self, Reflected};
use super::{Failed, Orders, SessionHost, ways};
use crate::{Error, place};
use plimsoll_plan::Problem;
use plimsoll_plan::link::{Http, Link, TlsFiles};
use plimsoll_plan::origin::{FIRST, Origin};
use std::time::Duration;

/// Longest wait for one response.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two attempts.
const PAUSE_NS: u64 = 100_000_000;

/// A server, and how to call it.
pub struct Service<'a> {
    pub origin: &'a Origin,
    pub tls_files: &'a TlsFiles,
    pub link: &'a Link,
    /// Metadata of the calls, such as credentials.
    pub metadata: &'a [(String, String)],
}

/// Returns the schemas of all services of a server, by server reflection. Waits for the server as long as the orders
/// say.
///
/// # Errors
/// Returns an error if the server must not be asked, cannot be reached, or does not describe its services.
pub fn reflect<D: SessionHost>(
    service: &Service<'_>,
    orders: &Orders<'_>,
    caller: &D,
) -> Result<Reflected, Failed> {
    let Service { origin, tls_files, link, metadata } = *service;
    let authority = origin.authority();
    if !link.route.is_direct() {
        // The rules of permission for what is beyond a proxy are those of a plan.
        let why = Problem::new(
            "server reflection needs a direct connection, without a proxy or a Unix domain socket",
            "save the schemas with `plimsoll grpc list HOST --save FILE`, and name the file under `descriptor_sets`",
        );
        return Err(Error::NoSchemas { target: authority, why }.into());
    }
    let patience = Patience::new(orders.wait_ns, caller);
    let tls = place::tls(origin, tls_files, Http::V2)?;
    let mut place = ready::resolved(FIRST, &origin.target(), link, &patience)?;
    let today = caller.date(caller.now_unix_ns());
    ways::permitted_one((origin, &mut place), tls_files, (orders, orders.may_ask), caller, &today)?;
    loop {
        let mut why = Problem::plain("it has no address");
        for address in &place.addresses {
            let opened = Caller::open(place.peer(*address), tls.as_ref(), &authority, metadata, PATIENCE);
            match opened.and_then(|mut caller| reflection::schemas(&mut caller)) {
                Ok(reflected) => return Ok(reflected),
                Err(problem) => why = problem,
            }
        }
        // A reason with a fix does not go away with time.
        if patience.is_over() || !why.hint.is_empty() {
            return Err(Error::NoSchemas { target: authority, why }.into());
        }
        caller.rest(PAUSE_NS);
    }
}
