//! siege, by `main.c` and `data.c` of version 4: a transaction is a request with a response. `Successful transactions`
//! leaves out errors and, in most versions, redirects, each of which is followed as another transaction. `Failed
//! transactions` are not among the transactions and have no time: most are requests without a response. Availability
//! is transactions / (transactions + failed). `Concurrency` is the sum of all times / elapsed time, which is rate x
//! response time, and never exceeds the users. `Data transferred` is that of the bodies.

use crate::tools::definitions::{Counted, Definitions, PLAIN};

pub const SIEGE: Definitions = Definitions {
    name: "siege",
    users: "concurrent users",
    errors_are_requests: false,
    counts_bodies_only: true,
    layout: &[
        "transactions: ",
        "availability: ",
        "elapsed time: ",
        "data transferred: ",
        "response time: ",
        "transaction rate: ",
        "throughput: ",
        "concurrency: ",
        "successful transactions: ",
        "failed transactions: ",
        "longest transaction: ",
        "shortest transaction: ",
    ],
    times_of: Counted::Successes,
    is_busy: false,
    ..PLAIN
};
