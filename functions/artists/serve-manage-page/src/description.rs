use super::PagePart;

/// The page for artists to manage their account
///
/// Sign in, profile, API keys, wallets, notifications.
#[utoipa::path(
    get,
    path = "/manage",
    tag = "Service",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
fn serve_manage_page() {}

openapi::published!(serve_manage_page);

/// A file of that page
#[utoipa::path(
    get,
    path = "/manage/{part}",
    tag = "Service",
    params(("part" = inline(PagePart), Path, description = "The file.")),
    responses((status = 200, description = "The file.", content(
        (String = "text/css"),
        (String = "text/javascript"),
        (String = "image/svg+xml"),
    ))),
)]
fn serve_manage_part() {}

openapi::published!(serve_manage_part, 404);
