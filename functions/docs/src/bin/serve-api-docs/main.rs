//! What the service is: `GET /` at its base address says what is where. The API description is `GET /openapi.json` for
//! machines, `GET /llms.txt` for programs that read text, and `GET /docs` for people, with the scripts of that page and the
//! guides below it; `GET /clients/…` are packages of the clients. The build makes all of them from `openapi.json` and `docs/guide/`.

use std::borrow::Cow;

use shared::{
    api::read::Site,
    chain::Chains,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, StatusCode, json, serve},
    model::{ChainId, IMMUTABLE},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ServeApiDocs>().await
}

struct ServeApiDocs {
    site: Site,
    /// Ids of the chains that are served.
    chains: String,
    default_chain: ChainId,
}

/// A file from the build.
macro_rules! built {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name)).as_slice()
    };
}

/// Guides as pages and as texts, and operations as texts: names in the path, content types and contents.
const PARTS: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/parts.rs"));

/// Name of the reference's script.
const REFERENCE: &str = include_str!(concat!(env!("OUT_DIR"), "/reference.name"));

/// Packages of the clients: names in the path, content types and contents. Empty in a build without `make clients`.
const CLIENTS: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// Time that browsers may cache a file without revalidation.
const SECONDS_TO_KEEP: u32 = 5 * 60;

impl Endpoint for ServeApiDocs {
    async fn from_env() -> Result<Self, StartError> {
        let chains = Vec::from_iter(Chains::from_env()?.iter().map(|chain| chain.id.to_string()));
        let default_chain = config::parsed(config::variables::DEFAULT_CHAIN)?;
        Ok(Self { site: Site::from_env(), chains: chains.join(", "), default_chain })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
        if request.route() == "GET /" {
            return self.about(request);
        }
        if request.route().starts_with("GET /clients/") {
            return client(request);
        }
        let (content_type, content) = match request.path().rsplit('/').next() {
            Some("docs") => return page(),
            Some("llms.txt") => ("text/markdown; charset=utf-8", built!("llms.txt")),
            Some("llms-full.txt") => ("text/markdown; charset=utf-8", built!("llms-full.txt")),
            Some("openapi-3.0.json") => return Ok(self.description(built!("openapi-3.0.json"))),
            Some("guide.css") => ("text/css; charset=utf-8", include_bytes!("guide.css").as_slice()),
            Some("openapi.json") => return Ok(self.description(built!("openapi.json"))),
            Some("start.js") => (JAVASCRIPT, include_bytes!("start.js").as_slice()),
            Some(REFERENCE) => {
                let script = Response::file(JAVASCRIPT, built!("reference.js.gz"));
                return script.with("cache-control", IMMUTABLE)?.with("content-encoding", "gzip");
            }
            part => match PARTS.iter().find(|(name, _, _)| Some(*name) == part) {
                Some((_, content_type, content)) if content_type.starts_with("text/html") => {
                    return guide(content_type, &self.addressed(content));
                }
                Some((_, content_type, content)) => (*content_type, *content),
                None => return Err(ApiError::not_found(format!("There is nothing at {}", request.path()))),
            },
        };
        let is_text = content_type.starts_with("text/markdown");
        let content = if is_text { self.addressed(content) } else { Cow::Borrowed(content) };
        Ok(Response::file(content_type, &content).cacheable(SECONDS_TO_KEEP))
    }
}

impl ServeApiDocs {
    /// The base address: a person gets the home page, a program what is where.
    fn about(&self, request: &Request) -> Result<Response, ApiError> {
        if request.is_opened_in_a_browser() {
            return Response::found(&self.site.page("/"))?.with("vary", "accept");
        }
        let places = json!({
            "name": "Moments",
            "home": self.site.page("/"),
            "studio": self.site.endpoint("/manage"),
            "reference": self.site.endpoint("/docs"),
            "description": self.site.endpoint("/openapi.json"),
            "text": self.site.endpoint("/llms.txt"),
            "clients": CLIENTS.iter().map(|(name, _, _)| self.site.endpoint(&format!("/clients/{name}"))).collect::<Vec<_>>(),
            "chains": self.site.endpoint("/chains"),
            "health": self.site.endpoint("/health"),
        });
        // Not kept: the edge would give it to browsers, too.
        Response::json(&places)?.with("vary", "accept")
    }

    /// The description with this stage's chains.
    fn description(&self, content: &'static [u8]) -> Response {
        const EXAMPLE: &str = "EIP-155 id of a supported chain.";
        let content = match std::str::from_utf8(content) {
            Ok(text) => Cow::Owned(
                text.replace(EXAMPLE, &format!("EIP-155 id of a supported chain: {}.", self.chains))
                    .replace("\"default\":8453", &format!("\"default\":{}", self.default_chain))
                    .into_bytes(),
            ),
            Err(_) => Cow::Borrowed(content),
        };
        Response::file("application/json; charset=utf-8", &content).cacheable(SECONDS_TO_KEEP)
    }

    /// The text with this service's address in the place of the one that the guides are tested at.
    fn addressed(&self, content: &'static [u8]) -> Cow<'static, [u8]> {
        const EXAMPLE: &str = "http://127.0.0.1:3000/api";
        match (std::str::from_utf8(content), self.site.endpoint("")) {
            (Ok(text), address) if address.starts_with("http") => text.replace(EXAMPLE, &address).into_bytes().into(),
            _ => content.into(),
        }
    }
}

/// A package that `npm install` or `pip install` takes by its address.
fn client(request: &Request) -> Result<Response, ApiError> {
    let name = request.path().rsplit('/').next().unwrap_or_default();
    let Some((_, content_type, content)) = CLIENTS.iter().find(|(other, _, _)| *other == name) else {
        let names = CLIENTS.iter().map(|(name, _, _)| *name).collect::<Vec<_>>().join(", ");
        let words = if names.is_empty() { "none in this build: run make clients before it".to_owned() } else { names };
        return Err(ApiError::not_found(format!("There is no such package; there are: {words}")));
    };
    Ok(Response::bytes(StatusCode::OK, content_type, content.to_vec())?.cacheable(SECONDS_TO_KEEP))
}

/// A guide's page, which runs nothing.
fn guide(content_type: &'static str, content: &[u8]) -> Result<Response, ApiError> {
    const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                          frame-ancestors 'none'";
    Response::file(content_type, content)
        .cacheable(SECONDS_TO_KEEP)
        .with("content-security-policy", POLICY)?
        .with("referrer-policy", "no-referrer")?
        .with("x-content-type-options", "nosniff")
}

/// The reference's page. It runs this service's scripts and calls this service alone. The reference's script writes style
/// sheets and style attributes, which a policy can only allow altogether.
fn page() -> Result<Response, ApiError> {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
                          img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; \
                          frame-ancestors 'none'";
    Response::file("text/html; charset=utf-8", built!("docs.html"))
        .cacheable(SECONDS_TO_KEEP)
        .with("content-security-policy", POLICY)?
        .with("referrer-policy", "no-referrer")?
        .with("x-content-type-options", "nosniff")
}
