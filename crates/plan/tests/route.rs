//! Routes: URLs of proxies, paths of sockets, and what contradicts what.

use plimsoll_plan::draft::Draft;
use plimsoll_plan::link::{Addresses, Http, Link, Tls};
use plimsoll_plan::request::url;
use plimsoll_plan::route::{
    Login, Proxy, ProxyKind, ProxyProtocol, ProxyProtocolVersion, Route, interface, proxy, unix_socket,
};
use plimsoll_plan::seal::{Machine, seal};
use plimsoll_plan::{Plan, Request};

fn draft(target: &str, link: Link) -> Draft {
    let request = Request {
        origin: 0,
        name: "GET /".into(),
        method: "GET".into(),
        path: "/".into(),
        headers: vec![],
        body: None,
    };
    Draft { target: Some(url(target).unwrap().target), requests: vec![request], link, ..Draft::default() }
}

fn sealed(draft: Draft) -> Result<Plan, Vec<&'static str>> {
    seal(draft, Machine { cpus: 2, seed: 7 }).map_err(|all| all.iter().map(|d| d.code).collect())
}

fn by(route: Route) -> Link {
    Link { route, ..Link::default() }
}

fn proxied(text: &str) -> Route {
    Route { proxy: Some(proxy(text).unwrap()), ..Route::default() }
}

#[test]
fn a_proxy_is_a_url_with_a_port_and_perhaps_a_login() {
    let all = proxy("http://me:p%3As%40s@[::1]:3128/").unwrap();
    let Some(Login { user, password }) = &all.login else { panic!("a login") };
    assert_eq!((user.reveal(), password.reveal()), ("me", "p:s@s"));
    assert_eq!((all.kind, all.host.as_str(), all.port), (ProxyKind::Http, "::1", 3128));
    assert_eq!(all.url(), "http://[::1]:3128");
    assert_eq!(proxy("SOCKS5H://jump").unwrap().url(), "socks5h://jump:1080");
    let over_tls = proxy("https://me:pass@jump").unwrap();
    assert_eq!((over_tls.kind, over_tls.url().as_str()), (ProxyKind::Https, "https://jump:443"));
    assert!(over_tls.is_http() && !proxy("socks5://jump").unwrap().is_http());
    assert_eq!(proxy("socks5://10.0.0.1:9").unwrap().url(), "socks5://10.0.0.1:9");
    // Its debug output, and what a run file contains.
    assert!(!format!("{all:?}").contains("p:s@s"), "{all:?}");
    let text = serde_json::to_string(&all).unwrap();
    assert_eq!(text, r#"{"kind":"http","host":"::1","port":3128,"has_login":true}"#);
    let read: Proxy = serde_json::from_str(&text).unwrap();
    assert_eq!((read.login, read.has_login), (None, true));
}

#[test]
fn proxies_that_are_not_supported_or_unclear_are_refused_without_their_password() {
    for (text, why) in [
        ("socks4://me:hush@h:1080", "unsupported kind of proxy `socks4`"),
        ("me:hush@h:3128", "missing scheme of the proxy `***@h:3128`"),
        ("http://me:hush@h", "missing port of the proxy `http://***@h`"),
        ("http://me:hush@h:0", "invalid proxy `http://***@h:0`: invalid port `0`, expected 1–65535"),
        ("socks5://me:hush@h:1/x", "a proxy has no path: `socks5://***@h:1/x`"),
        ("socks5://:hush@h:1", "invalid login of the proxy `socks5://***@h:1`: SOCKS5 allows 1–255 bytes"),
        ("http://", "invalid proxy `http://`: missing host"),
    ] {
        let problem = proxy(text).unwrap_err();
        assert_eq!(problem.message, why);
        assert!(!problem.hint.contains("hush"), "{problem}");
    }
}

#[test]
fn a_path_of_a_socket_and_a_name_of_an_interface_are_those_that_the_kernel_takes() {
    assert!(unix_socket(&"x".repeat(107)).is_ok() && unix_socket(&"x".repeat(108)).is_err());
    assert!(unix_socket("").is_err());
    assert!(interface("eth0.100").is_ok() && interface("wlp0s20f3").is_ok());
    for bad in ["", "a/b", "eth0:1", "a name", "sixteen_letters_"] {
        assert!(interface(bad).is_err(), "{bad}");
    }
}

#[test]
fn routes_that_contradict_each_other_are_refused_and_others_are_not() {
    let unix = || Route { unix_socket: Some("/x".into()), ..Route::default() };
    let header = Some(ProxyProtocol { version: ProxyProtocolVersion::V2, source_addresses: vec![] });
    let resolve = vec![("h".to_owned(), "127.0.0.1".parse().unwrap())];
    let wrong = [
        by(Route { unix_socket: Some("/x".into()), ..proxied("http://p:1") }),
        by(Route { proxy_protocol: header.clone(), ..proxied("http://p:1") }),
        by(Route { interface: Some("lo".into()), ..unix() }),
        Link { source_addresses: vec!["127.0.0.1".parse().unwrap()], ..by(unix()) },
        Link { addresses: Addresses::All, ..by(unix()) },
        Link { addresses: Addresses::All, ..by(proxied("socks5://p")) },
        Link { resolve: resolve.clone(), ..by(proxied("socks5h://p")) },
        Link { resolve: resolve.clone(), ..by(unix()) },
    ];
    for link in wrong {
        assert_eq!(sealed(draft("http://h/", link.clone())).unwrap_err(), ["P034"], "{link:?}");
    }
    let right = [
        by(Route { proxy_protocol: header.clone(), ..unix() }),
        by(Route { interface: Some("lo".into()), proxy_protocol: header, ..Route::default() }),
        by(Route { interface: Some("lo".into()), ..proxied("http://p:1") }),
        Link { resolve, ..by(proxied("socks5://p")) },
    ];
    for link in right {
        assert!(sealed(draft("http://h/", link.clone())).is_ok(), "{link:?}");
    }
}

#[test]
fn only_plain_http1_is_forwarded_everything_else_gets_a_tunnel() {
    let forwards = |target: &str, link: Link| {
        let plan = sealed(draft(target, link)).unwrap();
        plan.outline.forwarding_proxy(0, &plan.outline.all_origins()[0]).is_some()
    };
    let http = || by(proxied("http://p:1"));
    assert!(forwards("http://h/", http()));
    assert!(forwards("http://h/", Link { http: Http::V10, ..http() }));
    assert!(!forwards("http://h/", Link { http: Http::V2, ..http() }));
    assert!(!forwards("https://h/", Link { tls: Some(Tls::default()), ..http() }));
    assert!(!forwards("http://h/", by(proxied("socks5h://p"))));
    assert!(!forwards("http://h/", Link::default()));
}
