//! The table of all keys in experiment files.

use super::row::Kind::{
    Any, Either, GeneratedRequest, Keys, Limits, List, Named, Only, Rate, Steps, Text, Time, Truth, Variant,
    Whole, Words, Written,
};
use super::row::Section::{
    Address, AppendTo, Auth, AwsSigV4, Basic, Boundary, BoundaryCheck, Check, CloseFrame, Compression,
    Connection, ExpectedMessage, Extract, Feeder, Find, GenerateRows, GraphQl, Grpc, GrpcCheck, Hash,
    HeaderSnapshot, Jwt, JwtCheck, Line, Load, Message, Monitor, MonitorCgroup, MonitorNginx, MonitorProcess,
    MonitorPrometheus, Normal, OAuth2, OpenApi, Part, Pause, ProxyProtocol, Reflection, Replay, Rule,
    Scenario, ScenarioLoad, ScheduleRow, Sequence, Spike, Stage, Staircase, Stream, Threshold, Throttle,
    Timestamp, Tls, Way,
};
use super::row::{Key, Kind, Row, Section};

const PATH: &str = "a path such as `/users/7`";
const BYTE_RATE: &str = "a rate in bytes such as `100KB/s`";
const TIME: &str = "a duration such as `10s`";
const WHOLE: &str = "a whole number such as `100`";
const WHOLE_1000: &str = "a whole number such as `1000`";
const STEPS: &str = "a list of steps, such as `[ { get: /pick } ]`";
const PAUSE: &str = "a duration such as `1s`, or a distribution such as `{ uniform: [1s, 3s] }`";
const TEXTS: &str = "a mapping of names to texts, such as `{ color: red }`";
const NUMBER: &str = "a number such as `3`";
const FILE: &str = "the name of a file";
const REGEX: &str = "a regular expression such as `\"id=([0-9]+)\"`";
const LEVEL: &str = "a rate such as `50/s`, or a number of users";
const MIX: &str = "`random` or `exact`";
const CONDITION: &str = "a condition such as `${n} < 5` or `${token} exists`";
const REDIRECTS: &str = "a whole number such as `10`, `true`, or `false`";
const AUTH: &str = "`{ basic: { user: u, password: p } }`, `{ bearer: token }`, another kind, or `none`";
const ALGORITHM: &str = "`HS256`, `RS256`, or `ES256`";
const BOUNDARY: &str = "text such as `\"id=\"` (empty for the beginning or the end of the body)";
const HEADERS: &str = "a mapping such as `{ Accept: text/html }`";
const COLUMNS: &str = "a mapping of columns to texts, such as `{ id: \"${id}\" }`";

const VALUE: Kind = Either(&[Written, List(&Written)]);
const PAUSES: Kind = Either(&[Time, Keys(Pause)]);
const RULES: Kind = Either(&[Written, Keys(Rule)]);
const AUTHS: Kind = Either(&[Only("none"), Keys(Auth)]);
const ONE_OR_MORE: Kind = Either(&[Text, List(&Text)]);
const ALGORITHMS: Kind = Words(&["HS256", "RS256", "ES256"]);
const ORDER: Kind = Words(&["random", "exact"]);

macro_rules! keys {
    ($($section:ident { $($key:ident = $name:literal, $expects:expr, $kind:expr $(, $also:ident)?;)* })*) => {
        /// All keys.
        pub const TABLE: &[Row] = &[$($(
            Row { section: Section::$section, name: $name, expects: $expects, kind: $kind },
            $(Row { section: Section::$also, name: $name, expects: $expects, kind: $kind },)?
        )*)*];

        /// The keys of each section as an enum, so that a new row does not compile without its arm in the reader.
        pub mod of {
            use super::{Key, Section};
            $(
                #[derive(Debug, Clone, Copy, PartialEq, Eq)]
                pub enum $section { $($key,)* }

                impl Key for $section {
                    const SECTION: Section = Section::$section;

                    fn of(name: &str) -> Option<Self> {
                        match name { $($name => Some(Self::$key),)* _ => None }
                    }

                    fn name(self) -> &'static str { match self { $(Self::$key => $name,)* } }
                }
            )*
        }
    };
}

