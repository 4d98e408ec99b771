//! The steps of users as plain data: names have no numbers yet, paths are not joined to a target, and everything that
//! may be wrong has its place.
//!
//! A front end reads its texts into these types and reports what it cannot read. `None` and [`StepDraft::Spoiled`] mark
//! reported mistakes: they are skipped, but everything around them is still checked.

mod text;

use crate::source::{Complaint, Pos};
use plimsoll_plan::answer::{Pick, Source, Statuses, Subject};
use plimsoll_plan::data::Feeder;
use plimsoll_plan::delivery::Delivery;
use plimsoll_plan::grpc::{Codes, Protocol, Scalar, Types};
use plimsoll_plan::origin::NamedTarget;
use plimsoll_plan::request::Url;
use plimsoll_plan::script::{Delay, Order};
use plimsoll_plan::stream::Stream;
use plimsoll_plan::websocket::{Content, Correlation, WebSocket};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
pub use text::{Open, PartDraft, TextDraft};

/// All steps of all users.
#[derive(Debug, Default)]
pub struct ScriptDraft {
    /// The target of requests that do not name one.
    pub target: Option<Url>,
    /// Whether the text names a target, valid or not.
    pub has_target: bool,
    /// The other origins that have a name.
    pub origins: Vec<OriginDraft>,
    /// Names of fixed values. The front end fills them in, so no other value may have such a name.
    pub constants: Vec<String>,
    /// Values of `${secret.X}` by X.
    pub secrets: BTreeMap<String, String>,
    /// Data files by name.
    pub feeders: BTreeMap<String, FeederDraft>,
    /// Headers of every request that does not set the same header.
    pub headers: Vec<HeaderDraft>,
    /// Authentication of every request that has no `auth`.
    pub auth: Option<AuthDraft>,
    pub cookies: bool,
    pub setup: Vec<StepDraft>,
    pub scenarios: Vec<ScenarioDraft>,
    pub teardown: Vec<StepDraft>,
}

/// An origin other than the target.
#[derive(Debug)]
pub struct OriginDraft {
    /// Empty if it has no name.
    pub name: String,
    /// The URL that its paths are joined to.
    pub base: Url,
}

impl OriginDraft {
    /// Returns the origin as the plan's draft stores it.
    pub fn named_target(&self) -> NamedTarget {
        NamedTarget { name: self.name.clone(), target: self.base.target.clone() }
    }
}

/// A scenario.
#[derive(Debug)]
pub struct ScenarioDraft {
    pub name: String,
    pub steps: Vec<StepDraft>,
    /// Minimum time between the starts of two iterations of a user.
    pub pace: Option<Delay>,
}

/// A data file, used or not.
#[derive(Debug)]
pub struct FeederDraft {
    /// Its columns are those that are used, so there are none yet.
    pub feeder: Feeder,
    /// Its columns; `None` if they are unknown until setup has written the file.
    pub columns: Option<Vec<String>>,
    /// Its mistakes are already reported, so its columns are not checked.
    pub spoiled: bool,
}

/// One step.
#[derive(Debug)]
pub enum StepDraft {
    Request(Box<RequestDraft>),
    Think(Delay),
    Group {
        name: String,
        pos: Pos,
        steps: Vec<StepDraft>,
    },
    Repeat {
        times: Option<TextDraft>,
        steps: Vec<StepDraft>,
    },
    While {
        condition: Option<ConditionDraft>,
        most: Option<u32>,
        steps: Vec<StepDraft>,
    },
    If {
        condition: Option<ConditionDraft>,
        then: Vec<StepDraft>,
        otherwise: Vec<StepDraft>,
    },
    Once(Vec<StepDraft>),
    /// Branches with their weights.
    Choose {
        ways: Vec<(Option<f64>, Vec<StepDraft>)>,
        order: Order,
    },
    /// Set in sequence: a later value may use an earlier one.
    Set(Vec<(NameDraft, Option<TextDraft>)>),
    Append(AppendDraft),
    /// Rows of a file that the load reads; only in setup.
    Generate {
        pos: Pos,
        times: Option<TextDraft>,
        rows: Option<AppendDraft>,
    },
    Parallel(Vec<Vec<StepDraft>>),
    Send(Box<SendDraft>),
    SendMessage(Box<SendMessageDraft>),
    /// Sends no more messages of a gRPC call.
    Complete {
        pos: Pos,
        call: Option<NameDraft>,
    },
    Expect(Box<ExpectDraft>),
    Ping(Box<PingDraft>),
    Close(Box<CloseDraft>),
    /// An invalid step, with the names that it would have set.
    Spoiled(Vec<NameDraft>),
}

