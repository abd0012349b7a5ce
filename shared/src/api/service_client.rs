//! Calls of the service's own API for a request's client: with the client's credential, and counted as the client's.

use std::{net::SocketAddr, time::Duration};

use reqwest::{
    Client, Method, Response,
    header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, RANGE},
    redirect::Policy,
};
use serde_json::Value;
use url::Url;

use crate::{
    auth::service_address::ServiceAddress,
    config::{self, StartError},
    http::{ApiError, Request},
};

/// Headers of a request that its calls have, too.
const PASSED_ON: [HeaderName; 4] = [ACCEPT, AUTHORIZATION, RANGE, HeaderName::from_static("x-api-key")];

/// The way to the service's own API.
pub struct ServiceClient {
    http: Client,
    address: ServiceAddress,
    /// What the distribution adds to requests, if there is one.
    origin_secret: Option<HeaderValue>,
}

/// The API as a request's client calls it.
#[derive(Clone)]
pub struct CallsFor {
    http: Client,
    base: Url,
    headers: HeaderMap,
}

impl ServiceClient {
    /// Reads `TOKEN_ISSUER`, the API's base URL, and `ORIGIN_SECRET`.
    pub fn from_env() -> Result<Self, StartError> {
        const LIMIT: Duration = Duration::from_secs(27);
        let secrets = config::optional(config::variables::ORIGIN_SECRET);
        let first = secrets.as_deref().and_then(|secrets| secrets.split(',').next());
        let origin_secret = first.map(HeaderValue::from_str).transpose()?;
        let http = Client::builder().redirect(Policy::none()).timeout(LIMIT).build()?;
        Ok(Self { http, address: ServiceAddress::from_env(), origin_secret })
    }

    /// Calls for the client that sent `request`.
    pub fn acting_for(&self, request: &Request) -> Result<CallsFor, ApiError> {
        let mut base = self.address.of(request).map_err(ApiError::internal)?;
        let mut headers = HeaderMap::new();
        for name in PASSED_ON {
            let sent = request.header(name.as_str()).and_then(|value| HeaderValue::from_str(value).ok());
            headers.extend(sent.map(|value| (name, value)));
        }
        if let (Some(secret), Ok(client)) = (&self.origin_secret, request.client_address()) {
            // Past the distribution, since that would take this function for the client.
            base.set_host(request.domain()).map_err(ApiError::internal)?;
            headers.insert("x-origin-secret", secret.clone());
            let viewer = SocketAddr::new(client, 0).to_string();
            headers.insert("cloudfront-viewer-address", HeaderValue::try_from(viewer).map_err(ApiError::internal)?);
        }
        Ok(CallsFor { http: self.http.clone(), base, headers })
    }
}

impl CallsFor {
    /// Calls a path below the base URL, such as `/timeline`; 503 if it can't be reached.
    pub async fn call(
        &self,
        method: Method,
        (path, query): (&str, &str),
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, ApiError> {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base_path()));
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        let mut call = self.http.request(method, url).headers(self.headers.clone()).headers(headers);
        if let Some(body) = body {
            call = call.json(body);
        }
        call.send().await.map_err(|error| ApiError::unavailable("The service didn't reach itself: try again", 1, error))
    }

    /// Sends a part of an upload to the address that the service gave for it; 502 if it isn't taken.
    pub async fn put(&self, url: &str, content: Vec<u8>) -> Result<(), ApiError> {
        let refused = |error| ApiError::bad_gateway("The storage didn't take the file: try again", error);
        let answer = self.http.put(url).body(content).send().await.map_err(refused)?;
        answer.error_for_status().map(drop).map_err(refused)
    }

    /// What a request's path has below the base URL.
    pub fn below_base<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(self.base_path()).unwrap_or(path)
    }

    fn base_path(&self) -> &str {
        self.base.path().trim_end_matches('/')
    }
}
