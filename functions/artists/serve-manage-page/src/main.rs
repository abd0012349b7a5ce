//! `GET /manage`: the page where artists manage their profile, keys, wallets and notifications, with its style sheet,
//! script and icon. It calls the service's own endpoints alone.

use serde::{
    Deserialize,
    de::{IntoDeserializer, value},
};
use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    telemetry,
};

/// The page can run its own scripts and call this service, nothing else. No text can become markup or code, and no other
/// site can embed the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ServeManagePage).await
}

struct ServeManagePage;

/// The files beside the page.
#[derive(Deserialize)]
enum PagePart {
    #[serde(rename = "style.css")]
    Style,
    #[serde(rename = "script.js")]
    Script,
    #[serde(rename = "kit.js")]
    Kit,
    #[serde(rename = "icon.svg")]
    Icon,
}

impl PagePart {
    fn from_name(name: &str) -> Result<Self, value::Error> {
        Self::deserialize(name.into_deserializer())
    }

    /// Content type and content.
    fn file(&self) -> (&'static str, &'static str) {
        const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
        match self {
            Self::Style => ("text/css; charset=utf-8", include_str!("../page/style.css")),
            Self::Script => (JAVASCRIPT, include_str!("../page/script.js")),
            Self::Kit => (JAVASCRIPT, include_str!("../page/kit.js")),
            Self::Icon => ("image/svg+xml; charset=utf-8", include_str!("../page/icon.svg")),
        }
    }
}

impl Endpoint for ServeManagePage {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let (content_type, content) = match request.path().rsplit('/').next().unwrap_or_default() {
            "manage" => ("text/html; charset=utf-8", include_str!("../page/index.html")),
            name => match PagePart::from_name(name) {
                Ok(part) => part.file(),
                Err(_) => return Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
            },
        };
        // Revalidated on every visit, so that the parts always fit each other.
        Response::file(content_type, content.as_bytes())
            .cacheable(0)
            .with("content-security-policy", POLICY)?
            .with("cross-origin-opener-policy", "same-origin")?
            .with("referrer-policy", "no-referrer")?
            .with("x-content-type-options", "nosniff")
    }
}
