use std::{convert::Infallible, error::Error, future::Future, time::Instant};

use lambda_http::{Body, http::HeaderName, service_fn};

use super::{ApiError, Request, Response};
use crate::telemetry;

/// What one function answers with.
pub trait Endpoint: Send + Sync {
    /// Parses, authorises, acts and answers.
    fn handle(&self, request: &Request) -> impl Future<Output = Result<Response, ApiError>> + Send;
}

/// Why a function couldn't start or go on.
pub type StartError = Box<dyn Error + Send + Sync>;

/// Answers requests with `endpoint` until the environment is shut down.
///
/// # Errors
/// When the Lambda runtime can't be reached.
pub async fn serve(endpoint: impl Endpoint) -> Result<(), StartError> {
    let endpoint = &endpoint;
    lambda_http::run(service_fn(move |event| async move { Ok::<_, Infallible>(answer(endpoint, event).await) })).await
}

async fn answer(endpoint: &impl Endpoint, event: lambda_http::Request) -> lambda_http::Response<Body> {
    let (started, cold_start) = (Instant::now(), telemetry::is_cold_start());
    let request = Request::new(event);
    let response = endpoint.handle(&request).await.unwrap_or_else(|error| {
        if let Some(cause) = error.cause() {
            tracing::error!(request.id = request.id(), error = telemetry::chain(cause), "request failed");
        }
        Response::from_error(&error)
    });
    let response = response.limited(request.limit()).revalidated(&request);
    tracing::info!(
        request.id = request.id(),
        route = request.route(),
        status = response.status().as_u16(),
        duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        cold_start,
        "request answered"
    );
    match request.id().parse() {
        Ok(id) => response.with_header(HeaderName::from_static("x-request-id"), id),
        Err(_) => response,
    }
    .into_inner()
}