/// A name that a step sets.
#[derive(Debug, Clone)]
pub struct NameDraft {
    pub name: String,
    pub pos: Pos,
}

/// A request with its checks, extractions, and stream.
#[derive(Debug)]
pub struct RequestDraft {
    pub pos: Pos,
    pub method: String,
    pub path: Option<PathDraft>,
    /// The origin of the path; `None` means the target, unless the path is a whole URL.
    pub origin: Option<NameDraft>,
    pub query: Vec<QueryDraft>,
    pub headers: Vec<HeaderDraft>,
    pub auth: Option<AuthDraft>,
    pub body: Option<BodyDraft>,
    /// The name that the user chose; `None` means method and path.
    pub name: Option<NameDraft>,
    pub tags: Vec<(String, String)>,
    /// Measured from the send; `None` means the timeout of the plan.
    pub timeout_ns: Option<u64>,
    pub redirects: u8,
    /// How it is sent and its response is read.
    pub delivery: Delivery,
    pub go_on_after_failure: bool,
    pub expect: Option<Statuses>,
    pub checks: Vec<CheckDraft>,
    pub extracts: Vec<ExtractDraft>,
    pub stream: Option<StreamDraft>,
    pub websocket: Option<Box<WebSocketDraft>>,
    /// The gRPC call, if the request is one.
    pub grpc: Option<Box<CallDraft>>,
    pub graphql: Option<GraphqlDraft>,
    /// It contains a mistake that is already reported.
    pub spoiled: bool,
}

impl RequestDraft {
    /// Returns a request to the target without anything that is optional.
    pub fn new(pos: Pos, method: &str, path: Option<PathDraft>) -> RequestDraft {
        RequestDraft {
            pos,
            method: method.to_owned(),
            path,
            origin: None,
            query: Vec::new(),
            headers: Vec::new(),
            auth: None,
            body: None,
            name: None,
            tags: Vec::new(),
            timeout_ns: None,
            redirects: 0,
            delivery: Delivery::default(),
            go_on_after_failure: false,
            expect: None,
            checks: Vec::new(),
            extracts: Vec::new(),
            stream: None,
            websocket: None,
            grpc: None,
            graphql: None,
            spoiled: false,
        }
    }
}

/// The destination of a request: a path that is joined to the target, or a whole URL.
#[derive(Debug)]
pub struct PathDraft {
    /// As written, without escapes.
    pub text: TextDraft,
    /// Whether spaces and values are percent-encoded.
    pub encode: bool,
    pub pos: Pos,
}

/// A field of the query.
#[derive(Debug)]
pub struct QueryDraft {
    pub key: String,
    /// Escaped for sending.
    pub value: TextDraft,
    pub pos: Pos,
}

/// A header, in sending order.
#[derive(Debug)]
pub struct HeaderDraft {
    pub name: String,
    pub value: TextDraft,
    pub pos: Pos,
}

/// The authentication of a request.
#[derive(Debug)]
pub enum AuthDraft {
    /// No authentication, even if the file or a URL sets one.
    None,
    /// The value of the header `Authorization`.
    Header(TextDraft),
    Basic {
        user: TextDraft,
        password: TextDraft,
        pos: Pos,
    },
    Digest {
        user: TextDraft,
        password: TextDraft,
    },
    Jwt(Box<JwtDraft>),
    OAuth2(Box<OAuth2Draft>),
    SigV4(Box<SigV4Draft>),
}

