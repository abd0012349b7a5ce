/// This API description
///
/// As OpenAPI 3.1.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "Service",
    responses((status = 200, description = "The document.", body = Object, content_type = "application/json")),
)]
fn read_contract() {}

openapi::published!(read_contract);

/// This API description as text
///
/// In plain Markdown, for programs.
#[utoipa::path(
    get,
    path = "/llms.txt",
    tag = "Service",
    responses((status = 200, description = "The text.", body = String, content_type = "text/markdown")),
)]
fn read_contract_as_text() {}

openapi::published!(read_contract_as_text);

/// This API description as a page
///
/// The interactive reference.
#[utoipa::path(
    get,
    path = "/docs",
    tag = "Service",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
fn read_reference() {}

openapi::published!(read_reference);

/// The reference's script
#[utoipa::path(
    get,
    path = "/docs/reference.js",
    tag = "Service",
    responses((status = 200, description = "The script.", body = String, content_type = "text/javascript")),
)]
fn read_reference_script() {}

openapi::published!(read_reference_script);

/// Starts the reference's script
#[utoipa::path(
    get,
    path = "/docs/start.js",
    tag = "Service",
    responses((status = 200, description = "The script.", body = String, content_type = "text/javascript")),
)]
fn read_start_script() {}

openapi::published!(read_start_script);
