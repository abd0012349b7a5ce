//! The service's documents, and its routes.

pub mod routes;
pub mod serve_api_docs;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    serve_api_docs::read_places,
    serve_api_docs::read_description,
    serve_api_docs::read_text_description,
    serve_api_docs::read_older_description,
    serve_api_docs::read_full_text,
))]
pub struct Contract;
