//! `GET /manage`: the page where artists publish, and manage their profile, money, keys and wallets, with its style sheet,
//! scripts and icon. It calls the service's own endpoints alone.

use shared::{
    bucket::Bucket,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeManagePage>().await
}

struct ServeManagePage {
    policy: String,
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// The page and the files beside it: name, content type and content.
const PARTS: [(&str, &str, &str); 30] = [
    ("manage", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("icon.svg", "image/svg+xml; charset=utf-8", include_str!("page/icon.svg")),
    ("style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("script.js", JAVASCRIPT, include_str!("page/script.js")),
    ("kit.js", JAVASCRIPT, include_str!("page/kit.js")),
    ("account.js", JAVASCRIPT, include_str!("page/account.js")),
    ("activity.js", JAVASCRIPT, include_str!("page/activity.js")),
    ("data.js", JAVASCRIPT, include_str!("page/data.js")),
    ("keys.js", JAVASCRIPT, include_str!("page/keys.js")),
    ("moment.js", JAVASCRIPT, include_str!("page/moment.js")),
    ("moments.js", JAVASCRIPT, include_str!("page/moments.js")),
    ("money.js", JAVASCRIPT, include_str!("page/money.js")),
    ("deposit.js", JAVASCRIPT, include_str!("page/deposit.js")),
    ("email.js", JAVASCRIPT, include_str!("page/email.js")),
    ("files.js", JAVASCRIPT, include_str!("page/files.js")),
    ("passkey-list.js", JAVASCRIPT, include_str!("page/passkey-list.js")),
    ("passkeys.js", JAVASCRIPT, include_str!("page/passkeys.js")),
    ("preview.js", JAVASCRIPT, include_str!("page/preview.js")),
    ("profile.js", JAVASCRIPT, include_str!("page/profile.js")),
    ("programs.js", JAVASCRIPT, include_str!("page/programs.js")),
    ("proof.js", JAVASCRIPT, include_str!("page/proof.js")),
    ("publish.js", JAVASCRIPT, include_str!("page/publish.js")),
    ("stats.js", JAVASCRIPT, include_str!("page/stats.js")),
    ("store.js", JAVASCRIPT, include_str!("page/store.js")),
    ("terms.js", JAVASCRIPT, include_str!("page/terms.js")),
    ("wallet-list.js", JAVASCRIPT, include_str!("page/wallet-list.js")),
    ("wallets.js", JAVASCRIPT, include_str!("page/wallets.js")),
    ("webhooks.js", JAVASCRIPT, include_str!("page/webhooks.js")),
    ("withdraw.js", JAVASCRIPT, include_str!("page/withdraw.js")),
    ("works.js", JAVASCRIPT, include_str!("page/works.js")),
];

impl Endpoint for ServeManagePage {
    /// Reads `MEDIA_BUCKET` and `FILES_ADDRESS`. The page can run its own scripts, call this service, send files to its bucket
    /// and show files, chosen ones too, nothing else.
    /// No text can become markup or code, and no other site can embed the page.
    async fn from_env() -> Result<Self, StartError> {
        let media = Bucket::from_env(&config::aws().await)?.origin().await?;
        let files = config::optional(config::variables::FILES_ADDRESS).unwrap_or_default();
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: {media} {files}; \
             media-src 'self' blob: {media} {files}; connect-src 'self' {media} {files}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'"
        );
        Ok(Self { policy })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let name = request.path().rsplit('/').next().unwrap_or_default();
        let Some((_, content_type, content)) = PARTS.iter().find(|(part, ..)| *part == name) else {
            return Err(ApiError::not_found(format!("There is nothing at {}", request.path())));
        };
        // Revalidated on every visit, so that the parts always fit each other.
        Response::file(content_type, content.as_bytes())
            .cacheable(0)
            .with("content-security-policy", &self.policy)?
            .with("cross-origin-opener-policy", "same-origin")?
            .with("referrer-policy", "no-referrer")?
            .with("x-content-type-options", "nosniff")
    }
}
