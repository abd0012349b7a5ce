//! `GET /manage`: the page where artists manage their profile, keys, wallets and notifications, with its style sheet,
//! script and icon. It uses the service's own endpoints and asks nobody else.

#[cfg(test)]
mod description;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    telemetry,
};

/// What the page may do: run its own script, ask this service, and nothing else. No text can become markup or code, and
/// no other site can show the page within its own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ServeManagePage).await
}

struct ServeManagePage;

impl Endpoint for ServeManagePage {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
        let (content_type, content) = match request.path().rsplit('/').next() {
            Some("manage") => ("text/html; charset=utf-8", include_str!("../page/index.html")),
            Some("style.css") => ("text/css; charset=utf-8", include_str!("../page/style.css")),
            Some("script.js") => (JAVASCRIPT, include_str!("../page/script.js")),
            Some("kit.js") => (JAVASCRIPT, include_str!("../page/kit.js")),
            Some("icon.svg") => ("image/svg+xml; charset=utf-8", include_str!("../page/icon.svg")),
            _ => return Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
        };
        // Asked for anew each time, and sent anew only when it changed: so the parts always fit each other.
        Response::file(content_type, content.as_bytes())
            .cacheable(0)
            .with("content-security-policy", POLICY)?
            .with("cross-origin-opener-policy", "same-origin")?
            .with("referrer-policy", "no-referrer")?
            .with("x-content-type-options", "nosniff")
    }
}
