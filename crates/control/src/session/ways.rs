//! Origins of a plan before the load: each is resolved, checked for permission, and tried separately, all before
//! anything is sent.

use super::ready::{self, Patience};
use super::{Failed, News, Orders, SessionHost};
use crate::permission::{Asking, Granted, fetch_proof, permit, permit_proxied, permit_watching};
use crate::resolver::HostResolver;
use crate::{Error, Resolved, dns, place};
use plimsoll_engine::Place;
use plimsoll_engine::link::tls::Setup;
use plimsoll_engine::names::Resolver;
use plimsoll_engine::probe::Handshake;
use plimsoll_engine::route::{Route, address_of_unix_socket};
use plimsoll_plan::code::OriginFacts;
use plimsoll_plan::link::{Dns, Http, Link, TlsFiles};
use plimsoll_plan::origin::{Origin, OriginId};
use plimsoll_plan::route::ProxyKind;
use plimsoll_plan::{Plan, Target};
use std::sync::Arc;

/// One origin.
pub struct Way {
    pub origin: Origin,
    pub place: Resolved,
    /// TLS settings, if it uses TLS.
    pub tls: Option<Setup>,
    /// The run has permission for the host and thus for all its addresses.
    pub is_host_allowed: bool,
    /// Duration of the trial connection, ns; 0 if not tried yet.
    pub first_connect_ns: u64,
    /// The origin's own addresses, if `place` is a proxy; `None` also if only the proxy knows them.
    pub beyond: Option<Resolved>,
}

/// Resolves every origin.
///
/// # Errors
/// Returns an error if a certificate or a key is unusable, or a name still does not resolve after the wait.
pub fn resolved<D: SessionHost>(plan: &Plan, patience: &Patience<'_, D>) -> Result<Vec<Way>, Failed> {
    let origins = plan.outline.all_origins().into_owned();
    let resolve = |number, target: &Target| ready::resolved(number, target, &plan.outline.link, patience);
    let ways = (0 as OriginId..).zip(origins).map(|(number, origin)| way_to(number, origin, plan, &resolve));
    ways.collect()
}

/// Resolves an origin with `resolve`.
///
/// # Errors
/// Returns an error if a certificate or a key is unusable, or a name does not resolve.
pub fn way_to(
    number: OriginId,
    origin: Origin,
    plan: &Plan,
    resolve: &dyn Fn(OriginId, &Target) -> Result<Resolved, Failed>,
) -> Result<Way, Failed> {
    let tls = place::tls(&origin, &plan.tls_files, version_for(number, plan))?;
    let (place, beyond) = placed(number, &origin, plan, resolve)?;
    Ok(Way { origin, place, tls, is_host_allowed: false, first_connect_ns: 0, beyond })
}

/// Returns where connections to an origin go, with their route, and the addresses of the origin beyond it.
fn placed(
    number: OriginId,
    origin: &Origin,
    plan: &Plan,
    resolve: &dyn Fn(OriginId, &Target) -> Result<Resolved, Failed>,
) -> Result<(Resolved, Option<Resolved>), Failed> {
    let link = &plan.outline.link;
    let (mut place, mut beyond, mut resolved, mut outer) = (None, None, None, None);
    if let Some(proxy) = &link.route.proxy {
        outer = place::proxy_tls(proxy, &plan.watch_trust)?;
        let target = Target { host: proxy.host.clone(), port: proxy.port, tls: false };
        place = Some(Resolved { proxy: Some(proxy.url()), ..resolve(number, &target)? });
        beyond = match proxy.kind {
            ProxyKind::Socks5 => {
                let found = resolve(number, &origin.target())?;
                resolved = Some(found.first().ip());
                Some(found)
            }
            // Only for the permission; the proxy may know names that this machine does not.
            ProxyKind::Http | ProxyKind::Https | ProxyKind::Socks5h => dns::resolve(&origin.target()).ok(),
        };
    } else if link.route.unix_socket.is_some() {
        let addresses = vec![address_of_unix_socket(origin.port)];
        place = Some(dns::found(addresses, 0));
    }
    let place = match place {
        Some(place) => place,
        None => resolve(number, &origin.target())?,
    };
    let route = Route::of(&plan.outline, number, origin, resolved, outer).map(Arc::new);
    Ok((Resolved { route, ..place }, beyond))
}

/// Means to get permission.
pub struct Permission<'a> {
    /// Hosts or literal addresses that may be loaded.
    pub allow: &'a [String],
    /// Asks the user; `None` if the user must not be asked.
    pub confirm: Option<&'a mut dyn FnMut(&str) -> String>,
    /// Today's date as `YYYY-MM-DD`.
    pub today: &'a str,
}

