//! The row of a key: its section, and what its value must be.

macro_rules! sections {
    ($($variant:ident = $id:literal, $name:literal;)*) => {
        /// The place of a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Section { $(#[doc = $name] $variant,)* }

        impl Section {
            /// All sections, in the order of the manual.
            pub const ALL: &'static [Section] = &[$(Section::$variant,)*];

            /// The place as a sentence names it.
            pub const fn name(self) -> &'static str { match self { $(Section::$variant => $name,)* } }

            /// The name of its definition in the JSON Schema.
            pub const fn id(self) -> &'static str { match self { $(Section::$variant => $id,)* } }
        }
    };
}

sections! {
    Top = "experiment", "at the top level";
    Load = "load", "under `load`";
    Stage = "stage", "in a stage";
    ScheduleRow = "schedule_row", "in a row of `schedule`";
    Spike = "spike", "under `spike`";
    Staircase = "staircase", "under `staircase`";
    Find = "find", "under `find`";
    Replay = "replay", "under `replay`";
    ScenarioLoad = "scenario_load", "under the `load` of a scenario";
    Scenario = "scenario", "in a scenario";
    Request = "request", "in a request";
    Line = "request_line", "under `request`";
    Grpc = "grpc", "under `grpc`";
    Reflection = "reflection", "under `reflection`";
    GrpcCall = "grpc_call", "in a gRPC call";
    GrpcCheck = "grpc_check", "in a check of a gRPC call";
    Part = "part", "in a part of `multipart`";
    Auth = "auth", "under `auth`";
    Basic = "basic", "under `basic`";
    Jwt = "jwt", "under `jwt`";
    OAuth2 = "oauth2", "under `oauth2`";
    AwsSigV4 = "aws_sigv4", "under `aws_sigv4`";
    GraphQl = "graphql", "under `graphql`";
    Check = "check", "in a check";
    JwtCheck = "jwt_check", "under `jwt` of a check";
    BoundaryCheck = "boundary_check", "under `boundary` of a check";
    OpenApi = "openapi", "under `openapi`";
    HeaderSnapshot = "header_snapshot", "under `header_snapshot`";
    Rule = "rule", "in a rule";
    Hash = "hash", "under `hash`";
    Extract = "extraction", "in an extraction";
    Boundary = "boundary", "under `boundary`";
    Throttle = "throttle", "under `throttle`";
    Stream = "stream", "under `stream`";
    Sequence = "sequence", "under `sequence`";
    Timestamp = "timestamp", "under `timestamp`";
    Pause = "pause", "in a pause";
    Normal = "normal", "under `normal`";
    Think = "think", "in a `think` step";
    Group = "group", "in a group";
    Repeat = "repeat", "in a loop";
    While = "while", "in a loop";
    If = "if", "in an `if` step";
    OncePerUser = "once_per_user", "in a `once_per_user` step";
    Choose = "choose", "in a `choose` step";
    Way = "way", "in a branch of `choose`";
    Set = "set", "in a `set` step";
    Append = "append", "in an `append` step";
    AppendTo = "append_to", "under `append`";
    Generate = "generate", "in a `generate` step";
    GenerateRows = "generate_rows", "under `generate`";
    Parallel = "parallel", "in a `parallel` step";
    Connect = "connect", "in a `connect` step";
    Compression = "compression", "under `compression`";
    Send = "send", "in a `send` step";
    Message = "message", "under `send`";
    Expect = "expect", "in an `expect` step";
    ExpectedMessage = "expected_message", "under `expect`";
    Ping = "ping", "in a `ping` step";
    Close = "close", "in a `close` step";
    CloseFrame = "close_frame", "under `close`";
    Feeder = "feeder", "in a file under `data`";
    Connection = "connection", "under `connection`";
    Address = "address", "in an address under `addresses`";
    ProxyProtocol = "proxy_protocol", "under `proxy_protocol`";
    Tls = "tls", "under `tls`";
    Threshold = "threshold", "in a threshold";
    Monitor = "monitor", "in a monitor";
    MonitorProcess = "monitor_process", "under `process` of a monitor";
    MonitorCgroup = "monitor_cgroup", "under `cgroup` of a monitor";
    MonitorNginx = "monitor_nginx", "under `nginx` of a monitor";
    MonitorPrometheus = "monitor_prometheus", "under `prometheus` of a monitor";
}

/// The kind of a value, for the JSON Schema. The reader checks values more strictly.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text; a number needs quotes.
    Text,
    /// Text, a number, or a Boolean, taken as written.
    Written,
    Whole,
    Truth,
    /// `250ms`
    Time,
    /// `100/s` or a number
    Rate,
    /// Any value.
    Any,
    /// One of these words.
    Words(&'static [&'static str]),
    /// Only this text or number.
    Only(&'static str),
    /// A mapping with the keys of a section.
    Keys(Section),
    /// A mapping whose keys are user-defined names.
    Named(&'static Kind),
    /// A list with at least one item.
    List(&'static Kind),
    Either(&'static [Kind]),
    /// A list of steps.
    Steps,
    /// A mapping of the limits of [`plimsoll_plan::limit::TABLE`].
    Limits,
    /// The keys of a request, and how many to send.
    GeneratedRequest,
    /// The top-level keys that a variant may override.
    Variant,
    /// The top-level keys that a part may override.
    Part,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub section: Section,
    pub name: &'static str,
    /// What its value must be, with an example, as it follows the word "expected".
    pub expects: &'static str,
    pub kind: Kind,
}

/// A key of one section, for the reader to match on.
pub trait Key: Sized {
    const SECTION: Section;

    /// Returns the key with this name.
    fn of(name: &str) -> Option<Self>;

    fn name(self) -> &'static str;
}
