use std::{
    convert::Infallible,
    future::Future,
    time::{Duration, Instant},
};

use futures::future::{BoxFuture, LocalBoxFuture};
use lambda_http::{Body, http::HeaderName, service_fn};

use super::{
    answer_log::Answered, error::ApiError, origin::Origin, request::Request, response::Response, scalar::default_chain,
};
use crate::{
    clock,
    config::StartError,
    deadline,
    model::Scope,
    telemetry::{self, trace::Invocation},
};

/// Time that an answer may take; API Gateway waits 29 seconds for it.
const LIMIT: Duration = Duration::from_secs(28);
/// Time between a request's deadline and the function's, to send the answer.
const MARGIN: Duration = Duration::from_secs(1);

/// The endpoint of one function.
pub trait Endpoint: Send + Sync + Sized + 'static {
    /// Makes the endpoint from the function's variables. Fails when one is missing or wrong.
    fn from_env() -> impl Future<Output = Result<Self, StartError>>;

    /// Parses, authorises, acts and answers.
    fn handle(&self, request: &Request) -> impl Future<Output = Result<Response, ApiError>> + Send;
}

/// Makes the endpoint and answers requests with it until the environment shuts down. Fails when a variable is missing or
/// the Lambda runtime is unreachable.
pub async fn serve<E: Endpoint>() -> Result<(), StartError> {
    telemetry::init()?;
    default_chain()?;
    run(Box::new(E::from_env().await?)).await
}

/// An endpoint of any type. The Lambda runtime is compiled once for it in this crate, not in each function.
trait AnyEndpoint: Send + Sync {
    fn handle<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Response, ApiError>>;
}

impl<E: Endpoint> AnyEndpoint for E {
    fn handle<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Response, ApiError>> {
        Box::pin(Endpoint::handle(self, request))
    }
}

/// Boxed, so that the runtime's code is compiled here and not where it is awaited.
fn run(endpoint: Box<dyn AnyEndpoint>) -> LocalBoxFuture<'static, Result<(), StartError>> {
    Box::pin(async move {
        let (endpoint, origin) = (&*endpoint, &Origin::from_env());
        let answered = async move |event| Ok::<_, Infallible>(answer(endpoint, origin, event).await);
        lambda_http::run(service_fn(answered)).await
    })
}

async fn answer(
    endpoint: &dyn AnyEndpoint,
    origin: &Origin,
    event: lambda_http::Request,
) -> lambda_http::Response<Body> {
    let (started, cold_start) = (Instant::now(), telemetry::is_cold_start());
    let mut request = Request::new(event);
    let invocation = Invocation::begin("request", request.trace_header());
    let answered = match origin.admit(&mut request) {
        Ok(()) => invocation.scope(in_time(endpoint, &request)).await,
        Err(refusal) => Err(refusal),
    };
    let message = answered.as_ref().err().map(|error| error.message().to_owned()).unwrap_or_default();
    let response = answered.unwrap_or_else(|error| {
        if let Some(cause) = error.cause() {
            tracing::error!(
                request.id = request.id(),
                error = telemetry::chain(cause),
                "a request was answered with an internal error"
            );
        }
        if request.is_opened_in_a_browser() { Response::page_of_error(&error) } else { Response::from_error(&error) }
    });
    let response = response.limited(request.limit()).naming_ignored(&request).revalidated(&request).hardened();
    let response = response.open_to_pages(&request);
    if let (Some(log), Ok(at)) = (request.answer_log(), clock::now()) {
        let (request_id, route, status) = (request.id(), request.route(), response.status());
        let answered = Answered { at, request_id, route, status, message: &message, duration: started.elapsed() };
        invocation.scope(log.note(answered)).await;
    }
    let (principal, status) = (request.principal(), response.status().as_u16());
    // Messages of other errors can have words of the request.
    let refusal = Some(message.as_str()).filter(|_| matches!(status, 401 | 403));
    tracing::info!(
        request.id = request.id(),
        route = request.route(),
        artist.id = principal.artist.map(tracing::field::display),
        key.id = principal.key.map(tracing::field::display),
        key.scope = principal.scope.map(Scope::word),
        client.network = request.client_network(),
        status,
        refusal,
        duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        cold_start,
        "request answered"
    );
    invocation.end(|own| {
        own.annotate("request_id", request.id());
        own.annotate("route", request.route());
        if let Some(artist) = principal.artist {
            own.annotate("artist_id", artist.to_string());
        }
        own.answered(status);
    });
    match request.id().parse() {
        Ok(id) => response.with_header(HeaderName::from_static("x-request-id"), id),
        Err(_) => response,
    }
    .into_inner()
}

/// The endpoint's answer; 503 if there is none by the request's deadline.
async fn in_time(endpoint: &dyn AnyEndpoint, request: &Request) -> Result<Response, ApiError> {
    let work = async {
        match deadline::before(endpoint.handle(request)).await {
            Some(Err(error)) if deadline::has_passed() && error.status().is_server_error() => Err(error.into_late()),
            Some(answer) => answer,
            None => Err(ApiError::late()),
        }
    };
    let now = clock::now()?;
    let left = request.deadline().map_or(LIMIT, |end| end.saturating_sub(now).saturating_sub(MARGIN).min(LIMIT));
    deadline::until(tokio::time::Instant::now() + left, work).await
}
