//! The API description: `GET /openapi.json` for machines, `GET /llms.txt` for programs that read text, `GET /docs` for people,
//! with the scripts of that page. The build makes all of them from `openapi.json`.

#[cfg(test)]
mod description;

use shared::{
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ServeApiDocs).await
}

struct ServeApiDocs;

/// A file from the build.
macro_rules! built {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name)).as_slice()
    };
}

/// Time that browsers may cache a file without revalidation.
const SECONDS_TO_KEEP: u32 = 5 * 60;

impl Endpoint for ServeApiDocs {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
        let (content_type, content) = match request.path().rsplit('/').next() {
            Some("docs") => return page(),
            Some("llms.txt") => ("text/markdown; charset=utf-8", built!("llms.txt")),
            Some("openapi.json") => ("application/json; charset=utf-8", built!("openapi.json")),
            Some("start.js") => (JAVASCRIPT, include_bytes!("start.js").as_slice()),
            Some("reference.js") => {
                let script = Response::file(JAVASCRIPT, built!("reference.js.gz"));
                return script.cacheable(SECONDS_TO_KEEP).with("content-encoding", "gzip");
            }
            _ => return Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
        };
        Ok(Response::file(content_type, content).cacheable(SECONDS_TO_KEEP))
    }
}

/// The reference's page. It runs this service's scripts and calls this service alone. The reference's script writes style
/// sheets and style attributes, which a policy can only allow altogether.
fn page() -> Result<Response, ApiError> {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
                          img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; \
                          frame-ancestors 'none'";
    Response::file("text/html; charset=utf-8", include_bytes!("docs.html"))
        .cacheable(SECONDS_TO_KEEP)
        .with("content-security-policy", POLICY)?
        .with("referrer-policy", "no-referrer")?
        .with("x-content-type-options", "nosniff")
}
