//! Answers requests without a route: 404 for an unknown path, 405 for an unknown method, 308 for a slash too many.

use docs::routes::allowed_methods;
use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Method, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RefuseUnknownRoute>().await
}

struct RefuseUnknownRoute;

impl Endpoint for RefuseUnknownRoute {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self)
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let allowed = allowed_methods(request.path());
        if allowed.is_empty() {
            return match address_without_slash(request) {
                Some(address) => Response::moved(&address),
                None => Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
            };
        }
        Err(ApiError::method_not_allowed(&allowed.join(", ")))
    }
}

/// Where a reader is sent who wrote a slash after a path that can be read.
fn address_without_slash(request: &Request) -> Option<String> {
    let path = request.path().strip_suffix('/').filter(|path| !path.starts_with("//") && !path.contains('\\'))?;
    let is_read = *request.method() == Method::GET && allowed_methods(path).contains(&"GET");
    let query = Some(request.query_string()).filter(|query| !query.is_empty());
    is_read.then(|| query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}
