//! Traces in X-Ray: each call that an invocation makes is a subsegment of the segment that Lambda writes. Documents go to
//! X-Ray's daemon by UDP; one that can't be sent at once is dropped. Nothing is made for invocations that aren't sampled.
//! Never a URL's path or query, a key, a row or an e-mail address: a node's URL may hold a secret.

mod aws;
mod document;
mod http;
mod invocation;

pub use self::{
    aws::AwsCalls,
    document::Subsegment,
    http::{TracedNode, send},
    invocation::{Invocation, ScheduledEvent, carried, run},
};
