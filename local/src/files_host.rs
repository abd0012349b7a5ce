//! The files' distribution, as far as browsers and functions see it: what strangers uploaded on a host of its own, straight
//! from the bucket, with the headers of the template's policy; what the bucket doesn't have comes from the API. It keeps
//! nothing.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_norway::Value;
use template::Template;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{Error, objects::Objects};

/// Paths that the distribution passes on.
const PATHS: [&str; 2] = ["/ipfs/", "/previews/"];

/// A running host; dropping it stops it.
pub struct FilesHost {
    /// Its URL, without a path.
    pub url: String,
    task: JoinHandle<()>,
}

impl Drop for FilesHost {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A host that has its address, and no bucket yet.
pub struct Listening {
    /// Its URL, without a path.
    pub url: String,
    listener: TcpListener,
}

impl Listening {
    /// Takes a free port.
    pub async fn bind() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        Ok(Self { url: format!("http://{}", listener.local_addr()?), listener })
    }

    /// Serves `bucket`, and from the API at `api` what it doesn't have.
    pub fn serve(
        self,
        template: &Template,
        aws: &aws_config::SdkConfig,
        bucket: String,
        api: String,
    ) -> Result<FilesHost, Error> {
        let policy = template.resources("AWS::CloudFront::ResponseHeadersPolicy").next();
        let policy = policy.ok_or("template.yaml: no policy of headers")?.properties;
        let headers = headers(policy).ok_or("template.yaml: the policy of headers isn't understood")?;
        let host = Host { objects: Objects::new(aws, bucket), api, headers, http: reqwest::Client::new() };
        let app = Router::new().fallback(answer).with_state(Arc::new(host));
        let Self { url, listener } = self;
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap_or_default() });
        Ok(FilesHost { url, task })
    }
}

struct Host {
    objects: Objects,
    api: String,
    headers: HeaderMap,
    http: reqwest::Client,
}

/// The headers that the policy sets in every answer.
fn headers(policy: &Value) -> Option<HeaderMap> {
    let config = policy.get("ResponseHeadersPolicyConfig")?;
    let security = config.get("SecurityHeadersConfig")?;
    let content = security.get("ContentSecurityPolicy")?.get("ContentSecurityPolicy")?.as_str()?;
    security.get("ContentTypeOptions")?;
    let [origin] = config.get("CorsConfig")?.get("AccessControlAllowOrigins")?.get("Items")?.as_sequence()?.as_slice()
    else {
        return None;
    };
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_SECURITY_POLICY, content.parse().ok()?);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.as_str()?.parse().ok()?);
    for custom in config.get("CustomHeadersConfig")?.get("Items")?.as_sequence()? {
        let name: HeaderName = custom.get("Header")?.as_str()?.parse().ok()?;
        headers.insert(name, custom.get("Value")?.as_str()?.parse().ok()?);
    }
    Some(headers)
}

async fn answer(State(host): State<Arc<Host>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if !matches!(*request.method(), Method::GET | Method::HEAD) || !PATHS.iter().any(|begin| path.starts_with(begin)) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let range = request.headers().get(header::RANGE).and_then(|range| range.to_str().ok()).map(str::to_owned);
    let mut response = match host.objects.read(path.trim_start_matches('/'), range.clone()).await {
        Some(object) => object,
        None => host.ask_api(&path, range).await.unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response()),
    };
    for (name, value) in &host.headers {
        response.headers_mut().insert(name, value.clone());
    }
    response
}

impl Host {
    async fn ask_api(&self, path: &str, range: Option<String>) -> Result<Response, reqwest::Error> {
        let request = self.http.get(format!("{}{path}", self.api));
        let answer =
            range.into_iter().fold(request, |request, range| request.header(header::RANGE, range)).send().await?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let mut response = (status, answer.bytes().await?).into_response();
        *response.headers_mut() = headers;
        response.headers_mut().remove(header::TRANSFER_ENCODING);
        Ok(response)
    }
}
