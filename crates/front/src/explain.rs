//! Explanations of all diagnostic codes for texts: the meaning, the reason, and a correct example.
//!
//! `F0xx` is for experiment files, `C0xx` for command lines of other tools and lists of URLs, `J0xx` for test plans of
//! JMeter, `J1xx` for remarks about them, `K0xx` for scripts of k6, `K1xx` for their options, and `P0xx` for the
//! experiment as a whole.

/// The explanation of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    /// The code as diagnostics show it: `F011`.
    pub code: &'static str,
    /// A noun phrase in lower case.
    pub title: &'static str,
    /// One to four sentences, and a correct example.
    pub text: &'static str,
}

/// Returns the row of a code, ignoring case.
pub fn find(code: &str) -> Option<&'static Explained> {
    TABLE.iter().find(|row| row.code.eq_ignore_ascii_case(code.trim()))
}

const fn row(code: &'static str, title: &'static str, text: &'static str) -> Explained {
    Explained { code, title, text }
}

/// All codes, in order.
pub const TABLE: &[Explained] = &[
    row(
        "C001",
        "invalid quoting in the pasted line",
        "The pasted line has an unclosed quote or bracket, or uses something that only a shell can do. Paste \
         the whole line, or pass its words separately.\n\n  plimsoll curl 'curl -H \"A: b\" \
         http://127.0.0.1:8080/'",
    ),
    row(
        "C002",
        "unsupported curl option",
        "The option is unknown, contradicts another option, or has no meaning in a load test. plimsoll \
         ignores no option: remove it if it does not matter.\n\n  plimsoll curl -X POST -d a=1 \
         http://127.0.0.1:8080/",
    ),
    row(
        "C003",
        "invalid line in a list of URLs",
        "Each request is a line `METHOD URL`, or a URL alone for GET. Its headers follow, one per line, then \
         its body as `@file`. Empty lines and lines that begin with `#` are skipped.\n\n  POST \
         http://127.0.0.1:8080/orders\n  Content-Type: application/json\n  @order.json",
    ),
    row(
        "C004",
        "unsupported flag of another tool",
        "The value of the flag is invalid, or plimsoll cannot do what it asks for. plimsoll ignores no flag that \
         affects the load.\n\n  plimsoll wrk -t4 -c100 -d30s http://127.0.0.1:8080/",
    ),
    row(
        "C005",
        "invalid command line of another tool",
        "The flag is unknown to wrk, ab, hey, oha, Vegeta, or loadtest, its value is missing, or the number of \
         arguments is wrong. The exit code is that of the tool.\n\n  plimsoll ab -n 1000 -c 10 \
         http://127.0.0.1:8080/",
    ),
    row(
        "F001",
        "unreadable file",
        "The file does not exist, is a directory, is too large, or this user may not read it. Experiment \
         files are small: put large bodies in separate files.\n\n  body_file: order.json",
    ),
    row(
        "F002",
        "file of another tool",
        "plimsoll recognizes the format by its name or content, but cannot run it. Write the experiment as \
         YAML; the shortest one has two lines.\n\n  target: http://127.0.0.1:8080\n  scenarios: { browse: [ { \
         get: /pick } ] }",
    ),
    row(
        "F003",
        "unknown file format",
        "The file is not an experiment. A run file (`.plim`) is the result of a run; show it with `plimsoll \
         report`.\n\n  plimsoll run experiment.yaml",
    ),
    row(
        "F010",
        "invalid YAML",
        "The text is invalid from this place: an unclosed quote or bracket, changed indentation, or a second \
         document. plimsoll did not check the rest, so fix this first.\n\n  name: \"text with a colon: in \
         quotes\"",
    ),
    row(
        "F011",
        "unknown key",
        "plimsoll ignores no key, because a misspelled one would silently change the test. The help line \
         names the closest key. The manual and the JSON Schema list all keys.\n\n  load: { users: 100, \
         duration: 15s }",
    ),
    row(
        "F012",
        "unsupported key or notation",
        "plimsoll knows the key or the notation, but does not support it yet. It rejects the file instead of \
         ignoring the key, so that the test is exactly what the file says.\n\n  target: http://127.0.0.1:8080",
    ),
    row(
        "F013",
        "duplicate name",
        "A key occurs twice, or two requests, groups, checks, or columns have the same name. Reports \
         distinguish them by name, and only one of two values could apply.\n\n  - { get: /a, name: first \
         }\n  - { get: /b, name: second }",
    ),
    row(
        "F014",
        "value of the wrong type",
        "For example, the value is text instead of a number, or a list instead of a mapping. YAML reads \
         unquoted `5` as a number, `true` as a Boolean, and an empty value as null. Quote text that looks \
         like these.\n\n  name: \"5\"",
    ),
    row(
        "F015",
        "invalid value",
        "The value has the right type, but is invalid: a duration without a unit, a rate of 0, a name with a \
         space. Durations require a unit, because `10` means seconds to some tools and milliseconds to \
         others.\n\n  timeout: 10s",
    ),
    row(
        "F016",
        "missing key or value",
        "A key is missing that other keys require, or a list is empty that must have an entry.\n\n  - group: \
         checkout\n    steps: [ { post: /orders } ]",
    ),
    row(
        "F017",
        "contradicting keys",
        "Two keys set the same thing differently, and only one can apply. Keep one of them.\n\n  load: { \
         rate: 100/s, max_connections: 500 }",
    ),
    row(
        "F018",
        "key in the wrong place",
        "The key exists, but belongs to another mapping. Move it there.\n\n  load: { duration: 15s \
         }\n  timeout: 3s",
    ),
    row(
        "F020",
        "invalid expression",
        "An expression begins with `${` and ends with `}`. It contains a name, a column of a data file, a \
         function, or an environment variable. Write `$${` for a literal `${`.\n\n  get: \
         /users/${id}?by=${users.email}&r=${random_int(1, 6)}&h=${env.REGION}",
    ),
    row(
        "F021",
        "unknown name",
        "An expression uses a name that `vars` does not define, that is not a column under `data`, and that \
         no step sets or extracts. The same applies to an `origin` that is not under `origins`. Scenarios do \
         not see each other's values, but all of them see those of `setup`.\n\n  vars: { base: /api \
         }\n  scenarios: { a: [ { get: \"${base}/items\" } ] }",
    ),
    row(
        "F022",
        "value used before it is set",
        "A later step sets this value, so it does not exist here. Move the step that extracts it before this \
         one, or test whether it exists.\n\n  - { post: /login, extract: { token: $.token } }\n  - { get: \
         /me, headers: { X-Token: \"${token}\" } }",
    ),
    row(
        "F023",
        "placeholder of another tool",
        "The text has a placeholder of JMeter, k6, Artillery, or Postman, which plimsoll would send \
         literally. If a body needs such text, put it in a file with `body_file`.\n\n  get: /users/${id}",
    ),
    row(
        "F024",
        "environment variable not set",
        "plimsoll reads `${env.X}` and `${secret.X}` from the environment before the load. It never shows a \
         secret. It rejects an empty one, because it is most likely a mistake.\n\n  API_KEY=... plimsoll run \
         experiment.yaml",
    ),
    row(
        "F025",
        "unknown function or invalid arguments",
        "The functions are `uuid`, `now`, `counter`, `random_int`, `random_string`, `user`, and \
         `iteration`.\n\n  ${now(unix_ms)}  ${now(%Y-%m-%d)}  ${counter(100, 2)}  ${random_int(1, \
         6)}  ${random_string(12, hex)}",
    ),
    row(
        "F026",
        "unusable data file",
        "The file is missing, unreadable, or empty, or its first line does not match its format. A file that \
         setup writes with `generate` or `append` need not exist.\n\n  data: { users: { file: users.csv, \
         delimiter: \";\" } }",
    ),
    row(
        "F027",
        "unknown column",
        "The columns of a CSV file are in its first line, unless `columns` names them. Those of JSON Lines \
         are the keys of the first object.\n\n  data: { users: { file: users.csv, columns: [email, password] \
         } }",
    ),
    row(
        "F028",
        "invalid pattern or JSONPath",
        "Regular expressions have the syntax of Rust's `regex`: no look-arounds and no back-references, so \
         matching takes linear time. JSONPath has the syntax of RFC 9535. In YAML, single quotes keep \
         backslashes unchanged.\n\n  extract: { id: { regex: 'id=(\\d+)' }, first: $.items[0].id }",
    ),
    row(
        "F029",
        "unknown name or value in `--set`",
        "`--set` overrides names under `vars`, or selects a value of a list or a variant. A misspelled name \
         would silently change nothing.\n\n  vars: { users: 10 }        # in the file\n  plimsoll run --set \
         users=100 experiment.yaml",
    ),
    row(
        "F030",
        "fixed value required",
        "Numbers of users, durations, names, and similar values must be known before the load starts. They \
         may come from `vars`, `--set`, and `${env.X}`, but not from a response or a data file. Secrets are \
         not allowed where they would be visible.\n\n  vars: { n: 100 }\n  load: { users: \"${n}\" }",
    ),
    row(
        "F031",
        "invalid condition",
        "A condition compares one value, such as `${n}`, with another. For two comparisons, put an `if` in \
         the `then` of another. Write `${n}`, not `n`, before the operator.\n\n  if: ${n} < 5\n  while: \
         ${state} != done\n  if: ${token} exists\n  if: ${id} matches /^[0-9]+$/\n  if: ${color} in [red, \
         blue]",
    ),
    row(
        "F032",
        "invalid content of a file",
        "A file for `replay` has one time per line, in ascending order, with a unit; `#` starts a comment. \
         Certificates and keys must be in PEM format.\n\n  load: { replay: { file: gaps.txt, format: \
         intervals, unit: ms } }",
    ),
    row(
        "F033",
        "several runs instead of one",
        "A list in place of a single value, `variants`, `repeat`, and `find` turn a file into several runs. A \
         command that needs one run does not choose one for you: keep one value.\n\n  load: { users: [1, 10, \
         100] }\n  plimsoll check --set users=10 experiment.yaml",
    ),
    row(
        "F034",
        "invalid list of values",
        "A list in place of a single value of `load`, `connection`, `tls`, or `vars` is a parameter. So is \
         `variants`, and plimsoll runs all combinations. The values of a parameter must be fixed, distinct, \
         and the same in all variants. Settings of the whole experiment cannot depend on them.\n\n  variants: \
         { go: { target: http://127.0.0.1:3001 }, node: { target: http://127.0.0.1:3000 } }\n  vars: { page: \
         [small, large] }\n  load: { users: [1, 10, 100], duration: 15s }",
    ),
    row(
        "F035",
        "expectation about an unknown value",
        "An expectation compares two values of the same parameter, such as two variants or two numbers of \
         users. It could never be answered with a misspelled value.\n\n  variants: { bcrypt: , plain: { \
         target: http://127.0.0.1:81 } }\n  expect: [ bcrypt lowers throughput by 2x ]",
    ),
    row(
        "F036",
        "unknown or ambiguous part",
        "`parts` makes several experiments of one file, each in a directory with the name of the part. A \
         command that needs one experiment does not choose one for you.\n\n  load: { users: 10, duration: 15s \
         }\n  parts: { few: , many: { load: { users: 100 } } }\n  plimsoll run experiment.yaml --part many",
    ),
    row(
        "F037",
        "not allowed in an experiment from the console",
        "A pasted experiment runs as the user who started the console. It may read and write files only in \
         the console's directories, and write only `.csv` files. It cannot run programs (`monitors: [ { \
         command: ... } ]`) or read environment variables (`${env.X}`, `${secret.X}`). The same applies to \
         experiment files in these directories, but to no others.\n\n  plimsoll serve --allow-commands",
    ),
    row(
        "F038",
        "invalid JSON Schema",
        "A schema for `check` is not a valid JSON Schema, or refers to another document. plimsoll compiles each \
         schema before the load and fetches nothing; copy what `$ref` points to under `$defs`.\n\n  check: { \
         schema: { type: object, required: [id], properties: { id: { type: integer } } } }",
    ),
    row(
        "F041",
        "invalid schema of a gRPC service",
        "The schema does not compile; the place is that in the `.proto` file. Imports are looked up in \
         `import_paths`, then in the directory of the experiment, and then in that of the file itself. The \
         well-known types (`google/protobuf/*.proto`) are always available.\n\n  grpc: { protos: shop.proto, \
         import_paths: [protos] }\n  grpc: { descriptor_sets: shop.binpb }",
    ),
    row(
        "F042",
        "name that the schema lacks",
        "The service, the method, the message type, or the field is not in the schema. Fields of messages \
         have their names from the schema; JSONPaths into responses use the same names. The help line names the \
         closest one.\n\n  - grpc: shop.v1.Shop/GetItem\n    message: { id: 7 }\n    check: { json: { \
         $.price_cents: { more_than: 0 } } }",
    ),
    row(
        "F043",
        "value that a field of a message cannot have",
        "A field takes values of its type: whole numbers in its range, `true` or `false`, the name of a value of \
         its enumeration, bytes in Base64, times such as `2026-01-31T12:00:00Z`, and durations such as `1.5s`. A \
         repeated field takes a list. A value with an expression is checked when it is sent.\n\n  message: { \
         id: \"${items.id}\", tags: [a, b], color: RED }",
    ),
    row(
        "J001",
        "invalid test plan",
        "A test plan of JMeter is an XML file whose root is `jmeterTestPlan`. Document types and entities are \
         not read. Open the plan in JMeter and save it again; JMeter cannot read broken XML, either.\n\n  \
         plimsoll check plan.jmx",
    ),
    row(
        "J002",
        "test plan too large",
        "A plan may have 64 MiB. Move large bodies to files: a request may name a file as its body, or a data \
         set.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J003",
        "unsupported element of a test plan",
        "plimsoll runs HTTP plans: HTTP samplers with their configuration, controllers, timers, extractors, \
         and assertions. It does not run elements for other protocols, and it never skips one that would send \
         something. Disable the element in JMeter if the plan does not need it.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J004",
        "unsupported setting of a test plan",
        "plimsoll runs the element, but not with this setting. The message names the element by its path in \
         the tree.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J005",
        "invalid or unsupported function",
        "plimsoll evaluates the functions of JMeter except `__BeanShell` and `__XPath`, and `__base64Encode`, \
         `__base64Decode`, and `__env` of plugins. In arguments, write `\\,` for a comma.\n\n  \
         ${__time(yyyy-MM-dd'T'HH:mm:ss)}  ${__P(users,10)}  ${__RandomString(8,abc)}",
    ),
    row(
        "J006",
        "invalid number for a load",
        "The numbers of threads and loops, and the times of a thread group, must be known before the load: \
         numbers, properties, or user-defined variables. JMeter takes a text that is not a number as 0, and \
         then sends nothing.\n\n  plimsoll run plan.jmx --set users=10 -J rampup=60",
    ),
    row(
        "J007",
        "unreplaced token of a template",
        "Some plans are templates: a script replaces words such as `THREADS_COUNT` before the test. `--set` \
         replaces them, too. To keep a word, set it to itself.\n\n  plimsoll run plan.jmx --set \
         THREADS_COUNT=600 --set HOST=127.0.0.1",
    ),
    row(
        "J008",
        "missing file of a test plan",
        "A file that the plan reads does not exist. Relative names begin in the folder of the plan.\n\n  \
         plimsoll run plan.jmx --set CSV_FILE=users.csv",
    ),
    row(
        "J009",
        "test plan without load",
        "The plan has no enabled thread group with an enabled sampler, so nothing would be sent.\n\n  plimsoll check \
         plan.jmx",
    ),
    row(
        "J010",
        "missing target of a controller",
        "A Module Controller names a controller that does not exist, or an Include Controller names a file \
         without a Test Fragment. JMeter stops such a test.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J011",
        "variables that define each other",
        "The value of the variable needs the variable itself. JMeter would send its text.\n\n  plimsoll run \
         plan.jmx --set host=127.0.0.1",
    ),
    row(
        "J012",
        "unrecognized script in a test plan",
        "plimsoll recognizes common scripts of JSR223 and BeanShell: setting variables, reading properties, \
         logging, and appending to files. It does not run others. If a script does not matter, leave it \
         out.\n\n  plimsoll run plan.jmx --skip-scripts",
    ),
    row(
        "J013",
        "invalid flag of JMeter",
        "`plimsoll jmeter` accepts the flags of JMeter without a window: `-n`, `-t`, `-l`, `-j`, `-e`, `-o`, \
         `-f`, `-J`, `-G`, `-q`, and `-p`. For several machines, run a shard on each.\n\n  plimsoll jmeter -n \
         -t plan.jmx -l results.jtl\n  plimsoll run plan.jmx --shard 1/2",
    ),
    row(
        "J101",
        "undefined variable",
        "Nothing in the plan defines the variable, so JMeter, and plimsoll, send its text `${NAME}`. Letter \
         case matters.\n\n  plimsoll run plan.jmx --set NAME=value",
    ),
    row(
        "J102",
        "number taken as 0",
        "The text is not a number, often because of an undefined variable, so JMeter takes 0. With a ramp-up \
         of 0, all threads start at once.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J103",
        "unclosed variable",
        "The text has `${` without `}`, so JMeter, and plimsoll, send it as it is written.\n\n  ${name}",
    ),
    row(
        "J104",
        "listener that writes a file",
        "The listener writes during the test. To save results once, remove its file name and use `-l`.\n\n  \
         plimsoll jmeter -n -t plan.jmx -l results.jtl",
    ),
    row(
        "J105",
        "element without effect",
        "The element only shows results in JMeter's window, or belongs to another tool.\n\n  plimsoll check \
         plan.jmx",
    ),
    row(
        "J106",
        "rows that repeat",
        "At its end, the data set begins again, or its variables become `<EOF>`. Each machine reads the file \
         from its first row.\n\n  plimsoll check plan.jmx",
    ),
    row(
        "J107",
        "rate in a closed model",
        "A throughput timer delays threads, which still wait for responses. If the service is slow, it gets \
         less load than the timer says.\n\n  plimsoll explain late_sends",
    ),
    row(
        "J108",
        "element that never runs",
        "The element is not in a thread group, or is below an element that does not run others.\n\n  plimsoll \
         check plan.jmx",
    ),
    row(
        "J109",
        "value that a test plan does not need",
        "The plan has neither a user-defined variable of this name nor the word, so the value of `--set` has no \
         effect. Plans of one folder can share their values; if a plan needs none of them, that is an \
         error.\n\n  plimsoll check plan.jmx --set THREADS_COUNT=600 --set PATH_PREFIX=/api",
    ),
    row(
        "K001",
        "unreadable file of a script",
        "The script, or a file that it imports, does not exist, is a directory, is not UTF-8, or this user \
         may not read it. A path is used as written: its extension is not guessed, and it starts at the \
         folder of the file that contains it.\n\n  import { login } from './lib/login.js';",
    ),
    row(
        "K002",
        "syntax error in a script",
        "The text is invalid from this place as JavaScript (ES2023), or as TypeScript in files that end with \
         `.ts`, `.mts`, or `.cts`. A file is an ES module if it contains `import` or `export`, and CommonJS \
         otherwise.\n\n  export default function () { http.get('http://127.0.0.1:8080/'); }",
    ),
    row(
        "K003",
        "import of a package",
        "A script has no `node_modules`. Bundle the package with the script (esbuild, Rollup, webpack), or \
         import a file by its path.\n\n  esbuild script.js --bundle --format=esm --external:k6 \
         --external:k6/* --outfile=bundled.js",
    ),
    row(
        "K004",
        "import of a remote module",
        "By default, plimsoll downloads no code: the test would depend on a server that is not part of it. \
         Libraries of `jslib.k6.io` that plimsoll contains need no download. Save any other file and import it \
         by its path, or use `--allow-remote`: the SHA-256 of each module is then kept in `plimsoll.lock`, next \
         to the script, and a module that has changed is refused.\n\n  import { report } from \
         './k6-reporter.js';",
    ),
    row(
        "K005",
        "unsupported built-in module",
        "The module of k6 does not exist, or plimsoll does not support it. The help line names a replacement \
         if there is one.\n\n  import http from 'k6/http';",
    ),
    row(
        "K006",
        "import of a missing name",
        "The module exports nothing under this name, or two `export *` export different values under it. The \
         help line lists its exports. A JSON file only has a default export.\n\n  import data from \
         './data.json';",
    ),
    row(
        "K007",
        "assignment to an imported name",
        "Only the module that exports a variable can change it. Copy the value to a variable, or call a \
         function of that module.\n\n  import { base } from './config.js';\n  let url = base;",
    ),
    row(
        "K008",
        "computed path of a module",
        "The modules of a script are read before the load starts, so `require` and `import()` take a text in \
         quotes. To choose between files at run time, read data with `open`.\n\n  const users = \
         JSON.parse(open(__ENV.USERS));",
    ),
    row(
        "K009",
        "`await` that nothing waits for",
        "A module that awaits at its top level must be imported with `import`, and not through a cycle of \
         imports.\n\n  import { token } from './token.js';",
    ),
    row(
        "K010",
        "unsupported syntax",
        "JSX, decorators, `import defer`, `import source`, and import attributes other than `type: 'json'` \
         are not supported. Compile the script to JavaScript first.\n\n  esbuild script.tsx --bundle \
         --format=esm --external:k6 --external:k6/* --outfile=script.js",
    ),
    row(
        "K011",
        "invalid JSON in an imported file",
        "A file that is imported as JSON must contain one JSON value, without comments or trailing commas. \
         To read another format, use `open`.\n\n  import users from './users.json';",
    ),
    row(
        "K012",
        "invalid archive",
        "A k6 archive is a tar file with `metadata.json`, the script, and every file that it reads. It is \
         not compressed.\n\n  k6 archive script.js -O archive.tar",
    ),
    row(
        "K013",
        "error in the init part of a script",
        "Everything outside of functions is the init part. It runs once for each virtual user, before the load; it may \
         open files and define metrics, and sends no requests.\n\n  const users = \
         JSON.parse(open('./users.json'));\n  export default function () { http.get(users[0].url); }",
    ),
    row(
        "K014",
        "test ended in the init part of a script",
        "The script calls `exec.test.abort()` outside of functions, so that the test ends before it begins. To end it \
         during the run, call it in `setup()` or in an iteration.\n\n  export function setup() {\n    if \
         (http.get(url).status !== 200) exec.test.abort('not ready');\n  }",
    ),
    row(
        "K101",
        "invalid value of a k6 option",
        "The value has the wrong type, or is out of range. Numbers may be text, because environment variables are, \
         and a duration without a unit is in milliseconds. The message names the path in `options`.\n\n  export \
         const options = { vus: 10, duration: '30s' };",
    ),
    row(
        "K102",
        "unknown key in a k6 scenario",
        "A scenario accepts only the keys of its executor. Unknown keys of `options` itself are only warnings, as in \
         k6.\n\n  scenarios: { a: { executor: 'constant-vus', vus: 5, duration: '1m' } }",
    ),
    row(
        "K103",
        "contradicting k6 options",
        "The load of a test is either `scenarios`, or one of `iterations`, `duration`, and `stages`. Only \
         `iterations` and `duration` may be combined; the duration is then the time limit.\n\n  export const options = \
         { vus: 10, stages: [{ duration: '30s', target: 50 }] };",
    ),
    row(
        "K104",
        "unsupported k6 option",
        "plimsoll cannot do what the option asks for, so it does not run the test without it. The help line names an \
         alternative.\n\n  dns: { ttl: '1m', select: 'roundRobin' }",
    ),
    row(
        "K105",
        "unknown function of a k6 scenario",
        "`exec` names an exported function of the script; the default is `default`.\n\n  export function login() { \
         ... }\n  scenarios: { a: { executor: 'constant-vus', duration: '1m', exec: 'login' } }",
    ),
    row(
        "K106",
        "invalid k6 threshold",
        "A threshold is an aggregator, a comparison, and a number without a unit. Trends have `avg`, `min`, `med`, \
         `max`, and `p(N)`; counters `count` and `rate`; rates `rate`; gauges `value`. The metric must be one of k6 or \
         of the script.\n\n  thresholds: { http_req_duration: ['p(95) < 500'], http_req_failed: ['rate < 0.01'] }",
    ),
    row(
        "K107",
        "invalid flag or variable of k6",
        "`plimsoll k6 run` accepts the flags of k6 and the variables `K6_*`. A flag has priority over its variable, \
         which has priority over `options`.\n\n  plimsoll k6 run -u 10 -d 30s -e HOST=127.0.0.1 script.js",
    ),
    row(
        "P001",
        "missing target",
        "No target is set. Set `target` in the file, or write a whole URL in the first request.\n\n  target: \
         http://127.0.0.1:8080",
    ),
    row(
        "P002",
        "both a rate and stages",
        "A constant rate and stages both set the arrival rate. To hold a rate in `stages`, repeat its \
         level.\n\n  load: { stages: [ 10s:100/s, 1m:100/s ] }",
    ),
    row(
        "P003",
        "both users and stages of users",
        "The stages already set the number of users at every moment.\n\n  load: { stages: [ 10s:100, 1m:100 ] \
         }",
    ),
    row(
        "P004",
        "both a duration and stages",
        "The stages already set the duration of the run: it is the sum of their durations.\n\n  load: { \
         stages: [ 10s:100, 1m:100 ] }",
    ),
    row(
        "P005",
        "arrival distribution without a rate",
        "`arrivals` sets how arrivals are distributed over time. Users have no arrivals: each continues when \
         its response is complete.\n\n  load: { rate: 100/s, arrivals: poisson, duration: 15s }",
    ),
    row(
        "P006",
        "zero load",
        "A load of 0 users, connections, requests, or seconds sends nothing.\n\n  load: { users: 1, duration: \
         1s }",
    ),
    row(
        "P007",
        "too much for one machine",
        "One machine cannot send or hold this much. Split the load over several machines.\n\n  plimsoll run \
         --shard 1/2 experiment.yaml",
    ),
    row(
        "P009",
        "above the hard limit of a run",
        "The limit keeps a typo from becoming an attack. To exceed it, raise it explicitly.\n\n  limits: { \
         duration_ns: 72h }",
    ),
    row(
        "P010",
        "warm-up as long as the run",
        "Requests during the warm-up are not counted, and the run ends with it.\n\n  warmup: 5s\n  load: { \
         users: 10, duration: 30s }",
    ),
    row(
        "P011",
        "latency buckets not in ascending order",
        "The edges of the latency buckets are 1–12 durations in ascending order.\n\n  buckets: [100ms, 1s, \
         10s]",
    ),
    row(
        "P012",
        "no requests",
        "The scenarios send no requests: pauses alone put no load on the service.\n\n  scenarios: { browse: [ \
         { get: /pick } ] }",
    ),
    row(
        "P013",
        "invalid method",
        "A method consists of letters and digits. `CONNECT` is not supported, because it opens a tunnel, \
         which has no response to measure.\n\n  - request: { method: PROPFIND, path: /files }",
    ),
    row(
        "P014",
        "invalid header",
        "Header names consist of letters, digits, and a few signs, and header values contain no line ends \
         (RFC 9110 section 5). A line end in a header can smuggle a second request.\n\n  headers: { X-Name: \
         value }",
    ),
    row(
        "P015",
        "threshold on the offered rate without a rate",
        "`achieved` is the share of the offered rate that completed. Without a rate, nothing is \
         offered.\n\n  load: { rate: 100/s, duration: 30s }\n  thresholds: [ achieved >= 99% ]",
    ),
    row(
        "P016",
        "percentile too high",
        "A percentile above p99.9999 requires more than 10 million requests to be more than \
         chance.\n\n  thresholds: [ response_time p99.9 < 1s ]",
    ),
    row(
        "P017",
        "wrong `Content-Length`",
        "plimsoll sets `Content-Length` from the body. With another value, the server would wait for the \
         rest, or read part of the body as the next request.\n\n  - { post: /orders, json: { item: 7 } }",
    ),
    row(
        "P018",
        "`Transfer-Encoding` set by hand",
        "plimsoll makes the chunks of a body itself. Bodies with this header would have no chunks, or would have \
         chunks twice.\n\n  - { post: /orders, body_file: order.json, chunked: true }",
    ),
    row(
        "P019",
        "shard without users",
        "The users of a sharded run are divided among its machines, and this one would get none.\n\n  load: { \
         users: 2 }     # for --shard 1/2 and --shard 2/2",
    ),
    row(
        "P020",
        "`iterations_per_user` with arrivals",
        "`iterations_per_user` is the number of times that each user runs its scenario. An arrival runs it \
         once.\n\n  load: { rate: 100/s, iterations: 5000 }",
    ),
    row(
        "P021",
        "no recorded arrivals",
        "The file for `replay` contains no arrivals.\n\n  load: { replay: { file: instants.txt, unit: ms } }",
    ),
    row(
        "P022",
        "load of an unknown scenario",
        "A load model refers to a scenario by a number that the script does not have. An experiment file \
         cannot cause this error, but a program that builds plans can.\n\n  scenarios: { browse: { load: { \
         users: 5, duration: 9s }, steps: [ { get: / } ] } }",
    ),
    row(
        "P023",
        "invalid weight",
        "Weights divide users among scenarios or branches, so they must be above 0. Remove what should never \
         run.\n\n  - choose: [ { weight: 3, steps: [ { get: /a } ] }, { weight: 1, steps: [ { get: /b } ] } ]",
    ),
    row(
        "P024",
        "`pace` with arrivals",
        "`pace` is the time from the start of one iteration to the start of the next. Arrivals start \
         iterations at their own rate.\n\n  scenarios: { a: { pace: 5s, steps: [ { get: / } ] } }\n  load: { \
         users: 10 }",
    ),
    row(
        "P025",
        "address of an unused host",
        "`resolve` sets the address of a host that the test loads. For any other host, it would have no \
         effect.\n\n  target: http://shop.test:8080\n  connection: { resolve: { shop.test: 127.0.0.1 } }",
    ),
    row(
        "P026",
        "too many origins",
        "Before the load, plimsoll resolves each origin, asks for permission, and sends a trial request, one \
         origin at a time. Their number is therefore limited.\n\n  target: http://127.0.0.1:3000\n  origins: \
         { users: http://127.0.0.1:3001 }",
    ),
    row(
        "P027",
        "request to an unknown origin",
        "A request refers to an origin by a number that the plan does not have. An experiment file cannot \
         cause this error, because it refers to origins by name.\n\n  origins: { users: http://127.0.0.1:3001 \
         }\n  scenarios: { a: [ { get: /me, origin: users } ] }",
    ),
    row(
        "P028",
        "users or connections of the other load model",
        "In the closed model, users wait for responses and have one connection each (`-c`, in a file \
         `users`). In the open model, arrivals come at a rate, and a limit stops their connections from \
         growing without end (`--max-connections`, in a file `max_connections`).\n\n  load: { rate: 100/s, \
         max_connections: 200, duration: 15s }\n  # or\n  load: { users: 200, duration: 15s }",
    ),
    row(
        "P029",
        "shared connections that cannot be shared",
        "Only over HTTP/2 can several users share a connection: each request has its own stream. \
         `streams: 10` gives 10 users one connection, so `users: 100` opens 10. Over TLS, the server must \
         choose HTTP/2; over plain text, write `http: 2`. A connection that is opened for each iteration or \
         each request has one user.\n\n  connection: { http: 2, streams: 10 }\n  load: { users: 100 }",
    ),
    row(
        "P030",
        "threshold on an unknown scope",
        "The scope of the threshold names a request, scenario, group, or tag that the experiment does not \
         have, or an agent that does not send the load, so it would always pass.\n\n  thresholds: [ \
         \"response_time{request: login} p99 < 250ms\" ]",
    ),
    row(
        "P031",
        "threshold on an unmeasured metric",
        "The experiment does not measure this metric: it has no streams, no checks, or no TLS.\n\n  - { get: \
         /feed, stream: { duration: 60s } }\n  # thresholds: [ event_gap p99 < 20s ]",
    ),
    row(
        "P032",
        "WebSocket over HTTP/1.0",
        "A WebSocket is opened by an upgrade of HTTP/1.1 (RFC 6455) or on a stream of HTTP/2 (RFC 8441). With \
         `http: auto`, an origin with WebSockets speaks HTTP/1.1, even if it offers HTTP/2. Write another \
         version than `1.0`.\n\n  connection: { http: 2 }",
    ),
    row(
        "P033",
        "gRPC over HTTP/1",
        "gRPC requires HTTP/2, and experiments with gRPC calls use it for all connections. Remove \
         `--http1.1`, or `http` under `connection`.\n\n  plimsoll run experiment.yaml",
    ),
    row(
        "P034",
        "contradicting routes",
        "Two settings say where connections go, or one of them has no effect on the other's way: through a \
         proxy, by a Unix domain socket, from a network interface, or with the header of the PROXY \
         protocol.\n\n  connection: { proxy: \"http://127.0.0.1:3128\" }\n  # or\n  connection: { \
         unix_socket: /run/app.sock }",
    ),
    row(
        "P040",
        "TLS settings without effect",
        "A cipher suite belongs to one version of TLS, and only TLS 1.2 resumes sessions by their ID. A setting of a \
         version that is not offered would have no effect.\n\n  tls: { versions: \"1.2\", ciphers: \
         ECDHE-RSA-AES128-GCM-SHA256 }",
    ),
    row(
        "P041",
        "lookups that cannot happen",
        "With `dns: each_connection`, every connection looks up its host and goes to the first address of the answer. \
         That requires a host name, and excludes a rotation over the addresses of before the load.\n\n  target: \
         http://shop.test:8080\n  connection: { dns: each_connection }",
    ),
    row(
        "P042",
        "nothing waits for `100 Continue`",
        "With `--expect-continue`, the body of a request waits until the server accepts it. No request of the \
         run has a body.\n\n  plimsoll http://127.0.0.1:8080/upload -b @upload.bin --expect-continue",
    ),
    row(
        "P043",
        "delivery over another version of HTTP",
        "HTTP/1.0 has neither chunks nor `100 Continue`. Over HTTP/2, a head is one frame and cannot be sent \
         slowly, and a connection that is read slowly would delay all of its streams. With `http: auto`, an origin \
         with such requests speaks HTTP/1.1.\n\n  connection: { http: auto }",
    ),
    row(
        "P044",
        "requests that cannot be pipelined",
        "On a pipelined connection of HTTP/1.1, requests are sent before earlier responses have arrived. If the \
         connection ends, the client cannot know which of them were processed, so only idempotent methods are sent. A \
         step of a scenario needs the response to the one before it.\n\n  plimsoll http://127.0.0.1:8080/ \
         --pipeline 16 -c 8",
    ),
    row(
        "P045",
        "requests in addition to those of a script",
        "A script in JavaScript decides which requests its users send, with their methods, headers, bodies, and \
         redirects. Flags that define or change requests have no meaning for it.\n\n  plimsoll run script.js",
    ),
];