/// A JSON Web Token to make.
#[derive(Debug)]
pub struct JwtDraft {
    pub key: JwtKeyDraft,
    /// As JSON.
    pub header: String,
    pub claims: TextDraft,
}

/// The key of a JSON Web Token.
#[derive(Debug)]
pub enum JwtKeyDraft {
    Hs256(TextDraft),
    /// PEM texts.
    Rs256(String),
    Es256(String),
}

/// A token that all users share.
#[derive(Debug)]
pub struct OAuth2Draft {
    pub pos: Pos,
    /// As written, without escapes.
    pub token_url: String,
    /// The fields of the form, escaped for it.
    pub form: TextDraft,
    /// The client, if its name and its secret are sent by basic authentication.
    pub basic: Option<(TextDraft, TextDraft)>,
    /// Whether a refresh token may be used.
    pub is_refreshed: bool,
    pub early_ns: u64,
}

/// A signature of Amazon Web Services.
#[derive(Debug)]
pub struct SigV4Draft {
    pub access_key: TextDraft,
    pub secret_key: TextDraft,
    pub session_token: Option<TextDraft>,
    pub region: TextDraft,
    pub service: TextDraft,
}

/// What is special about a request of GraphQL.
#[derive(Debug)]
pub struct GraphqlDraft {
    /// The body with the query, if the usual one has only its hash.
    pub with_query: Option<TextDraft>,
    pub fails_on_errors: bool,
    /// Over a WebSocket: the messages that initialize the connection and subscribe.
    pub subscription: Option<(TextDraft, TextDraft)>,
}

/// A body with the media type that it implies.
#[derive(Debug, Default)]
pub struct BodyDraft {
    pub text: TextDraft,
    pub media_type: Option<String>,
}

/// A gRPC call.
#[derive(Debug)]
pub struct CallDraft {
    pub protocol: Protocol,
    /// The messages that are sent with the request, and how many times.
    pub messages: Vec<Vec<PieceDraft>>,
    pub rounds: u32,
    pub is_compressed: bool,
    pub types: Arc<Types>,
    /// The types of the messages to send and of the response in `types`.
    pub request: usize,
    pub response: usize,
    pub has_one_response: bool,
    pub expect: Codes,
}

/// The draft of a [`plimsoll_plan::grpc::Piece`].
#[derive(Debug)]
pub enum PieceDraft {
    Field { number: u32, path: String, scalar: Scalar, text: TextDraft },
    Message { number: u32, is_group: bool, pieces: Vec<PieceDraft> },
}

/// A check of a response.
#[derive(Debug)]
pub struct CheckDraft {
    pub name: Option<NameDraft>,
    pub subjects: Vec<SubjectDraft>,
}

/// The subject of a check, and the beginning of its default name, which ends with the rule.
#[derive(Debug)]
pub struct SubjectDraft {
    pub words: String,
    pub on: On,
}

/// The draft of a [`Subject`].
#[derive(Debug)]
pub enum On {
    /// Without expressions.
    Fixed(Subject),
    Header {
        name: String,
        rule: RuleDraft,
    },
    Body(RuleDraft),
    GrpcMessage(RuleDraft),
    Json {
        path: String,
        rule: RuleDraft,
    },
    Value {
        from: Source,
        rule: RuleDraft,
    },
    OpenApi(OpenApiDraft),
    Jwt {
        from: Source,
        key: JwtKeyDraft,
        claims: Vec<(String, RuleDraft)>,
    },
}

/// What an OpenAPI document describes for one request.
#[derive(Debug)]
pub struct OpenApiDraft {
    pub document: Rc<serde_json::Value>,
    /// The name of its file.
    pub file: String,
    /// A path of the document; `None` means the one that fits the path of the request.
    pub path: Option<String>,
    /// In upper case; `None` means that of the request.
    pub method: Option<String>,
    pub pos: Pos,
}

