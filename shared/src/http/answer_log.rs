use std::time::Duration;

use futures::future::BoxFuture;
use lambda_http::http::StatusCode;

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// When, after 1970-01-01.
    pub at: Duration,
    /// What the answer has as `x-request-id`.
    pub request_id: &'a str,
    /// Method and pattern of the path.
    pub route: &'a str,
    /// The answer's.
    pub status: StatusCode,
    /// An error's; empty for a success.
    pub message: &'a str,
    /// Time until the answer.
    pub duration: Duration,
}

/// Takes notes of answers: whoever authenticates a request chooses where.
pub trait AnswerLog: Send + Sync {
    /// Called once, before the answer is sent; an answer never fails for it.
    fn note<'a>(&'a self, answered: Answered<'a>) -> BoxFuture<'a, ()>;
}
