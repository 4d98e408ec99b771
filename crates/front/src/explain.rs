//! Every code of a diagnostic about a text, told at length: what it means, why it is a mistake, and how it is
//! written right.
//!
//! `F0xx` experiment files, `C0xx` curl lines, `P0xx` an experiment as a whole, wherever it was written.

/// A code, told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    /// As diagnostics show it: `F011`.
    pub code: &'static str,
    /// A few words, lower case.
    pub title: &'static str,
    /// Two or three sentences, and an example of right writing.
    pub text: &'static str,
}

/// The row of a code, upper and lower case alike.
pub fn find(code: &str) -> Option<&'static Explained> {
    TABLE.iter().find(|row| row.code.eq_ignore_ascii_case(code.trim()))
}

const fn row(code: &'static str, title: &'static str, text: &'static str) -> Explained {
    Explained { code, title, text }
}

/// All codes, in their order.
pub const TABLE: &[Explained] = &[
    row(
        "C001",
        "the pasted line cannot be split into words",
        "A quote or a bracket of the shell is opened and never closed, or the line uses something that only a \
         shell can \
         do. Paste the whole line, or give its words one by one.\n\n  plimsoll curl 'curl -H \"A: b\" \
         http://127.0.0.1:8080/'",
    ),
    row(
        "C002",
        "an option of curl that cannot be taken over",
        "The option is unknown, contradicts another one, or means something that a load test cannot do. Nothing \
         is left \
         out in silence: take the option away if it does not matter.\n\n  plimsoll curl -X POST -d a=1 \
         http://127.0.0.1:8080/",
    ),
    row(
        "C003",
        "a line of a list of URLs that cannot be read",
        "Each request is a line `METHOD URL`, or a URL alone for GET. Its headers follow, one a line, then its body \
         as `@file`. Empty lines and lines that begin with `#` mean nothing.\n\n  \
         POST http://127.0.0.1:8080/orders\n  Content-Type: application/json\n  @order.json",
    ),
    row(
        "F001",
        "the file cannot be read",
        "It is not there, is a folder, is too large, or this user may not read it. Experiment files are small: \
         large \
         bodies belong into files of their own.\n\n  body_file: order.json",
    ),
    row(
        "F002",
        "a file of another tool",
        "The file is known by its name or its content, and cannot be run. Write the experiment as YAML; the \
         shortest one \
         has two lines.\n\n  target: http://127.0.0.1:8080\n  scenarios: { browse: [ { get: /pick } ] }",
    ),
    row(
        "F003",
        "nothing that can be run",
        "The file is no experiment. A run file (`.plim`) is the result of a run: it is read by `plimsoll \
         report`.\n\n  \
         plimsoll run experiment.yaml",
    ),
    row(
        "F010",
        "no YAML, or not one experiment",
        "From this place on the text cannot be read: a quote or bracket is not closed, the indentation changes, \
         or a \
         second document begins. What follows was not judged; mend this first.\n\n  name: \"text with a colon: \
         in quotes\"",
    ),
    row(
        "F011",
        "an unknown key",
        "No key is ever ignored, because a misspelt one would change the test without a word. The nearest right \
         name \
         stands in the hint; the whole list is in the manual and in the JSON Schema.\n\n  load: { users: 100, \
         duration: 15s }",
    ),
    row(
        "F012",
        "not supported",
        "The key or the notation is known and cannot be used yet. It is refused instead of being ignored, so \
         that no \
         result is about something else than what was written.\n\n  target: http://127.0.0.1:8080",
    ),
    row(
        "F013",
        "two things of one name",
        "A key stands twice, or two requests, groups, checks or columns are called alike. Reports tell things \
         apart by \
         their names, and of two values only one could count.\n\n  - { get: /a, name: first }\n  - { get: /b, \
         name: second }",
    ),
    row(
        "F014",
        "a value of the wrong kind",
        "A text stands where a number is expected, a list where a mapping is, or the other way round. YAML takes \
         an \
         unquoted `5` for a number, `true` for a truth value and nothing for nothing: text that looks like these \
         needs \
         quotes.\n\n  name: \"5\"",
    ),
    row(
        "F015",
        "a value that cannot be",
        "The value is of the right kind, and its content is wrong: a time without a unit, a rate of 0, a name \
         with a \
         blank. Times always carry a unit, because `10` means seconds to one tool and milliseconds to the \
         next.\n\n  \
         timeout: 10s",
    ),
    row(
        "F016",
        "something is missing",
        "A key without which its neighbours mean nothing is not there, or a list that needs an entry is \
         empty.\n\n  \
         - group: checkout\n    steps: [ { post: /orders } ]",
    ),
    row(
        "F017",
        "two keys contradict each other",
        "Both say the same thing differently, and only one could be obeyed. Keep one of them.\n\n  \
         load: { rate: 100/s, max_connections: 500 }",
    ),
    row(
        "F018",
        "a key in the wrong place",
        "The key exists, and belongs to another mapping. Move it there.\n\n  load: { duration: 15s }\n  timeout: \
         3s",
    ),
    row(
        "F020",
        "an expression that cannot be read",
        "`${` begins an expression and `}` ends it; between them stands a name, a column of a data file, a \
         function, or \
         a variable of the environment. A literal `${` is written `$${`.\n\n  \
         get: /users/${id}?by=${users.email}&r=${random_int(1, 6)}&h=${env.REGION}",
    ),
    row(
        "F021",
        "a name that nothing defines",
        "An expression names a value that is neither under `vars`, nor a column of a file under `data`, nor \
         extracted or set by a step; or a request names an origin that is not under `origins`. It would have been \
         sent as it stands. Mind that scenarios do not see each other's \
         values; \
         those of `setup` are seen by all.\n\n  vars: { base: /api }\n  scenarios: { a: [ { \
         get: \"${base}/items\" } ] }",
    ),
    row(
        "F022",
        "a value is used before it is set",
        "A later step sets this value, so that there is none here. Move the step that extracts it in front; or ask \
         whether it is there.\n\n  - { post: /login, extract: { token: $.token } }\n  \
         - { get: /me, headers: { X-Token: \"${token}\" } }",
    ),
    row(
        "F023",
        "a placeholder of another tool",
        "The text holds a placeholder that JMeter, k6, Artillery or Postman would fill in. Here it would be sent \
         as it \
         stands. A body that needs such text literally goes into a file: `body_file`.\n\n  get: /users/${id}",
    ),
    row(
        "F024",
        "an environment variable is not set",
        "`${env.X}` and `${secret.X}` are read from the environment before the load. A secret is shown nowhere; an \
         empty one is refused, because it was forgotten.\n\n  API_KEY=... plimsoll run experiment.yaml",
    ),
    row(
        "F025",
        "a function that is not there, or its arguments",
        "There are `uuid`, `now`, `counter`, `random_int`, `random_string`, `user` and `iteration`.\n\n  \
         ${now(unix_ms)}  ${now(%Y-%m-%d)}  ${counter(100, 2)}  ${random_int(1, 6)}  ${random_string(12, hex)}",
    ),
    row(
        "F026",
        "a data file cannot be used",
        "The file is missing, unreadable, empty, or its first line is not what its format promises. A file that \
         the \
         set-up writes need not exist: name it there by `generate` or `append`.\n\n  \
         data: { users: { file: users.csv, delimiter: \";\" } }",
    ),
    row(
        "F027",
        "a column that no row has",
        "The first line of a CSV file names its columns, unless `columns` does; of JSON Lines, the keys of the \
         first \
         object count.\n\n  data: { users: { file: users.csv, columns: [email, password] } }",
    ),
    row(
        "F028",
        "a pattern or a path that cannot be read",
        "Regular expressions are those of Rust's `regex`: no look-arounds, no back-references, time linear in the \
         text. JSONPath is RFC 9535. In YAML, backslashes stay as they are between single quotes.\n\n  \
         extract: { id: { regex: 'id=(\\d+)' }, first: $.items[0].id }",
    ),
    row(
        "F029",
        "`--set` names nothing",
        "Only names under `vars` can be overridden: a misspelt one would change nothing, without a word.\n\n  \
         vars: { users: 10 }        # in the file\n  plimsoll run --set users=100 experiment.yaml",
    ),
    row(
        "F030",
        "only a fixed value can stand here",
        "Numbers of users, times, names and the like are needed before the load begins. They can come from \
         `vars`, from \
         `--set` and from `${env.X}`, but not from an answer or a data file; and no secret can stand where it \
         would be \
         shown.\n\n  vars: { n: 100 }\n  load: { users: \"${n}\" }",
    ),
    row(
        "F031",
        "a condition that cannot be read",
        "A condition is a value, a comparison and what it is compared with. It holds one comparison: where two \
         have to hold, an `if` stands in the `then` of another. In front stands what changes, `${n}` and not \
         `n`.\n\n  if: ${n} < 5\n  while: ${state} \
         != done\n  \
         if: ${token} exists\n  if: ${id} matches /^[0-9]+$/\n  if: ${color} in [red, blue]",
    ),
    row(
        "F032",
        "a file does not hold what it should",
        "A file of recorded arrivals has one time a line, rising, with a unit; `#` begins a comment. \
         Certificates and \
         keys are PEM.\n\n  load: { replay: { file: gaps.txt, format: intervals, unit: ms } }",
    ),
    row(
        "F033",
        "several runs where one is asked for",
        "A list in the place of a single value, `variants`, `repeat` and `find` make an experiment of several runs out \
         of a file. Where one run is wanted, none of them is picked in silence: keep one value.\n\n  \
         load: { users: [1, 10, 100] }\n  plimsoll check --set users=10 experiment.yaml",
    ),
    row(
        "F034",
        "an axis that cannot span the matrix",
        "Every list in the place of a single value of the load, the connection or `vars` spans an axis, `variants` \
         spans another, and all combinations are run. The values of an axis are written out, each once; an axis is \
         the same in all variants; what is asked of the experiment as a whole does not change with it.\n\n  \
         variants: { go: { target: http://127.0.0.1:3001 }, node: { target: http://127.0.0.1:3000 } }\n  \
         vars: { page: [small, large] }\n  load: { users: [1, 10, 100], duration: 15s }",
    ),
    row(
        "F035",
        "a sentence about values that no axis has",
        "An expectation holds one value of an axis against another of the same: two variants, two numbers of users. A \
         misspelt one could never be answered.\n\n  variants: { bcrypt: , plain: { target: http://127.0.0.1:81 } }\n  \
         expect: [ bcrypt lowers throughput by 2x ]",
    ),
    row(
        "F036",
        "a part that cannot be told from the others",
        "`parts` makes several experiments of one file, each in a folder that is called as the part. A command that \
         makes one experiment does not pick among them.\n\n  \
         load: { users: 10, duration: 15s }\n  parts: { few: , many: { load: { users: 100 } } }\n  \
         plimsoll run experiment.yaml --part many",
    ),
    row(
        "F037",
        "a file, a program, or a variable that a pasted experiment may not name",
        "Whoever has a session of the console may paste an experiment, and it would be run as whoever started the \
         console. So it may read and write files in the console's folders only, writes none but `.csv`, runs no \
         program (`monitors: [ { command: ... } ]`), and reads no variable of the environment (`${env.X}`, \
         `${secret.X}`). Experiment files on the machine are not bound by this, unless \
         they lie in those folders.\n\n  \
         plimsoll serve --allow-commands",
    ),
    row(
        "P001",
        "there is no target",
        "Nothing says where the requests go. A file names one target; a whole URL in its first request does as \
         well.\n\n  target: http://127.0.0.1:8080",
    ),
    row(
        "P002",
        "a rate and stages",
        "A constant rate and stages both say how many arrivals there are. A stage holds a level by naming it \
         again.\n\n  \
         load: { stages: [ 10s:100/s, 1m:100/s ] }",
    ),
    row(
        "P003",
        "users and stages of users",
        "The stages say already how many users there are at every moment.\n\n  load: { stages: [ 10s:100, 1m:100 \
         ] }",
    ),
    row(
        "P004",
        "a duration and stages",
        "The stages say already how long the run is: the sum of their times.\n\n  load: { stages: [ 10s:100, \
         1m:100 ] }",
    ),
    row(
        "P005",
        "a spread without arrivals",
        "`arrivals` says how arrivals are spread within a second. Users have none: each goes on when its answer is \
         there.\
         \n\n  load: { rate: 100/s, arrivals: poisson, duration: 15s }",
    ),
    row(
        "P006",
        "a number of nothing",
        "A load of 0 users, connections, requests or seconds sends nothing.\n\n  load: { users: 1, duration: 1s }",
    ),
    row(
        "P007",
        "more than one machine can do",
        "The number is beyond what a single machine sends or holds. Share the load between several.\n\n  \
         plimsoll run --shard 1/2 experiment.yaml",
    ),
    row(
        "P009",
        "beyond the hard cap of a run",
        "A cap keeps a slip from becoming an attack that nobody stops. It is raised on purpose.\n\n  \
         limits: { duration_ns: 72h }",
    ),
    row(
        "P010",
        "nothing but warm-up",
        "What happens within the warm-up is not counted, and the run ends with it.\n\n  \
         warmup: 5s\n  load: { users: 10, duration: 30s }",
    ),
    row(
        "P011",
        "buckets that do not rise",
        "The edges of the latency buckets are times in rising order, one to twelve of them.\n\n  buckets: [100ms, \
         1s, 10s]",
    ),
    row(
        "P012",
        "no request to send",
        "The scenarios hold no request; pauses alone load nothing.\n\n  scenarios: { browse: [ { get: /pick } ] }",
    ),
    row(
        "P013",
        "no method",
        "A method is a word of letters and digits. `CONNECT` opens a tunnel, which has no answer to measure.\n\n  \
         - request: { method: PROPFIND, path: /files }",
    ),
    row(
        "P014",
        "a header that would break the message",
        "Names of headers are made of letters, digits and a few signs; values hold no line ends (RFC 9110 \
         section 5). \
         A header with a line end is a way to smuggle a second request.\n\n  headers: { X-Name: value }",
    ),
    row(
        "P015",
        "nothing is offered",
        "`achieved` is the share of the offered rate that finished with an answer. With a number of users nothing is \
         offered.\n\n  \
         load: { rate: 100/s, duration: 30s }\n  thresholds: [ achieved >= 99% ]",
    ),
    row(
        "P016",
        "too far out in the tail",
        "A percentile beyond p99.9999 needs more than ten million requests to be more than chance.\n\n  \
         thresholds: [ response_time p99.9 < 1s ]",
    ),
    row(
        "P017",
        "the length of a body by hand",
        "`Content-Length` is set from the body. One that differs makes the server wait for the rest, or take it \
         for the \
         next request.\n\n  - { post: /orders, json: { item: 7 } }",
    ),
    row(
        "P018",
        "a transfer coding by hand",
        "Bodies are sent whole, with their length; `Transfer-Encoding` would contradict that.\n\n  \
         - { post: /orders, body_file: order.json }",
    ),
    row(
        "P019",
        "no user for this machine",
        "Users are dealt out to the machines of a shared run, and this one would get none.\n\n  \
         load: { users: 2 }     # for --shard 1/2 and --shard 2/2",
    ),
    row(
        "P020",
        "iterations per user of arrivals",
        "`iterations_per_user` counts how often each user goes through its scenario. An arrival goes through \
         once.\n\n  load: { rate: 100/s, iterations: 5000 }",
    ),
    row(
        "P021",
        "no recorded arrival",
        "The file of recorded arrivals holds none.\n\n  load: { replay: { file: instants.txt, unit: ms } }",
    ),
    row(
        "P022",
        "a load for a scenario that is not there",
        "A load model names a scenario by a number that the script does not have. No experiment file can cause \
         this; a \
         program that makes plans can.\n\n  scenarios: { browse: { load: { users: 5, duration: 9s }, steps: [ { \
         get: / } ] } }",
    ),
    row(
        "P023",
        "a weight that cannot be kept",
        "Weights share out users among ways; they are numbers above 0. What is never to be done is left out.\n\n  \
         - choose: [ { weight: 3, steps: [ { get: /a } ] }, { weight: 1, steps: [ { get: /b } ] } ]",
    ),
    row(
        "P024",
        "a pace beside arrivals",
        "A pace says how long a user waits from the begin of one iteration to the begin of the next. Arrivals begin \
         iterations at their own rate, whatever users do.\n\n  scenarios: { a: { pace: 5s, steps: [ { get: / } ] } \
         }\n  load: { users: 10 }",
    ),
    row(
        "P025",
        "an address for a host that is not loaded",
        "`resolve` gives a host that is loaded another address than the resolver would. For any other host it would do \
         nothing.\n\n  target: http://shop.test:8080\n  connection: { resolve: { shop.test: 127.0.0.1 } }",
    ),
    row(
        "P026",
        "too many origins",
        "Each origin is looked up, asked for permission and tried before the load, one after the other; so their \
         number has a limit.\n\n  target: http://127.0.0.1:3000\n  origins: { users: http://127.0.0.1:3001 }",
    ),
    row(
        "P027",
        "a request to an origin that is not there",
        "A request goes to an origin by its number, and the plan has no such origin. No experiment file can say that: \
         there an origin has a name.\n\n  origins: { users: http://127.0.0.1:3001 }\n  scenarios: { a: [ { get: /me, \
         origin: users } ] }",
    ),
    row(
        "P028",
        "users or connections of the other load model",
        "Users wait for answers, and each holds one connection (`-c`, in a file `users`). Arrivals come at a rate, and \
         a limit keeps their connections from growing without end (`--max-connections`, in a file `max_connections`).\
         \n\n  load: { rate: 100/s, max_connections: 200, duration: 15s }\n  # or\n  load: { users: 200, \
         duration: 15s }",
    ),
    row(
        "P030",
        "a threshold for something that is not there",
        "The scope of a threshold names a request, scenario, group or tag that the experiment does not have, so \
         that it \
         would hold without ever being tried.\n\n  thresholds: [ \"response_time{request: login} p99 < 250ms\" ]",
    ),
    row(
        "P031",
        "a threshold for something that is never measured",
        "Nothing in this experiment yields the figure that the threshold looks at: there are no streams, no \
         checks or \
         no TLS.\n\n  - { get: /feed, stream: { duration: 60s } }\n  # thresholds: [ event_gap p99 < 20s ]",
    ),
];
