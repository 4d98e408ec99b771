//! Scripts before and after the load; tests of the binary send their requests.

use plimsoll_lua::{Distribution, Results, Session, Site};

fn site() -> Site {
    Site {
        scheme: "http".into(),
        host: "h".into(),
        port: Some("8080".into()),
        path: "/x".into(),
        headers: vec![("X-A".into(), "1".into())],
        lookup: |host, service| match (host, service) {
            ("h", "8080") => Ok(vec![([127, 0, 0, 1], 8080).into(), ([127, 0, 0, 2], 8080).into()]),
            _ => Err(format!("cannot resolve `{host}`")),
        },
    }
}

fn start(script: &str) -> Result<Session, String> {
    let arguments = ["one".to_owned(), "two".to_owned()];
    let session = Session::start("test.lua", script.as_bytes(), &site(), &arguments, 2);
    session.map_err(|problem| problem.message)
}

#[test]
fn a_script_without_functions_makes_fixed_requests() {
    let session = start("wrk.method = 'POST'; wrk.body = 'a=1'; wrk.headers['X-B'] = 2").unwrap();
    let requests = session.fixed().unwrap();
    let request = &requests[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/x"));
    assert_eq!(request.body.as_deref(), Some(&b"a=1"[..]));
    let mut headers: Vec<String> = request.headers.iter().map(|(n, v)| format!("{n}: {v}")).collect();
    headers.sort();
    assert_eq!(headers, ["Content-Length: 3", "Host: h:8080", "X-A: 1", "X-B: 2"]);
}

#[test]
fn concatenated_requests_are_a_pipeline() {
    let script = "function init() req = wrk.format(nil, '/a') .. wrk.format(nil, '/b') end\n\
                  function request() return req end";
    let session = start(script).unwrap();
    assert_eq!((session.depth(), session.is_constant()), (2, true));
    let paths: Vec<String> = session.fixed().unwrap().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/a", "/b"]);
    let script = "function request() n = (n or 0) + 1; return wrk.format(nil, '/' .. n) .. wrk.format() end";
    assert!(start(script).unwrap_err().contains("only a pipeline of the same requests"));
}

#[test]
fn threads_get_values_and_arguments() {
    let script = "local n = 0\n\
                  function setup(thread) n = n + 1; thread:set('id', n); thread:set('t', { a = { true } });\n\
                  assert(thread:get('id') == n and thread:get('t').a[1]) end\n\
                  function init(args) assert(args[1] == 'one' and args[2] == 'two'); path = '/' .. id end\n\
                  function request() return wrk.format('GET', path) end";
    assert!(start(script).is_ok());
}

#[test]
fn mistakes_have_their_place() {
    for (script, expected) in [
        ("x = = 1", "test.lua:1: "),
        ("\nerror('no')", "test.lua:2: no"),
        ("function init()\n nothing()\nend", "test.lua:2: attempt to call global 'nothing'"),
        ("function request() return 'nonsense' end", "test.lua: the request has no end of its head"),
        ("function request() return nil end", "test.lua: "),
        ("function setup(t)\n t.addr = 1 end", "must be an address"),
        ("function setup(t)\n t.name = 1 end", "cannot be set"),
        ("wrk.lookup('other', 'http')", "cannot resolve `other`"),
    ] {
        let why = start(script).unwrap_err();
        assert!(why.contains(expected) && !why.contains('\n'), "{script}: {why}");
    }
}

#[test]
fn a_script_that_does_not_end_is_stopped() {
    let why = start("while true do end").unwrap_err();
    assert!(why.contains("test.lua") && why.contains("does not end"), "{why}");
    let why = start("function request() repeat until false end").unwrap_err();
    assert!(why.contains("does not end"), "{why}");
}

#[test]
fn the_end_of_a_run_has_its_numbers() {
    let script = "function done(summary, latency, requests)\n\
                  assert(summary.duration == 5 and summary.requests == 3 and summary.errors.status == 4)\n\
                  assert(latency.min == 10 and latency.max == 30 and latency.mean == 20 and latency.stdev == 8)\n\
                  assert(latency:percentile(50) == 20 and latency:percentile(99.9) == 30)\n\
                  local value, count = latency(2)\n\
                  assert(value == 20 and count == 1 and #latency == 3 and #requests == 0)\n\
                  error('reached') end";
    let session = start(script).unwrap();
    let latency = Distribution { values: vec![(10, 1), (20, 1), (30, 1)], mean: 20.0, std_dev: 8.0 };
    let results =
        Results { duration_us: 5, completed: 3, errors: [0, 0, 0, 4, 0], latency, ..Results::default() };
    assert_eq!(session.done(results).unwrap_err().message, "test.lua:7: reached");
}

#[test]
fn threads_have_the_addresses_that_setup_gives_them() {
    let start = |script: &str| Session::start("a.lua", script.as_bytes(), &site(), &[], 3).unwrap();
    let all = "local all, at = wrk.lookup(wrk.host, wrk.port), 0
function setup(thread)
  at = at % #all + 1
  assert(wrk.connect(all[at]))
  thread.addr = all[at]
end
function init() assert(wrk.thread.addr:find('127.0.0.')) end";
    let addresses = start(all).addresses().unwrap();
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["127.0.0.1:8080", "127.0.0.2:8080", "127.0.0.1:8080"]);
    assert!(start("").addresses().unwrap().is_empty());
    let some = "local n = 0
function setup(thread)
  n = n + 1
  if n == 1 then thread.addr = '127.0.0.1:8080' end
end";
    assert!(start(some).addresses().unwrap_err().message.contains("only 1 of 3 threads"));
}
