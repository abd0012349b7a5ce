//! Contract of the documents that describe the service: `GET /`, `/openapi.json`, `/openapi-3.0.json`, `/llms.txt` and
//! `/llms-full.txt`.

/// What is where
///
/// At the base address: the pages for people, the description in all its forms, and the chains. A browser is sent to the
/// home page.
#[utoipa::path(
    get,
    path = "/",
    tag = "Service",
    responses((status = 200, description = "Addresses by name.", body = Object, content_type = "application/json")),
)]
pub fn read_places() {}

/// This API description
///
/// As OpenAPI 3.1: the document that this page is made from.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "Service",
    responses((status = 200, description = "The document.", body = Object, content_type = "application/json")),
)]
pub fn read_description() {}

/// This API description as text
///
/// In plain Markdown, for programs: a short overview with links.
#[utoipa::path(
    get,
    path = "/llms.txt",
    tag = "Service",
    responses((status = 200, description = "The text.", body = String, content_type = "text/markdown")),
)]
pub fn read_text_description() {}

/// This API description in OpenAPI 3.0
///
/// For tools that don't read 3.1. Generated from the 3.1 document, without what 3.0 can't express.
#[utoipa::path(
    get,
    path = "/openapi-3.0.json",
    tag = "Service",
    responses((status = 200, description = "The document.", body = Object, content_type = "application/json")),
)]
pub fn read_older_description() {}

/// This API description and all guides as one text
///
/// In plain Markdown, for programs: every endpoint with its fields.
#[utoipa::path(
    get,
    path = "/llms-full.txt",
    tag = "Service",
    responses((status = 200, description = "The text.", body = String, content_type = "text/markdown")),
)]
pub fn read_full_text() {}
