/// This contract
///
/// As OpenAPI 3.1.
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "Service",
    responses((status = 200, description = "The document.", body = Object, content_type = "application/json")),
)]
fn read_contract() {}

contract::published!(read_contract);

/// This contract as text
///
/// In plain Markdown, for programs.
#[utoipa::path(
    get,
    path = "/llms.txt",
    tag = "Service",
    responses((status = 200, description = "The text.", body = String, content_type = "text/markdown")),
)]
fn read_contract_as_text() {}

contract::published!(read_contract_as_text);

/// This contract as a page
///
/// The interactive reference.
#[utoipa::path(
    get,
    path = "/docs",
    tag = "Service",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
fn read_reference() {}

contract::published!(read_reference);

/// The reference's script
#[utoipa::path(
    get,
    path = "/docs/reference.js",
    tag = "Service",
    responses((status = 200, description = "The script.", body = String, content_type = "text/javascript")),
)]
fn read_reference_script() {}

contract::published!(read_reference_script);

/// What starts the reference's script
#[utoipa::path(
    get,
    path = "/docs/start.js",
    tag = "Service",
    responses((status = 200, description = "The script.", body = String, content_type = "text/javascript")),
)]
fn read_start_script() {}

contract::published!(read_start_script);
