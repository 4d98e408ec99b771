//! gRPC calls of scripts (`k6/net/grpc`): schemas, connections, and calls with one response or with streams.

mod call;
mod connection;
mod ended;
mod params;
mod pieces;
mod reflect;
mod schema;
pub mod stream;

pub use call::{PendingCall, Started, Unary, encoded};
pub use connection::Connection;
pub use ended::Called;
pub use params::{CallParams, ConnectParams};
pub use reflect::reflect;
pub use schema::{CompileSchemas, SchemaSource};
