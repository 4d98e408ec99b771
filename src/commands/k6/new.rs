//! `plimsoll k6 new`: writes a script to start from.

use super::wrong;
use crate::exit::{Exit, Failure};
use crate::say;
use std::io::Write as _;
use std::path::Path;

pub const HELP: &str = "\
Write a k6 script to start from

Usage: plimsoll k6 new [FLAGS] [script.js]

Flags:
  -f, --force               Overwrite an existing file
      --template <NAME>     minimal or protocol [default: minimal]
  -h, --help                Print help
";

pub fn command(words: &[String]) -> Result<Exit, Failure> {
    let (mut files, mut force, mut template) = (Vec::new(), false, MINIMAL);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ => (word.as_str(), None),
        };
        match (name, value) {
            ("-f" | "--force", None) => force = true,
            ("--template", value) => {
                template = match value.or_else(|| rest.next().map(String::as_str)) {
                    Some("minimal") => MINIMAL,
                    Some("protocol") => PROTOCOL,
                    Some("browser") => {
                        let message = "the template `browser` is not supported: plimsoll has no browser";
                        return wrong(message.into(), "use `minimal` or `protocol`");
                    }
                    Some(other) => {
                        return wrong(
                            format!("unknown template `{other}`"),
                            "use `minimal` or `protocol`; copy any other file with `cp`",
                        );
                    }
                    None => {
                        return wrong("missing value of `--template`".into(), "use `minimal` or `protocol`");
                    }
                };
            }
            ("--project-id", _) => {
                let message = "`--project-id` is not supported: plimsoll sends nothing to a cloud";
                return wrong(message.into(), "omit it");
            }
            (flag, _) if flag.starts_with('-') => {
                return wrong(format!("unknown flag `{flag}`"), "`plimsoll k6 new --help` lists all flags");
            }
            _ => files.push(word.as_str()),
        }
    }
    let file = match files.as_slice() {
        [] => "script.js",
        [only] => only,
        [_, second, ..] => {
            return wrong(format!("unexpected argument `{second}`"), "write one file with each command");
        }
    };
    if !force && Path::new(file).exists() {
        return wrong(
            format!("`{file}` already exists"),
            "name another file, such as `plimsoll k6 new load.js`, or add `--force`",
        );
    }
    let unwritable = |e: std::io::Error| Failure::machine(format!("cannot write `{file}`: {e}"), None);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).truncate(force).create(force).create_new(!force);
    let mut written = options.open(file).map_err(unwritable)?;
    written.write_all(template.as_bytes()).map_err(unwritable)?;
    say::result(&format!("{file}: run it with `plimsoll run {file}`\n"))?;
    Ok(Exit::Pass)
}

/// A user that loads one page.
const MINIMAL: &str = "\
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  vus: 10,
  duration: '30s',
  thresholds: {
    http_req_failed: ['rate < 0.01'],
    http_req_duration: ['p(95) < 500'],
  },
};

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';

export default function () {
  const response = http.get(`${BASE}/`);
  check(response, { 'status is 200': (r) => r.status === 200 });
  sleep(1);
}
";

/// Two scenarios of an API, with data that `setup()` creates and `teardown()` removes.
const PROTOCOL: &str = "\
import http from 'k6/http';
import { check, group, sleep } from 'k6';

const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';
const JSON_HEADERS = { headers: { 'Content-Type': 'application/json' } };

export const options = {
  scenarios: {
    readers: {
      executor: 'ramping-vus',
      exec: 'read',
      stages: [
        { duration: '10s', target: 10 },
        { duration: '30s', target: 10 },
        { duration: '10s', target: 0 },
      ],
    },
    writers: {
      executor: 'constant-arrival-rate',
      exec: 'write',
      rate: 5,
      timeUnit: '1s',
      duration: '50s',
      preAllocatedVUs: 5,
      maxVUs: 50,
    },
  },
  thresholds: {
    http_req_failed: ['rate < 0.01'],
    http_req_duration: ['p(95) < 500'],
    checks: ['rate > 0.99'],
  },
};

export function setup() {
  const response = http.post(`${BASE}/lists`, JSON.stringify({ name: 'load test' }), JSON_HEADERS);
  return { list: response.headers['Location'] || '/lists/1' };
}

export function read({ list }) {
  group('read', () => {
    const response = http.get(`${BASE}${list}`);
    check(response, { 'the list is found': (r) => r.status === 200 });
  });
  sleep(1);
}

export function write({ list }) {
  group('write', () => {
    const item = JSON.stringify({ user: __VU, iteration: __ITER });
    const response = http.post(`${BASE}${list}/items`, item, JSON_HEADERS);
    check(response, { 'the item is stored': (r) => r.status < 300 });
  });
}

export function teardown({ list }) {
  http.del(`${BASE}${list}`);
}
";
