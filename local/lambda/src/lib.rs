//! Lambda and an HTTP API of API Gateway on one machine: functions run as processes, started when invocations wait for
//! them. README.md lists what is reproduced, with the test that shows it, and what differs.
#![warn(missing_docs)]

mod account;
mod asynchronous;
mod backoff;
mod function;
pub mod gateway;
mod instance;
mod invocation;
mod invoke_api;
mod invoker;
mod limits;
mod pool;
mod runtime_api;
mod schedule;
mod server;
mod service;
mod spawner;
mod stream;

pub use account::{ACCOUNT, REGION};
pub use function::{AsyncPolicy, Function};
pub use invocation::{Invocation, MAX_EVENT, MAX_PAYLOAD, Outcome, Refusal};
pub use invoker::Invoker;
pub use limits::Limits;
pub use pool::Processes;
pub use schedule::{InvalidRate, Pace, Rate, Schedule};
pub use service::Lambda;
pub use stream::{InvalidPattern, Pattern, StartingPosition, StreamDatabase, StreamError, StreamMapping};
