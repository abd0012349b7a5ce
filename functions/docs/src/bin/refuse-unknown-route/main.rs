//! Answers requests without a route: HEAD of what can be read, 404 for an unknown path, 405 for an unknown method, 308 for
//! a slash too many. A route for each HEAD would be more resources than a stack may have.

use docs::routes::allowed_methods;
use shared::{
    api::service_client::ServiceClient,
    config::StartError,
    http::{ApiError, Endpoint, HeaderMap, Method, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RefuseUnknownRoute>().await
}

struct RefuseUnknownRoute {
    service: ServiceClient,
}

impl Endpoint for RefuseUnknownRoute {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: ServiceClient::from_env()? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let allowed = allowed_methods(request.path());
        if allowed.is_empty() {
            return match address_without_slash(request) {
                Some(address) => Response::moved(&address),
                None => Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
            };
        }
        if *request.method() == Method::HEAD && allowed.contains(&"GET") {
            return self.head(request).await;
        }
        let head = allowed.contains(&"GET").then_some("HEAD");
        Err(ApiError::method_not_allowed(&Vec::from_iter(allowed.into_iter().chain(head)).join(", ")))
    }
}

impl RefuseUnknownRoute {
    /// The answer to the same request with GET. The gateway keeps its body to itself.
    async fn head(&self, request: &Request) -> Result<Response, ApiError> {
        // Read by the other function, which names what it ignores.
        let _ = request.query();
        let service = self.service.acting_for(request)?;
        let place = (service.below_base(request.path()), request.query_string());
        let answer = service.call(Method::GET, place, HeaderMap::new(), None).await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let content = answer.bytes().await.map_err(|error| ApiError::bad_gateway("The answer broke off", error))?;
        Ok(Response::passed_on(status, &headers, content.into()))
    }
}

/// Where a reader is sent who wrote a slash after a path that can be read.
fn address_without_slash(request: &Request) -> Option<String> {
    let path = request.path().strip_suffix('/').filter(|path| !path.starts_with("//") && !path.contains('\\'))?;
    let is_read = [Method::GET, Method::HEAD].contains(request.method()) && allowed_methods(path).contains(&"GET");
    let query = Some(request.query_string()).filter(|query| !query.is_empty());
    is_read.then(|| query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}
