//! Stands where API Gateway does: takes the service's requests, answers browsers' preflights, and lets the pages of the
//! configured origins read the answers. The Lambda runtime's own paths aren't reachable through it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use template::Cors;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::Error;

/// A running gateway; it ends with this value.
pub struct ApiGateway {
    /// Where requests go.
    pub url: String,
    task: JoinHandle<()>,
}

#[derive(Clone)]
struct Upstream {
    authority: Arc<str>,
    cors: Arc<Option<Cors>>,
    client: Client<HttpConnector, Body>,
}

impl ApiGateway {
    /// Starts one on a port (any free one for 0), in front of the functions at `upstream`. Without `cors` no other site's page
    /// may call, and preflights are requests like any other.
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn start(port: u16, upstream: &str, cors: Option<Cors>) -> Result<Self, Error> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let upstream = Upstream {
            authority: upstream.trim_start_matches("http://").into(),
            cors: Arc::new(cors),
            client: Client::builder(TokioExecutor::new()).build_http(),
        };
        let router = Router::new().fallback(answer).with_state(upstream);
        let task = tokio::spawn(async move {
            // Serving ends with the task alone.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, task })
    }
}

impl Drop for ApiGateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(upstream): State<Upstream>, request: Request) -> Response {
    let Some(cors) = &*upstream.cors else { return forward(&upstream, request).await };
    let headers = request.headers();
    let origin = headers.get(header::ORIGIN).cloned();
    let is_preflight = request.method() == Method::OPTIONS
        && origin.is_some()
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if is_preflight {
        let mut response = StatusCode::NO_CONTENT.into_response();
        if allowed_origin(cors, origin.as_ref()).is_some() {
            preflight_headers(cors, response.headers_mut());
        }
        response
    } else {
        forward(&upstream, request).await
    };
    if let Some(allowed) = allowed_origin(cors, origin.as_ref()) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        set(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, &cors.expose_headers.join(","));
    }
    response
}

/// What a page of this origin is told; `None` where it may not read the answer.
fn allowed_origin(cors: &Cors, origin: Option<&HeaderValue>) -> Option<HeaderValue> {
    let origin = origin?;
    if cors.allow_origins.iter().any(|allowed| allowed == "*") {
        return Some(HeaderValue::from_static("*"));
    }
    cors.allow_origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

fn preflight_headers(cors: &Cors, headers: &mut HeaderMap) {
    set(headers, header::ACCESS_CONTROL_ALLOW_METHODS, &cors.allow_methods.join(","));
    set(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, &cors.allow_headers.join(","));
    set(headers, header::ACCESS_CONTROL_MAX_AGE, &cors.max_age.to_string());
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Hands the request on as it came.
async fn forward(upstream: &Upstream, mut request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    // The functions' stage alone: what else is there belongs to the Lambda service.
    let is_internal = path.starts_with("/.rt") || path.starts_with("/2015-03-31") || path.starts_with("/lambda-url");
    let uri = Uri::builder().scheme("http").authority(&*upstream.authority).path_and_query(path).build();
    match uri {
        Ok(uri) if !is_internal => *request.uri_mut() = uri,
        _ => return StatusCode::NOT_FOUND.into_response(),
    }
    match upstream.client.request(request).await {
        Ok(response) => response.map(Body::new),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
