//! HTTP/2: what a session sends, and what it makes of a server's frames.

mod chatter;
mod cuts;
mod ends;
mod exchanges;
mod flow;
mod hostile;
mod limits;
mod opening;
mod peer;
mod repeats;
mod requests;
mod tunnels;