/// Checks permission for one origin; `named` are the hosts that have it already, as a load through a proxy has it.
///
/// # Errors
/// Returns an error if it is not allowed.
pub fn permitted_way<'a>(
    way: &'a mut Way,
    plan: &'a Plan,
    permission: Permission<'_>,
    named: &mut Vec<&'a str>,
) -> Result<Granted, Failed> {
    let Permission { allow, mut confirm, today } = permission;
    let Way { origin, place, is_host_allowed, beyond, .. } = way;
    let host = origin.host.as_str();
    if let Some(proxy) = &plan.outline.link.route.proxy {
        permit_proxied((&proxy.host, place), (host, beyond.as_mut()), allow, confirm, named)?;
        return Ok(Granted::Free);
    }
    let authority = origin.authority();
    // The file is fetched over HTTP/1.1, even if the load uses HTTP/2.
    let tls = place::tls(origin, &plan.tls_files, Http::V11)?;
    let asking = Asking {
        // Permission for a host includes all its ports.
        allow,
        confirm: confirm
            .as_mut()
            .filter(|_| !named.contains(&host))
            .map(|confirm| &mut **confirm as &mut dyn FnMut(&str) -> String),
        today,
        fetch: &mut |address| fetch_proof(address, &authority, tls.as_ref()),
    };
    let granted = permit(host, place, asking)?;
    *is_host_allowed =
        granted == Granted::Confirmed || allow.iter().any(|name| name.eq_ignore_ascii_case(host));
    if granted != Granted::Free {
        named.push(host);
    }
    Ok(granted)
}

/// Checks permission for every origin and for the hosts that monitors query.
///
/// # Errors
/// Returns an error if one is not allowed.
pub fn permitted<D: SessionHost>(
    ways: &mut [Way],
    plan: &Plan,
    orders: &Orders<'_>,
    caller: &D,
    now_unix_ns: u64,
) -> Result<(), Failed> {
    let mut confirm = |question: &str| caller.confirm(question);
    let today = caller.date(now_unix_ns);
    // A monitor ignores `resolve`, so a name that is only mapped to a private address is not allowed for it.
    let mut named: Vec<&str> = Vec::new();
    let mut proved: Vec<&str> = Vec::new();
    for way in ways {
        let confirm: Option<&mut dyn FnMut(&str) -> String> =
            if orders.may_ask { Some(&mut confirm) } else { None };
        let permission = Permission { allow: orders.allow, confirm, today: &today };
        if permitted_way(way, plan, permission, &mut named)? == Granted::Proved {
            proved.extend(named.last());
        }
    }
    let watching = Asking {
        allow: orders.allow,
        confirm: if orders.may_ask { Some(&mut confirm) } else { None },
        today: "",
        fetch: &mut |_| Err(String::new()),
    };
    permit_watching(&plan.watches, &named, watching)?;
    for host in proved {
        caller.tell(News::Permitted { host });
    }
    Ok(())
}

