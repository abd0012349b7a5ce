//! Answers requests without a route: 404 for an unknown path, 405 for an unknown method.

use docs::routes::allowed_methods;
use shared::{
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
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
            return Err(ApiError::not_found(format!("There is nothing at {}", request.path())));
        }
        Err(ApiError::method_not_allowed(&allowed.join(", ")))
    }
}
