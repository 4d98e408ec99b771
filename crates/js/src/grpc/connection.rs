//! A connection that a script has opened: the origin that its calls go to.

use super::params::ConnectParams;
use crate::host::Host;
use crate::http::send::blocked_by;
use crate::http::url;
use crate::vu::{Arrived, Vu};
use plimsoll_plan::origin::OriginId;
use plimsoll_plan::program::OriginQuery;
use plimsoll_plan::request::Target;
use plimsoll_quickjs::{Call, Thrown};
use std::cell::Cell;

/// A connection.
pub struct Connection {
    pub origin: OriginId,
    pub target: Target,
    /// As in `:authority`.
    pub authority: String,
    pub receive_bytes_max: u64,
    pub send_bytes_max: u64,
    pub is_closed: Cell<bool>,
}

impl Connection {
    /// Connects to `HOST:PORT`. A new address is resolved, checked for permission, and tried.
    ///
    /// # Errors
    /// Returns an error with the reason, or if the fiber is to end.
    pub fn open(
        call: &Call<'_>,
        host: &Host,
        vu: &Vu,
        address: &str,
        params: &ConnectParams,
    ) -> Result<Connection, Thrown> {
        let failed = |why: &str| call.realm().error("Error", &format!("connect to `{address}`: {why}"));
        let scheme = if params.is_plaintext { "http" } else { "https" };
        let bare = address.trim_start_matches("dns:").trim_start_matches('/');
        if bare.contains('/') {
            return Err(failed("invalid address: write host and port, such as `127.0.0.1:50051`"));
        }
        let target = url::parse(&format!("{scheme}://{bare}/")).map_err(|why| failed(&why))?.target;
        let settings = &host.shared.settings;
        if let Some(pattern) = blocked_by(&settings.blocked_hosts, &target.host) {
            return Err(failed(&format!("the host is blocked by `{pattern}` in `blockHostnames`")));
        }
        let mapped = settings.mapped(&target).map_err(|why| failed(&why))?;
        let query = OriginQuery {
            requires_http2: true,
            tls_files: params.tls_files.clone(),
            ..OriginQuery::from(mapped)
        };
        let origin = match host.found_origin(&query) {
            Some(origin) => origin,
            None => {
                let (reached, timeout) = (vu.step(), vu.step());
                {
                    let mut out = host.out.borrow_mut();
                    out.reach(reached, query.clone());
                    out.sleep(timeout, params.timeout_ns);
                }
                match host.wait_for_one(call, vu, [reached, timeout].into_iter())? {
                    (_, Arrived::Reached(Ok(origin))) => {
                        host.cancel(timeout);
                        host.keep_found(query, origin);
                        origin
                    }
                    (_, Arrived::Reached(Err((_, why)))) => {
                        host.cancel(timeout);
                        return Err(failed(&why));
                    }
                    _ => {
                        host.cancel(reached);
                        return Err(failed("the connection timed out"));
                    }
                }
            }
        };
        Ok(Connection {
            origin,
            authority: params.authority.clone().unwrap_or_else(|| target.authority()),
            target,
            receive_bytes_max: params.receive_bytes_max,
            send_bytes_max: params.send_bytes_max,
            is_closed: Cell::new(false),
        })
    }

    /// Closes the user's connection, once, with the streams on it.
    pub fn close(&self, host: &Host, vu: &Vu) {
        if !self.is_closed.replace(true) {
            vu.cancel_streams(host, self.origin);
            host.out.borrow_mut().close_connections(self.origin);
        }
    }
}

impl Host {
    fn found_origin(&self, query: &OriginQuery) -> Option<OriginId> {
        self.found.borrow().iter().find(|(known, _)| known == query).map(|(_, number)| *number)
    }

    fn keep_found(&self, query: OriginQuery, number: OriginId) {
        if self.found_origin(&query).is_none() {
            self.found.borrow_mut().push((query, number));
            self.known.borrow_mut().forget_requests();
        }
    }
}