/// The draft of a [`plimsoll_plan::answer::Rule`].
#[derive(Debug)]
pub enum RuleDraft {
    /// Without expressions.
    Fixed(plimsoll_plan::answer::Rule),
    Equals(TextDraft),
    Differs(TextDraft),
    Contains(TextDraft),
    Lacks(TextDraft),
    OneOf(Vec<TextDraft>),
}

/// A value extracted from a response.
#[derive(Debug)]
pub struct ExtractDraft {
    pub into: NameDraft,
    pub from: Option<(Source, Pick)>,
    pub default: Option<TextDraft>,
}

/// An event stream, which begins with the response.
#[derive(Debug)]
pub struct StreamDraft {
    pub pos: Pos,
    /// Its own `while_open` is empty.
    pub stream: Stream,
    pub beside: Vec<StepDraft>,
    /// Only for gRPC calls with a stream of messages to send, with its place.
    pub correlation: Option<(Correlation, Pos)>,
}

/// A WebSocket, which begins with the response; or a gRPC call with a stream of messages to send.
#[derive(Debug)]
pub struct WebSocketDraft {
    pub pos: Pos,
    /// Its own `while_open` is empty, and it has no expectations yet.
    pub socket: WebSocket,
    pub beside: Vec<StepDraft>,
}

/// A message to send.
#[derive(Debug)]
pub struct SendDraft {
    pub pos: Pos,
    /// The name of the request that opens the WebSocket; `None` means the last one before this step.
    pub socket: Option<NameDraft>,
    pub content: Content,
    pub text: TextDraft,
}

/// A message of a gRPC call to send.
#[derive(Debug)]
pub struct SendMessageDraft {
    pub pos: Pos,
    /// The name of the call; `None` means the innermost one that contains this step.
    pub call: Option<NameDraft>,
    pub message: Vec<PieceDraft>,
}

/// A message to wait for.
#[derive(Debug)]
pub struct ExpectDraft {
    pub pos: Pos,
    pub socket: Option<NameDraft>,
    pub name: Option<NameDraft>,
    pub content: Option<Content>,
    /// With the message as the body.
    pub subjects: Vec<SubjectDraft>,
    pub extracts: Vec<ExtractDraft>,
    pub within_ns: Option<u64>,
    pub go_on_after_failure: bool,
}

/// A ping, and the wait for its pong.
#[derive(Debug)]
pub struct PingDraft {
    pub pos: Pos,
    pub socket: Option<NameDraft>,
    pub name: Option<NameDraft>,
    pub text: TextDraft,
    pub within_ns: Option<u64>,
    pub go_on_after_failure: bool,
}

/// The end of a WebSocket.
#[derive(Debug)]
pub struct CloseDraft {
    pub pos: Pos,
    pub socket: Option<NameDraft>,
    pub code: u16,
    pub reason: TextDraft,
}

/// A condition on a value.
#[derive(Debug)]
pub struct ConditionDraft {
    pub pos: Pos,
    pub left: TextDraft,
    /// The operator after a left side that was written as fixed text. Such a condition would be decided before the
    /// load; usually the `${}` is missing.
    pub is_fixed_before: Option<&'static str>,
    /// The condition asks whether a value exists, so its name may be used before the step that sets it.
    pub asks_for_being: bool,
    /// Mistakes in the rest, reported after those of the left side.
    pub wrong: Vec<Complaint>,
    pub rule: Option<RuleDraft>,
}

/// One row appended to a file.
#[derive(Debug)]
pub struct AppendDraft {
    /// As written, for diagnostics.
    pub file: String,
    pub pos: Pos,
    /// The path, or why the file may not be written, which is reported after its columns are checked.
    pub path: Result<PathBuf, Complaint>,
    pub columns: Vec<(String, TextDraft)>,
    /// Each run replaces the file, even if other steps append to it.
    pub anew: bool,
}