// A row that ends with a section belongs to that section as well.
keys! {
    Top {
        Name = "name", "text", Text;
        Question = "question", "the question that the experiment answers", Text;
        Target = "target", "a URL such as `http://127.0.0.1:8080`", Text;
        Origins = "origins",
            "a mapping of names to additional URLs, such as `{ users: http://127.0.0.1:3001 }`", Named(&Text);
        Variants = "variants",
            "a mapping of names to overrides, such as `{ go: { target: http://127.0.0.1:3001 } }`",
            Named(&Variant);
        Parts = "parts",
            "a mapping of names to overrides, such as `{ sweep: { load: { users: [1, 10] } } }`",
            Named(&Kind::Part);
        Vars = "vars", "a mapping of names to values, such as `{ base: /api, n: 3 }`", Named(&VALUE);
        Data = "data", "a mapping of names to files, such as `{ users: { file: users.csv } }`", Named(&Keys(Feeder));
        Headers = "headers", HEADERS, Named(&VALUE);
        Auth = "auth", AUTH, AUTHS;
        Cookies = "cookies", "`true` or `false`", Truth;
        Redirects = "redirects", REDIRECTS, Either(&[Truth, Whole]);
        Grpc = "grpc", "a mapping such as `{ protos: shop.proto }`", Keys(Grpc);
        Setup = "setup", STEPS, Steps;
        Scenarios = "scenarios",
            "a named list of requests, such as `browse: [ { get: /pick } ]`",
            Named(&Either(&[Steps, Keys(Scenario)]));
        Teardown = "teardown", STEPS, Steps;
        Mix = "mix", MIX, ORDER;
        Load = "load", "a mapping such as `{ users: 100, duration: 15s }`", Keys(Load);
        Thresholds = "thresholds",
            "a list such as `[ \"response_time p99 < 250ms\" ]`",
            Either(&[Text, List(&Either(&[Text, Keys(Threshold)]))]);
        Expect = "expect", "a list of expectations such as `bcrypt lowers capacity by 2x`", ONE_OR_MORE;
        Find = "find", "a mapping such as `{ vary: rate, to: 5000/s }`", Keys(Find);
        Repeat = "repeat", "a whole number such as `3` (runs of each combination)", Whole;
        Cooldown = "cooldown", "a duration such as `2s` (pause between runs)", Time;
        MinDuration = "min_duration", "a duration such as `5s` (shorter runs are invalid)", Time;
        TrimToSteadyState = "trim_to_steady_state",
            "`true` or `false` (whether to judge each run only from its steady state)", Truth;
        StopOnMiss = "stop_on_miss",
            "`true` or `false` (whether to skip all levels above one that misses its thresholds)", Truth;
        TimeScale = "time_scale", "a number such as `0.05` (multiplies all durations)", Written;
        Generators = "generators", "a whole number such as `2` (processes that share each run's load)", Whole;
        Timeout = "timeout", TIME, Time;
        Warmup = "warmup", "a duration such as `5s`", Time;
        GracefulStop = "graceful_stop", "a duration such as `5s`", Time;
        KeepAlive = "keep_alive", "`true` or `false`", Truth;
        Connection = "connection", "a mapping such as `{ reuse: pool }`", Keys(Connection);
        Tls = "tls", "a mapping such as `{ ca: ca.pem }`", Keys(Tls);
        ReadBodies = "read_bodies", "`true` or `false`", Truth;
        Workers = "workers", "a whole number such as `2`", Whole;
        Seed = "seed", "a whole number such as `1`", Whole;
        Shard = "shard", "a shard such as `1/2`", Text;
        Buckets = "buckets", "a list of durations such as `[100ms, 1s, 10s]`", Either(&[Text, List(&Time)]);
        Limits = "limits", "a mapping such as `{ head_bytes: 32k }`", Limits;
        Monitors = "monitors",
            "a list of monitors such as `[ { host: true } ]`",
            List(&Keys(Monitor));
        Environment = "environment",
            "a mapping of names to texts and numbers, such as `{ server: \"Node 20\", cpus: 2 }`",
            Named(&Either(&[Written, Named(&Written)]));
    }
    Threshold {
        Threshold = "threshold", "a condition such as `response_time p99 < 250ms`", Text;
        Over = "over", "a duration such as `10s` (every window of this length is judged separately)", Time;
        AbortAfter = "abort_after", "a duration such as `10s` (a miss that lasts this long stops the run)", Time;
    }
    Load {
        Users = "users", WHOLE, Whole, ScenarioLoad;
        MaxConnections = "max_connections", WHOLE, Whole, ScenarioLoad;
        Rate = "rate", "a rate such as `100/s`", Rate, ScenarioLoad;
        TotalArrivals = "total_arrivals",
            "a whole number such as `10000`, together with the `duration` that they are spread over",
            Whole, ScenarioLoad;
        Arrivals = "arrivals", "`constant` or `poisson`", Words(&["constant", "poisson"]), ScenarioLoad;
        Stages = "stages",
            "a list such as `[ \"10s:100\", \"1m:500\" ]`",
            Either(&[Text, List(&Either(&[Text, Keys(Stage)]))]), ScenarioLoad;
        Schedule = "schedule",
            "a list such as `[ { users: 10, ramp_up: 10s, hold: 30s } ]`",
            List(&Keys(ScheduleRow)), ScenarioLoad;
        Spike = "spike",
            "a mapping such as `{ base: 50/s, peak: 500/s, at: 30s, hold: 10s, duration: 2m }`",
            Keys(Spike), ScenarioLoad;
        Staircase = "staircase",
            "a mapping such as `{ from: 10/s, by: 10/s, hold: 15s, to: 100/s }`",
            Keys(Staircase), ScenarioLoad;
        Replay = "replay",
            "the name of a file, or a mapping such as `{ file: gaps.txt, format: intervals, unit: ms }`",
            Either(&[Text, Keys(Replay)]), ScenarioLoad;
        Duration = "duration", "a duration such as `15s`", Time, ScenarioLoad;
        Requests = "requests", WHOLE_1000, Whole;
        Iterations = "iterations", WHOLE_1000, Whole, ScenarioLoad;
        IterationsPerUser = "iterations_per_user", "a whole number such as `5`", Whole, ScenarioLoad;
        GracefulStop = "graceful_stop", "a duration such as `5s`", Time;
        Step = "step", "an increase such as `x1.10` or `+50/s`", Rate;
        StepDuration = "step_duration", "a duration such as `15s` (length of each level)", Time;
        StopWhen = "stop_when",
            "a stop condition such as `offered - achieved > 5%`, `socket_errors > 0`, or `missed`", Text;
    }
    Stage {
        Duration = "duration", TIME, Time;
        Users = "users", WHOLE, Whole;
        Rate = "rate", "a rate such as `100/s`", Rate;
    }
    ScheduleRow {
        Users = "users", WHOLE, Whole;
        Start = "start", "a time such as `0s`", Time;
        RampUp = "ramp_up", TIME, Time;
        Hold = "hold", "a duration such as `30s`", Time;
        RampDown = "ramp_down", TIME, Time;
    }
    Spike {
        Base = "base", LEVEL, Rate;
        Peak = "peak", LEVEL, Rate;
        At = "at", "a time such as `30s`", Time;
        Rise = "rise", "a duration such as `1s` (of the rise, and of the fall)", Time;
        Hold = "hold", TIME, Time;
        Duration = "duration", "a duration such as `2m`", Time;
    }
    Staircase {
        From = "from", LEVEL, Rate;
        By = "by", "a rate such as `10/s`, a number of users, or a factor such as `x1.5`", Rate;
        Hold = "hold", "a duration such as `15s`", Time;
        To = "to", LEVEL, Rate;
    }
    Find {
        Vary = "vary", "`rate` or `users`", Words(&["rate", "users"]);
        From = "from", LEVEL, Rate;
        To = "to", LEVEL, Rate;
        Step = "step", "an increase such as `x1.10` or `+50/s`", Rate;
        StopWhen = "stop_when",
            "a stop condition such as `offered - achieved > 5%`, `socket_errors > 0`, or `missed`", Text;
        StepDuration = "step_duration", "a duration such as `15s` (length of each level)", Time;
        Precision = "precision", "a percentage such as `2%` (how close the result must be)", Written;
        MaxTime = "max_time", "a duration such as `10m` (then the search reports the interval found so far)", Time;
        Confirm = "confirm", "a whole number such as `3` (confirming runs each below, at, and above the result)", Whole;
    }
    Replay {
        File = "file", FILE, Text;
        Format = "format", "`timestamps` or `intervals`", Words(&["timestamps", "intervals"]);
        Unit = "unit", "`s`, `ms`, `us`, or `ns`", Words(&["s", "ms", "us", "ns"]);
        Speed = "speed", "a number such as `2` (twice as fast as recorded)", Written;
    }
    Scenario {
        Steps = "steps", STEPS, Steps;
        Weight = "weight", NUMBER, Written;
        Pace = "pace", PAUSE, PAUSES;
        StartDelay = "start_delay", TIME, Time;
        Load = "load", "a mapping such as `{ users: 100, duration: 15s }`", Keys(ScenarioLoad);
    }
    Request {
        Get = "get", "a path such as `/pick`", Text;
        Post = "post", "a path such as `/users`", Text;
        Put = "put", PATH, Text;
        Patch = "patch", PATH, Text;
        Delete = "delete", PATH, Text;
        Head = "head", "a path such as `/pick`", Text;
        Options = "options", "a path such as `/pick`", Text;
        Request = "request", "a mapping such as `{ method: PROPFIND, path: /x }`", Keys(Line);
        Name = "name", "text", Text;
        Query = "query", "a mapping such as `{ q: shoes, page: [1, 2] }`", Named(&VALUE);
        Origin = "origin", "a name under `origins`, or `target`", Text;
        Encode = "encode", "`true` or `false`", Truth;
        Headers = "headers", HEADERS, Named(&VALUE);
        Auth = "auth", AUTH, AUTHS;
        Json = "json", "a value such as `{ email: a@example.com }`", Any;
        GraphQl = "graphql",
            "a mapping such as `{ query: \"query($id: ID!) { user(id: $id) { name } }\", variables: { id: 7 } }`",
            Keys(GraphQl);
        Body = "body", "text", Text;
        BodyFile = "body_file", FILE, Text;
        Form = "form", "a mapping such as `{ user: me, pet: [cat, dog] }`", Named(&VALUE);
        Multipart = "multipart",
            "a mapping of names to texts or parts, such as `{ note: hello, picture: { path: a.png } }`",
            Named(&Either(&[Written, Keys(Part)]));
        ExpectContinue = "expect_continue", "`true`, `false`, or a duration such as `1s`", Either(&[Truth, Time]);
        Chunked = "chunked", "`true`, `false`, or a size such as `16KB`", Either(&[Truth, Written]);
        Throttle = "throttle",
            "a mapping such as `{ body: 100KB/s, response: 1KB/s }`", Keys(Throttle);
        Timeout = "timeout", TIME, Time;
        Redirects = "redirects", REDIRECTS, Either(&[Truth, Whole]);
        Tags = "tags", TEXTS, Named(&Written);
        OnFailure = "on_failure", "`stop` or `continue`", Words(&["stop", "continue"]);
        Check = "check",
            "a mapping such as `{ status: 200, body: ok }`, or a list of them",
            Either(&[Keys(Check), List(&Keys(Check))]);
        Extract = "extract",
            "a mapping of names to places, such as `{ token: $.token }`",
            Named(&Either(&[Text, Keys(Extract)]));
        Stream = "stream", "`true`, or a mapping such as `{ duration: 60s }`", Either(&[Truth, Keys(Stream)]);
        Think = "think", PAUSE, PAUSES;
    }
    Grpc {
        Protos = "protos", "the name of a `.proto` file, or a list of them", ONE_OR_MORE;
        DescriptorSets = "descriptor_sets",
            "the name of a file that `protoc --descriptor_set_out` wrote, or a list of them", ONE_OR_MORE;
        ImportPaths = "import_paths", "the directory that imports start from, or a list of them", ONE_OR_MORE;
        Protocol = "protocol", "`grpc`, `grpc-web`, or `grpc-web-text`",
            Words(&["grpc", "grpc-web", "grpc-web-text"]);
        Reflection = "reflection",
            "`true`, `false`, or a mapping such as `{ metadata: { x-tenant: blue } }` (whether to ask the target \
             for its schemas before the load)",
            Either(&[Truth, Keys(Reflection)]);
        Health = "health",
            "`true`, or the name of a service such as `shop.v1.Shop` (which must be SERVING before the load)",
            Either(&[Truth, Text]);
    }
    Reflection {
        Metadata = "metadata", "a mapping such as `{ x-tenant: blue }`", Named(&Written);
    }
    GrpcCall {
        Grpc = "grpc", "a method such as `shop.v1.Shop/GetItem`", Text;
        Message = "message", "a mapping of the fields of the message, such as `{ id: 7 }`", Any;
        Messages = "messages", "a list of messages such as `[ { id: 1 }, { id: 2 } ]`", List(&Any);
        Rounds = "rounds", "a whole number such as `10` (how many times all `messages` are sent)", Whole;
        Interval = "interval", "a duration such as `100ms` (the pause after each of the `messages`)", Time;
        Metadata = "metadata", "a mapping such as `{ x-tenant: blue }`", Named(&VALUE);
        Deadline = "deadline", "a duration such as `2s`", Time;
        Compression = "compression", "`none` or `gzip`", Words(&["none", "gzip"]);
        Name = "name", "text", Text;
        Origin = "origin", "a name under `origins`, or `target`", Text;
        Auth = "auth", AUTH, AUTHS;
        Tags = "tags", TEXTS, Named(&Written);
        OnFailure = "on_failure", "`stop` or `continue`", Words(&["stop", "continue"]);
        Check = "check",
            "a mapping such as `{ status: OK, json: { $.name: ball } }`, or a list of them",
            Either(&[Keys(GrpcCheck), List(&Keys(GrpcCheck))]);
        Stream = "stream", "`true`, or a mapping such as `{ duration: 60s }`", Either(&[Truth, Keys(Stream)]);
        Extract = "extract",
            "a mapping of names to places, such as `{ token: $.token }`",
            Named(&Either(&[Text, Keys(Extract)]));
        Think = "think", PAUSE, PAUSES;
    }
    GrpcCheck {
        Name = "name", "text", Text;
        Status = "status", "a gRPC status such as `NOT_FOUND`, or several such as `\"OK,NOT_FOUND\"`", Written;
        Message = "message", "the text of the status, or a rule such as `{ contains: busy }`", RULES;
        Metadata = "metadata", "a mapping of metadata to rules, such as `{ x-shard: 7 }`", Named(&RULES);
        Json = "json", "a mapping of JSONPaths to values or rules, such as `{ $.id: 7 }`", Named(&RULES);
        MaxDuration = "max_duration", "a duration such as `300ms`", Time;
    }
    Line {
        Method = "method", "a word such as `PROPFIND`", Text;
        Path = "path", PATH, Text;
    }
    Part {
        Path = "path", FILE, Text;
        Text = "text", "text", Written;
        Type = "type", "a media type such as `image/png`", Text;
        Name = "name", "the file name to send to the server", Text;
    }
    Auth {
        Basic = "basic", "a mapping such as `{ user: u, password: \"${secret.P}\" }`", Keys(Basic);
        Bearer = "bearer", "text such as `\"${token}\"`", Written;
        Digest = "digest", "a mapping such as `{ user: u, password: \"${secret.P}\" }`", Keys(Basic);
        Jwt = "jwt",
            "a mapping such as `{ algorithm: HS256, key: \"${secret.K}\", claims: { sub: \"${user}\" } }`", Keys(Jwt);
        OAuth2 = "oauth2",
            "a mapping such as `{ grant: client_credentials, token_url: ..., client_id: app, client_secret: ... }`",
            Keys(OAuth2);
        AwsSigV4 = "aws_sigv4",
            "a mapping such as `{ access_key: ..., secret_key: ..., region: us-east-1, service: execute-api }`",
            Keys(AwsSigV4);
    }
    Jwt {
        Algorithm = "algorithm", ALGORITHM, ALGORITHMS;
        Key = "key", "the key of `HS256`, such as `\"${secret.K}\"`", Written;
        KeyFile = "key_file", "the name of a PEM file with the key of `RS256` or `ES256`", Text;
        KeyId = "key_id", "text (the `kid` of the header)", Text;
        Claims = "claims", "a mapping such as `{ iss: shop, sub: \"${user}\" }`", Any;
        ValidFor = "valid_for", "a duration such as `5m` (adds `iat` and `exp`)", Time;
    }
    OAuth2 {
        Grant = "grant", "`client_credentials` or `password`", Words(&["client_credentials", "password"]);
        TokenUrl = "token_url", "a URL or a path such as `/oauth/token`", Text;
        ClientId = "client_id", "text", Written;
        ClientSecret = "client_secret", "text such as `\"${secret.S}\"`", Written;
        ClientAuth = "client_auth", "`basic` or `body` (where the client is named)", Words(&["basic", "body"]);
        UserName = "username", "text, for `grant: password`", Written;
        Password = "password", "text such as `\"${secret.P}\"`, for `grant: password`", Written;
        Scope = "scope", "text such as `read write`", Written;
        Audience = "audience", "text", Written;
        RefreshBefore = "refresh_before", "a duration such as `30s` (before the token expires)", Time;
    }
    AwsSigV4 {
        AccessKey = "access_key", "text such as `\"${env.AWS_ACCESS_KEY_ID}\"`", Written;
        SecretKey = "secret_key", "text such as `\"${secret.AWS_SECRET_ACCESS_KEY}\"`", Written;
        SessionToken = "session_token", "text such as `\"${secret.AWS_SESSION_TOKEN}\"`", Written;
        Region = "region", "a region such as `us-east-1`", Written;
        Service = "service", "a service such as `execute-api` or `s3`", Written;
    }
    GraphQl {
        Query = "query", "a document such as `query { me { name } }`", Text;
        QueryFile = "query_file", FILE, Text;
        Variables = "variables", "a mapping such as `{ id: \"${id}\" }`", Any;
        Operation = "operation", "the name of an operation in the document", Text;
        Persisted = "persisted", "`true` or `false` (whether to send the hash of the document instead of it)", Truth;
        Errors = "errors", "`fail` or `allow`", Words(&["fail", "allow"]);
        Transport = "transport",
            "`sse` or `websocket` (with `connect`), for a subscription",
            Words(&["sse", "websocket"]);
        Init = "init", "a mapping such as `{ token: \"${token}\" }` (the payload of `connection_init`)", Any;
    }
    Basic {
        User = "user", "text", Written;
        Password = "password", "text such as `\"${secret.P}\"`", Written;
    }
    Check {
        Name = "name", "text", Text;
        Status = "status", "a status code such as `201`, `2xx`, or `\"200,404\"`", Written;
        Header = "header", "a mapping of headers to rules, such as `{ Content-Type: text/html }`", Named(&RULES);
        Body = "body",
            "text that the body must contain, a rule such as `{ matches: \"^ok\" }`, or a list of them",
            Either(&[Written, Keys(Rule), List(&RULES)]);
        Json = "json", "a mapping of JSONPaths to values or rules, such as `{ $.id: 7 }`", Named(&RULES);
        XPath = "xpath", "a mapping of XPaths to texts or rules, such as `{ \"//title\": Shop }`", Named(&RULES);
        Css = "css", "a mapping of CSS selectors to texts or rules, such as `{ \"h1.name\": Shop }`", Named(&RULES);
        JmesPath = "jmespath",
            "a mapping of JMESPaths to values or rules, such as `{ \"length(items)\": 5 }`", Named(&RULES);
        Boundary = "boundary",
            "a mapping such as `{ left: \"id=\", right: \"&\", value: { matches: \"^[0-9]+$\" } }`",
            Keys(BoundaryCheck);
        Jwt = "jwt",
            "a mapping such as `{ token: $.token, algorithm: HS256, key: \"${secret.K}\", claims: { iss: shop } }`",
            Keys(JwtCheck);
        Schema = "schema", "the name of a file with a JSON Schema, or a mapping that is one", Any;
        OpenApi = "openapi",
            "the name of a file, or a mapping such as `{ file: api.yaml, path: \"/users/{id}\" }`",
            Either(&[Text, Keys(OpenApi)]);
        HeaderSnapshot = "header_snapshot",
            "a mapping such as `{ file: home.headers, headers: [Content-Type, Cache-Control] }`",
            Keys(HeaderSnapshot);
        Length = "length", "a number of bytes such as `683481`, or a range such as `10..200`", Written;
        Hash = "hash", "a mapping such as `{ sha256: 9f86d0... }`", Keys(Hash);
        MaxDuration = "max_duration", "a duration such as `300ms`", Time;
    }
    JwtCheck {
        Token = "token", "a place such as `$.token` or `{ header: Authorization }`", Either(&[Text, Keys(Extract)]);
        Algorithm = "algorithm", ALGORITHM, ALGORITHMS;
        Key = "key", "the key of `HS256`, such as `\"${secret.K}\"`", Written;
        KeyFile = "key_file", "the name of a PEM file with the public key of `RS256` or `ES256`", Text;
        Claims = "claims", "a mapping of claims to values or rules, such as `{ iss: shop }`", Named(&RULES);
    }
    BoundaryCheck {
        Left = "left", BOUNDARY, Written;
        Right = "right", BOUNDARY, Written;
        Value = "value", "a text or a rule such as `{ matches: \"^[0-9]+$\" }`", RULES;
    }
    OpenApi {
        File = "file", "the name of a file with an OpenAPI document of version 3.0 or 3.1", Text;
        Path = "path", "a path of the document such as `/users/{id}`", Text;
        Method = "method", "a method such as `GET`", Text;
    }
    HeaderSnapshot {
        File = "file", "the name of a file with header lines", Text;
        Headers = "headers", "a list of names such as `[Content-Type, Cache-Control]`", List(&Text);
    }
    Rule {
        Equals = "equals", "a value", Written;
        Not = "not", "a value that must not occur", Written;
        Contains = "contains", "text", Written;
        NotContains = "not_contains", "text", Written;
        Matches = "matches", "a regular expression such as `\"^[0-9]+$\"`", Written;
        Exists = "exists", "`true` or `false`", Truth;
        LessThan = "less_than", NUMBER, Written;
        AtMost = "at_most", NUMBER, Written;
        MoreThan = "more_than", NUMBER, Written;
        AtLeast = "at_least", NUMBER, Written;
        In = "in", "a list of values such as `[a, b]`", List(&Written);
    }
    Hash {
        Md5 = "md5", "32 hexadecimal digits", Written;
        Sha1 = "sha1", "40 hexadecimal digits", Written;
        Sha256 = "sha256", "64 hexadecimal digits", Written;
    }
    Extract {
        Json = "json", "a JSONPath such as `$.items[0].id`", Text;
        Regex = "regex", REGEX, Text;
        XPath = "xpath", "an XPath such as `//a[@class='next']/@href`", Text;
        Css = "css", "a CSS selector such as `ul.items > li`", Text;
        Attribute = "attribute", "the name of an attribute such as `href`, for `css`", Text;
        JmesPath = "jmespath", "a JMESPath such as `items[?stock].id`", Text;
        Boundary = "boundary", "a mapping such as `{ left: \"id=\", right: \"&\" }`", Keys(Boundary);
        Header = "header", "the name of a header", Text;
        Cookie = "cookie", "the name of a cookie", Text;
        Group = "group", "a group number such as `1` (`0` is the whole match)", Whole;
        Pick = "pick", "`first`, `last`, `random`, or `count`", Words(&["first", "last", "random", "count"]);
        Default = "default", "a value to use if the response has none", Written;
    }
    Boundary {
        Left = "left", BOUNDARY, Written;
        Right = "right", BOUNDARY, Written;
    }
    Throttle {
        Head = "head", BYTE_RATE, Written;
        Body = "body", BYTE_RATE, Written;
        Response = "response", BYTE_RATE, Written;
    }
    Stream {
        Duration = "duration", "a duration such as `60s`, after which the client closes the stream", Time;
        Events = "events", "a whole number such as `100`, after which the client closes the stream", Whole;
        IdleTimeout = "idle_timeout", "a duration such as `40s` (a longer silence is a failure)", Time;
        ExpectedInterval = "expected_interval",
            "a duration such as `15s`, in which a healthy stream sends one event", Time;
        Sequence = "sequence",
            "`id`, a JSONPath, or `{ regex: \"([0-9]+)\" }` (where an event has its sequence number)",
            Either(&[Text, Keys(Sequence)]);
        Timestamp = "timestamp", "a mapping such as `{ json: $.at, unit: ms }`", Keys(Timestamp);
        Reconnect = "reconnect", "a whole number such as `3`", Whole;
        Correlation = "correlation",
            "`next`, a JSONPath, or `{ regex: \"id=([0-9]+)\" }` (where a gRPC response has the ID of its message)",
            Either(&[Text, Keys(Sequence)]);
        ClosedBy = "closed_by", "`server` or `client`", Words(&["server", "client"]);
        WhileOpen = "while_open", STEPS, Steps;
    }
    Sequence {
        Json = "json", "a JSONPath such as `$.seq`", Text;
        Regex = "regex", REGEX, Text;
    }
    Timestamp {
        Json = "json", "a JSONPath such as `$.at`", Text;
        Regex = "regex", REGEX, Text;
        At = "at", "`id`, or a JSONPath such as `$.at`", Text;
        Unit = "unit", "`s`, `ms`, `us`, or `ns`", Words(&["s", "ms", "us", "ns"]);
    }
    Pause {
        Uniform = "uniform", "two durations such as `[1s, 3s]`", List(&Time);
        Normal = "normal", "a mapping such as `{ mean: 2s, deviation: 500ms }`", Keys(Normal);
        Exponential = "exponential", "a duration such as `2s` (the mean)", Time;
    }
    Normal {
        Mean = "mean", "a duration such as `2s`", Time;
        Deviation = "deviation", "a duration such as `500ms`", Time;
    }
    Think {
        Think = "think", PAUSE, PAUSES;
    }
    Group {
        Group = "group", "a name such as `checkout`", Text;
        Steps = "steps", STEPS, Steps;
    }
    Repeat {
        Repeat = "repeat", "a number of iterations such as `3` or `\"${n}\"`", Written;
        Steps = "steps", STEPS, Steps;
    }
    While {
        While = "while", CONDITION, Text;
        MaxIterations = "max_iterations", WHOLE_1000, Whole;
        Steps = "steps", STEPS, Steps;
    }
    If {
        If = "if", CONDITION, Text;
        Then = "then", STEPS, Steps;
        Else = "else", STEPS, Steps;
    }
    OncePerUser {
        OncePerUser = "once_per_user", STEPS, Steps;
    }
    Choose {
        Choose = "choose",
            "a list of branches, such as `[ { weight: 3, steps: [ { get: /a } ] }, { steps: [ { get: /b } ] } ]`",
            List(&Keys(Way));
        Mix = "mix", MIX, ORDER;
    }
    Way {
        Weight = "weight", NUMBER, Written;
        Steps = "steps", STEPS, Steps;
    }
    Set {
        Set = "set", "a mapping of names to texts, such as `{ id: \"${uuid}\" }`", Named(&Written);
    }
    Append {
        Append = "append", "a mapping such as `{ file: out.csv, columns: { id: \"${id}\" } }`", Keys(AppendTo);
    }
    AppendTo {
        File = "file", FILE, Text;
        Columns = "columns", COLUMNS, Named(&Written);
    }
    Generate {
        Generate = "generate",
            "a mapping such as `{ rows: 1000, file: rows.csv, columns: { email: \"u${counter}@x\" } }`",
            Either(&[Keys(GenerateRows), GeneratedRequest]);
    }
    GenerateRows {
        Rows = "rows", WHOLE_1000, Written;
        File = "file", FILE, Text;
        Columns = "columns", COLUMNS, Named(&Written);
    }
    Parallel {
        Parallel = "parallel", "a list of lists of steps, such as `[ [ { get: /a } ], [ { get: /b } ] ]`", List(&Steps);
    }
    Connect {
        Connect = "connect", "the path of a WebSocket, such as `/socket`", Text;
        Name = "name", "text", Text;
        Query = "query", "a mapping such as `{ room: lobby }`", Named(&VALUE);
        Origin = "origin", "a name under `origins`, or `target`", Text;
        Encode = "encode", "`true` or `false`", Truth;
        Headers = "headers", HEADERS, Named(&VALUE);
        Auth = "auth", AUTH, AUTHS;
        GraphQl = "graphql",
            "a mapping such as `{ query: \"subscription { prices { value } }\" }`",
            Keys(GraphQl);
        Subprotocols = "subprotocols", "a name such as `graphql-transport-ws`, or a list of them", ONE_OR_MORE;
        Compression = "compression",
            "`true`, or `{ context_takeover: false }` (permessage-deflate, if the server agrees)",
            Either(&[Truth, Keys(Compression)]);
        Correlation = "correlation",
            "`next`, a JSONPath, or `{ regex: \"id=([0-9]+)\" }` (where a response has the ID of its message)",
            Either(&[Text, Keys(Sequence)]);
        Duration = "duration", "a duration such as `60s`, after which the client closes the WebSocket", Time;
        Messages = "messages", "a whole number such as `100`, after which the client closes the WebSocket", Whole;
        IdleTimeout = "idle_timeout", "a duration such as `40s` (a longer silence is a failure)", Time;
        ExpectedInterval = "expected_interval",
            "a duration such as `15s`, in which a healthy server sends one message", Time;
        Sequence = "sequence",
            "a JSONPath, or `{ regex: \"([0-9]+)\" }` (where a message has its sequence number)",
            Either(&[Text, Keys(Sequence)]);
        Timestamp = "timestamp", "a mapping such as `{ json: $.at, unit: ms }`", Keys(Timestamp);
        ClosedBy = "closed_by", "`server` or `client`", Words(&["server", "client"]);
        WhileOpen = "while_open", STEPS, Steps;
        Timeout = "timeout", TIME, Time;
        Tags = "tags", TEXTS, Named(&Written);
        OnFailure = "on_failure", "`stop` or `continue`", Words(&["stop", "continue"]);
        Check = "check",
            "a mapping such as `{ header: { Server: nginx } }`, or a list of them",
            Either(&[Keys(Check), List(&Keys(Check))]);
        Extract = "extract",
            "a mapping of names to places, such as `{ node: { header: X-Node } }`",
            Named(&Either(&[Text, Keys(Extract)]));
        Think = "think", PAUSE, PAUSES;
    }
    Compression {
        ContextTakeover = "context_takeover", "`true` or `false`", Truth;
    }
    Send {
        Send = "send",
            "a text, or a mapping such as `{ json: { type: ping } }`",
            Either(&[Written, Keys(Message)]);
        Socket = "socket", "the name of a `connect` step, or of a gRPC call that contains the step", Text;
        Think = "think", PAUSE, PAUSES;
    }
    Message {
        Text = "text", "text", Written;
        Json = "json", "a value such as `{ type: ping }`", Any;
        Message = "message", "a mapping of the fields of a gRPC message, such as `{ id: 7 }`", Any;
        Binary = "binary", "text, which is sent as a binary message", Written;
        BinaryFile = "binary_file", FILE, Text;
    }
    Expect {
        Expect = "expect",
            "text that the message must contain, or a mapping such as `{ json: { $.type: pong } }`",
            Either(&[Written, Keys(ExpectedMessage)]);
        Within = "within", "a duration such as `2s` (the longest wait)", Time;
        Name = "name", "text", Text;
        Extract = "extract",
            "a mapping of names to places, such as `{ id: $.id }`",
            Named(&Either(&[Text, Keys(Extract)]));
        OnFailure = "on_failure", "`stop` or `continue`", Words(&["stop", "continue"]);
        Socket = "socket", "the name of a `connect` step, or of a gRPC call that contains the step", Text;
        Think = "think", PAUSE, PAUSES;
    }
    ExpectedMessage {
        Kind = "kind", "`text` or `binary`", Words(&["text", "binary"]);
        Text = "text",
            "text that the message must contain, a rule such as `{ matches: \"^ok\" }`, or a list of them",
            Either(&[Written, Keys(Rule), List(&RULES)]);
        Json = "json", "a mapping of JSONPaths to values or rules, such as `{ $.id: 7 }`", Named(&RULES);
        Length = "length", "a number of bytes such as `683481`, or a range such as `10..200`", Written;
    }
    Ping {
        Ping = "ping", "text of at most 125 bytes that the pong must contain, or `\"\"`", Written;
        Within = "within", "a duration such as `2s` (the longest wait for the pong)", Time;
        Name = "name", "text", Text;
        OnFailure = "on_failure", "`stop` or `continue`", Words(&["stop", "continue"]);
        Socket = "socket", "the name of a `connect` step", Text;
        Think = "think", PAUSE, PAUSES;
    }
    Close {
        Close = "close", "a close code such as `1000`, or a mapping such as `{ code: 4000, reason: bye }`",
            Either(&[Whole, Keys(CloseFrame)]);
        Socket = "socket", "the name of a `connect` step, or of a gRPC call that contains the step", Text;
        Think = "think", PAUSE, PAUSES;
    }
    CloseFrame {
        Code = "code", "a close code such as `1000`", Whole;
        Reason = "reason", "text of at most 123 bytes", Written;
    }
    Feeder {
        File = "file", FILE, Text;
        Format = "format", "`csv` or `jsonl`", Words(&["csv", "jsonl"]);
        Delimiter = "delimiter", "one character such as `\";\"`, or `tab`", Text;
        Columns = "columns", "a list of names such as `[email, password]`", List(&Written);
        Sharing = "sharing", "`all`, `partitioned`, or `unique`", Words(&["all", "partitioned", "unique"]);
        Order = "order", "`sequential` or `random`", Words(&["sequential", "random"]);
        OnEnd = "on_end", "`recycle` or `stop`", Words(&["recycle", "stop"]);
    }
    Connection {
        Reuse = "reuse", "`user`, `pool`, `iteration`, or `request`", Words(&["user", "pool", "iteration", "request"]);
        MaxRequests = "max_requests", WHOLE, Whole;
        Http = "http", "`auto`, `1.0`, `1.1`, or `2`", Either(&[Only("auto"), Only("1.0"), Only("1.1"), Only("2")]);
        Streams = "streams", "the number of users that share an HTTP/2 connection, such as `10`", Whole;
        Pipeline = "pipeline", "the number of requests in flight on an HTTP/1.1 connection, such as `16`", Whole;
        Window = "window", "`large`, `browser`, or a size such as `64k`", Written;
        Resolve = "resolve", "a mapping of hosts to addresses, such as `{ a.test: 127.0.0.2 }`", Named(&Text);
        Addresses = "addresses",
            "`first`, `all`, or a list such as `[{ address: 127.0.0.1:8080, weight: 3 }, 127.0.0.1:8081]`",
            Either(&[Words(&["first", "all"]), List(&Either(&[Written, Keys(Address)]))]);
        Dns = "dns", "`once` or `each_connection`", Words(&["once", "each_connection"]);
        SourceAddresses = "source_addresses",
            "a list such as `[127.0.0.2, 127.0.0.3]`, or a range such as `127.0.0.2-127.0.0.9`",
            ONE_OR_MORE;
        Proxy = "proxy", "a URL such as `http://user:password@127.0.0.1:3128` or `socks5h://127.0.0.1:1080`", Text;
        UnixSocket = "unix_socket", "the path of a Unix domain socket, such as `/run/app.sock`", Text;
        ProxyProtocol = "proxy_protocol",
            "`v1`, `v2`, or a mapping such as `{ version: v2, source_addresses: 198.51.100.1-198.51.100.200 }`",
            Either(&[Words(&["v1", "v2"]), Keys(ProxyProtocol)]);
        Interface = "interface", "the name of a network interface, such as `eth0`", Text;
    }
    ProxyProtocol {
        Version = "version", "`v1` or `v2`", Words(&["v1", "v2"]);
        SourceAddresses = "source_addresses",
            "a list such as `[198.51.100.1, 198.51.100.2]`, or a range such as `198.51.100.1-198.51.100.200`",
            ONE_OR_MORE;
    }
    Address {
        Address = "address", "an IP address such as `127.0.0.1:8080` (by default with the port of the target)", Text;
        Weight = "weight", "a whole number from 1 to 1000 (connections in each cycle)", Whole;
    }
    Tls {
        Ca = "ca", "the name of a PEM file, or a list of them", ONE_OR_MORE;
        Certificate = "certificate", "the name of a PEM file, or a list of them (one for each user)", ONE_OR_MORE;
        Key = "key", "the name of a PEM file, or a list of them (in the order of `certificate`)", ONE_OR_MORE;
        Insecure = "insecure", "`true` or `false`", Truth;
        Versions = "versions", "`1.2`, `1.3`, or `1.2-1.3`", Either(&[Only("1.2"), Only("1.3"), Only("1.2-1.3")]);
        Ciphers = "ciphers", "the name of a cipher suite such as `ECDHE-RSA-AES128-GCM-SHA256`, or a list of them",
            ONE_OR_MORE;
        ServerName = "server_name", "a host name", Text;
        SessionResumption = "session_resumption", "`true`, `false`, or `session_id`",
            Either(&[Truth, Only("session_id")]);
    }
    Monitor {
        Name = "name", "a name such as `api`, shown in reports", Written;
        On = "on",
            "the name of an agent, or a label such as `region=eu` (otherwise, it runs where the command was started)",
            Written;
        Host = "host", "`true` (the machine that runs plimsoll)", Truth;
        Process = "process",
            "a mapping such as `{ port: 8080 }`, `{ name: node }`, or `{ pid: 123 }` (a process and its children)",
            Either(&[Written, Keys(MonitorProcess)]);
        Cgroup = "cgroup",
            "a mapping such as `{ path: /sys/fs/cgroup/x }`, or one that names a process in the group",
            Either(&[Written, Keys(MonitorCgroup)]);
        Postgres = "postgres", "a URL such as `postgres://user@127.0.0.1:5432/database`", Text;
        Redis = "redis", "an address such as `127.0.0.1:6379`, or a URL with a password", Text;
        Nginx = "nginx",
            "a mapping such as `{ status: \"http://127.0.0.1:81/nginx_status\", access_log: access.log }`",
            Either(&[Text, Keys(MonitorNginx)]);
        Node = "node", "a URL such as `http://127.0.0.1:3000/metrics`", Text;
        Go = "go", "a URL such as `http://127.0.0.1:6060/debug/vars`", Text;
        Prometheus = "prometheus",
            "a mapping such as `{ scrape: \"http://127.0.0.1:9100/metrics\", metrics: [node_load1] }`",
            Either(&[Text, Keys(MonitorPrometheus)]);
        Command = "command",
            "a list such as `[./queue-depth, --all]` (a program that prints lines `name number`)", VALUE;
    }
    MonitorProcess {
        Pid = "pid", "a process ID", Written;
        Name = "name", "the name of a program such as `node`", Written;
        Port = "port", "the port that it listens on, such as `8080`", Written;
    }
    MonitorCgroup {
        Path = "path", "a directory such as `/sys/fs/cgroup/x`", Text;
        Pid = "pid", "a process ID", Written;
        Name = "name", "the name of a program such as `node`", Written;
        Port = "port", "the port that a process of the group listens on, such as `8080`", Written;
    }
    MonitorNginx {
        Status = "status", "the URL of `stub_status`, such as `http://127.0.0.1:81/nginx_status`", Text;
        AccessLog = "access_log", FILE, Text;
    }
    MonitorPrometheus {
        Scrape = "scrape", "the URL of a metrics page", Text;
        Metrics = "metrics", "a list of patterns such as `[\"node_memory_.*\"]`", ONE_OR_MORE;
        Server = "server", "the URL of a Prometheus server such as `http://127.0.0.1:9090`", Text;
        Query = "query", "an expression such as `sum(rate(x[5s]))`", Text;
    }
}
