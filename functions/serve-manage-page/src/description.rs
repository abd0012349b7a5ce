use utoipa::ToSchema;

/// The page where artists manage what is theirs
///
/// Sign in, profile, API keys, wallets, notifications.
#[utoipa::path(
    get,
    path = "/manage",
    tag = "Service",
    responses((status = 200, description = "The page.", body = String, content_type = "text/html")),
)]
fn serve_manage_page() {}

contract::published!(serve_manage_page);

/// A part of the page where artists manage what is theirs
#[utoipa::path(
    get,
    path = "/manage/{part}",
    tag = "Service",
    params(("part" = inline(PagePart), Path, description = "Which part.")),
    responses((status = 200, description = "The part.", content(
        (String = "text/css"),
        (String = "text/javascript"),
        (String = "image/svg+xml"),
    ))),
)]
fn serve_manage_part() {}

contract::published!(serve_manage_part, 404);

/// The files that the page is made of.
#[derive(ToSchema)]
#[schema(examples("script.js"))]
#[expect(dead_code, reason = "describes what is read from the path")]
enum PagePart {
    #[schema(rename = "style.css")]
    Style,
    #[schema(rename = "script.js")]
    Script,
    #[schema(rename = "kit.js")]
    Kit,
    #[schema(rename = "icon.svg")]
    Icon,
}
