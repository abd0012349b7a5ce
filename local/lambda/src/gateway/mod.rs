//! An HTTP API of API Gateway: routes, throttles, CORS, and Lambda proxy integrations with payload format 2.0.

mod answer;
mod cors;
mod event;
mod route;
mod target;
mod throttle;

pub use cors::Cors;
pub use route::Route;
pub use target::Target;
pub use throttle::Throttle;

use std::{collections::BTreeMap, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Method, Request, StatusCode, Uri, body::Incoming};
use serde_json::json;
use uuid::Uuid;

use self::{event::Arrival, route::Routes, throttle::Bucket};
use crate::{
    invocation::{Invocation, Outcome, Refusal, trace_id},
    server::{self, BodyError, Reply, Server, set_header},
};

/// Largest body of a request, in bytes.
pub const MAX_BODY: usize = 10 << 20;

/// Most bytes of a request's line and headers.
pub const MAX_HEAD: usize = 10_240;

/// An HTTP API.
#[derive(Clone, Debug)]
pub struct HttpApi {
    /// Its stage, the first segment of every path.
    pub stage: String,
    /// Its routes, without the default one.
    pub routes: Vec<Route>,
    /// Function of the `$default` route.
    pub default_function: Option<String>,
    /// Throttle of every route that has none, including the default route; each counts its own requests.
    pub default_throttle: Option<Throttle>,
    /// What a distribution in front does with paths outside of the stage; without one they are nowhere.
    pub outside: Option<Outside>,
    /// CORS settings; without, preflights are requests like any other.
    pub cors: Option<Cors>,
    /// Longest wait for a function: at most 30 seconds in an account.
    pub timeout: Duration,
}

/// The rewriting of reads whose path is outside of the stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Path after the stage that is put before theirs, such as `/pages`.
    pub prefix: String,
    /// Object that stands for the root, such as `home`.
    pub root_object: String,
}

impl Outside {
    /// The path and query of a read outside of the `stage`, as the API is asked for it.
    fn rewrite(&self, stage: &str, uri: &Uri) -> Option<Uri> {
        let is_inside = uri.path().strip_prefix('/').and_then(|path| path.strip_prefix(stage));
        if is_inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        let path = if uri.path() == "/" { format!("/{}", self.root_object) } else { uri.path().to_owned() };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("/{stage}{}{path}{query}", self.prefix).parse().ok()
    }
}

/// A running gateway; dropping it stops it.
pub struct Gateway {
    /// Base URL, without the stage.
    pub url: String,
    _server: Server,
}

struct Api {
    api: HttpApi,
    routes: Routes,
    buckets: BTreeMap<String, Bucket>,
    target: Target,
}

impl Gateway {
    /// Starts one on `port` of the loopback interface (0 picks a free one).
    ///
    /// # Errors
    /// When the port can't be listened on.
    pub async fn start(port: u16, api: HttpApi, target: Target) -> io::Result<Self> {
        let routes = Routes::new(&api.routes, api.default_function.as_deref());
        let throttles = routes.iter().filter_map(|route| {
            let throttle = route.throttle.or(api.default_throttle)?;
            Some((route.key(), Bucket::new(throttle)))
        });
        let buckets = throttles.collect();
        let api = Arc::new(Api { api, routes, buckets, target });
        let server = Server::start(port, move |request, peer| {
            let api = Arc::clone(&api);
            async move { api.answer(request, peer).await }
        })
        .await?;
        Ok(Self { url: format!("http://{}", server.address), _server: server })
    }
}

impl Api {
    async fn answer(&self, mut request: Request<Incoming>, peer: SocketAddr) -> Reply {
        let outside = self.api.outside.as_ref().filter(|_| [Method::GET, Method::HEAD].contains(request.method()));
        if let Some(uri) = outside.and_then(|outside| outside.rewrite(&self.api.stage, request.uri())) {
            *request.uri_mut() = uri;
        }
        let request_id = Uuid::new_v4().simple().to_string();
        let origin = request.headers().get("origin").cloned();
        let cors = self.api.cors.as_ref();
        let mut reply = match cors.and_then(|cors| cors.preflight(&request)) {
            Some(preflight) => preflight,
            None => {
                let mut reply = self.route(request, peer, &request_id).await;
                if cors.is_some() {
                    Cors::strip(reply.headers_mut());
                }
                reply
            }
        };
        if let Some(cors) = cors {
            cors.apply(origin.as_ref(), reply.headers_mut());
        }
        set_header(&mut reply, "apigw-requestid", &request_id);
        reply
    }

    async fn route(&self, request: Request<Incoming>, peer: SocketAddr, request_id: &str) -> Reply {
        if head_size(&request) > MAX_HEAD {
            return message(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large");
        }
        let path = request.uri().path();
        let after_stage = path.strip_prefix('/').and_then(|path| path.strip_prefix(self.api.stage.as_str()));
        let Some(path) = after_stage.filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            return message(StatusCode::NOT_FOUND, "Not Found");
        };
        let Some((route, parameters)) = self.routes.find(request.method().as_str(), path) else {
            return message(StatusCode::NOT_FOUND, "Not Found");
        };
        let route_key = route.key();
        if self.buckets.get(&route_key).is_some_and(|bucket| !bucket.take()) {
            return message(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests");
        }
        let (head, body) = request.into_parts();
        let body = match server::read(body, MAX_BODY).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => return message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
            Err(BodyError::Broken) => return message(StatusCode::BAD_REQUEST, "Bad Request"),
        };
        let trace_id = trace_id(head.headers.get("x-amzn-trace-id").and_then(|given| given.to_str().ok()));
        let arrival = Arrival {
            stage: &self.api.stage,
            route_key: &route_key,
            parameters,
            request_id,
            trace_id: trace_id.split(';').next().unwrap_or_default(),
            peer,
        };
        let Some(event) = event::event(&head, &body, &arrival) else {
            return message(StatusCode::BAD_REQUEST, "Bad Request");
        };
        let mut invocation = Invocation::new(&route.function, event.to_string());
        invocation.trace_id = trace_id;
        match tokio::time::timeout(self.api.timeout, self.target.invoke(invocation)).await {
            Ok(Ok(Outcome::Returned(response))) => {
                answer::reply(&response).unwrap_or_else(|| message(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL))
            }
            Ok(Ok(Outcome::Failed(_)) | Err(Refusal::UnknownFunction(_) | Refusal::NotJson(_))) => {
                message(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
            }
            Ok(Err(Refusal::TooLarge(_))) => message(StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
            Ok(Err(Refusal::ReservedConcurrency | Refusal::AccountConcurrency | Refusal::Unavailable)) | Err(_) => {
                message(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable")
            }
        }
    }
}

const INTERNAL: &str = "Internal Server Error";

/// An answer of the gateway itself.
fn message(status: StatusCode, message: &str) -> Reply {
    server::json(status, &json!({"message": message}))
}

/// Bytes of a request's line and of its headers, as they were sent.
fn head_size(request: &Request<Incoming>) -> usize {
    let uri = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    let line = request.method().as_str().len() + uri + " HTTP/1.1".len() + 1;
    request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>() + line
}
