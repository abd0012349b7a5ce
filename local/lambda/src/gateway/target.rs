//! Where a gateway's functions are.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};

use crate::{
    invocation::{Invocation, MAX_PAYLOAD, Outcome, Refusal},
    invoker::Invoker,
};

/// The Lambda service that a gateway invokes functions of.
#[derive(Clone)]
pub enum Target {
    /// One in this process.
    Local(Invoker),
    /// One behind its Invoke API.
    Remote(Box<Remote>),
}

/// A Lambda service in another process.
#[derive(Clone)]
pub struct Remote {
    url: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Target {
    /// The service whose Invoke API is at `url`.
    pub fn remote(url: &str) -> Self {
        Self::Remote(Box::new(Remote {
            url: url.to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
        }))
    }

    pub(super) async fn invoke(&self, invocation: Invocation) -> Result<Outcome, Refusal> {
        match self {
            Self::Local(invoker) => invoker.invoke(invocation).await,
            Self::Remote(remote) => remote.invoke(invocation).await.unwrap_or(Err(Refusal::Unavailable)),
        }
    }
}

impl Remote {
    /// `None` when the service doesn't answer as expected.
    async fn invoke(&self, invocation: Invocation) -> Option<Result<Outcome, Refusal>> {
        let url = format!("{}/2015-03-31/functions/{}/invocations", self.url, invocation.function);
        let request = Request::post(url).header("x-amzn-trace-id", invocation.trace_id);
        let answer = self.client.request(request.body(Full::from(invocation.payload)).ok()?).await.ok()?;
        let (status, is_error) = (answer.status(), answer.headers().contains_key("x-amz-function-error"));
        let body = answer.into_body().collect().await.ok()?.to_bytes();
        match status {
            StatusCode::OK if is_error => Some(Ok(Outcome::Failed(body))),
            StatusCode::OK => Some(Ok(Outcome::Returned(body))),
            StatusCode::NOT_FOUND => Some(Err(Refusal::UnknownFunction(invocation.function))),
            StatusCode::PAYLOAD_TOO_LARGE => Some(Err(Refusal::TooLarge(MAX_PAYLOAD))),
            StatusCode::TOO_MANY_REQUESTS => Some(Err(Refusal::AccountConcurrency)),
            _ => None,
        }
    }
}