/// Checks permission for one origin.
///
/// # Errors
/// Returns an error if it is not allowed.
pub fn permitted_one<D: SessionHost>(
    (origin, place): (&Origin, &mut Resolved),
    files: &TlsFiles,
    (orders, may_ask): (&Orders<'_>, bool),
    caller: &D,
    today: &str,
) -> Result<Granted, Failed> {
    let mut confirm = |question: &str| caller.confirm(question);
    let authority = origin.authority();
    // The file is fetched over HTTP/1.1, even if the load uses HTTP/2.
    let tls = place::tls(origin, files, Http::V11)?;
    let asking = Asking {
        allow: orders.allow,
        confirm: if may_ask { Some(&mut confirm) } else { None },
        today,
        fetch: &mut |address| fetch_proof(address, &authority, tls.as_ref()),
    };
    Ok(permit(&origin.host, place, asking)?)
}

/// Waits for every origin and agrees with it on its protocol, which then applies to all its connections. If
/// `loads_unreachable`, an origin that accepts no connection is loaded over the first protocol of the plan.
///
/// # Errors
/// Returns an error if one is unavailable or does not use the plan's protocol.
pub fn reach<D: SessionHost>(
    ways: &mut [Way],
    plan: &Plan,
    patience: &Patience<'_, D>,
    loads_unreachable: bool,
) -> Result<(), Failed> {
    place::check_interface(&plan.outline.link)?;
    for (number, way) in (0 as OriginId..).zip(ways) {
        ready::wait((number, &way.origin), &way.place, plan, way.tls.as_ref(), patience)?;
        match agree(number, way, plan) {
            Err(error) if loads_unreachable && error.fault_of_connection().is_some() => assume(way, plan)?,
            agreed => agreed?,
        }
    }
    Ok(())
}

/// Sets the protocol of an origin that accepts no connection.
fn assume(way: &mut Way, plan: &Plan) -> Result<(), Error> {
    let link = &plan.outline.link;
    way.origin.is_http2 = link.http == Http::V2;
    if way.tls.is_some() && link.http == Http::Auto {
        way.tls = place::tls(&way.origin, &plan.tls_files, Http::V11)?;
    }
    place::check_sources(&way.place, link)
}

/// Tries an origin and agrees with it on its protocol.
///
/// # Errors
/// Returns an error if it is unavailable or does not use the plan's protocol.
pub fn agree(number: OriginId, way: &mut Way, plan: &Plan) -> Result<(), Error> {
    let (limits, link) = (&plan.outline.limits, &plan.outline.link);
    let Way { origin, place, tls, first_connect_ns, .. } = way;
    *first_connect_ns = place::knock(place, origin, limits)?;
    place::check_login(place, origin)?;
    let (mut opens_sockets, mut chosen) = (None, None);
    origin.is_http2 = match tls {
        Some(setup) => match place::shake_hands(place, setup, origin, limits) {
            Err(failed) if link.http == Http::V2 => {
                return Err(place::without_http2(failed, place, origin, &plan.tls_files, limits));
            }
            agreed => {
                let Handshake { is_http2, tls } = agreed?;
                chosen = tls;
                is_http2
            }
        },
        None if link.http == Http::V2 => {
            opens_sockets = Some(place::greet_http2(place, None, origin, limits)?);
            true
        }
        None => false,
    };
    place::check_version(origin.is_http2, link, origin)?;
    if origin.is_http2 && has_sockets(number, plan) {
        let announces = match opens_sockets {
            Some(announces) => announces,
            None => place::greet_http2(place, tls.as_ref(), origin, limits)?,
        };
        if !announces {
            return Err(place::without_sockets(origin));
        }
    }
    if tls.is_some() && version_for(number, plan) == Http::Auto {
        // Later connections offer only what was agreed on: a server that disagrees with itself is found out.
        let agreed = if origin.is_http2 { Http::V2 } else { Http::V11 };
        *tls = place::tls(origin, &plan.tls_files, agreed)?;
    }
    place::check_plain(place, origin, limits)?;
    place::check_sources(place, link)?;
    if let Some(code) = &plan.code {
        let address = match place.loaded(link.addresses).as_slice() {
            [only] => Some(only.ip()),
            _ => None,
        };
        code.note_origin(OriginFacts { target: origin.target(), address, tls: chosen });
    }
    Ok(())
}

/// Returns the place of an origin for the engine.
pub fn place_of(way: &Way, link: &Link) -> Place {
    Place {
        addresses: way.place.loaded(link.addresses),
        weights: way.place.loaded_weights(link.addresses),
        tls: way.tls.clone(),
        route: way.place.route.clone(),
        resolver: resolver(way, link),
    }
}

/// Returns the resolver of an origin whose connections look up its host.
fn resolver(way: &Way, link: &Link) -> Option<Arc<dyn Resolver>> {
    let is_named = link.dns == Dns::EachConnection && link.is_looked_up(&way.origin.host);
    let resolver = || HostResolver::new(&way.origin, &way.place, way.is_host_allowed);
    is_named.then(|| Arc::new(resolver()) as Arc<dyn Resolver>)
}

/// Returns whether the plan opens WebSockets at an origin.
fn has_sockets(number: OriginId, plan: &Plan) -> bool {
    let asks = plan.script.iter().flat_map(|script| &script.asks);
    let mut sockets = asks.filter(|ask| ask.websocket.is_some() && ask.grpc.is_none());
    sockets.any(|ask| ask.origin == number)
}

/// Returns the version of HTTP for an origin. Unless the plan says otherwise, one with WebSockets speaks HTTP/1.1,
/// which more servers support for them, as does one with requests that only HTTP/1.1 can send or read slowly, also if
/// they come by a redirect.
fn version_for(number: OriginId, plan: &Plan) -> Http {
    let outline = &plan.outline;
    let has_sockets = outline.requests.iter().any(|one| one.is_websocket && one.origin == number);
    let may_redirect = |request: u32| {
        let ask = plan.script.as_ref().and_then(|script| script.asks.get(request as usize));
        ask.is_some_and(|ask| ask.redirects > 0)
    };
    let is_here = |request: u32| {
        let at_home = outline.requests.get(request as usize).is_some_and(|one| one.origin == number);
        at_home || may_redirect(request)
    };
    let is_slow = outline.deliveries.iter().any(|(request, of)| of.requires_http1() && is_here(*request));
    match outline.link.http {
        // gRPC calls, which stay open as sockets do, are never part of a plan whose version is open.
        Http::Auto if has_sockets || is_slow || outline.link.is_pipelined => Http::V11,
        http => http,
    }
}

/// Returns the plan with the protocols that were agreed on.
pub fn agreed(plan: &Plan, ways: &[Way]) -> Plan {
    let mut plan = plan.clone();
    for (number, _) in (0 as OriginId..).zip(ways).filter(|(_, way)| way.origin.is_http2) {
        plan.outline.set_http2(number);
    }
    plan
}
